/* SPDX-License-Identifier: Apache-2.0
 * matrix.c - ldmatrix, stmatrix and mma. Which element lies in which register of which lane is the PTX manual's (section on matrix fragments).
 *
 * PTX does not say in which order and width a tensor core adds, so no bits can be promised: here the products of a row are exact and added in double
 * to c, in ascending order, and the sum is rounded once. The lanes are counted as approximate. */
#include <string.h>

#include "vgpu/access.h"
#include "vgpu/decode.h"
#include "vgpu/number.h"

/* Row i of matrix m comes from the address of lane 8 m + i; lane l holds the elements 2 (l % 4) and the next of row l / 4. */
static bool rows(vgpu_warp *w, const vgpu_record *r, uint32_t mask, vgpu_access_kind kind, vgpu_resolved *at) {
    uint64_t address[LANES];
    uint32_t lanes = r->count == 4 ? ALL_LANES : (1u << 8 * r->count) - 1;
    ptx_space space;
    tess_vgpu_addresses(w, r, r->e, r->offset, address);
    lanes &= mask;
    if (!lanes)
        return false;
    uint32_t same = tess_vgpu_same_space((ptx_space)r->space, address, lanes, &space);
    if (space != PTX_SHARED || same != lanes) {
        tess_vgpu_fault_report(w, r, TESS_LOW_BIT(lanes), TESS_VGPU_OUT_OF_BOUNDS, address[TESS_LOW_BIT(lanes)], NULL,
                               "a matrix's row outside shared memory");
        return false;
    }
    tess_vgpu_resolve(w, r, space, kind, 16, 16, address, lanes, at);
    return at->mask == lanes;
}

void tess_vgpu_load_matrix(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    const uint32_t slot[] = {r->d, r->a, r->b, r->c};
    vgpu_resolved in;
    bool there = rows(w, r, mask, VGPU_LOAD, &in);
    for (int m = 0; m < r->count; m++) {
        uint32_t row[LANES];
        for (int l = 0; l < LANES; l++) {
            uint16_t two[2] = {0, 0};
            for (int j = 0; j < 2 && there; j++) {
                int i = r->mode ? l % 4 * 2 + j : l / 4, k = r->mode ? l / 4 : l % 4 * 2 + j;
                memcpy(&two[j], in.host[8 * m + i] + 2 * k, 2);
            }
            memcpy(&row[l], two, 4);
        }
        PUT(uint32_t, SLOT(uint32_t, w, slot[m]), row, mask);
    }
}

void tess_vgpu_store_matrix(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    const uint32_t slot[] = {r->a, r->b, r->c, r->d};
    vgpu_resolved out;
    if (!rows(w, r, mask, VGPU_STORE, &out))
        return;
    for (int m = 0; m < r->count; m++)
        for (int l = 0; l < LANES; l++)
            for (int j = 0; j < 2; j++) {
                int i = r->mode ? l % 4 * 2 + j : l / 4, k = r->mode ? l / 4 : l % 4 * 2 + j;
                memcpy(out.host[8 * m + i] + 2 * k, w->file + slot[m] + 4 * l + 2 * j, 2);
            }
}

/* Element (row, column) of a fragment: `wide` registers of 32 bits hold two 16-bit elements or one of tf32. */
static double element(const vgpu_warp *w, uint32_t slot, int lane, int half, ptx_type type) {
    uint32_t bits = SLOT(uint32_t, w, slot)[lane];
    if (type == PTX_TF32) /* the low 13 bits are not there */
        return bits_f32(bits & 0xffffe000u);
    return tess_vgpu_value(bits >> 16 * half & 0xffff, type);
}

void tess_vgpu_multiply(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    const uint32_t *list = w->launch->module->lists + r->target;
    ptx_type type = (ptx_type)r->bytes, sum = (ptx_type)r->count;
    bool tf32 = type == PTX_TF32;
    int width = r->mode, cd = sum == PTX_F16 ? 2 : 4, a_count = tf32 ? width / 2 : width / 4, per = tf32 ? 1 : 2;
    const uint32_t *d = list, *a = d + cd, *b = a + a_count, *c = b + a_count / 2;
    double left[16][16], right[16][8];
    if (mask != ALL_LANES) {
        tess_vgpu_fault_report(w, r, TESS_LOW_BIT(mask), TESS_VGPU_MISSING_LANES, 0, NULL, "mma is executed by lanes 0x%08x and needs all 32", mask);
        return;
    }
    /* a: registers go down the two halves of the rows, then on by four lanes' worth of columns; b: by columns of a */
    for (int l = 0; l < LANES; l++) {
        int group = l / 4, within = l % 4;
        for (int i = 0; i < a_count; i++)
            for (int j = 0; j < per; j++)
                left[group + 8 * (i & 1)][within * per + j + 4 * per * (i >> 1)] = element(w, a[i], l, j, type);
        for (int i = 0; i < a_count / 2; i++)
            for (int j = 0; j < per; j++)
                right[within * per + j + 4 * per * i][group] = element(w, b[i], l, j, type);
    }
    for (int l = 0; l < LANES; l++)
        for (int i = 0; i < 4; i++) {
            int row = l / 4 + 8 * (i >> 1), column = l % 4 * 2 + (i & 1), shift = sum == PTX_F16 ? 16 * (i & 1) : 0;
            uint32_t *to = &SLOT(uint32_t, w, d[cd == 2 ? i >> 1 : i])[l];
            uint32_t before = SLOT(uint32_t, w, c[cd == 2 ? i >> 1 : i])[l];
            double total = sum == PTX_F16 ? tess_vgpu_value(before >> shift & 0xffff, PTX_F16) : (double)bits_f32(before);
            for (int k = 0; k < width; k++)
                total += left[row][k] * right[k][column];
            if (sum == PTX_F16)
                *to = (*to & ~(0xffffu << shift)) | (uint32_t)tess_vgpu_round_double(total, PTX_F16, PTX_RN) << shift;
            else
                *to = f32_bits(canonical_f32((float)total));
        }
}
