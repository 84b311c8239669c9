/* SPDX-License-Identifier: Apache-2.0
 * mufu.h - the card's special function unit, bit for bit (mufu.c), and the .approx operations that are made of it (approx.c). */
#ifndef TESS_VGPU_MUFU_H
#define TESS_VGPU_MUFU_H

#include "vgpu/ptx.h"

/* The bits of a float in, the bits of a float out. Subnormal arguments count as zero and subnormal results become zero, as with .ftz; NaN is 0x7fffffff.
 * sin and cos take turns, not radians. */
uint32_t tess_vgpu_mufu_rcp(uint32_t x);
uint32_t tess_vgpu_mufu_rsqrt(uint32_t x);
uint32_t tess_vgpu_mufu_sqrt(uint32_t x);
uint32_t tess_vgpu_mufu_ex2(uint32_t x);
uint32_t tess_vgpu_mufu_lg2(uint32_t x);
uint32_t tess_vgpu_mufu_sin(uint32_t x);
uint32_t tess_vgpu_mufu_cos(uint32_t x);
uint32_t tess_vgpu_mufu_tanh(uint32_t x);
/* The upper words of doubles in and out; the lower word of the argument is not looked at, that of the result is zero. */
uint32_t tess_vgpu_mufu_rcp64(uint32_t high);
uint32_t tess_vgpu_mufu_rsqrt64(uint32_t high);

/* One lane's .approx operation; .approx or .full division; ex2 or tanh of an f16 or bf16. flush: with .ftz. */
float tess_vgpu_approx(int op, float x, bool flush);
float tess_vgpu_divide(float a, float b, bool full, bool flush);
uint16_t tess_vgpu_approx_half(int op, uint16_t x, ptx_type type, bool flush);

#endif
