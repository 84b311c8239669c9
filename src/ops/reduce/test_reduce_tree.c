/* SPDX-License-Identifier: Apache-2.0
 * test_reduce_tree.c - sums, means, variances and norms against the tree of docs/numerics.md written down a second time, naively and in another shape
 * (all lanes kept, levels of an array halved), bit for bit: around every boundary of the tree, on every instruction set, with 1 to 8 threads, by
 * every row; and the sum's error against an exact one, within the stated bound. */
#include "hostile.h"

#include <math.h>

#include "ops/reduce/reduce.h"

enum { MOST = 2100001 };
static double *values; /* MOST of them, over many magnitudes */

static int setup(void **state) {
    uint64_t random = 11;
    (void)state;
    values = malloc(MOST * sizeof *values);
    for (int i = 0; values && i < MOST; i++)
        values[i] = ldexp((double)(int64_t)hostile_random(&random), (int)hostile_between(&random, -80, -60)) + 3;
    return values ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    free(values);
    return 0;
}

/* ---- the definition, for T = float and double: x(i) is the term number i ---- */
#define TREE(T)                                                                         \
    static T leaf_##T(const T *x, int64_t n) {                                          \
        T lane[256] = {0};                                                              \
        for (int j = 0; j < 256; j++)                                                   \
            for (int r = 0; r < 32; r++)                                                \
                if (256 * r + j < n)                                                    \
                    lane[j] = lane[j] + x[256 * r + j];                                 \
        for (int w = 128; w >= 1; w /= 2)                                               \
            for (int j = 0; j < w; j++)                                                 \
                lane[j] = lane[j] + lane[j + w];                                        \
        return lane[0];                                                                 \
    }                                                                                   \
    static T tree_##T(const T *x, int64_t n) {                                          \
        static T level[MOST / 8192 + 2];                                                \
        int64_t leaves = 0;                                                             \
        for (int64_t first = 0; first < n; first += 8192)                               \
            level[leaves++] = leaf_##T(x + first, n - first < 8192 ? n - first : 8192); \
        if (leaves == 0)                                                                \
            return 0;                                                                   \
        while (leaves > 1) {                                                            \
            int64_t up = 0;                                                             \
            for (int64_t i = 0; i < leaves; i += 2)                                     \
                level[up++] = i + 1 < leaves ? level[i] + level[i + 1] : level[i];      \
            leaves = up;                                                                \
        }                                                                               \
        return level[0];                                                                \
    }
TREE(float)
TREE(double)

static double variance(const double *x, int64_t n) {
    static double mean[MOST / 8192 + 2], m2[MOST / 8192 + 2], count[MOST / 8192 + 2], d[8192];
    int64_t nodes = 0;
    for (int64_t first = 0; first < n; first += 8192, nodes++) {
        int64_t m = n - first < 8192 ? n - first : 8192;
        count[nodes] = (double)m;
        mean[nodes] = leaf_double(x + first, m) / (double)m;
        for (int64_t i = 0; i < m; i++) {
            double difference = x[first + i] - mean[nodes];
            d[i] = difference * difference;
        }
        m2[nodes] = leaf_double(d, m);
    }
    while (nodes > 1) {
        int64_t up = 0;
        for (int64_t i = 0; i < nodes; i += 2, up++) {
            double share = 0, delta = 0, na = count[i], m2b = 0, nb = 0;
            if (i + 1 < nodes) {
                nb = count[i + 1];
                share = nb / (na + nb);
                delta = mean[i + 1] - mean[i];
                m2b = m2[i + 1];
            }
            double moved = mean[i] + delta * share, squares = delta * delta;
            mean[up] = nb > 0 ? moved : mean[i];
            m2[up] = nb > 0 ? (m2[i] + m2b) + squares * (na * share) : m2[i];
            count[up] = na + nb;
        }
        nodes = up;
    }
    return m2[0] / (double)n;
}

static const tess_isa isas[] = {TESS_ISA_BASELINE, TESS_ISA_AVX2, TESS_ISA_AVX512, TESS_ISA_NEON};

