/* SPDX-License-Identifier: Apache-2.0
 * test_reduce_decided.c - proves: any, all, extremes and their places that an element decides come out as if all had been looked at, wherever it stands, on any number of threads: several elements that
 * decide, none, elements that almost do; whole arrays, rows of one, views that go backwards. */
#include <math.h>

#include "hostile.h"

enum { N = 1 << 20, ROWS = 3 };

/* What fills an array of a type, and what decides: for all and for extremes. */
typedef struct kind {
    tess_type type;
    double common, zero, greatest, least;
} kind;
static const kind kinds[] = {{tess_bool, 1, 0, 1, 0},           {tess_u8, 7, 0, 255, 0},  {tess_i8, 7, 0, 127, -128},
                             {tess_u16, 7, 0, 65535, 0},        {tess_i64, 7, 0, 99, -9}, {tess_f32, 7, 0, NAN, -INFINITY},
                             {tess_f64, 7, -0.0, INFINITY, NAN}};

static void put(char *to, tess_type type, double value) {
    const uint8_t u8 = (uint8_t)(type == tess_i8 ? (int8_t)value : (uint8_t)value);
    const uint16_t u16 = (uint16_t)value;
    const int64_t i64 = value >= -1e6 && value <= 1e6 ? (int64_t)value : 0;
    const float f32 = (float)value;
    memcpy(to,
           type == tess_f32   ? (const void *)&f32
           : type == tess_f64 ? (const void *)&value
           : type == tess_i64 ? (const void *)&i64
           : type == tess_u16 ? (const void *)&u16
                              : (const void *)&u8,
           tess_type_size(type));
}
static double get(const char *from, tess_type type) {
    float f32;
    double f64;
    int64_t i64;
    uint16_t u16;
    switch (type) {
    case tess_f32: memcpy(&f32, from, 4); return (double)f32;
    case tess_f64: memcpy(&f64, from, 8); return f64;
    case tess_i64: memcpy(&i64, from, 8); return (double)i64;
    case tess_u16: memcpy(&u16, from, 2); return u16;
    case tess_i8: return *(const int8_t *)from;
    default: return *(const uint8_t *)from;
    }
}

/* What the operation comes to over n elements `step` bytes apart, one after another. */
static int64_t expected(tess_reduction operation, const char *from, int64_t step, int64_t n, tess_type type) {
    const bool most = operation == TESS_ARGMAX || operation == TESS_MAX;
    int64_t place = 0;
    bool any = false, all = true;
    double best = get(from, type);
    for (int64_t i = 0; i < n; i++) {
        const double x = get(from + i * step, type);
        any = any || x != 0; /* NaN is not zero */
        all = all && x != 0;
        if (!isnan(best) && (isnan(x) || (most ? x > best : x < best))) {
            best = x;
            place = i;
        }
    }
    return operation == TESS_ANY ? any : operation == TESS_ALL ? all : operation == TESS_MAX || operation == TESS_MIN ? (int64_t)best : place;
}

static void compare(tess_context *context, tess_reduction operation, const kind *k, char *data, bool rows, bool backwards, int64_t n) {
    const int64_t size = (int64_t)tess_type_size(k->type);
    int64_t shape[] = {rows ? ROWS : 1, n}, strides[] = {n, backwards ? -1 : 1}, outputs[] = {shape[0]}, results[ROWS];
    int axis = 1;
    DLTensor in = tess_view(data, k->type, 2, shape, strides), out = tess_view(results, tess_i64, 1, outputs, NULL);
    in.byte_offset = backwards ? (uint64_t)((n - 1) * size) : 0;
    assert_tess_ok(
        tess_reduce(context, operation, &in, &out, &(tess_reduce_options){.struct_size = sizeof(tess_reduce_options), .axes = &axis, .naxes = 1}));
    for (int64_t r = 0; r < shape[0]; r++) {
        const int64_t right = expected(operation, data + r * n * size + (backwards ? (n - 1) * size : 0), backwards ? -size : size, n, k->type);
        if (results[r] != right)
            fail_msg("%s of %s, row %d of %d%s: %lld for %lld", tess_reduction_name(operation), tess_type_name(k->type), (int)r, (int)shape[0],
                     backwards ? ", backwards" : "", (long long)results[r], (long long)right);
    }
}

static void decided(void **state) {
    (void)state;
    static const tess_reduction operations[] = {TESS_ANY, TESS_ALL, TESS_ARGMAX, TESS_ARGMIN, TESS_MAX, TESS_MIN};
    char *data = malloc(N * 8);
    uint64_t random = 83;
    assert_non_null(data);
    for (int threads = 1; threads <= 5; threads += 4) {
        tess_context *context;
        assert_tess_ok(tess_open(&context, &(tess_context_options){.struct_size = sizeof(tess_context_options), .threads = threads}));
        for (int i = 0; i < TESS_COUNT(kinds) * TESS_COUNT(operations); i++) {
            const kind *k = &kinds[i / TESS_COUNT(operations)];
            const tess_reduction operation = operations[i % TESS_COUNT(operations)];
            if ((operation == TESS_MAX || operation == TESS_MIN) && (k->type == tess_f32 || k->type == tess_f64)) /* the result is an integer here */
                continue;
            const int64_t size = (int64_t)tess_type_size(k->type), n = TESS_SANITIZED ? N / 4 : N;
            for (int deciders = 0; deciders < 4; deciders++) {
                const bool greatest = operation == TESS_ARGMAX || operation == TESS_MAX;
                const double common = operation == TESS_ANY ? k->zero : k->common, decides = operation == TESS_ANY   ? k->common
                                                                                             : operation == TESS_ALL ? k->zero
                                                                                             : greatest              ? k->greatest
                                                                                                                     : k->least;
                for (int64_t at = 0; at < n; at++)
                    put(data + at * size, k->type, common);
                for (int d = 0; d < deciders; d++)
                    put(data + hostile_between(&random, 0, n - 1) * size, k->type, decides);
                compare(context, operation, k, data, false, deciders == 2, n);
                compare(context, operation, k, data, true, false, n / ROWS);
            }
        }
        tess_close(context);
    }
    free(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(decided)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
