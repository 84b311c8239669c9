/* SPDX-License-Identifier: Apache-2.0
 * fragment.c - matrices spread over a warp: mma, and wmma's loads, stores and products.
 *
 * Which element lies in which register of which lane is the PTX manual's for mma (section on matrix fragments); wmma leaves it open, and here as on the
 * card it is the same: blocks of 8 rows by four lanes' registers, the blocks going down first. Loads and stores of wmma access memory as the card's
 * code does: a register a lane where its elements lie side by side, 8 x 8 blocks of 16-bit elements in the order of memory where they do not (the card
 * turns them around afterwards), else an element a lane.
 *
 * PTX does not say in which order and width a tensor core adds, so no bits can be promised: here the products of a row are exact and added in double
 * to c, in ascending order, and the sum is rounded once; f64 are fused multiply-adds, integers exact and wrapped. The lanes of all but integers are
 * counted as approximate. */
#include <string.h>

#include "vgpu/access.h"
#include "vgpu/decode.h"
#include "vgpu/number.h"

enum { SIDE = 32 };

typedef struct fragment {
    ptx_type type;
    vgpu_part part;
    int rows, columns;
    int size;     /* bytes of an element */
    int pair;     /* elements side by side that a lane holds: of a along k, of b along k, of a sum along a row */
    int elements; /* of a lane */
    const uint32_t *slot;
} fragment;

static fragment fragment_of(vgpu_part part, ptx_type type, const uint32_t shape[3], const uint32_t *slot) {
    fragment f = {.type = type, .part = part, .size = tess_vgpu_type_bytes(type), .slot = slot};
    f.rows = (int)shape[part == VGPU_RIGHT ? 2 : 0];
    f.columns = (int)shape[part == VGPU_LEFT ? 2 : 1];
    f.pair = part == VGPU_SUM ? 2 : f.size < 4 ? 4 / f.size : 1;
    f.elements = f.rows * f.columns / LANES;
    return f;
}

static void place(const fragment *f, int lane, int element, int *row, int *column) {
    int group = lane / 4, along = lane % 4 * f->pair + element % f->pair, block = element / f->pair, long_side = 4 * f->pair;
    bool right = f->part == VGPU_RIGHT;
    int down = right ? f->rows / long_side : f->rows / 8;
    *row = right ? along + long_side * (block % down) : group + 8 * (block % down);
    *column = right ? group + 8 * (block / down) : along + long_side * (block / down);
}

static char *element_at(const vgpu_warp *w, const fragment *f, int lane, int element) {
    int each = f->size < 4 ? 4 / f->size : 1, wide = f->size < 4 ? 4 : f->size;
    return w->file + f->slot[element / each] + lane * wide + element % each * f->size;
}

static bool all_there(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    if (mask != ALL_LANES)
        tess_vgpu_fault_report(w, r, TESS_LOW_BIT(mask), TESS_VGPU_MISSING_LANES, 0, NULL, "%s is executed by lanes 0x%08x and needs all 32",
                               r->op == PTX_OP_MMA ? "mma" : "wmma", mask);
    return mask == ALL_LANES;
}

/* ---- products ---- */

static double value_of(const char *at, ptx_type type) {
    uint64_t bits = 0;
    double value;
    memcpy(&bits, at, (size_t)tess_vgpu_type_bytes(type));
    switch (type) {
    case PTX_S8: return (int8_t)bits;
    case PTX_U8: return (uint8_t)bits;
    case PTX_S32: return (int32_t)bits;
    case PTX_TF32: return bits_f32((uint32_t)bits & 0xffffe000u); /* the low 13 bits are not there */
    case PTX_F32: return bits_f32((uint32_t)bits);
    case PTX_F64: memcpy(&value, &bits, 8); return value;
    default: return tess_vgpu_value(bits, type);
    }
}

static uint64_t sum_bits(double total, ptx_type type) {
    uint64_t bits;
    switch (type) {
    case PTX_F16: return tess_vgpu_round_double(total, PTX_F16, PTX_RN);
    case PTX_S32: return (uint32_t)(int64_t)total;
    case PTX_F32: return f32_bits(canonical_f32((float)total));
    default: memcpy(&bits, &total, 8); return total == total ? bits : 0x7ff8000000000000;
    }
}

static void gather(const vgpu_warp *w, const fragment *f, double to[SIDE][SIDE]) {
    for (int l = 0; l < LANES; l++)
        for (int e = 0; e < f->elements; e++) {
            int row, column;
            place(f, l, e, &row, &column);
            to[row][column] = value_of(element_at(w, f, l, e), f->type);
        }
}