/* All rows that can, on all instruction sets; the threads take turns unless all are asked for. */
static void expect(tess_reduction operation, tess_type type, const void *data, int64_t n, tess_type result, const void *expected, bool all_threads) {
    static int turn;
    for (int i = 0; i < TESS_COUNT(isas); i++)
        for (int threads = all_threads ? 1 : 1 + turn++ % 8, last = all_threads ? 8 : threads; threads <= last; threads++) {
            tess_context *context;
            tess_context_options options = {.struct_size = sizeof options, .isa = isas[i], .threads = threads};
            if (tess_open(&context, &options) != TESS_OK)
                continue;
            for (int r = 0; r < tess_reduce_op.count; r++) {
                double got[2] = {0};
                tess_reduce_options how = {.struct_size = sizeof how, .call.strategy = tess_reduce_op.rows[r].name};
                DLTensor in = tess_view((void *)(uintptr_t)data, type, 1, &n, NULL), out = tess_view(got, result, 0, NULL, NULL);
                if (all_threads && strcmp(how.call.strategy, "reduce/reference") == 0)
                    continue; /* slow, and it ignores threads */
                tess_status status = tess_reduce(context, operation, &in, &out, &how);
                if (status == TESS_ERR_STRATEGY)
                    continue;
                assert_tess_ok(status);
                float narrow;
                memcpy(&narrow, got, sizeof narrow);
                if (memcmp(got, expected, tess_type_size(result)) != 0)
                    fail_msg("%s of %lld %s by %s, isa %d, %d threads: %.17g", tess_reduction_name(operation), (long long)n, tess_type_name(type),
                             how.call.strategy, (int)isas[i], threads, result == tess_f32 ? (double)narrow : got[0]);
            }
            tess_close(context);
        }
}

static void check_size(int64_t n, bool all_threads) {
    float *single = malloc((size_t)(n + 1) * sizeof *single), *absolute = malloc((size_t)(n + 1) * sizeof *absolute);
    double *squares = malloc((size_t)(n + 1) * sizeof *squares), *wide = malloc((size_t)(n + 1) * sizeof *wide);
    assert_true(single && absolute && squares && wide);
    for (int64_t i = 0; i < n; i++) {
        single[i] = (float)values[i];
        absolute[i] = fabsf(single[i]);
        squares[i] = values[i] * values[i];
        wide[i] = single[i];
    }
    float f32 = tree_float(single, n);
    double f64 = tree_double(values, n);
    expect(TESS_SUM, tess_f32, single, n, tess_f32, &f32, all_threads);
    expect(TESS_SUM, tess_f64, values, n, tess_f64, &f64, all_threads);
    if (n > 0) {
        double v = variance(values, n), vs = variance(wide, n), mean = f64 / (double)n;
        float mean32 = (float)((double)f32 / (double)n);
        expect(TESS_VAR, tess_f64, values, n, tess_f64, &v, all_threads);
        expect(TESS_VAR, tess_f32, single, n, tess_f64, &vs, all_threads);
        expect(TESS_MEAN, tess_f64, values, n, tess_f64, &mean, all_threads);
        expect(TESS_MEAN, tess_f32, single, n, tess_f32, &mean32, all_threads);
    }
    double norm = sqrt(tree_double(squares, n));
    float norm1 = tree_float(absolute, n);
    expect(TESS_NORM2, tess_f64, values, n, tess_f64, &norm, all_threads);
    expect(TESS_NORM1, tess_f32, single, n, tess_f32, &norm1, all_threads);
    f64 = tree_double(wide, n); /* an output of f64 makes the tree f64 */
    expect(TESS_SUM, tess_f32, single, n, tess_f64, &f64, all_threads);
    free(single);
    free(absolute);
    free(squares);
    free(wide);
}

static void boundaries(void **state) {
    static const int64_t sizes[] = {0,    1,    2,    31,   32,    127,   128,   129,   255,   256,   257,   511,   513,   2048,
                                    2049, 8191, 8192, 8193, 16383, 16384, 16385, 24576, 24577, 40960, 49153, 65536, 65537, 73729};
    (void)state;
    for (int i = 0; i < TESS_COUNT(sizes); i++)
        check_size(sizes[i], false);
}

static void shared_by_threads(void **state) {
    (void)state;
    check_size(3 * 8192 * 16 + 77, true);
    check_size(MOST, false);
}

