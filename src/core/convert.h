/* SPDX-License-Identifier: Apache-2.0
 * convert.h - rows of elements to and from the six compute types, by the rules of tessera.h section 3.
 *
 * Compute types: tess_u64, tess_i64, tess_f32, tess_f64, tess_c64, tess_c128. A loader reads n elements of any type, `stride` bytes apart, into a
 * contiguous row of the compute type; a storer writes a contiguous row of the compute type to n elements `stride` bytes apart, rounding, saturating
 * and making every NaN the canonical one. Row and elements must not overlap. */
#ifndef TESS_CORE_CONVERT_H
#define TESS_CORE_CONVERT_H

#include "core/dtype.h"

typedef void (*tess_row_loader)(void *row, const void *from, int64_t stride, int64_t n);
typedef void (*tess_row_storer)(void *to, int64_t stride, const void *row, int64_t n);

/* The build for an instruction set; NULL when the conversion is refused (complex to real). All builds give the same bits. */
tess_row_loader tess_loader(tess_isa_slot slot, tess_type from, tess_type compute);
tess_row_storer tess_storer(tess_isa_slot slot, tess_type compute, tess_type to);

#endif