/* List: m, n, k; the types of d, a, b, c; how many registers d, a, b, c have; their slots. */
void tess_vgpu_multiply(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    const uint32_t *list = w->launch->module->lists + r->target, *type = list + 3, *count = list + 7, *slot = list + 11;
    double left[SIDE][SIDE], right[SIDE][SIDE], sum[SIDE][SIDE];
    if (!all_there(w, r, mask))
        return;
    fragment d = fragment_of(VGPU_SUM, (ptx_type)type[0], list, slot), a = fragment_of(VGPU_LEFT, (ptx_type)type[1], list, slot += count[0]),
             b = fragment_of(VGPU_RIGHT, (ptx_type)type[2], list, slot += count[1]),
             c = fragment_of(VGPU_SUM, (ptx_type)type[3], list, slot += count[2]);
    gather(w, &a, left);
    gather(w, &b, right);
    gather(w, &c, sum);
    for (int l = 0; l < LANES; l++)
        for (int e = 0; e < d.elements; e++) {
            int row, column;
            place(&d, l, e, &row, &column);
            double total = sum[row][column];
            for (int k = 0; k < a.columns; k++)
                total = fma(left[row][k], right[k][column], total);
            uint64_t bits = sum_bits(total, d.type);
            memcpy(element_at(w, &d, l, e), &bits, (size_t)d.size);
        }
}

/* ---- wmma.load, wmma.store ---- */

/* One access of a lane: the first element, and whether the following ones are down the column. */
typedef struct piece {
    int row, column;
} piece;

static piece piece_of(const fragment *f, int lane, int number, int width, bool turned) {
    piece p;
    if (!turned) {
        place(f, lane, number * width, &p.row, &p.column);
        return p;
    }
    int down = f->rows / 8, along = lane % 4 * width; /* 8 x 8 elements in the order of memory */
    p.row = 8 * (number % down) + (f->part == VGPU_RIGHT ? lane / 4 : along);
    p.column = 8 * (number / down) + (f->part == VGPU_RIGHT ? along : lane / 4);
    return p;
}

/* List: m, n, k; type; part; whether columns lie side by side in memory; slot of the stride, or none; how many registers; their slots. */
void tess_vgpu_move_fragment(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    const uint32_t *list = w->launch->module->lists + r->target;
    fragment f = fragment_of((vgpu_part)list[4], (ptx_type)list[3], list, list + 8);
    bool by_column = list[5], store = r->mode == PTX_STORE, side_by_side = by_column == (f.part == VGPU_RIGHT), turned = !side_by_side && f.size == 2;
    turned &= f.part != VGPU_SUM;
    int width = side_by_side || turned ? f.pair : 1, bytes = width * f.size;
    char *at[SIDE * SIDE] = {NULL};
    uint64_t base[LANES];
    ptx_space space;
    if (!all_there(w, r, mask))
        return;
    tess_vgpu_addresses(w, r, r->e, r->offset, base);
    if (tess_vgpu_same_space((ptx_space)r->space, base, mask, &space) != mask)
        space = PTX_GLOBAL;
    for (int i = 0; i < f.elements / width; i++) {
        uint64_t address[LANES];
        vgpu_resolved found;
        for (int l = 0; l < LANES; l++) {
            uint64_t stride = list[6] == VGPU_NO_SLOT ? (uint64_t)(by_column ? f.rows : f.columns) : SLOT(uint32_t, w, list[6])[l];
            piece p = piece_of(&f, l, i, width, turned);
            uint64_t away = by_column ? (uint64_t)p.column * stride + (uint64_t)p.row : (uint64_t)p.row * stride + (uint64_t)p.column;
            address[l] = base[l] + away * (uint64_t)f.size;
        }
        tess_vgpu_resolve(w, r, space, store ? VGPU_STORE : VGPU_LOAD, bytes, bytes, address, mask, &found);
        for (int l = 0; l < LANES; l++)
            for (int j = 0; j < width && found.mask >> l & 1; j++) {
                piece p = piece_of(&f, l, i, width, turned);
                at[(p.row + (by_column ? j : 0)) * SIDE + p.column + (by_column ? 0 : j)] = found.host[l] + j * f.size;
            }
    }
    int registers = (int)list[7], each = f.size < 4 ? 4 / f.size : 1;
    for (int l = 0; l < LANES; l++)
        for (int e = 0; e < (store ? f.elements : registers * each); e++) { /* .f16 has more registers than elements: they come again */
            int row, column;
            place(&f, l, e % f.elements, &row, &column);
            char *memory = at[row * SIDE + column], *own = element_at(w, &f, l, e);
            if (store && memory)
                memcpy(memory, own, (size_t)f.size);
            else if (!store && memory)
                memcpy(own, memory, (size_t)f.size);
            else if (!store)
                memset(own, 0, (size_t)f.size);
        }
}
