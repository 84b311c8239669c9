/* SPDX-License-Identifier: Apache-2.0
 * number.h - numbers in any of PTX's float formats, rounded in any of its directions. */
#ifndef TESS_VGPU_NUMBER_H
#define TESS_VGPU_NUMBER_H

#include "vgpu/ptx.h"

/* sign, magnitude * 2^exponent, plus a little when sticky, rounded to type (f16, bf16, f32, f64); rounding: PTX_RN, PTX_RZ, PTX_RM or PTX_RP. */
uint64_t tess_vgpu_round(bool negative, uint64_t magnitude, int exponent, bool sticky, ptx_type type, uint32_t rounding);
/* A double, or a NaN or infinity, likewise. */
uint64_t tess_vgpu_round_double(double x, ptx_type type, uint32_t rounding);
/* The value of a float's bits; exact. */
double tess_vgpu_value(uint64_t bits, ptx_type type);
/* a * b + c of 16-bit floats, rounded once to a double whose last bit tells that something was lost, so that a second rounding is as good as one. */
double tess_vgpu_fma_odd(double a, double b, double c);

#endif
