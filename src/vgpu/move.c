/* SPDX-License-Identifier: Apache-2.0
 * move.c - the moves that are more than a copy: packing, addresses that are known only when running, clocks, generic addresses. */
#include "vgpu/decode.h"
#include "vgpu/exec.h"

void tess_vgpu_nothing(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    (void)w;
    (void)r;
    (void)mask;
}

/* {a, b} and {a, b, c, e}: the first is the low part. */
void tess_vgpu_move_pack(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    const uint32_t slot[] = {r->a, r->b, r->c, r->e};
    int part = r->bytes / r->count;
    for (int l = 0; l < LANES; l++)
        if (mask >> l & 1) {
            char whole[8];
            for (int i = 0; i < r->count; i++)
                memcpy(whole + i * part, w->file + slot[i] + l * part, (size_t)part);
            memcpy(w->file + r->d + l * r->bytes, whole, r->bytes);
        }
}
void tess_vgpu_move_unpack(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    const uint32_t slot[] = {r->a, r->b, r->c, r->e};
    int part = r->bytes / r->count;
    for (int l = 0; l < LANES; l++)
        if (mask >> l & 1) {
            char whole[8];
            memcpy(whole, w->file + r->d + l * r->bytes, r->bytes);
            for (int i = 0; i < r->count; i++)
                memcpy(w->file + slot[i] + l * part, whole + i * part, (size_t)part);
        }
}

static void same_everywhere(vgpu_warp *w, const vgpu_record *r, uint32_t mask, uint64_t value) {
    for (int l = 0; l < LANES; l++)
        if (mask >> l & 1)
            memcpy(w->file + r->d + l * r->bytes, &value, r->bytes);
}
void tess_vgpu_move_frame(vgpu_warp *w, const vgpu_record *r, uint32_t mask) { same_everywhere(w, r, mask, (uint64_t)(w->base + r->offset)); }
void tess_vgpu_move_dynamic(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    same_everywhere(w, r, mask, (uint64_t)(w->launch->dynamic_base + r->offset));
}
/* There is no time here: the clocks count what the worker has issued, so that they grow and repeat. */
void tess_vgpu_move_clock(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    uint64_t now = ++w->worker->clock;
    same_everywhere(w, r, mask, r->mode == 1 ? now >> 32 : now);
}

void tess_vgpu_add_offset(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    const uint64_t *a = SLOT(uint64_t, w, r->a);
    uint64_t row[LANES];
    for (int l = 0; l < LANES; l++)
        row[l] = a[l] + (uint64_t)r->offset;
    PUT(uint64_t, SLOT(uint64_t, w, r->d), row, mask);
}

void tess_vgpu_is_space(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    const uint64_t *a = SLOT(uint64_t, w, r->a);
    uint32_t t = 0;
    for (int l = 0; l < LANES; l++) {
        ptx_space space = a[l] - VGPU_SHARED_WINDOW < VGPU_WINDOW_SIZE  ? PTX_SHARED
                          : a[l] - VGPU_LOCAL_WINDOW < VGPU_WINDOW_SIZE ? PTX_LOCAL
                          : a[l] - VGPU_CONST_WINDOW < VGPU_WINDOW_SIZE ? PTX_CONST
                          : a[l] - VGPU_PARAM_WINDOW < VGPU_WINDOW_SIZE ? PTX_PARAM
                                                                        : PTX_GLOBAL;
        t |= (uint32_t)(space == r->space) << l;
    }
    vgpu_set_predicate(w, r->d, t, mask);
}
