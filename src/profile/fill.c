/* SPDX-License-Identifier: Apache-2.0
 * fill.c - the values that a launch text can ask for: ramp, zeros, ones, random:SEED.
 *
 * random is SplitMix64 (Steele, Lea and Flood 2014) as a function of the element's number, so that any element can be had alone: the state
 * SEED + (i + 1) * 0x9e3779b97f4a7c15 goes through its mixer. Integers take the low bits, floats the high ones as a multiple of 2^-53, 2^-24, 2^-11
 * (f16), 2^-8 (bf16) in [0, 1). */
#include <string.h>

#include "core/convert.h"
#include "profile/profile.h"

enum { ROW = 1024 };

static uint64_t mixed(uint64_t z) {
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static int fraction_bits(tess_type type) { return type == tess_f64 ? 53 : type == tess_f32 ? 24 : type == tess_f16 ? 11 : 8; }

static uint64_t whole(tess_launch_source source, uint64_t seed, int64_t i) {
    switch (source) {
    case TESS_SOURCE_RAMP: return (uint64_t)i;
    case TESS_SOURCE_ONES: return 1;
    case TESS_SOURCE_RANDOM: return mixed(seed + ((uint64_t)i + 1) * 0x9e3779b97f4a7c15u);
    default: return 0;
    }
}

tess_status tess_profile_fill(tess_context *context, void *data, tess_type type, int64_t count, tess_launch_source source, uint64_t seed) {
    size_t size = tess_type_size(type);
    if (type < tess_f16) { /* the low bytes, on a little-endian machine: numbers beyond the type wrap */
        for (int64_t i = 0; i < count; i++) {
            uint64_t v = whole(source, seed, i);
            memcpy((char *)data + (size_t)i * size, &v, size);
        }
        return TESS_OK;
    }
    tess_row_storer store = tess_storer(context->slot, tess_f64, type);
    double *row = tess_allocate(context, ROW * sizeof *row);
    if (!row)
        return TESS_ERR_MEMORY;
    int bits = fraction_bits(type);
    for (int64_t first = 0; first < count; first += ROW) {
        int64_t n = tess_min64(ROW, count - first);
        for (int64_t i = 0; i < n; i++) {
            uint64_t v = whole(source, seed, first + i);
            row[i] = source == TESS_SOURCE_RANDOM ? (double)(v >> (64 - bits)) / (double)((uint64_t)1 << bits) : (double)v;
        }
        store((char *)data + (size_t)first * size, (int64_t)size, row, n);
    }
    tess_free(context, row, ROW * sizeof *row);
    return TESS_OK;
}
