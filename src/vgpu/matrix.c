/* SPDX-License-Identifier: Apache-2.0
 * matrix.c - ldmatrix, stmatrix and movmatrix: 8 x 8 elements of 16 bits, of which lane l holds two. Products: fragment.c. */
#include <string.h>

#include "vgpu/access.h"
#include "vgpu/decode.h"

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

void tess_vgpu_turn_matrix(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    const uint16_t *from = SLOT(uint16_t, w, r->a);
    uint32_t row[LANES];
    for (int l = 0; l < LANES; l++) /* row l / 4, columns 2 (l % 4) and the next become a column */
        row[l] = from[l % 4 * 16 + l / 4] | (uint32_t)from[(l % 4 * 2 + 1) * 8 + l / 4] << 16;
    PUT(uint32_t, SLOT(uint32_t, w, r->d), row, mask);
}