/* The same numbers as columns: each column must be the tree of its own. */
static void columns(void **state) {
    (void)state;
    enum { K = 20000, W = 21 };
    float *x = malloc(K * W * sizeof *x), *column = malloc(K * sizeof *column);
    float expected[W], got[W];
    for (int i = 0; i < K * W; i++)
        x[i] = (float)values[i];
    for (int c = 0; c < W; c++) {
        for (int i = 0; i < K; i++)
            column[i] = x[i * W + c];
        expected[c] = tree_float(column, K);
    }
    int64_t shape[2] = {K, W}, width = W;
    int axis = 0;
    for (int i = 0; i < TESS_COUNT(isas); i++)
        for (int r = 0; r < tess_reduce_op.count; r++) {
            tess_context *context;
            tess_context_options options = {.struct_size = sizeof options, .isa = isas[i], .threads = 1 + (i + r) % 4};
            if (tess_open(&context, &options) != TESS_OK)
                continue;
            tess_reduce_options how = {.struct_size = sizeof how, .axes = &axis, .naxes = 1, .call.strategy = tess_reduce_op.rows[r].name};
            DLTensor in = tess_view(x, tess_f32, 2, shape, NULL), out = tess_view(got, tess_f32, 1, &width, NULL);
            tess_status status = tess_reduce(context, TESS_SUM, &in, &out, &how);
            assert_true(status == TESS_OK || status == TESS_ERR_STRATEGY);
            if (status == TESS_OK)
                assert_memory_equal(got, expected, sizeof got);
            tess_close(context);
        }
    free(x);
    free(column);
}

/* |computed - exact| <= h u / (1 - h u) * sum |x| with the h of the header. */
static void error_bound(void **state) {
    (void)state;
    static const int64_t sizes[] = {5, 300, 8192, 100000, MOST};
    for (int i = 0; i < TESS_COUNT(sizes); i++) {
        int64_t n = sizes[i];
        float *x = malloc((size_t)n * sizeof *x), sum;
        double exact, magnitude, h = 39;
        for (int64_t k = 0; k < n; k++)
            x[k] = (float)values[k];
        for (int64_t leaves = 1; leaves * 8192 < n; leaves *= 2)
            h++;
        DLTensor in = tess_view(x, tess_f32, 1, &n, NULL), to32 = tess_view(&sum, tess_f32, 0, NULL, NULL),
                 to64 = tess_view(&exact, tess_f64, 0, NULL, NULL);
        tess_reduce_options how = {.struct_size = sizeof how, .exact = true};
        assert_tess_ok(tess_reduce(NULL, TESS_SUM, &in, &to32, NULL));
        assert_tess_ok(tess_reduce(NULL, TESS_SUM, &in, &to64, &how));
        to64.data = &magnitude;
        assert_tess_ok(tess_reduce(NULL, TESS_NORM1, &in, &to64, &how));
        assert_true(fabs((double)sum - exact) <= h * 0x1p-24 / (1 - h * 0x1p-24) * magnitude);
        free(x);
    }
}

/* So many results that they go past the caches: rows of 8 that overlap, aligned results and not, the last rows not sixteen. */
static void past_the_caches(void **state) {
    enum { ROWS = (1 << 20) + 45 };
    int64_t shape[2] = {ROWS, 8}, strides[2] = {1, 1};
    char *block = aligned_alloc(64, (ROWS * sizeof(double) + 64 + 63) / 64 * 64);
    const tess_reduce_options how = {.struct_size = sizeof how, .axes = (int[]){1}, .naxes = 1, .call = {.strategy = "reduce/short"}};
    (void)state;
    for (int way = 0; way < 8; way++) {
        double *out = (double *)(void *)(block + (way & 1) * 8);
        const tess_context_options options = {.struct_size = sizeof options, .threads = way & 2 ? 3 : 1};
        const DLTensor in = tess_view(values, tess_f64, 2, shape, strides), to = tess_view(out, tess_f64, 1, shape, NULL);
        tess_context *context;
        assert_tess_ok(tess_open(&context, &options));
        assert_tess_ok(tess_reduce(context, way & 4 ? TESS_MEAN : TESS_SUM, &in, &to, &how));
        for (int64_t i = 0; i < ROWS; i++) {
            const double *x = values + i, sum = ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7])), expected = way & 4 ? sum / 8 : sum;
            if (memcmp(&expected, out + i, 8) != 0)
                fail_msg("way %d: row %lld", way, (long long)i);
        }
        tess_close(context);
    }
    free(block);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(boundaries), cmocka_unit_test(shared_by_threads), cmocka_unit_test(columns),
                                       cmocka_unit_test(error_bound), cmocka_unit_test(past_the_caches)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
