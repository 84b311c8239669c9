/* SPDX-License-Identifier: Apache-2.0
 * test_environment.c - proves: a host's rounding direction, flush-to-zero and raised flags change no bit of a result, on one thread or several, and are as
 * they were afterwards. */
#include "hostile.h"

#include <fenv.h>
#include <math.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#define FLUSH 0x8040u /* flush to zero, subnormals are zero */
#endif

enum { N = 300000 };
typedef struct results {
    float sum, mean, filtered[N], between[N / 10], filled;
} results;

static float data[N];

static void compute(tess_context *context, results *r) {
    static float at[N / 10];
    int64_t n[1] = {N}, few[1] = {N / 10}, three[1] = {3}, one[1] = {1};
    double weights[3] = {0.1, 1e-42, 0.3}; /* converted to f32 when the plan is made, one of them to a subnormal */
    float outside[1] = {-5};
    DLTensor in = tess_view(data, tess_f32, 1, n, NULL), mask = tess_view(weights, tess_f64, 1, three, NULL),
             sum = tess_view(&r->sum, tess_f32, 0, NULL, NULL), mean = tess_view(&r->mean, tess_f32, 0, NULL, NULL),
             filtered = tess_view(r->filtered, tess_f32, 1, n, NULL), points = tess_view(at, tess_f32, 1, few, NULL),
             between = tess_view(r->between, tess_f32, 1, few, NULL), far = tess_view(outside, tess_f32, 1, one, NULL),
             filled = tess_view(&r->filled, tess_f32, 1, one, NULL);
    for (int i = 0; i < N / 10; i++)
        at[i] = (float)i * 9.5f;
    tess_lookup_options fill = {.struct_size = sizeof fill, .outside = TESS_OUTSIDE_FILL, .fill = 0.1};
    tess_correlate_options narrow = {.struct_size = sizeof narrow};
    float weights32[3] = {0.1f, 1e-42f, 0.3f};
    DLTensor mask32 = tess_view(weights32, tess_f32, 1, three, NULL);
    assert_tess_ok(
        tess_wisdom_import(context, "1 transpose/tiles baseline 1 0123456789abcdef 0.000007070 transpose 4-byte [256, 256] to order [1, 0]\n"));
    assert_tess_ok(tess_reduce(context, TESS_SUM, &in, &sum, NULL));
    assert_tess_ok(tess_reduce(context, TESS_MEAN, &in, &mean, NULL));
    assert_tess_ok(tess_correlate(context, &in, &mask32, &filtered, &narrow));
    assert_tess_ok(tess_correlate(context, &in, &mask, &filtered, NULL));
    assert_tess_ok(tess_lookup(context, &in, &points, &between, NULL));
    assert_tess_ok(tess_lookup(context, &in, &far, &filled, &fill));
}

static void the_hosts_environment(void **state) {
    (void)state;
    static results plain, other;
    const int directions[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    uint64_t random = 1;
    for (int i = 0; i < N; i++)
        data[i] = (float)hostile_between(&random, -1000000, 1000000) * (i % 5 == 0 ? 1e-44f : 1e-3f);
    for (int threads = 1; threads <= 3; threads += 2) {
        for (int d = 0; d < 4; d++)
            for (int flush = 0; flush < 2; flush++) {
                tess_context *context; /* new each time: its threads are started in the host's environment */
                tess_context_options options = {.struct_size = sizeof options, .threads = threads};
                assert_tess_ok(tess_open(&context, &options));
                fesetround(directions[d]);
                feclearexcept(FE_ALL_EXCEPT);
                feraiseexcept(FE_UNDERFLOW);
#ifdef FLUSH
                _mm_setcsr((_mm_getcsr() & ~FLUSH) | (flush ? FLUSH : 0));
#endif
                compute(context, d == 0 && flush == 0 && threads == 1 ? &plain : &other);
                assert_int_equal(fegetround(), directions[d]);
                assert_int_equal(fetestexcept(FE_ALL_EXCEPT), FE_UNDERFLOW);
#ifdef FLUSH
                assert_int_equal(_mm_getcsr() & FLUSH, flush ? FLUSH : 0);
                _mm_setcsr(_mm_getcsr() & ~FLUSH);
#endif
                fesetround(FE_TONEAREST);
                tess_close(context);
                if (d > 0 || flush > 0 || threads > 1)
                    assert_memory_equal(&plain, &other, sizeof plain);
            }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_hosts_environment)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
