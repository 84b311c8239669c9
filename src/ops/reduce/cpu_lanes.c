/* SPDX-License-Identifier: Apache-2.0
 * cpu_lanes.c - sums and products of rows into the 256 lanes of the tree, and the halving tree over them.
 *
 * A row is read strictly in address order: visiting it in narrower strips defeats the hardware's prefetching and costs half the bandwidth. With
 * AVX-512 the 256 lanes of f32 are 16 registers and those of f64 all 32; elsewhere they stay in L1, which costs a load and a store an addition and
 * still keeps up with memory. */
#include <string.h>

#include "core/maker.h"
#include "ops/reduce/reduce.h"
#include "simd/half.h"
#include "simd/touch.h"

#define READER(type)                              \
    TESS_INLINE type read_##type(const char *p) { \
        type x;                                   \
        memcpy(&x, p, sizeof x);                  \
        return x;                                 \
    }
READER(float)
READER(double)
READER(uint64_t)
READER(uint32_t)
READER(int32_t)
READER(uint16_t)
READER(int16_t)
READER(uint8_t)
READER(int8_t)

/* Whole rows of 256 lanes, when the lanes fit the registers. The prefetch distance of 4 KiB is the best of those measured (1 to 16 KiB). */
#if defined(__AVX512F__)
#define WHOLE_ROWS(name, type, vector, vectors)                          \
    static int64_t name(type *lanes, const char *p, int64_t rows) {      \
        vector a[vectors];                                               \
        for (int v = 0; v < vectors; v++)                                \
            a[v] = vector##_load((char *)lanes + 64 * v);                \
        for (int64_t r = 0; r < rows; r++, p += 64 * vectors)            \
            _Pragma("GCC unroll 32") for (int v = 0; v < vectors; v++) { \
                tess_prefetch_l2(p + 64 * v + 4096);                     \
                a[v] += vector##_load(p + 64 * v);                       \
            }                                                            \
        for (int v = 0; v < vectors; v++)                                \
            vector##_store((char *)lanes + 64 * v, a[v]);                \
        return rows;                                                     \
    }
WHOLE_ROWS(whole_add_float, float, v_f32, 16)
WHOLE_ROWS(whole_add_double, double, v_f64, 32)
#else
#define whole_add_float(lanes, p, rows) 0
#define whole_add_double(lanes, p, rows) 0
#endif
#define whole_none(lanes, p, rows) 0

/* width: components in a row of lanes, 512 for complex numbers, whose parts are added apart. Halving starts from the next of four fixed widths, with
 * the identity in the lanes without elements: loops of known length are the quicker. The first row of lanes meets the identity on its way, but for whole leaves, which come
 * from memory 5 % slower so (complex, Zen 5). Sums in f64 always ask for lines ahead: those of moments are
 * followed by a second pass, in which memory would rest (Zen 4, AVX2: 16 and 13 GB/s). */
#define LANES(name, type, OP, identity, width, whole)                                                                         \
    static void name(void *lanes, const void *row, int64_t n, bool first) {                                                   \
        type *restrict a = lanes;                                                                                             \
        const char *restrict p = row;                                                                                         \
        n *= width / REDUCE_LANES;                                                                                            \
        const bool part = n < REDUCE_LEAF / REDUCE_LANES * width;                                                             \
        const int64_t begun = first ? tess_min64(n, width) : 0, met = part ? begun : 0;                                       \
        for (int64_t j = 0; j < met; j++)                                                                                     \
            a[j] = (type)identity OP read_##type(p + j * (int64_t)sizeof(type));                                              \
        for (int64_t j = met; j < begun; j++)                                                                                 \
            a[j] = (type)identity;                                                                                            \
        p += met * (int64_t)sizeof(type);                                                                                     \
        n -= met;                                                                                                             \
        int64_t done = whole(a, p, n / width) * width;                                                                        \
        p += done * (int64_t)sizeof(type);                                                                                    \
        n -= done;                                                                                                            \
        const bool ahead = sizeof(type) > 4 || tess_cpu_asks_ahead();                                                         \
        for (; n >= width; n -= width, p += width * sizeof(type)) {                                                           \
            if (ahead)                                                                                                        \
                tess_prefetch_ahead(p + 4096, width * (int)sizeof(type));                                                     \
            for (int64_t j = 0; j < width; j++)                                                                               \
                a[j] = a[j] OP read_##type(p + j * (int64_t)sizeof(type));                                                    \
        }                                                                                                                     \
        for (int64_t j = 0; j < n; j++)                                                                                       \
            a[j] = a[j] OP read_##type(p + j * (int64_t)sizeof(type));                                                        \
    }                                                                                                                         \
    TESS_INLINE void name##_from(type *restrict a, int half) {                                                                \
        _Pragma("GCC unroll 8") for (int w = half; w > 0; w /= 2) for (int j = 0; j < w * (width / REDUCE_LANES); j++) a[j] = \
            a[j] OP a[j + w * (width / REDUCE_LANES)];                                                                        \
    }                                                                                                                         \
    static void name##_halve(void *lanes, int used) {                                                                         \
        type *a = lanes;                                                                                                      \
        const int parts = width / REDUCE_LANES, upto = used <= 16 ? 16 : used <= 64 ? 64 : used <= 128 ? 128 : REDUCE_LANES;  \
        for (int j = used * parts; j < upto * parts; j++)                                                                     \
            a[j] = identity;                                                                                                  \
        if (upto == REDUCE_LANES)                                                                                             \
            name##_from(a, REDUCE_LANES / 2);                                                                                 \
        else if (upto == 128)                                                                                                 \
            name##_from(a, 64);                                                                                               \
        else if (upto == 64)                                                                                                  \
            name##_from(a, 32);                                                                                               \
        else                                                                                                                  \
            name##_from(a, 8);                                                                                                \
    }
