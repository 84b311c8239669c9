/* SPDX-License-Identifier: Apache-2.0
 * decode.h - between the decoder's files, and the handlers that it names by themselves. */
#ifndef TESS_VGPU_DECODE_H
#define TESS_VGPU_DECODE_H

#include "vgpu/machine.h"

typedef struct vgpu_decoder {
    tess_vgpu_module *module;
    ptx_function *function;
    const ptx_instruction *in;
    vgpu_record *out;
    tess_isa_slot slot;
    uint32_t sink; /* slot for results that nobody wants */
} vgpu_decoder;

tess_status tess_vgpu_refuse(const vgpu_decoder *d, const char *format, ...) TESS_PRINTF(2, 3);
/* Slot of a source operand: a register of at least `bytes` (exactly, unless wider is allowed), a constant, a special register. */
tess_status tess_vgpu_source(vgpu_decoder *d, const ptx_operand *o, ptx_type type, bool wider, uint32_t *slot);
tess_status tess_vgpu_destination(vgpu_decoder *d, const ptx_operand *o, ptx_type type, bool wider, uint32_t *slot);
tess_status tess_vgpu_constant(vgpu_decoder *d, uint64_t bits, int bytes, uint32_t *slot);
/* Address of a variable as a number, with the flag of what it is relative to. */
tess_status tess_vgpu_address_of(vgpu_decoder *d, const ptx_symbol *s, int64_t *address, uint8_t *flags);

/* Room for `count` words in the module's lists. The pointer is valid until the next call. */
tess_status tess_vgpu_list(vgpu_decoder *d, int count, uint32_t *number, uint32_t **list);
tess_status tess_vgpu_decode_address(vgpu_decoder *d, const ptx_operand *o, ptx_space *space, uint32_t *slot);
tess_status tess_vgpu_decode_label(vgpu_decoder *d, const char *name, int length, uint32_t *record);
tess_status tess_vgpu_decode_branch(vgpu_decoder *d);
tess_status tess_vgpu_decode_table(vgpu_decoder *d);
tess_status tess_vgpu_decode_bulk(vgpu_decoder *d);
tess_status tess_vgpu_decode_mbarrier(vgpu_decoder *d);
tess_status tess_vgpu_decode_matrix(vgpu_decoder *d);                        /* ldmatrix, stmatrix, movmatrix, mma, wmma */
uint64_t tess_vgpu_product_flops(const ptx_instruction *in, ptx_type *type); /* of a lane; the type of the factors */
tess_status tess_vgpu_decode_mov(vgpu_decoder *d);
tess_status tess_vgpu_decode_cvta(vgpu_decoder *d);
tess_status tess_vgpu_decode_memory(vgpu_decoder *d); /* ld, st, atom, red, cp */
tess_status tess_vgpu_decode_call(vgpu_decoder *d);
tess_status tess_vgpu_decode_barrier(vgpu_decoder *d);

/* select.c: the handler of a form, NULL when there is none. */
vgpu_handler tess_vgpu_select(tess_isa_slot slot, int op, int type, int type2, int mode, uint32_t flags);
vgpu_warp_runner tess_vgpu_runner(tess_isa_slot slot);
const vgpu_observer *tess_vgpu_counter(tess_isa_slot slot), *tess_vgpu_checker(tess_isa_slot slot);
vgpu_handler tess_vgpu_slow_handler(int op, ptx_type type, uint32_t flags); /* math.c: directed rounding, 16-bit floats, and approx.c's */
vgpu_handler tess_vgpu_approx_handler(int op, ptx_type type, uint32_t flags);
vgpu_handler tess_vgpu_lane_handler(int op, ptx_type type, ptx_mode mode);      /* lanes.c */
vgpu_handler tess_vgpu_rare_handler(const ptx_instruction *in, vgpu_record *r); /* rare.c */

/* access.c, atomic.c, move.c, lanes.c */
void tess_vgpu_load_lanes(vgpu_warp *warp, const vgpu_record *r, uint32_t mask);
void tess_vgpu_store_lanes(vgpu_warp *warp, const vgpu_record *r, uint32_t mask);
void tess_vgpu_load_param(vgpu_warp *warp, const vgpu_record *r, uint32_t mask);
void tess_vgpu_copy_async(vgpu_warp *warp, const vgpu_record *r, uint32_t mask);
void tess_vgpu_atomic_lanes(vgpu_warp *warp, const vgpu_record *r, uint32_t mask);
bool tess_vgpu_atomic_known(ptx_mode mode, ptx_type type);
void tess_vgpu_move_pack(vgpu_warp *warp, const vgpu_record *r, uint32_t mask);
void tess_vgpu_move_unpack(vgpu_warp *warp, const vgpu_record *r, uint32_t mask);
void tess_vgpu_move_frame(vgpu_warp *warp, const vgpu_record *r, uint32_t mask);   /* base of the frame + offset */
void tess_vgpu_move_dynamic(vgpu_warp *warp, const vgpu_record *r, uint32_t mask); /* start of dynamic shared memory + offset */
void tess_vgpu_move_clock(vgpu_warp *warp, const vgpu_record *r, uint32_t mask);
void tess_vgpu_add_offset(vgpu_warp *warp, const vgpu_record *r, uint32_t mask); /* cvta */
void tess_vgpu_is_space(vgpu_warp *warp, const vgpu_record *r, uint32_t mask);
void tess_vgpu_convert(vgpu_warp *warp, const vgpu_record *r, uint32_t mask);
bool tess_vgpu_convert_known(ptx_type to, ptx_type from, uint32_t flags);
/* fragment.c: mma, wmma. A part of a product is a, b, or c and d. */
typedef enum vgpu_part { VGPU_LEFT, VGPU_RIGHT, VGPU_SUM } vgpu_part;
void tess_vgpu_multiply(vgpu_warp *warp, const vgpu_record *r, uint32_t mask);
void tess_vgpu_move_fragment(vgpu_warp *warp, const vgpu_record *r, uint32_t mask);
/* bulk.c, matrix.c */
void tess_vgpu_bulk(vgpu_warp *warp, const vgpu_record *r, uint32_t mask);
void tess_vgpu_mbarrier(vgpu_warp *warp, const vgpu_record *r, uint32_t mask);
void tess_vgpu_load_matrix(vgpu_warp *warp, const vgpu_record *r, uint32_t mask);
void tess_vgpu_store_matrix(vgpu_warp *warp, const vgpu_record *r, uint32_t mask);
void tess_vgpu_turn_matrix(vgpu_warp *warp, const vgpu_record *r, uint32_t mask);
void tess_vgpu_nothing(vgpu_warp *warp, const vgpu_record *r, uint32_t mask);

#endif
