/* SPDX-License-Identifier: Apache-2.0
 * gpu_correlate.c - the correlations of the table of works: rows, images, volumes, lists, batches, other types and boundaries; the ladder's sizes. */
#include <string.h>

#include "gpu.h"

enum { LARGEST = 511 * 511 };

static const struct work {
    const char *work;
    tess_type type, mask;
    int ndim;
    int64_t shape[4];
    int masks, mask_ndim; /* masks > 1: a list */
    int64_t width;
    tess_boundary boundary;
} works[] = {
    {"correlate f32 16384 x 16384, 3 x 3", tess_f32, tess_f32, 2, {16384, 16384}, 1, 2, 3, TESS_BOUNDARY_ZERO},
    {"correlate f32 16384 x 16384, 5 x 5", tess_f32, tess_f32, 2, {16384, 16384}, 1, 2, 5, TESS_BOUNDARY_ZERO},
    {"correlate f32 16384 x 16384, 7 x 7", tess_f32, tess_f32, 2, {16384, 16384}, 1, 2, 7, TESS_BOUNDARY_ZERO},
    {"correlate f32 16384 x 16384, 9 x 9", tess_f32, tess_f32, 2, {16384, 16384}, 1, 2, 9, TESS_BOUNDARY_ZERO},
    {"correlate f32 16384 x 16384, 11 x 11", tess_f32, tess_f32, 2, {16384, 16384}, 1, 2, 11, TESS_BOUNDARY_ZERO},
    {"correlate f32 16384 x 16384, 15 x 15", tess_f32, tess_f32, 2, {16384, 16384}, 1, 2, 15, TESS_BOUNDARY_ZERO},
    {"correlate f32 16384 x 16384, 31 x 31", tess_f32, tess_f32, 2, {16384, 16384}, 1, 2, 31, TESS_BOUNDARY_ZERO},
    {"correlate f32 16384 x 16384, 3 x 3, reflect", tess_f32, tess_f32, 2, {16384, 16384}, 1, 2, 3, TESS_BOUNDARY_REFLECT},
    {"correlate f32 16384 x 16384, 7 x 7, wrap", tess_f32, tess_f32, 2, {16384, 16384}, 1, 2, 7, TESS_BOUNDARY_WRAP},
    {"correlate f32 16381 x 16379, 3 x 3", tess_f32, tess_f32, 2, {16381, 16379}, 1, 2, 3, TESS_BOUNDARY_ZERO},
    {"correlate f32 16381 x 16379, 7 x 7", tess_f32, tess_f32, 2, {16381, 16379}, 1, 2, 7, TESS_BOUNDARY_ZERO},
    {"correlate f32 64 x 64 x 256 x 256, 3 x 3", tess_f32, tess_f32, 4, {64, 64, 256, 256}, 1, 2, 3, TESS_BOUNDARY_ZERO},
    {"correlate f32 64 x 64 x 256 x 256, 7 x 7", tess_f32, tess_f32, 4, {64, 64, 256, 256}, 1, 2, 7, TESS_BOUNDARY_ZERO},
    {"correlate u8 16384 x 16384, 3 x 3 i8", tess_u8, tess_i8, 2, {16384, 16384}, 1, 2, 3, TESS_BOUNDARY_ZERO},
    {"correlate u8 16384 x 16384, 3 x 3 f32", tess_u8, tess_f32, 2, {16384, 16384}, 1, 2, 3, TESS_BOUNDARY_ZERO},
    {"correlate u8 16384 x 16384, 7 x 7 f32", tess_u8, tess_f32, 2, {16384, 16384}, 1, 2, 7, TESS_BOUNDARY_ZERO},
    {"correlate f16 16384 x 16384, 3 x 3", tess_f16, tess_f32, 2, {16384, 16384}, 1, 2, 3, TESS_BOUNDARY_ZERO},
    {"correlate f16 16384 x 16384, 7 x 7", tess_f16, tess_f32, 2, {16384, 16384}, 1, 2, 7, TESS_BOUNDARY_ZERO},
    {"correlate i16 16384 x 16384, 3 x 3", tess_i16, tess_f32, 2, {16384, 16384}, 1, 2, 3, TESS_BOUNDARY_ZERO},
    {"correlate bf16 16384 x 16384, 3 x 3", tess_bf16, tess_f32, 2, {16384, 16384}, 1, 2, 3, TESS_BOUNDARY_ZERO},
    {"correlate f64 16384 x 16384, 3 x 3", tess_f64, tess_f64, 2, {16384, 16384}, 1, 2, 3, TESS_BOUNDARY_ZERO},
    {"separable f32 16384 x 16384, 3 + 3", tess_f32, tess_f32, 2, {16384, 16384}, 2, 1, 3, TESS_BOUNDARY_ZERO},
    {"separable f32 16384 x 16384, 7 + 7", tess_f32, tess_f32, 2, {16384, 16384}, 2, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable f32 16384 x 16384, 15 + 15", tess_f32, tess_f32, 2, {16384, 16384}, 2, 1, 15, TESS_BOUNDARY_ZERO},
    {"separable f32 16384 x 16384, 31 + 31", tess_f32, tess_f32, 2, {16384, 16384}, 2, 1, 31, TESS_BOUNDARY_ZERO},
    {"separable f32 16384 x 16384, 31 + 31, axes x y", tess_f32, tess_f32, 2, {16384, 16384}, 2, 1, 31, TESS_BOUNDARY_ZERO},
    {"separable f32 16381 x 16379, 15 + 15", tess_f32, tess_f32, 2, {16381, 16379}, 2, 1, 15, TESS_BOUNDARY_ZERO},
    {"separable f32 512 x 512 x 512, 7 + 7 + 7", tess_f32, tess_f32, 3, {512, 512, 512}, 3, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable f32 512 x 512 x 512, 7 + 7 + 7, axes y z x", tess_f32, tess_f32, 3, {512, 512, 512}, 3, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable f32 512 x 512 x 512, 7 + 7 + 7, axes z x y", tess_f32, tess_f32, 3, {512, 512, 512}, 3, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable f32 512 x 512 x 512, 7 + 7 + 7, axes x y z", tess_f32, tess_f32, 3, {512, 512, 512}, 3, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable f32 512 x 512 x 512, 3 + 3 + 3", tess_f32, tess_f32, 3, {512, 512, 512}, 3, 1, 3, TESS_BOUNDARY_ZERO},
    {"separable f32 512 x 512 x 512, 9 + 9 + 9, reflect", tess_f32, tess_f32, 3, {512, 512, 512}, 3, 1, 9, TESS_BOUNDARY_REFLECT},
    {"separable f32 512 x 512 x 512, 17 + 17 + 17, reflect", tess_f32, tess_f32, 3, {512, 512, 512}, 3, 1, 17, TESS_BOUNDARY_REFLECT},
    {"separable f32 512 x 512 x 512, 25 + 25 + 25, reflect", tess_f32, tess_f32, 3, {512, 512, 512}, 3, 1, 25, TESS_BOUNDARY_REFLECT},
    {"separable f32 512 x 512 x 512, 33 + 33 + 33, reflect", tess_f32, tess_f32, 3, {512, 512, 512}, 3, 1, 33, TESS_BOUNDARY_REFLECT},
    {"separable f32 509 x 511 x 513, 7 + 7 + 7", tess_f32, tess_f32, 3, {509, 511, 513}, 3, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable f16 512 x 512 x 512, 7 + 7 + 7", tess_f16, tess_f32, 3, {512, 512, 512}, 3, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable u8 512 x 512 x 512, 7 + 7 + 7 f32", tess_u8, tess_f32, 3, {512, 512, 512}, 3, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable u8 512 x 512 x 512, 3 + 3 + 3 f32", tess_u8, tess_f32, 3, {512, 512, 512}, 3, 1, 3, TESS_BOUNDARY_ZERO},
    {"separable u8 512 x 512 x 512, 5 + 5 + 5 f32", tess_u8, tess_f32, 3, {512, 512, 512}, 3, 1, 5, TESS_BOUNDARY_ZERO},
    {"separable u8 512 x 512 x 512, 9 + 9 + 9 f32", tess_u8, tess_f32, 3, {512, 512, 512}, 3, 1, 9, TESS_BOUNDARY_ZERO},
    {"separable u8 512 x 512 x 512, 7 + 7 + 7 f32, reflect", tess_u8, tess_f32, 3, {512, 512, 512}, 3, 1, 7, TESS_BOUNDARY_REFLECT},
    {"separable u8 1024 x 256 x 256, 7 + 7 + 7 f32", tess_u8, tess_f32, 3, {1024, 256, 256}, 3, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable u8 128 x 128 x 128, 7 + 7 + 7 f32", tess_u8, tess_f32, 3, {128, 128, 128}, 3, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable f16 512 x 512 x 512, 3 + 3 + 3", tess_f16, tess_f32, 3, {512, 512, 512}, 3, 1, 3, TESS_BOUNDARY_ZERO},
    {"separable f16 512 x 512 x 512, 5 + 5 + 5", tess_f16, tess_f32, 3, {512, 512, 512}, 3, 1, 5, TESS_BOUNDARY_ZERO},
    {"separable f16 512 x 512 x 512, 9 + 9 + 9", tess_f16, tess_f32, 3, {512, 512, 512}, 3, 1, 9, TESS_BOUNDARY_ZERO},
    {"separable f16 512 x 512 x 512, 7 + 7 + 7, reflect", tess_f16, tess_f32, 3, {512, 512, 512}, 3, 1, 7, TESS_BOUNDARY_REFLECT},
    {"separable f16 1024 x 256 x 256, 7 + 7 + 7", tess_f16, tess_f32, 3, {1024, 256, 256}, 3, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable f16 128 x 128 x 128, 7 + 7 + 7", tess_f16, tess_f32, 3, {128, 128, 128}, 3, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable f64 512 x 512 x 512, 7 + 7 + 7", tess_f64, tess_f64, 3, {512, 512, 512}, 3, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable u8 16384 x 16384, 15 + 15 f32", tess_u8, tess_f32, 2, {16384, 16384}, 2, 1, 15, TESS_BOUNDARY_ZERO},
    {"correlate f32 512 Mi, 3 taps", tess_f32, tess_f32, 1, {512 << 20}, 1, 1, 3, TESS_BOUNDARY_ZERO},
    {"correlate f32 512 Mi, 9 taps", tess_f32, tess_f32, 1, {512 << 20}, 1, 1, 9, TESS_BOUNDARY_ZERO},
    {"correlate f32 512 Mi, 33 taps", tess_f32, tess_f32, 1, {512 << 20}, 1, 1, 33, TESS_BOUNDARY_ZERO},
    {"correlate f32 512 Mi, 63 taps", tess_f32, tess_f32, 1, {512 << 20}, 1, 1, 63, TESS_BOUNDARY_ZERO},
    {"correlate f32 512 Mi, 127 taps", tess_f32, tess_f32, 1, {512 << 20}, 1, 1, 127, TESS_BOUNDARY_ZERO},
    {"correlate f32 512 Mi, 1023 taps", tess_f32, tess_f32, 1, {512 << 20}, 1, 1, 1023, TESS_BOUNDARY_ZERO},
    {"correlate f32 512 x 512 x 512, 3 x 3 x 3", tess_f32, tess_f32, 3, {512, 512, 512}, 1, 3, 3, TESS_BOUNDARY_ZERO},
    {"correlate f32 512 x 512 x 512, 5 x 5 x 5", tess_f32, tess_f32, 3, {512, 512, 512}, 1, 3, 5, TESS_BOUNDARY_ZERO},
    {"correlate f32 512 x 512 x 512, 7 x 7 x 7", tess_f32, tess_f32, 3, {512, 512, 512}, 1, 3, 7, TESS_BOUNDARY_ZERO},
    {"correlate f32 509 x 511 x 513, 3 x 3 x 3", tess_f32, tess_f32, 3, {509, 511, 513}, 1, 3, 3, TESS_BOUNDARY_ZERO},
    {"transforms f32 4096 x 4096, 15 x 15", tess_f32, tess_f32, 2, {4096, 4096}, 1, 2, 15, TESS_BOUNDARY_ZERO},
    {"transforms f32 4096 x 4096, 31 x 31", tess_f32, tess_f32, 2, {4096, 4096}, 1, 2, 31, TESS_BOUNDARY_ZERO},
    {"transforms f32 4096 x 4096, 63 x 63", tess_f32, tess_f32, 2, {4096, 4096}, 1, 2, 63, TESS_BOUNDARY_ZERO},
    {"transforms f32 4096 x 4096, 127 x 127", tess_f32, tess_f32, 2, {4096, 4096}, 1, 2, 127, TESS_BOUNDARY_ZERO},
    {"transforms f32 4096 x 4096, 255 x 255", tess_f32, tess_f32, 2, {4096, 4096}, 1, 2, 255, TESS_BOUNDARY_ZERO},
    {"transforms f32 4096 x 4096, 511 x 511", tess_f32, tess_f32, 2, {4096, 4096}, 1, 2, 511, TESS_BOUNDARY_ZERO},
    {"transforms f32 64 Mi, 129 taps", tess_f32, tess_f32, 1, {64 << 20}, 1, 1, 129, TESS_BOUNDARY_ZERO},
    {"transforms f32 64 Mi, 1023 taps", tess_f32, tess_f32, 1, {64 << 20}, 1, 1, 1023, TESS_BOUNDARY_ZERO},
    {"transforms f32 64 Mi, 4096 taps", tess_f32, tess_f32, 1, {64 << 20}, 1, 1, 4096, TESS_BOUNDARY_ZERO},
    {"transforms f32 64 Mi, 16384 taps", tess_f32, tess_f32, 1, {64 << 20}, 1, 1, 16384, TESS_BOUNDARY_ZERO},
    {"transforms f32 64 Mi, 65536 taps", tess_f32, tess_f32, 1, {64 << 20}, 1, 1, 65536, TESS_BOUNDARY_ZERO},
    {"transforms f64 4096 x 4096, 63 x 63", tess_f64, tess_f64, 2, {4096, 4096}, 1, 2, 63, TESS_BOUNDARY_ZERO},
    {"transforms f64 64 Mi, 1023 taps", tess_f64, tess_f64, 1, {64 << 20}, 1, 1, 1023, TESS_BOUNDARY_ZERO},
    {"transforms f32 256 x 256 x 256, 9 x 9 x 9", tess_f32, tess_f32, 3, {256, 256, 256}, 1, 3, 9, TESS_BOUNDARY_ZERO},
    {"correlate u8 16381 x 16379, 3 x 3 i8", tess_u8, tess_i8, 2, {16381, 16379}, 1, 2, 3, TESS_BOUNDARY_ZERO},
    {"correlate u8 16381 x 16379, 3 x 3 f32", tess_u8, tess_f32, 2, {16381, 16379}, 1, 2, 3, TESS_BOUNDARY_ZERO},
    {"correlate f16 16381 x 16379, 3 x 3", tess_f16, tess_f32, 2, {16381, 16379}, 1, 2, 3, TESS_BOUNDARY_ZERO},
    {"correlate u8 16381 x 16379, 7 x 7 f32", tess_u8, tess_f32, 2, {16381, 16379}, 1, 2, 7, TESS_BOUNDARY_ZERO},
    {"correlate f32 16381 x 16379, 9 taps", tess_f32, tess_f32, 2, {16381, 16379}, 1, 1, 9, TESS_BOUNDARY_ZERO},
    {"correlate u8 16381 x 16379, 9 taps f32", tess_u8, tess_f32, 2, {16381, 16379}, 1, 1, 9, TESS_BOUNDARY_ZERO},
    {"separable f32 16381 x 16379, 7 + 7", tess_f32, tess_f32, 2, {16381, 16379}, 2, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable f16 16381 x 16379, 7 + 7", tess_f16, tess_f32, 2, {16381, 16379}, 2, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable u8 16381 x 16379, 7 + 7 f32", tess_u8, tess_f32, 2, {16381, 16379}, 2, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable f32 4096 x 256 x 256, 7 + 7", tess_f32, tess_f32, 3, {4096, 256, 256}, 2, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable u8 4096 x 256 x 256, 7 + 7 f32", tess_u8, tess_f32, 3, {4096, 256, 256}, 2, 1, 7, TESS_BOUNDARY_ZERO},
    {"correlate f32 128 x 1080 x 1920, 5 x 5", tess_f32, tess_f32, 3, {128, 1080, 1920}, 1, 2, 5, TESS_BOUNDARY_REFLECT}, /* frames of a film */
    {"correlate f16 128 x 1080 x 1920, 5 x 5", tess_f16, tess_f32, 3, {128, 1080, 1920}, 1, 2, 5, TESS_BOUNDARY_REFLECT},
    {"correlate u8 128 x 1080 x 1920, 5 x 5 f32", tess_u8, tess_f32, 3, {128, 1080, 1920}, 1, 2, 5, TESS_BOUNDARY_REFLECT},
    {"correlate u8 128 x 1080 x 1920, 3 x 3 f32", tess_u8, tess_f32, 3, {128, 1080, 1920}, 1, 2, 3, TESS_BOUNDARY_REFLECT},
    {"correlate u8 4096 x 224 x 224, 3 x 3 f32", tess_u8, tess_f32, 3, {4096, 224, 224}, 1, 2, 3, TESS_BOUNDARY_REFLECT},
    {"correlate u8 4096 x 224 x 224, 5 x 5 f32", tess_u8, tess_f32, 3, {4096, 224, 224}, 1, 2, 5, TESS_BOUNDARY_REFLECT},
    {"correlate u8 16384 x 112 x 112, 3 x 3 f32", tess_u8, tess_f32, 3, {16384, 112, 112}, 1, 2, 3, TESS_BOUNDARY_REFLECT},
    {"correlate u8 16384 x 112 x 112, 5 x 5 f32", tess_u8, tess_f32, 3, {16384, 112, 112}, 1, 2, 5, TESS_BOUNDARY_REFLECT},
    {"correlate u8 4096 x 224 x 224, 7 x 7 f32", tess_u8, tess_f32, 3, {4096, 224, 224}, 1, 2, 7, TESS_BOUNDARY_REFLECT},
    {"correlate f16 4096 x 224 x 224, 3 x 3", tess_f16, tess_f32, 3, {4096, 224, 224}, 1, 2, 3, TESS_BOUNDARY_REFLECT},
    {"correlate f16 4096 x 224 x 224, 5 x 5", tess_f16, tess_f32, 3, {4096, 224, 224}, 1, 2, 5, TESS_BOUNDARY_REFLECT},
    {"correlate f16 16384 x 112 x 112, 3 x 3", tess_f16, tess_f32, 3, {16384, 112, 112}, 1, 2, 3, TESS_BOUNDARY_REFLECT},
    {"correlate f16 16384 x 112 x 112, 5 x 5", tess_f16, tess_f32, 3, {16384, 112, 112}, 1, 2, 5, TESS_BOUNDARY_REFLECT},
    {"correlate f32 4096 x 224 x 224, 3 x 3", tess_f32, tess_f32, 3, {4096, 224, 224}, 1, 2, 3, TESS_BOUNDARY_REFLECT},
    {"correlate f32 4096 x 224 x 224, 5 x 5", tess_f32, tess_f32, 3, {4096, 224, 224}, 1, 2, 5, TESS_BOUNDARY_REFLECT},
    {"correlate f32 16384 x 112 x 112, 3 x 3", tess_f32, tess_f32, 3, {16384, 112, 112}, 1, 2, 3, TESS_BOUNDARY_REFLECT},
    {"correlate f32 16384 x 112 x 112, 5 x 5", tess_f32, tess_f32, 3, {16384, 112, 112}, 1, 2, 5, TESS_BOUNDARY_REFLECT},
    {"correlate f32 16384 x 112 x 112, 7 x 7", tess_f32, tess_f32, 3, {16384, 112, 112}, 1, 2, 7, TESS_BOUNDARY_REFLECT},
    {"correlate f16 4096 x 256 x 256, 3 x 3", tess_f16, tess_f32, 3, {4096, 256, 256}, 1, 2, 3, TESS_BOUNDARY_ZERO},
    {"correlate f16 4096 x 256 x 256, 5 x 5", tess_f16, tess_f32, 3, {4096, 256, 256}, 1, 2, 5, TESS_BOUNDARY_ZERO},
    {"correlate f32 4096 x 256 x 256, 3 x 3", tess_f32, tess_f32, 3, {4096, 256, 256}, 1, 2, 3, TESS_BOUNDARY_ZERO},
    {"correlate f32 4096 x 256 x 256, 5 x 5", tess_f32, tess_f32, 3, {4096, 256, 256}, 1, 2, 5, TESS_BOUNDARY_ZERO},
    {"correlate u8 4096 x 256 x 256, 3 x 3 f32", tess_u8, tess_f32, 3, {4096, 256, 256}, 1, 2, 3, TESS_BOUNDARY_ZERO},
    {"correlate u8 4096 x 256 x 256, 5 x 5 f32", tess_u8, tess_f32, 3, {4096, 256, 256}, 1, 2, 5, TESS_BOUNDARY_ZERO},
    {"separable u8 4096 x 256 x 256, 3 + 3 f32", tess_u8, tess_f32, 3, {4096, 256, 256}, 2, 1, 3, TESS_BOUNDARY_ZERO},
    {"separable u8 1024 x 512 x 512, 7 + 7 f32", tess_u8, tess_f32, 3, {1024, 512, 512}, 2, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable u8 2048 x 384 x 384, 7 + 7 f32", tess_u8, tess_f32, 3, {2048, 384, 384}, 2, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable u8 4096 x 224 x 224, 7 + 7 f32", tess_u8, tess_f32, 3, {4096, 224, 224}, 2, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable u8 16384 x 112 x 112, 7 + 7 f32", tess_u8, tess_f32, 3, {16384, 112, 112}, 2, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable u8 8192 x 181 x 179, 7 + 7 f32", tess_u8, tess_f32, 3, {8192, 181, 179}, 2, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable u8 16384 x 127 x 125, 7 + 7 f32", tess_u8, tess_f32, 3, {16384, 127, 125}, 2, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable u8 32768 x 80 x 79, 7 + 7 f32", tess_u8, tess_f32, 3, {32768, 80, 79}, 2, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable f16 4096 x 256 x 256, 7 + 7", tess_f16, tess_f32, 3, {4096, 256, 256}, 2, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable f16 4096 x 256 x 256, 3 + 3", tess_f16, tess_f32, 3, {4096, 256, 256}, 2, 1, 3, TESS_BOUNDARY_ZERO},
    {"separable f16 2048 x 384 x 384, 7 + 7", tess_f16, tess_f32, 3, {2048, 384, 384}, 2, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable f16 4096 x 224 x 224, 7 + 7", tess_f16, tess_f32, 3, {4096, 224, 224}, 2, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable f16 16384 x 112 x 112, 7 + 7", tess_f16, tess_f32, 3, {16384, 112, 112}, 2, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable f16 8192 x 181 x 179, 7 + 7", tess_f16, tess_f32, 3, {8192, 181, 179}, 2, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable f16 16384 x 127 x 125, 7 + 7", tess_f16, tess_f32, 3, {16384, 127, 125}, 2, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable f16 32768 x 80 x 79, 7 + 7", tess_f16, tess_f32, 3, {32768, 80, 79}, 2, 1, 7, TESS_BOUNDARY_ZERO},
    {"correlate u8 4096 x 256 x 256, 3 x 3 i8", tess_u8, tess_i8, 3, {4096, 256, 256}, 1, 2, 3, TESS_BOUNDARY_ZERO},
    {"correlate u8 1024 x 511 x 509, 3 x 3 f32", tess_u8, tess_f32, 3, {1024, 511, 509}, 1, 2, 3, TESS_BOUNDARY_ZERO},
    {"correlate u8 16381 x 16379, 5 x 5 f32", tess_u8, tess_f32, 2, {16381, 16379}, 1, 2, 5, TESS_BOUNDARY_ZERO},
    {"correlate f16 16381 x 16379, 5 x 5", tess_f16, tess_f32, 2, {16381, 16379}, 1, 2, 5, TESS_BOUNDARY_ZERO},
    {"correlate f32 16381 x 16379, 5 x 5", tess_f32, tess_f32, 2, {16381, 16379}, 1, 2, 5, TESS_BOUNDARY_ZERO},
    {"correlate u8 4096 x 255 x 253, 3 x 3 i8", tess_u8, tess_i8, 3, {4096, 255, 253}, 1, 2, 3, TESS_BOUNDARY_ZERO}, /* small images of odd sides */
    {"correlate u8 4096 x 255 x 253, 3 x 3 f32", tess_u8, tess_f32, 3, {4096, 255, 253}, 1, 2, 3, TESS_BOUNDARY_ZERO},
    {"correlate u8 4096 x 255 x 253, 5 x 5 f32", tess_u8, tess_f32, 3, {4096, 255, 253}, 1, 2, 5, TESS_BOUNDARY_ZERO},
    {"correlate f16 4096 x 255 x 253, 3 x 3", tess_f16, tess_f32, 3, {4096, 255, 253}, 1, 2, 3, TESS_BOUNDARY_ZERO},
    {"correlate f16 4096 x 255 x 253, 5 x 5", tess_f16, tess_f32, 3, {4096, 255, 253}, 1, 2, 5, TESS_BOUNDARY_ZERO},
    {"correlate f32 4096 x 255 x 253, 3 x 3", tess_f32, tess_f32, 3, {4096, 255, 253}, 1, 2, 3, TESS_BOUNDARY_ZERO},
    {"correlate f32 4096 x 255 x 253, 5 x 5", tess_f32, tess_f32, 3, {4096, 255, 253}, 1, 2, 5, TESS_BOUNDARY_ZERO},
    {"correlate u8 16381 x 16379, 7 x 7 i8", tess_u8, tess_i8, 2, {16381, 16379}, 1, 2, 7, TESS_BOUNDARY_ZERO},
    {"correlate u8 4096 x 255 x 253, 7 x 7 i8", tess_u8, tess_i8, 3, {4096, 255, 253}, 1, 2, 7, TESS_BOUNDARY_ZERO},
    {"correlate u8 4096 x 256 x 256, 7 x 7 f32", tess_u8, tess_f32, 3, {4096, 256, 256}, 1, 2, 7, TESS_BOUNDARY_ZERO},
    {"correlate f16 4096 x 256 x 256, 7 x 7", tess_f16, tess_f32, 3, {4096, 256, 256}, 1, 2, 7, TESS_BOUNDARY_ZERO},
    {"correlate f32 4096 x 256 x 256, 7 x 7", tess_f32, tess_f32, 3, {4096, 256, 256}, 1, 2, 7, TESS_BOUNDARY_ZERO},
    {"correlate u8 32 x 255 x 253, 7 x 7 f32", tess_u8, tess_f32, 3, {32, 255, 253}, 1, 2, 7, TESS_BOUNDARY_ZERO},
    {"correlate f32 32 x 255 x 253, 7 x 7", tess_f32, tess_f32, 3, {32, 255, 253}, 1, 2, 7, TESS_BOUNDARY_ZERO},
    {"correlate u8 128 x 1080 x 1918, 7 x 7 f32", tess_u8, tess_f32, 3, {128, 1080, 1918}, 1, 2, 7, TESS_BOUNDARY_ZERO},
    {"correlate f16 16381 x 16379, 7 x 7", tess_f16, tess_f32, 2, {16381, 16379}, 1, 2, 7, TESS_BOUNDARY_ZERO},
    {"correlate u8 4096 x 255 x 253, 7 x 7 f32", tess_u8, tess_f32, 3, {4096, 255, 253}, 1, 2, 7, TESS_BOUNDARY_ZERO},
    {"correlate f16 4096 x 255 x 253, 7 x 7", tess_f16, tess_f32, 3, {4096, 255, 253}, 1, 2, 7, TESS_BOUNDARY_ZERO},
    {"correlate f32 4096 x 255 x 253, 7 x 7", tess_f32, tess_f32, 3, {4096, 255, 253}, 1, 2, 7, TESS_BOUNDARY_ZERO},
    {"separable u8 16381 x 16379, 3 + 3 f32",
     tess_u8,
     tess_f32,
     2,
     {16381, 16379},
     2,
     1,
     3,
     TESS_BOUNDARY_ZERO}, /* narrow elements whose rows begin anywhere */
    {"separable u8 16381 x 16379, 5 + 5 f32", tess_u8, tess_f32, 2, {16381, 16379}, 2, 1, 5, TESS_BOUNDARY_ZERO},
    {"separable u8 16381 x 16379, 9 + 9 f32", tess_u8, tess_f32, 2, {16381, 16379}, 2, 1, 9, TESS_BOUNDARY_ZERO},
    {"separable f16 16381 x 16379, 3 + 3", tess_f16, tess_f32, 2, {16381, 16379}, 2, 1, 3, TESS_BOUNDARY_ZERO},
    {"separable f16 16381 x 16379, 5 + 5", tess_f16, tess_f32, 2, {16381, 16379}, 2, 1, 5, TESS_BOUNDARY_ZERO},
    {"separable u8 128 x 1080 x 1918, 7 + 7 f32", tess_u8, tess_f32, 3, {128, 1080, 1918}, 2, 1, 7, TESS_BOUNDARY_REFLECT},
    {"separable u8 1024 x 511 x 509, 7 + 7 f32", tess_u8, tess_f32, 3, {1024, 511, 509}, 2, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable u8 4096 x 255 x 253, 7 + 7 f32", tess_u8, tess_f32, 3, {4096, 255, 253}, 2, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable f16 128 x 1080 x 1918, 7 + 7", tess_f16, tess_f32, 3, {128, 1080, 1918}, 2, 1, 7, TESS_BOUNDARY_REFLECT},
    {"separable f16 1024 x 511 x 509, 7 + 7", tess_f16, tess_f32, 3, {1024, 511, 509}, 2, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable f16 4096 x 255 x 253, 7 + 7", tess_f16, tess_f32, 3, {4096, 255, 253}, 2, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable u8 4096 x 255 x 253, 3 + 3 f32", tess_u8, tess_f32, 3, {4096, 255, 253}, 2, 1, 3, TESS_BOUNDARY_ZERO},
    {"separable f16 4096 x 255 x 253, 3 + 3", tess_f16, tess_f32, 3, {4096, 255, 253}, 2, 1, 3, TESS_BOUNDARY_ZERO},
    {"separable u8 2048 x 383 x 381, 7 + 7 f32", tess_u8, tess_f32, 3, {2048, 383, 381}, 2, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable u8 32 x 255 x 253, 7 + 7 f32", tess_u8, tess_f32, 3, {32, 255, 253}, 2, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable f16 32 x 255 x 253, 7 + 7", tess_f16, tess_f32, 3, {32, 255, 253}, 2, 1, 7, TESS_BOUNDARY_ZERO},
    {"correlate u8 32 x 255 x 253, 3 x 3 f32", tess_u8, tess_f32, 3, {32, 255, 253}, 1, 2, 3, TESS_BOUNDARY_ZERO}, /* few of them */
    {"correlate u8 32 x 255 x 253, 5 x 5 f32", tess_u8, tess_f32, 3, {32, 255, 253}, 1, 2, 5, TESS_BOUNDARY_ZERO},
    {"correlate f32 32 x 255 x 253, 3 x 3", tess_f32, tess_f32, 3, {32, 255, 253}, 1, 2, 3, TESS_BOUNDARY_ZERO},
    {"correlate u8 16384 x 16384, 5 x 5 f32", tess_u8, tess_f32, 2, {16384, 16384}, 1, 2, 5, TESS_BOUNDARY_ZERO},
    {"separable f32 128 x 1080 x 1920, 7 + 7", tess_f32, tess_f32, 3, {128, 1080, 1920}, 2, 1, 7, TESS_BOUNDARY_REFLECT},
    {"separable u8 128 x 1080 x 1920, 7 + 7 f32", tess_u8, tess_f32, 3, {128, 1080, 1920}, 2, 1, 7, TESS_BOUNDARY_REFLECT},
    {"separable u8 4096 x 256 x 256, 7 + 7 f32, reflect", tess_u8, tess_f32, 3, {4096, 256, 256}, 2, 1, 7, TESS_BOUNDARY_REFLECT},
    {"separable u8 4096 x 256 x 256, 7 + 7 f32, wrap", tess_u8, tess_f32, 3, {4096, 256, 256}, 2, 1, 7, TESS_BOUNDARY_WRAP},
    {"separable u8 4096 x 256 x 256, 3 + 3 f32, reflect", tess_u8, tess_f32, 3, {4096, 256, 256}, 2, 1, 3, TESS_BOUNDARY_REFLECT},
    {"separable f16 4096 x 256 x 256, 7 + 7, reflect", tess_f16, tess_f32, 3, {4096, 256, 256}, 2, 1, 7, TESS_BOUNDARY_REFLECT},
    {"separable f16 4096 x 224 x 224, 7 + 7, reflect", tess_f16, tess_f32, 3, {4096, 224, 224}, 2, 1, 7, TESS_BOUNDARY_REFLECT},
    {"separable u8 4096 x 255 x 253, 7 + 7 f32, mirror", tess_u8, tess_f32, 3, {4096, 255, 253}, 2, 1, 7, TESS_BOUNDARY_MIRROR},
    {"separable f16 4096 x 255 x 253, 7 + 7, nearest", tess_f16, tess_f32, 3, {4096, 255, 253}, 2, 1, 7, TESS_BOUNDARY_NEAREST},
    {"separable u8 8192 x 181 x 179, 7 + 7 f32, reflect", tess_u8, tess_f32, 3, {8192, 181, 179}, 2, 1, 7, TESS_BOUNDARY_REFLECT},
    {"separable f16 8192 x 181 x 179, 7 + 7, reflect", tess_f16, tess_f32, 3, {8192, 181, 179}, 2, 1, 7, TESS_BOUNDARY_REFLECT},
    {"separable u8 16384 x 127 x 125, 7 + 7 f32, reflect", tess_u8, tess_f32, 3, {16384, 127, 125}, 2, 1, 7, TESS_BOUNDARY_REFLECT},
    {"separable f16 16384 x 127 x 125, 7 + 7, reflect", tess_f16, tess_f32, 3, {16384, 127, 125}, 2, 1, 7, TESS_BOUNDARY_REFLECT},
    {"separable u8 1024 x 511 x 509, 7 + 7 f32, reflect", tess_u8, tess_f32, 3, {1024, 511, 509}, 2, 1, 7, TESS_BOUNDARY_REFLECT},
    {"separable u8 32 x 255 x 253, 7 + 7 f32, reflect", tess_u8, tess_f32, 3, {32, 255, 253}, 2, 1, 7, TESS_BOUNDARY_REFLECT},
    {"separable f16 509 x 511 x 513, 7 + 7 + 7", tess_f16, tess_f32, 3, {509, 511, 513}, 3, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable u8 509 x 511 x 513, 7 + 7 + 7 f32", tess_u8, tess_f32, 3, {509, 511, 513}, 3, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable u8 509 x 511 x 513, 3 + 3 + 3 f32", tess_u8, tess_f32, 3, {509, 511, 513}, 3, 1, 3, TESS_BOUNDARY_ZERO},
    {"separable u8 509 x 511 x 513, 5 + 5 + 5 f32", tess_u8, tess_f32, 3, {509, 511, 513}, 3, 1, 5, TESS_BOUNDARY_ZERO},
    {"separable u8 509 x 511 x 513, 7 + 7 + 7 f32, reflect", tess_u8, tess_f32, 3, {509, 511, 513}, 3, 1, 7, TESS_BOUNDARY_REFLECT},
    {"separable f16 509 x 511 x 513, 3 + 3 + 3", tess_f16, tess_f32, 3, {509, 511, 513}, 3, 1, 3, TESS_BOUNDARY_ZERO},
    {"separable f16 509 x 511 x 513, 5 + 5 + 5", tess_f16, tess_f32, 3, {509, 511, 513}, 3, 1, 5, TESS_BOUNDARY_ZERO},
    {"separable f16 509 x 511 x 513, 7 + 7 + 7, reflect", tess_f16, tess_f32, 3, {509, 511, 513}, 3, 1, 7, TESS_BOUNDARY_REFLECT},
    {"separable f64 509 x 511 x 513, 7 + 7 + 7", tess_f64, tess_f64, 3, {509, 511, 513}, 3, 1, 7, TESS_BOUNDARY_ZERO},
    {"correlate i8 16384 x 16384, 3 x 3 i8", tess_i8, tess_i8, 2, {16384, 16384}, 1, 2, 3, TESS_BOUNDARY_ZERO},
    {"correlate u16 16384 x 16384, 3 x 3", tess_u16, tess_f32, 2, {16384, 16384}, 1, 2, 3, TESS_BOUNDARY_ZERO},
    {"correlate i32 16384 x 16384, 3 x 3 f64", tess_i32, tess_f64, 2, {16384, 16384}, 1, 2, 3, TESS_BOUNDARY_ZERO},
    {"correlate u8 16384 x 16384, 7 x 7 i8", tess_u8, tess_i8, 2, {16384, 16384}, 1, 2, 7, TESS_BOUNDARY_ZERO},
    {"correlate i16 16384 x 16384, 7 x 7", tess_i16, tess_f32, 2, {16384, 16384}, 1, 2, 7, TESS_BOUNDARY_ZERO},
    {"correlate bf16 16384 x 16384, 7 x 7", tess_bf16, tess_f32, 2, {16384, 16384}, 1, 2, 7, TESS_BOUNDARY_ZERO},
    {"correlate f64 16384 x 16384, 7 x 7", tess_f64, tess_f64, 2, {16384, 16384}, 1, 2, 7, TESS_BOUNDARY_ZERO},
    {"correlate u8 1 Gi, 9 taps f32", tess_u8, tess_f32, 1, {1 << 30}, 1, 1, 9, TESS_BOUNDARY_ZERO},
    {"correlate u8 1 Gi, 9 taps i8", tess_u8, tess_i8, 1, {1 << 30}, 1, 1, 9, TESS_BOUNDARY_ZERO},
    {"correlate f16 1 Gi, 9 taps", tess_f16, tess_f32, 1, {1 << 30}, 1, 1, 9, TESS_BOUNDARY_ZERO},
    {"correlate f64 256 Mi, 9 taps", tess_f64, tess_f64, 1, {256 << 20}, 1, 1, 9, TESS_BOUNDARY_ZERO},
    {"correlate f16 512 x 512 x 512, 3 x 3 x 3", tess_f16, tess_f32, 3, {512, 512, 512}, 1, 3, 3, TESS_BOUNDARY_ZERO},
    {"correlate f64 512 x 512 x 512, 3 x 3 x 3", tess_f64, tess_f64, 3, {512, 512, 512}, 1, 3, 3, TESS_BOUNDARY_ZERO},
    {"separable f16 16384 x 16384, 7 + 7", tess_f16, tess_f32, 2, {16384, 16384}, 2, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable u8 16384 x 16384, 7 + 7 f32", tess_u8, tess_f32, 2, {16384, 16384}, 2, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable u8 16384 x 16384, 3 + 3 f32", tess_u8, tess_f32, 2, {16384, 16384}, 2, 1, 3, TESS_BOUNDARY_ZERO},
    {"separable u8 16384 x 16384, 5 + 5 f32", tess_u8, tess_f32, 2, {16384, 16384}, 2, 1, 5, TESS_BOUNDARY_ZERO},
    {"separable u8 16384 x 16384, 9 + 9 f32", tess_u8, tess_f32, 2, {16384, 16384}, 2, 1, 9, TESS_BOUNDARY_ZERO},
    {"separable f16 16384 x 16384, 3 + 3", tess_f16, tess_f32, 2, {16384, 16384}, 2, 1, 3, TESS_BOUNDARY_ZERO},
    {"separable f16 16384 x 16384, 5 + 5", tess_f16, tess_f32, 2, {16384, 16384}, 2, 1, 5, TESS_BOUNDARY_ZERO},
    {"separable f64 16384 x 16384, 7 + 7", tess_f64, tess_f64, 2, {16384, 16384}, 2, 1, 7, TESS_BOUNDARY_ZERO},
    {"correlate f32 8192 x 16384, 3 x 3, Fortran's order",
     tess_f32,
     tess_f32,
     2,
     {8192, 16384},
     1,
     2,
     3,
     TESS_BOUNDARY_ZERO}, /* elements in other orders, at steps, complex */
    {"correlate f32 8192 x 16384, 5 x 5, Fortran's order", tess_f32, tess_f32, 2, {8192, 16384}, 1, 2, 5, TESS_BOUNDARY_ZERO},
    {"correlate f32 8192 x 16384, 15 x 15, Fortran's order", tess_f32, tess_f32, 2, {8192, 16384}, 1, 2, 15, TESS_BOUNDARY_ZERO},
    {"correlate f16 16384 x 16384, 3 x 3, Fortran's order", tess_f16, tess_f32, 2, {16384, 16384}, 1, 2, 3, TESS_BOUNDARY_ZERO},
    {"correlate f32 8192 x 16384, 7 x 7, Fortran's order", tess_f32, tess_f32, 2, {8192, 16384}, 1, 2, 7, TESS_BOUNDARY_ZERO},
    {"correlate u8 16384 x 16384, 3 x 3 f32, Fortran's order", tess_u8, tess_f32, 2, {16384, 16384}, 1, 2, 3, TESS_BOUNDARY_ZERO},
    {"correlate f32 512 x 512 x 512, 3 x 3 x 3, Fortran's order", tess_f32, tess_f32, 3, {512, 512, 512}, 1, 3, 3, TESS_BOUNDARY_ZERO},
    {"correlate f32 8192 x 16384, 3 x 3, from Fortran's order", tess_f32, tess_f32, 2, {8192, 16384}, 1, 2, 3, TESS_BOUNDARY_ZERO},
    {"correlate f32 512 x 512 x 512, 3 x 3 x 3, from Fortran's order", tess_f32, tess_f32, 3, {512, 512, 512}, 1, 3, 3, TESS_BOUNDARY_ZERO},
    {"correlate f16 16384 x 16384, 3 x 3, from Fortran's order", tess_f16, tess_f32, 2, {16384, 16384}, 1, 2, 3, TESS_BOUNDARY_ZERO},
    {"correlate u8 16384 x 16384, 3 x 3 f32, from Fortran's order", tess_u8, tess_f32, 2, {16384, 16384}, 1, 2, 3, TESS_BOUNDARY_ZERO},
    {"correlate f32 44 x 32 x 45115, 9 taps, axes y, from Fortran's order", tess_f32, tess_f32, 3, {44, 32, 45115}, 1, 1, 9, TESS_BOUNDARY_MIRROR},
    {"correlate i16 381938 x 13 x 16, 16 taps i8, from Fortran's order", tess_i16, tess_i8, 3, {381938, 13, 16}, 1, 1, 16, TESS_BOUNDARY_MIRROR},
    {"separable f32 8192 x 16384, 7 + 7, from Fortran's order", tess_f32, tess_f32, 2, {8192, 16384}, 2, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable i8 64887 x 986, 5 + 5 f32, from Fortran's order", tess_i8, tess_f32, 2, {64887, 986}, 2, 1, 5, TESS_BOUNDARY_MIRROR},
    {"separable i8 16795 x 112 x 40, 5 + 5 + 5 f32, from Fortran's order", tess_i8, tess_f32, 3, {16795, 112, 40}, 3, 1, 5, TESS_BOUNDARY_WRAP},
    {"separable f16 12800000 x 5, 5 + 5, from Fortran's order", tess_f16, tess_f32, 2, {12800000, 5}, 2, 1, 5, TESS_BOUNDARY_CONSTANT},
    {"correlate f32 16384 x 4096, 3 x 3, every 2nd column", tess_f32, tess_f32, 2, {16384, 4096}, 1, 2, 3, TESS_BOUNDARY_ZERO},
    {"correlate f32 16384 x 4096, 5 x 5, every 2nd column", tess_f32, tess_f32, 2, {16384, 4096}, 1, 2, 5, TESS_BOUNDARY_ZERO},
    {"correlate f32 16384 x 4096, 7 x 7, every 2nd column", tess_f32, tess_f32, 2, {16384, 4096}, 1, 2, 7, TESS_BOUNDARY_ZERO},
    {"correlate f32 16384 x 4096, 9 x 9, every 2nd column", tess_f32, tess_f32, 2, {16384, 4096}, 1, 2, 9, TESS_BOUNDARY_ZERO},
    {"correlate f32 16384 x 4096, 15 x 15, every 2nd column", tess_f32, tess_f32, 2, {16384, 4096}, 1, 2, 15, TESS_BOUNDARY_ZERO},
    {"correlate f32 16384 x 4096, 21 x 21, every 2nd column", tess_f32, tess_f32, 2, {16384, 4096}, 1, 2, 21, TESS_BOUNDARY_ZERO},
    {"correlate f32 16384 x 4096, 31 x 31, every 2nd column", tess_f32, tess_f32, 2, {16384, 4096}, 1, 2, 31, TESS_BOUNDARY_ZERO},
    {"correlate u8 16384 x 8192, 3 x 3 f32, every 3rd column", tess_u8, tess_f32, 2, {16384, 8192}, 1, 2, 3, TESS_BOUNDARY_ZERO},
    {"correlate c64 8192 x 8192, 3 x 3 f32", tess_c64, tess_f32, 2, {8192, 8192}, 1, 2, 3, TESS_BOUNDARY_ZERO},
    {"correlate c64 8192 x 8192, 7 x 7 f32", tess_c64, tess_f32, 2, {8192, 8192}, 1, 2, 7, TESS_BOUNDARY_ZERO},
    {"correlate c64 512 x 256 x 256, 3 x 3 f32, reflect", tess_c64, tess_f32, 3, {512, 256, 256}, 1, 2, 3, TESS_BOUNDARY_REFLECT},
    {"correlate c64 64 Mi, 31 taps f32", tess_c64, tess_f32, 1, {64 << 20}, 1, 1, 31, TESS_BOUNDARY_ZERO},
    {"separable c64 8192 x 8192, 7 + 7 f32", tess_c64, tess_f32, 2, {8192, 8192}, 2, 1, 7, TESS_BOUNDARY_ZERO},
    {"separable u8 16384 x 16384 x 3, 7 + 7 f32, axes z y",
     tess_u8,
     tess_f32,
     3,
     {16384, 16384, 3},
     2,
     1,
     7,
     TESS_BOUNDARY_REFLECT}, /* pixels of colours, and lists beside rows */
    {"separable f16 12000 x 12000 x 3, 7 + 7, axes z y", tess_f16, tess_f32, 3, {12000, 12000, 3}, 2, 1, 7, TESS_BOUNDARY_REFLECT},
    {"separable f32 8192 x 8192 x 3, 7 + 7, axes z y", tess_f32, tess_f32, 3, {8192, 8192, 3}, 2, 1, 7, TESS_BOUNDARY_REFLECT},
    {"separable u8 64 x 1080 x 1920 x 3, 3 + 3 f32, axes z y", tess_u8, tess_f32, 4, {64, 1080, 1920, 3}, 2, 1, 3, TESS_BOUNDARY_REFLECT},
    {"separable u8 16381 x 16379 x 3, 7 + 7 f32, axes z y", tess_u8, tess_f32, 3, {16381, 16379, 3}, 2, 1, 7, TESS_BOUNDARY_REFLECT},
    {"separable f16 12001 x 11999 x 3, 7 + 7, axes z y", tess_f16, tess_f32, 3, {12001, 11999, 3}, 2, 1, 7, TESS_BOUNDARY_REFLECT},
    {"separable f32 8191 x 8189 x 3, 7 + 7, axes z y", tess_f32, tess_f32, 3, {8191, 8189, 3}, 2, 1, 7, TESS_BOUNDARY_REFLECT},
    {"separable u8 64 x 1080 x 1919 x 3, 3 + 3 f32, axes z y", tess_u8, tess_f32, 4, {64, 1080, 1919, 3}, 2, 1, 3, TESS_BOUNDARY_REFLECT},
    {"separable f32 512 x 512 x 512, 7 + 7, axes z y", tess_f32, tess_f32, 3, {512, 512, 512}, 2, 1, 7, TESS_BOUNDARY_REFLECT},
    {"separable f32 512 x 512 x 512, 3 + 3, axes z y", tess_f32, tess_f32, 3, {512, 512, 512}, 2, 1, 3, TESS_BOUNDARY_ZERO},
    {"separable f32 512 x 512 x 512, 11 + 11, axes z y", tess_f32, tess_f32, 3, {512, 512, 512}, 2, 1, 11, TESS_BOUNDARY_ZERO},
    {"separable f16 512 x 512 x 512, 7 + 7, axes y z", tess_f16, tess_f32, 3, {512, 512, 512}, 2, 1, 7, TESS_BOUNDARY_REFLECT},
    {"separable u8 512 x 512 x 512, 7 + 7 f32, axes z y", tess_u8, tess_f32, 3, {512, 512, 512}, 2, 1, 7, TESS_BOUNDARY_REFLECT},
    {"separable f32 509 x 511 x 513, 7 + 7, axes z y", tess_f32, tess_f32, 3, {509, 511, 513}, 2, 1, 7, TESS_BOUNDARY_REFLECT},
    {"separable f32 1024 x 1024 x 64, 7 + 7, axes z y", tess_f32, tess_f32, 3, {1024, 1024, 64}, 2, 1, 7, TESS_BOUNDARY_REFLECT},
    {"separable f32 1024 x 1024 x 64, 3 + 3, axes z y", tess_f32, tess_f32, 3, {1024, 1024, 64}, 2, 1, 3, TESS_BOUNDARY_REFLECT},
    {"correlate f32 100000 x 1000, 101 taps", tess_f32, tess_f32, 2, {100000, 1000}, 1, 1, 101, TESS_BOUNDARY_ZERO}, /* rows that are a tile or two */
    {"correlate f32 100000 x 1000, 33 taps", tess_f32, tess_f32, 2, {100000, 1000}, 1, 1, 33, TESS_BOUNDARY_ZERO},
    {"correlate f32 100000 x 1001, 33 taps", tess_f32, tess_f32, 2, {100000, 1001}, 1, 1, 33, TESS_BOUNDARY_REFLECT},
    {"correlate f32 200000 x 500, 33 taps", tess_f32, tess_f32, 2, {200000, 500}, 1, 1, 33, TESS_BOUNDARY_ZERO},
    {"correlate f32 330000 x 300, 33 taps", tess_f32, tess_f32, 2, {330000, 300}, 1, 1, 33, TESS_BOUNDARY_ZERO},
    {"correlate f32 50000 x 2000, 33 taps", tess_f32, tess_f32, 2, {50000, 2000}, 1, 1, 33, TESS_BOUNDARY_ZERO},
    {"correlate f16 200000 x 1000, 33 taps", tess_f16, tess_f32, 2, {200000, 1000}, 1, 1, 33, TESS_BOUNDARY_ZERO},
    {"correlate u8 400000 x 1008, 33 taps f32", tess_u8, tess_f32, 2, {400000, 1008}, 1, 1, 33, TESS_BOUNDARY_ZERO},
    {"correlate u8 400000 x 1000, 33 taps f32", tess_u8, tess_f32, 2, {400000, 1000}, 1, 1, 33, TESS_BOUNDARY_ZERO},
    {"correlate f32 16384 x 8192, 31 taps, axes y", tess_f32, tess_f32, 2, {16384, 8192}, 1, 1, 31, TESS_BOUNDARY_ZERO}, /* columns */
    {"correlate f32 16384 x 8192, 15 taps, axes y", tess_f32, tess_f32, 2, {16384, 8192}, 1, 1, 15, TESS_BOUNDARY_ZERO},
    {"correlate u8 16384 x 16384, 31 taps f32, axes y", tess_u8, tess_f32, 2, {16384, 16384}, 1, 1, 31, TESS_BOUNDARY_ZERO},
    {"correlate u8 16384 x 16384 x 3, 3 x 3 i8, axes z y", tess_u8, tess_i8, 3, {16384, 16384, 3}, 1, 2, 3, TESS_BOUNDARY_REFLECT}, /* colours */
    {"correlate u8 16384 x 16384 x 3, 5 x 5 i8, axes z y", tess_u8, tess_i8, 3, {16384, 16384, 3}, 1, 2, 5, TESS_BOUNDARY_REFLECT},
    {"correlate u8 16384 x 16384 x 3, 7 x 7 i8, axes z y", tess_u8, tess_i8, 3, {16384, 16384, 3}, 1, 2, 7, TESS_BOUNDARY_REFLECT},
    {"correlate u8 16384 x 16384 x 4, 5 x 5 i8, axes z y", tess_u8, tess_i8, 3, {16384, 16384, 4}, 1, 2, 5, TESS_BOUNDARY_REFLECT},
    {"correlate u8 16384 x 16384, 5 x 5 i8", tess_u8, tess_i8, 2, {16384, 16384}, 1, 2, 5, TESS_BOUNDARY_ZERO},
    {"correlate f32 3200000 x 12, 7 x 7", tess_f32, tess_f32, 2, {3200000, 12}, 1, 2, 7, TESS_BOUNDARY_ZERO}, /* axes of few elements */
    {"correlate f32 3200000 x 12, 3 x 3", tess_f32, tess_f32, 2, {3200000, 12}, 1, 2, 3, TESS_BOUNDARY_ZERO},
    {"correlate f32 1777777 x 24, 5 x 5", tess_f32, tess_f32, 2, {1777777, 24}, 1, 2, 5, TESS_BOUNDARY_ZERO},
    {"correlate f32 40 x 13284 x 60, 7 x 7", tess_f32, tess_f32, 3, {40, 13284, 60}, 1, 2, 7, TESS_BOUNDARY_ZERO},
    {"correlate u8 2000000 x 34, 7 taps f32", tess_u8, tess_f32, 2, {2000000, 34}, 1, 1, 7, TESS_BOUNDARY_WRAP},
    {"correlate u8 2000000 x 12 x 3, 3 x 3 f32, axes z y", tess_u8, tess_f32, 3, {2000000, 12, 3}, 1, 2, 3, TESS_BOUNDARY_REFLECT},
    {"correlate bf16 32000000 x 1, 7 x 7", tess_bf16, tess_f32, 2, {32000000, 1}, 1, 2, 7, TESS_BOUNDARY_ZERO},
    {"correlate f16 1 x 27059688, 9 taps, axes y", tess_f16, tess_f32, 2, {1, 27059688}, 1, 1, 9, TESS_BOUNDARY_ZERO},
    {"correlate f32 3 x 10666668, 9 x 9, mirror", tess_f32, tess_f32, 2, {3, 10666668}, 1, 2, 9, TESS_BOUNDARY_MIRROR},
    {"correlate f32 7 x 4571428, 7 x 7", tess_f32, tess_f32, 2, {7, 4571428}, 1, 2, 7, TESS_BOUNDARY_ZERO},
    {"separable f16 2 x 139 x 81310, 9 + 9 + 9",
     tess_f16,
     tess_f32,
     3,
     {2, 139, 81310},
     3,
     1,
     9,
     TESS_BOUNDARY_WRAP}, /* lists with an axis shorter than its mask */
    {"separable i8 8 x 7118911, 9 + 9 f32", tess_i8, tess_f32, 2, {8, 7118911}, 2, 1, 9, TESS_BOUNDARY_REFLECT},
    {"separable u8 2600524 x 4 x 6, 5 + 5 f32", tess_u8, tess_f32, 3, {2600524, 4, 6}, 2, 1, 5, TESS_BOUNDARY_MIRROR},
    {"separable f32 1408 x 39824 x 1, 3 + 3", tess_f32, tess_f32, 3, {1408, 39824, 1}, 2, 1, 3, TESS_BOUNDARY_NEAREST},
    {"separable f16 3 x 3358 x 6400, 7 + 7 + 7", tess_f16, tess_f32, 3, {3, 3358, 6400}, 3, 1, 7, TESS_BOUNDARY_REFLECT},
    {"correlate u8 6 x 2056 x 4096, 7 x 7 x 7 f32", tess_u8, tess_f32, 3, {6, 2056, 4096}, 1, 3, 7, TESS_BOUNDARY_REFLECT}, /* few planes and rows */
    {"correlate f32 4 x 4096 x 4096, 5 x 5 x 5", tess_f32, tess_f32, 3, {4, 4096, 4096}, 1, 3, 5, TESS_BOUNDARY_MIRROR},
    {"correlate f32 50000 x 5 x 216, 7 x 7", tess_f32, tess_f32, 3, {50000, 5, 216}, 1, 2, 7, TESS_BOUNDARY_REFLECT},
    {"ladder correlate 64 Mi, 11 taps", tess_f32, tess_f32, 1, {64 << 20}, 1, 1, 11, TESS_BOUNDARY_ZERO},
    {"ladder correlate 8192 x 8192, 5 x 5", tess_f32, tess_f32, 2, {8192, 8192}, 1, 2, 5, TESS_BOUNDARY_ZERO},
    {"ladder separable 8192 x 8192, 5 + 5", tess_f32, tess_f32, 2, {8192, 8192}, 2, 1, 5, TESS_BOUNDARY_ZERO},
};

/* The order of a list's axes, the last of which is x, or those of one mask, where the work's name ends in them: "axes y z x". How many; 0: the name has none. */
static int order_of(const struct work *w, int *axes) {
    const char *order = strstr(w->work, ", axes ");
    const int count = !order ? 0 : w->masks > 1 ? w->masks : w->mask_ndim;
    for (int k = 0; k < count; k++)
        axes[k] = w->ndim - 1 - (order[7 + 2 * k] - 'x');
    return count;
}

/* Steps of the input's finest axis, as the work's name says: "every 2nd column". */
static int64_t steps_of(const struct work *w) {
    const char *every = strstr(w->work, ", every ");
    return every ? every[8] - '0' : 1;
}

/* Both arrays in Fortran's order, or the input alone, or neither. */
static void lie_as(const struct work *w, DLTensor *from, DLTensor *to, int64_t (*strides)[4]) {
    const int turned = strstr(w->work, ", from Fortran's order") ? 1 : strstr(w->work, ", Fortran's order") ? 3 : 0;
    for (int a = 0; a < 2; a++) {
        int64_t step = a ? 1 : steps_of(w);
        for (int k = w->ndim - 1; k >= 0; k--) {
            const int d = turned >> a & 1 ? w->ndim - 1 - k : k;
            strides[a][d] = step;
            step *= w->shape[d];
        }
        (a ? to : from)->strides = strides[a];
    }
}

/* Weights that are no outer product and, for integers, small. */
static void fill_mask(void *weights, tess_type type, int64_t taps) {
    for (int64_t t = 0; t < taps; t++) {
        int64_t v = t * 5 % 7 - 3;
        if (type == tess_i8)
            ((signed char *)weights)[t] = (signed char)v;
        else if (type == tess_f64)
            ((double *)weights)[t] = (double)v * 0.37;
        else
            ((float *)weights)[t] = (float)v * 0.37f;
    }
}

void gpu_works_correlate(gpu_bench *b) {
    static double weights[LARGEST];
    for (int i = 0; i < (int)(sizeof works / sizeof *works); i++) {
        const struct work *w = &works[i];
        int64_t count = 1, shape[4], width[3] = {w->width, w->width, w->width}, taps = 1;
        int axes[3];
        bool more;
        if (!gpu_bench_wants(b, w->work))
            continue;
        for (int d = 0; d < w->ndim; d++)
            count *= shape[d] = w->shape[d];
        for (int d = 0; d < w->mask_ndim; d++)
            taps *= w->width;
        const bool transforms = strncmp(w->work, "transforms", 10) == 0;
        fill_mask(weights, w->mask, taps);
        if (transforms) /* 63 is a multiple of 7: one weight makes it no outer product */
            memset(weights, 0, tess_type_size(w->mask));
        int64_t bytes = count * (int64_t)tess_type_size(w->type), strides[2][4];
        void *in = gpu_bench_memory(b, 0, bytes * steps_of(w)), *out = gpu_bench_memory(b, 2, bytes);
        DLTensor from = gpu_bench_view(in, w->type, w->ndim, shape), to = gpu_bench_view(out, w->type, w->ndim, shape);
        DLTensor mask = tess_view(weights, w->mask, w->mask_ndim, width, NULL);
        const DLTensor *masks[] = {&mask, &mask, &mask};
        lie_as(w, &from, &to, strides);
        for (int r = 0;; r++) {
            tess_plan *plan = NULL;
            tess_correlate_options options = {.struct_size = sizeof options, .boundary = w->boundary};
            options.accuracy = transforms ? TESS_ACCURACY_FAST : TESS_ACCURACY_DIRECT;
            options.naxes = order_of(w, axes);
            options.axes = options.naxes ? axes : NULL;
            options.call = gpu_bench_call(b, gpu_bench_row(b, "correlate", r, &more));
            if (!more)
                break;
            tess_status status = tess_plan_correlate(&plan, gpu_bench_context(b), &from, masks, w->masks, &to, &options);
            gpu_bench_time(b, status, plan, w->work, in, NULL, out, 2.0 * (double)bytes, 2.0 * (double)(taps * w->masks) * (double)count);
        }
    }
}
