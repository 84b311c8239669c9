/* SPDX-License-Identifier: Apache-2.0
 * cpu_small.c - many small arrays one after another, each with its axes in another order: what moves where is the same in all of them.
 *
 * A matrix of 4 x 3 floats is less than a line, so tiles and groups of a short axis have nothing to run along. Here a table tells for each element of a small array where it
 * comes from; up to 64 bytes are one permute of a vector's bytes, up to 128 one of two vectors' for each (AVX-512). Else elements are moved one by one, several arrays at a
 * time, so that the loop is long. */
#include <string.h>

#include "core/parallel.h"
#include "ops/transpose/transpose.h"
#include "simd/simd.h"

tess_status TESS_ISA_NAME(tess_transpose_small)(const tess_problem *base, const tess_run *run);

enum { AT_ONCE = 1024 }; /* elements that have an entry in the table */

typedef struct small {
    const char *in;
    char *out;
    int64_t size, bytes, together; /* of an element, of an array; arrays in the table */
    uint16_t from[AT_ONCE];        /* where an element comes from, in elements */
} small;

#if defined(__AVX512VBMI__)
#include <immintrin.h>

/* Arrays of at most 128 bytes; false, and nothing was done, of larger ones. */
static bool permute(const small *s, const char *restrict in, char *restrict out, int64_t count) {
    const int64_t bytes = s->bytes, each = bytes <= 64 ? 64 / bytes : 1, step = each * bytes;
    _Alignas(64) uint8_t table[128] = {0};
    if (bytes > 128)
        return false;
    for (int64_t b = 0; b < step; b++)
        table[b] = (uint8_t)(b / bytes * bytes + s->from[b % bytes / s->size] * s->size + b % s->size);
    const __m512i low = _mm512_load_si512(table), high = _mm512_load_si512(table + 64);
    const int64_t all = count * bytes;
    int64_t at = 0;
    if (bytes <= 64)
        for (; at + 64 <= all; at += step) /* what is too much the next ones write over */
            _mm512_storeu_si512(out + at, _mm512_permutexvar_epi8(low, _mm512_loadu_si512(in + at)));
    else
        for (; at + 128 <= all; at += step) {
            const __m512i a = _mm512_loadu_si512(in + at), b = _mm512_loadu_si512(in + at + 64);
            _mm512_storeu_si512(out + at, _mm512_permutex2var_epi8(a, low, b));
            _mm512_storeu_si512(out + at + 64, _mm512_permutex2var_epi8(a, high, b));
        }
    for (; at < all; at += step) {
        const int64_t n = tess_min64(all - at, step);
        const __mmask64 first = n >= 64 ? ~0ull : ~0ull >> (64 - n), second = n > 64 ? ~0ull >> (128 - n) : 0;
        const __m512i a = _mm512_maskz_loadu_epi8(first, in + at), b = _mm512_maskz_loadu_epi8(second, in + at + 64);
        _mm512_mask_storeu_epi8(out + at, first, _mm512_permutex2var_epi8(a, low, b));
        _mm512_mask_storeu_epi8(out + at + 64, second, _mm512_permutex2var_epi8(a, high, b));
    }
    return true;
}
#else
static bool permute(const small *s, const char *restrict in, char *restrict out, int64_t count) {
    (void)s, (void)in, (void)out, (void)count;
    return false;
}
#endif

typedef struct sixteen {
    uint64_t half[2];
} sixteen;
#define MOVE(type)                                                                                           \
    static void move_##type(const small *s, const char *restrict in, char *restrict out, int64_t elements) { \
        for (int64_t i = 0; i < elements; i++)                                                               \
            memcpy(out + i * (int64_t)sizeof(type), in + s->from[i] * (int64_t)sizeof(type), sizeof(type));  \
    }
MOVE(uint8_t)
MOVE(uint16_t)
MOVE(uint32_t)
MOVE(uint64_t)
MOVE(sixteen)

static void arrays(void *argument, int64_t begin, int64_t end, int number) {
    const small *s = argument;
    const char *in = s->in + begin * s->bytes;
    char *out = s->out + begin * s->bytes;
    (void)number;
    if (permute(s, in, out, end - begin))
        return;
    for (int64_t at = begin, n; at < end; at += n, in += n * s->bytes, out += n * s->bytes) {
        n = tess_min64(s->together, end - at);
        const int64_t elements = n * s->bytes / s->size;
        switch (s->size) {
        case 1: move_uint8_t(s, in, out, elements); break;
        case 2: move_uint16_t(s, in, out, elements); break;
        case 4: move_uint32_t(s, in, out, elements); break;
        case 8: move_uint64_t(s, in, out, elements); break;
        default: move_sixteen(s, in, out, elements); break;
        }
    }
}

tess_status TESS_ISA_NAME(tess_transpose_small)(const tess_problem *base, const tess_run *run) {
    enum { LONG_ENOUGH = 1 << 16 }; /* bytes for a thread at once */
    const transpose_problem *problem = (const transpose_problem *)base;
    const int last = problem->ndim - 1;
    small s = {.in = run->in + problem->first[TRANSPOSE_IN],
               .out = run->out + problem->first[TRANSPOSE_OUT],
               .size = problem->size,
               .bytes = problem->stride[TRANSPOSE_OUT][0]};
    const int64_t elements = s.bytes / s.size;
    tess_index index;
    tess_index_start(&index, last, problem->shape + 1, 1, (int64_t(*)[TESS_MAX_NDIM])(problem->stride[TRANSPOSE_IN] + 1), 0);
    s.together = tess_min64(problem->shape[0], AT_ONCE / elements);
    for (int64_t i = 0; i < elements; i++, tess_index_next(&index))
        for (int64_t k = 0; k < s.together; k++)
            s.from[k * elements + i] = (uint16_t)(k * elements + index.offset[0] / s.size);
    return tess_parallel(run->context, run->threads, problem->shape[0], tess_max64(1, LONG_ENOUGH / s.bytes), arrays, &s);
}