LANES(add_f32, float, +, 0, REDUCE_LANES, whole_add_float)
LANES(add_f64, double, +, 0, REDUCE_LANES, whole_add_double)
LANES(add_u64, uint64_t, +, 0, REDUCE_LANES, whole_none)
LANES(add_c64, float, +, 0, 2 * REDUCE_LANES, whole_none)
LANES(add_c128, double, +, 0, 2 * REDUCE_LANES, whole_none)
LANES(multiply_f32, float, *, 1, REDUCE_LANES, whole_none)
LANES(multiply_f64, double, *, 1, REDUCE_LANES, whole_none)
LANES(multiply_u64, uint64_t, *, 1, REDUCE_LANES, whole_none)

/* Complex products are rare: one at a time. A lane's first factor meets 1 + 0i too, of which 1 - 0i leaves the former (node.c). */
#define COMPLEX_PRODUCT(name, acc)                                          \
    static void name(void *lanes, const void *row, int64_t n, bool first) { \
        char *a = lanes;                                                    \
        const char *p = row;                                                \
        size_t size = sizeof((tess_value *)0)->acc;                         \
        for (int64_t i = 0; i < n; i++) {                                   \
            tess_value x, y = {.acc = {1}};                                 \
            char *lane = a + (size_t)(i % REDUCE_LANES) * size;             \
            memcpy(&x, p + (size_t)i * size, size);                         \
            if (!first || i >= REDUCE_LANES)                                \
                memcpy(&y, lane, size);                                     \
            x = tess_reduce_value_multiply(tess_##acc, y, x);               \
            memcpy(lane, &x, size);                                         \
        }                                                                   \
    }                                                                       \
    static void name##_halve(void *lanes, int used) {                       \
        char *a = lanes;                                                    \
        size_t size = sizeof((tess_value *)0)->acc;                         \
        for (int w = REDUCE_LANES / 2; w > 0; w /= 2) {                     \
            for (int j = 0; j < w && j + w < used; j++) {                   \
                tess_value x, y;                                            \
                memcpy(&x, a + (size_t)j * size, size);                     \
                memcpy(&y, a + (size_t)(j + w) * size, size);               \
                x = tess_reduce_value_multiply(tess_##acc, x, y);           \
                memcpy(a + (size_t)j * size, &x, size);                     \
            }                                                               \
            used = used < w ? used : w;                                     \
        }                                                                   \
    }
COMPLEX_PRODUCT(multiply_c64, c64)
COMPLEX_PRODUCT(multiply_c128, c128)

/* A whole leaf, which lies in L1 or L2: there it may be read in strips of as many lanes as registers hold. */
static void leaf_deviations(double *lanes, const char *p, double mean, bool omit) {
    enum { VECTORS = 8, WIDTH = VECTORS * TESS_VECTOR_BYTES };
    const v_f64 m = v_f64_all(mean);
    for (int at = 0; at < REDUCE_LANES * 8; at += WIDTH) {
        v_f64 a[VECTORS] = {{0}};
        for (int r = 0; r < REDUCE_TERMS; r++)
            for (int v = 0; v < VECTORS; v++) {
                v_f64 x = v_f64_load(p + r * REDUCE_LANES * 8 + at + v * TESS_VECTOR_BYTES), d = x - m, square = d * d;
                if (omit)
                    square = (v_f64)((v_i64)square & (x == x));
                a[v] += square;
            }
        for (int v = 0; v < VECTORS; v++)
            v_f64_store((char *)lanes + at + v * TESS_VECTOR_BYTES, a[v]);
    }
}

static void deviations(void *lanes, const void *row, int64_t n, bool first, double mean, bool omit) {
    double *restrict a = lanes;
    const char *restrict p = row;
    if (first && n == REDUCE_LEAF) {
        leaf_deviations(a, p, mean, omit);
        return;
    }
    for (int64_t j = 0; first && j < tess_min64(n, REDUCE_LANES); j++)
        a[j] = 0;
    for (; n > 0; n -= REDUCE_LANES, p += REDUCE_LANES * sizeof(double)) {
        int64_t m = tess_min64(n, REDUCE_LANES);
        for (int64_t j = 0; j < m; j++) {
            double x = read_double(p + j * 8), d = x - mean, square = d * d;
            a[j] += omit && x != x ? 0 : square;
        }
    }
}

/* ---- integers ---- */

/* block: how many elements a sum of the narrower type `part` can hold. */
#define INTEGERS(name, type, part, block)                                                \
    static uint64_t name(const void *elements, int64_t stride, int64_t n, bool cached) { \
        const char *p = elements;                                                        \
        (void)cached;                                                                    \
        uint64_t sum = 0;                                                                \
        if (stride == (int64_t)sizeof(type)) {                                           \
            while (n > 0) {                                                              \
                int64_t m = tess_min64(n, block);                                        \
                part s = 0;                                                              \
                for (int64_t i = 0; i < m; i++)                                          \
                    s += (part)read_##type(p + i * (int64_t)sizeof(type));               \
                sum += (uint64_t)s;                                                      \
                p += m * (int64_t)sizeof(type);                                          \
                n -= m;                                                                  \
            }                                                                            \
            return sum;                                                                  \
        }                                                                                \
        for (int64_t i = 0; i < n; i++, p += stride)                                     \
            sum += (uint64_t)read_##type(p);                                             \
        return sum;                                                                      \
    }
INTEGERS(integers_u8_plain, uint8_t, uint32_t, 1 << 20)
INTEGERS(integers_i8, int8_t, int32_t, 1 << 20)
INTEGERS(integers_u16, uint16_t, uint32_t, 1 << 15)
INTEGERS(integers_i16, int16_t, int32_t, 1 << 15)
INTEGERS(integers_u32, uint32_t, uint64_t, INT64_MAX)
INTEGERS(integers_i32_plain, int32_t, uint64_t, INT64_MAX)
INTEGERS(integers_u64, uint64_t, uint64_t, INT64_MAX)

static uint64_t integers_bool(const void *elements, int64_t stride, int64_t n, bool cached) {
    const char *p = elements;
    uint64_t sum = 0;
    (void)cached;
    for (int64_t m; n > 0; n -= m, p += m * stride) {
        uint8_t s = 0; /* counts to 192, so that bytes need no widening */
        m = tess_min64(n, 192);
        if (stride == 1)
            for (int64_t i = 0; i < m; i++)
                s = (uint8_t)(s + (p[i] != 0));
        else
            for (int64_t i = 0; i < m; i++)
                s = (uint8_t)(s + (p[i * stride] != 0));
        sum += s;
    }
    return sum;
}

static uint64_t integers_u8(const void *elements, int64_t stride, int64_t n, bool cached) {
    enum { STEP = 4 * TESS_VECTOR_BYTES };
    if (stride != 1 || n < TESS_VECTOR_BYTES)
        return integers_u8_plain(elements, stride, n, cached);
    const char *p = elements;
    const bool ahead = tess_cpu_asks_ahead() || (!cached && tess_cpu_is_zen5());
    const int64_t ask = reduce_ask_distance();
    v_u64 sums[4] = {{0}};
    if (TESS_VECTOR_BYTES == 64 && !ahead && tess_cpu_reads_halves())
        for (; n > 128; n -= 128, p += 128) { /* a line behind these two is touched, so there must be one */
            tess_ask_page(p, 128);
            tess_touch_line(p + 64);
            sums[0] += v_u8_sums(p);
            tess_touch_line(p + 128);
            sums[1] += v_u8_sums(p + TESS_VECTOR_BYTES);
        }
    for (const bool turns = tess_cpu_reads_in_turns(); turns && n >= STEP;) { /* two vectors of either place */
        const int64_t half = tess_half_in_turns(n, STEP / 2);
        for (const char *end = p + half; p < end; p += STEP / 2)
            TESS_UNROLL for (int v = 0; v < 4; v++) sums[v] += v_u8_sums(p + v % 2 * TESS_VECTOR_BYTES + v / 2 * half);
        p += half;
        n -= 2 * half;
    }
    for (; n >= STEP; n -= STEP, p += STEP) {
        if (ahead)
            tess_prefetch_ahead(p + ask, STEP);
        TESS_UNROLL for (int v = 0; v < 4; v++) sums[v] += v_u8_sums(p + v * TESS_VECTOR_BYTES);
    }
    const v_u64 a = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    uint64_t sum = integers_u8_plain(p, 1, n, cached);
    for (int i = 0; i < TESS_F64_LANES; i++)
        sum += a[i];
    return sum;
}

static uint64_t integers_i32(const void *elements, int64_t stride, int64_t n, bool cached) {
    enum { CHAINS = 8, STEP = CHAINS * TESS_VECTOR_BYTES / 2 };
    if (stride != 4 || n < STEP / 4)
        return integers_i32_plain(elements, stride, n, cached);
    const char *p = elements;
    const bool ahead = tess_cpu_asks_ahead() || (!cached && tess_cpu_is_zen5()), pages = tess_cpu_reads_halves();
    const int64_t ask = reduce_ask_distance();
    v_i64 sums[CHAINS] = {{0}};
    for (const bool turns = tess_cpu_reads_in_turns(); turns && n >= STEP / 4;) {
        const int64_t half = tess_half_in_turns(n * 4, STEP / 2);
        for (const char *end = p + half; p < end; p += STEP / 2)
            for (int c = 0; c < CHAINS; c++)
                sums[c] += v_i64_of_i32(p + c % (CHAINS / 2) * (TESS_VECTOR_BYTES / 2) + c / (CHAINS / 2) * half);
        p += half;
        n -= half / 2;
    }
    for (; n >= STEP / 4; n -= STEP / 4, p += STEP) {
        if (ahead)
            tess_prefetch_ahead(p + ask, STEP);
        if (pages)
            tess_ask_page(p, STEP);
        for (int c = 0; c < CHAINS; c++)
            sums[c] += v_i64_of_i32(p + c * TESS_VECTOR_BYTES / 2);
    }
    uint64_t sum = integers_i32_plain(p, 4, n, cached);
    for (int c = 0; c < CHAINS; c++)
        for (int i = 0; i < TESS_F64_LANES; i++)
            sum += (uint64_t)sums[c][i];
    return sum;
}

extern const reduce_lane_kernels TESS_ISA_NAME(tess_reduce_lane_kernels);
const reduce_lane_kernels TESS_ISA_NAME(tess_reduce_lane_kernels) = {
    .add = {[tess_f32] = add_f32, [tess_f64] = add_f64, [tess_u64] = add_u64, [tess_i64] = add_u64, [tess_c64] = add_c64, [tess_c128] = add_c128},
    .multiply = {[tess_f32] = multiply_f32,
                 [tess_f64] = multiply_f64,
                 [tess_u64] = multiply_u64,
                 [tess_i64] = multiply_u64,
                 [tess_c64] = multiply_c64,
                 [tess_c128] = multiply_c128},
    .halve_add = {[tess_f32] = add_f32_halve,
                  [tess_f64] = add_f64_halve,
                  [tess_u64] = add_u64_halve,
                  [tess_i64] = add_u64_halve,
                  [tess_c64] = add_c64_halve,
                  [tess_c128] = add_c128_halve},
    .halve_multiply = {[tess_f32] = multiply_f32_halve,
                       [tess_f64] = multiply_f64_halve,
                       [tess_u64] = multiply_u64_halve,
                       [tess_i64] = multiply_u64_halve,
                       [tess_c64] = multiply_c64_halve,
                       [tess_c128] = multiply_c128_halve},
    .deviations = deviations,
    .integers = {[tess_bool] = integers_bool,
                 [tess_u8] = integers_u8,
                 [tess_i8] = integers_i8,
                 [tess_u16] = integers_u16,
                 [tess_i16] = integers_i16,
                 [tess_u32] = integers_u32,
                 [tess_i32] = integers_i32,
                 [tess_u64] = integers_u64,
                 [tess_i64] = integers_u64},
};
