/* SPDX-License-Identifier: Apache-2.0
 * test_allocfail.c - proves: whichever allocation of a public call fails - the k-th alone, or all from the k-th on, for every k until the call asks
 * no more - the call answers TESS_ERR_MEMORY with a sentence, or does its work without that memory; nothing is leaked or freed with a wrong size; the
 * same context then serves the same call with the same result; and what is not out is not touched. */
#include "hostile.h"

#include <pthread.h>
#include <unistd.h>

#include "core/base.h"

/* Counts what is out. Blocks are kept in a list with their sizes so that a release of a wrong pointer or size is seen. */
enum { BLOCKS = 4096 };
static struct {
    pthread_mutex_t lock;
    void *block[BLOCKS];
    size_t size[BLOCKS];
    int count;
    int64_t requests, fail_at;
    bool fail_on; /* and all after it */
    bool wrong_release;
} ledger = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *allocate(void *user, size_t size, size_t alignment) {
    void *memory = NULL;
    (void)user;
    pthread_mutex_lock(&ledger.lock);
    ledger.requests++;
    bool fails = ledger.fail_at > 0 && (ledger.fail_on ? ledger.requests >= ledger.fail_at : ledger.requests == ledger.fail_at);
    if (!fails && ledger.count < BLOCKS && (memory = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment))) {
        ledger.block[ledger.count] = memory;
        ledger.size[ledger.count++] = size;
    }
    pthread_mutex_unlock(&ledger.lock);
    return memory;
}

static void release(void *user, void *memory, size_t size) {
    (void)user;
    pthread_mutex_lock(&ledger.lock);
    int at = ledger.count - 1;
    while (at >= 0 && ledger.block[at] != memory)
        at--;
    if (at < 0 || ledger.size[at] != size) {
        ledger.wrong_release = true;
    } else {
        ledger.block[at] = ledger.block[--ledger.count];
        ledger.size[at] = ledger.size[ledger.count];
        free(memory);
    }
    pthread_mutex_unlock(&ledger.lock);
}

static tess_status open_context(tess_context **context, int threads) {
    tess_context_options options = {.struct_size = sizeof options, .threads = threads, .allocate = allocate, .release = release};
    return tess_open(context, &options);
}

/* ---- the calls ---- */
enum { N = 48 };
static double real_in[N * N];
static float f32_in[N * N];
static uint16_t f16_in[N * N];
static int16_t i16_in[N * N];
static float c64_in[2 * N * N];
static double out[4 * N * N];
static int64_t square[] = {N, N};

typedef struct call call;
struct call {
    const char *name;
    tess_status (*run)(tess_context *context, const call *c);
    int variant;
    const char *strategy;
};

static tess_call pinned(const call *c) { return (tess_call){.strategy = c->strategy}; }

static tess_status correlate(tess_context *context, const call *c) {
    static float taps[25] = {1, 2, 3, 2, 1, 2, 4, 6, 4, 2, 3, 6, 9, 6, 3, 2, 4, 6, 4, 2, 1, 2, 3, 2, 1}; /* rank 1 */
    static float plain[9] = {1, 0, 2, 0, 3, 0, 4, 0, 5};
    static float wide[2 * N * 3];
    static int64_t five[] = {5, 5}, three[] = {3, 3}, line[] = {7}, longer[] = {3, 2 * N}, three_d[] = {3, 1, 3}, cube[] = {4, 12, N};
    tess_correlate_options options = {.struct_size = sizeof options, .call = pinned(c)};
    DLTensor in = tess_view(f32_in, tess_f32, 2, square, NULL), to = tess_view(out, tess_f32, 2, square, NULL);
    DLTensor mask = tess_view(plain, tess_f32, 2, three, NULL), row = tess_view(taps, tess_f32, 1, line, NULL);
    const DLTensor *rows[] = {&row, &row};
    int64_t turned[] = {1, N};
    switch (c->variant) {
    case 0: break;
    case 1: mask = tess_view(taps, tess_f32, 2, five, NULL), options.accuracy = TESS_ACCURACY_FAST, options.boundary = TESS_BOUNDARY_MIRROR; break;
    case 2: in = tess_view(i16_in, tess_i16, 2, square, turned), to.dtype = tess_dl_type(tess_f64), options.boundary = TESS_BOUNDARY_WRAP; break;
    case 3: in = tess_view(c64_in, tess_c64, 2, square, NULL), to.dtype = tess_dl_type(tess_c64), options.boundary = TESS_BOUNDARY_CONSTANT; break;
    case 4: in = tess_view(f16_in, tess_f16, 2, square, NULL), to.dtype = tess_dl_type(tess_f16), options.boundary = TESS_BOUNDARY_REFLECT; break;
    case 5: mask = tess_view(wide, tess_f32, 2, longer, NULL), options.boundary = TESS_BOUNDARY_NEAREST; break;
    case 6: return tess_correlate_separable(context, &in, rows, 2, &to, &options);
    case 7: return tess_convolve_separable(context, &in, rows, 1, &to, &options);
    case 8: return tess_convolve(context, &in, &mask, &to, &options);
    case 9:
        in = tess_view(real_in, tess_f64, 3, cube, NULL);
        to = tess_view(out, tess_f64, 3, cube, NULL);
        mask = tess_view(plain, tess_f32, 3, three_d, NULL);
        break;
    default: return TESS_ERR_INTERNAL;
    }
    return tess_correlate(context, &in, &mask, &to, &options);
}

static tess_status reduce(tess_context *context, const call *c) {
    static int64_t offsets[] = {0, 5, 6, 30, N}, parts[] = {5}, segment_shape[] = {4, N}, none[] = {N};
    static const int first[] = {0}, last[] = {1};
    DLTensor in = tess_view(f32_in, tess_f32, 2, square, NULL), bounds = tess_view(offsets, tess_i64, 1, parts, NULL);
    tess_reduce_options options = {.struct_size = sizeof options, .axes = first, .naxes = 1, .call = pinned(c)};
    int variant = c->variant / 16;
    DLTensor to = tess_view(out, tess_f64, 1, none, NULL);
    switch (variant) {
    case 0: break;
    case 1: options.axes = last; break;
    case 2: options.axes = NULL, options.naxes = 0, to.ndim = 0; break;
    case 3: in = tess_view(f16_in, tess_f16, 2, square, NULL), options.nan = TESS_NAN_OMIT; break;
    case 4: options.offsets = &bounds, to = tess_view(out, tess_f64, 2, segment_shape, NULL); break;
    case 5: options.exact = true; break;
    default: return TESS_ERR_INTERNAL;
    }
    return tess_reduce(context, (tess_reduction)(c->variant % 16), &in, &to, &options);
}

static tess_status transpose(tess_context *context, const call *c) {
    static const int middle[] = {1, 0, 2}, ends[] = {2, 1, 0};
    static int64_t three[] = {6, 16, 24}, three_out[] = {16, 6, 24}, ends_out[] = {24, 16, 6}, tall[] = {N * 2, N / 2}, flat[] = {N / 2, N * 2};
    tess_transpose_options options = {.struct_size = sizeof options, .call = pinned(c)};
    DLTensor in = tess_view(f32_in, tess_f32, 2, square, NULL), to = tess_view(out, tess_f32, 2, square, NULL);
    switch (c->variant) {
    case 0: break;
    case 1:
        in = tess_view(real_in, tess_f64, 3, three, NULL), to = tess_view(out, tess_f64, 3, three_out, NULL);
        options.perm = middle, options.nperm = 3;
        break;
    case 2:
        in = tess_view(i16_in, tess_i16, 3, three, NULL), to = tess_view(out, tess_i16, 3, ends_out, NULL);
        options.perm = ends, options.nperm = 3;
        break;
    case 3: memcpy(out, f32_in, sizeof f32_in), in.data = out; break; /* in place, square */
    case 4:
        memcpy(out, f32_in, sizeof f32_in);
        in = tess_view(out, tess_f32, 2, tall, NULL), to = tess_view(out, tess_f32, 2, flat, NULL);
        break;
    default: return TESS_ERR_INTERNAL;
    }
    return tess_transpose(context, &in, &to, &options);
}

static tess_status lookup(tess_context *context, const call *c) {
    static int32_t index[N];
    static float at[N];
    static int64_t indices[] = {N}, line[] = {N * N}, result[] = {N};
    tess_lookup_options options = {.struct_size = sizeof options, .call = pinned(c)};
    for (int i = 0; i < N; i++) {
        index[i] = (i * 7) % N;
        at[i] = (float)i * 0.75f;
    }
    DLTensor table = tess_view(f32_in, tess_f32, 1, line, NULL), where = tess_view(index, tess_i32, 1, indices, NULL);
    DLTensor to = tess_view(out, tess_f32, 1, result, NULL), places;
    switch (c->variant) {
    case 0: break;
    case 1: table = tess_view(real_in, tess_f64, 2, square, NULL), to = tess_view(out, tess_f64, 2, square, NULL); break;
    case 2: where = tess_view(at, tess_f32, 1, indices, NULL), options.interpolation = TESS_INTERPOLATE_LINEAR; break;
    case 3:
        where = tess_view(at, tess_f32, 1, indices, NULL);
        options.interpolation = TESS_INTERPOLATE_CUBIC, options.outside = TESS_OUTSIDE_WRAP;
        break;
    case 4:
        table = tess_view(f16_in, tess_f16, 2, square, NULL), to = tess_view(out, tess_f16, 2, square, NULL);
        options.axis = 1, options.outside = TESS_OUTSIDE_FILL, options.fill = 3;
        break;
    case 5: /* copied positions, and buckets */
        where = tess_view(at, tess_f32, 1, indices, NULL), table = tess_view(f32_in, tess_f32, 1, indices, NULL);
        places = tess_view(index, tess_i32, 1, indices, NULL);
        for (int i = 0; i < N; i++)
            index[i] = i;
        options.positions = &places, options.outside = TESS_OUTSIDE_CLIP;
        break;
    default: return TESS_ERR_INTERNAL;
    }
    return tess_lookup(context, &table, &where, &to, &options);
}

/* Plan, workspace of ours, explain, execute twice. */
static tess_status plans(tess_context *context, const call *c) {
    DLTensor in = tess_view(f32_in, tess_f32, 2, square, NULL), to = tess_view(out, tess_f32, 2, square, NULL);
    static float plain[9] = {1, 0, 2, 0, 3, 0, 4, 0, 5};
    static int64_t three[] = {3, 3};
    DLTensor mask = tess_view(plain, tess_f32, 2, three, NULL), scalar = tess_view(out, tess_f64, 0, NULL, NULL);
    const DLTensor *masks[] = {&mask};
    char text[16384];
    tess_plan *plan = NULL;
    tess_status status = c->variant == 0   ? tess_plan_correlate(&plan, context, &in, masks, 1, &to, NULL)
                         : c->variant == 1 ? tess_plan_reduce(&plan, context, TESS_SUM, &in, &scalar, NULL)
                         : c->variant == 2 ? tess_plan_transpose(&plan, context, &in, &to, NULL)
                                           : tess_plan_lookup(&plan, context, &in, &in, &to, NULL);
    if (c->variant == 3) /* a table of rank 2 with a real index of rank 2 does not fit this out: refused, with nothing left behind */
        return status == TESS_ERR_SHAPE ? TESS_OK : status;
    if (status != TESS_OK)
        return plan ? TESS_ERR_INTERNAL : status;
    for (int i = 0; i < 2 && status == TESS_OK; i++)
        status = tess_execute(plan, f32_in, NULL, out, NULL);
    if (status == TESS_OK)
        status = tess_explain(plan, c->variant == 1 ? TESS_JSON : TESS_TEXT, text, sizeof text, NULL);
    if (status == TESS_OK && c->strategy) /* with tuning */
        status = tess_tune(plan, 0);
    tess_plan_free(plan);
    return status;
}

static char wisdom_path[] = "/tmp/tessera-allocfail-XXXXXX";
static tess_status wisdom(tess_context *context, const call *c) {
    char text[8192];
    size_t length;
    (void)c;
    tess_status status = tess_wisdom_import(context, "1 transpose/reference baseline 1 1 0.5 key\n1 reduce/reference baseline 1 1 0.5 key\n");
    if (status == TESS_OK)
        status = tess_wisdom_save(context, wisdom_path);
    if (status == TESS_OK)
        status = tess_wisdom_load(context, wisdom_path);
    if (status == TESS_OK)
        status = tess_wisdom_export(context, text, sizeof text, &length);
    if (status == TESS_OK)
        status = tess_devices(context, TESS_JSON, text, sizeof text, &length);
    tess_wisdom_forget(context);
    return status;
}

/* ---- the trial ---- */

/* Nothing of it may differ between a run that never met a failure and one after a failure. */
static double expected[TESS_COUNT(out)];

static void trial(const call *c, int threads) {
    tess_context *context;
    ledger.fail_at = 0;
    assert_tess_ok(open_context(&context, threads));
    memset(out, HOSTILE_POISON, sizeof out);
    tess_status status = c->run(context, c);
    tess_close(context);
    assert_int_equal(ledger.count, 0);
    if (c->strategy && status == TESS_ERR_STRATEGY) /* a row that says it cannot */
        return;
    if (status != TESS_OK)
        fail_msg("%s %d %s without any failure: %s: %s", c->name, c->variant, c->strategy ? c->strategy : "", tess_status_name(status),
                 tess_detail());
    memcpy(expected, out, sizeof out);
    for (int on = 0; on < 2; on++)
        for (int64_t k = 1, more = true; more; k++) {
            ledger.requests = 0;
            ledger.fail_at = k;
            ledger.fail_on = on;
            memset(out, HOSTILE_POISON, sizeof out);
            status = open_context(&context, threads);
            if (status == TESS_OK)
                status = c->run(context, c);
            else
                assert_null(context);
            if (status != TESS_OK && (status != TESS_ERR_MEMORY || !strstr(tess_detail(), "could not be allocated")))
                fail_msg("%s %d %s, allocation %lld: %s: %s", c->name, c->variant, c->strategy ? c->strategy : "", (long long)k,
                         tess_status_name(status), tess_detail());
            if (status == TESS_OK && memcmp(out, expected, sizeof out) != 0)
                fail_msg("%s %d %s, allocation %lld failed: another result", c->name, c->variant, c->strategy ? c->strategy : "", (long long)k);
            more = ledger.requests >= k;
            ledger.fail_at = 0;
            if (status != TESS_OK && context) { /* the context is as good as before */
                memset(out, HOSTILE_POISON, sizeof out);
                assert_tess_ok(c->run(context, c));
                assert_memory_equal(out, expected, sizeof out);
            }
            tess_close(context);
            if (ledger.count != 0)
                fail_msg("%s %d, allocation %lld failed: %d blocks leaked, the first of %zu bytes", c->name, c->variant, (long long)k, ledger.count,
                         ledger.size[0]);
            assert_false(ledger.wrong_release);
            assert_true(k < 1000);
        }
}

/* Chosen by the table, with two threads; and every row pinned, with one. */
static void trials(const char *name, tess_status (*run)(tess_context *, const call *), int first, int last) {
    tess_strategy_info info;
    for (int variant = first; variant <= last; variant++) {
        trial(&(call){name, run, variant, NULL}, 2);
        for (int i = 0; tess_strategy_get(i, &info); i++)
            if (strcmp(info.operation, name) == 0)
                trial(&(call){name, run, variant, info.name}, 1);
    }
}

static void correlations(void **state) {
    (void)state;
    trials("correlate", correlate, 0, 9);
}
static void reductions(void **state) {
    (void)state;
    for (int shape = 0; shape < 4; shape++)
        trials("reduce", reduce, shape * 16 + TESS_SUM, shape * 16 + TESS_NORM_INF);
    trials("reduce", reduce, 4 * 16 + TESS_SUM, 4 * 16 + TESS_SUM);
    trials("reduce", reduce, 4 * 16 + TESS_MAX, 4 * 16 + TESS_MAX);
    trials("reduce", reduce, 5 * 16 + TESS_SUM, 5 * 16 + TESS_SUM);
}
static void transposes(void **state) {
    (void)state;
    trials("transpose", transpose, 0, 4);
}
static void lookups(void **state) {
    (void)state;
    trials("lookup", lookup, 0, 5);
}
static void plans_and_tuning(void **state) {
    (void)state;
    for (int variant = 0; variant < 4; variant++) {
        trial(&(call){"plan", plans, variant, NULL}, 2);
        trial(&(call){"plan", plans, variant, "tune"}, 1);
    }
}
static void wisdom_calls(void **state) {
    (void)state;
    trial(&(call){"wisdom", wisdom, 0, NULL}, 1);
}

/* The measurement asks for a block of hundreds of megabytes: here it is always refused. */
/* A kernel on the virtual GPU: PTX, arrays of the caller and of the launch, a structure, every report. */
static tess_status profiles(tess_context *context, const call *c) {
    static const char source[] = ".version 9.0\n.target sm_90\n.address_size 64\n"
                                 ".visible .entry add(.param .u64 p0, .param .u64 p1, .param .align 4 .b8 p2[8]) {\n"
                                 " .reg .b64 %rd<6>; .reg .f32 %f<5>; .reg .b32 %r<3>; .shared .align 4 .b8 tile[128];\n"
                                 " ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1]; ld.param.f32 %f1, [p2];\n"
                                 " mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;\n"
                                 " ld.global.f32 %f2, [%rd4]; fma.rn.f32 %f3, %f2, %f1, %f1; st.global.f32 [%rd5], %f3;\n"
                                 " ret;\n}\n";
    static int64_t line[] = {N};
    char text[64];
    size_t length;
    DLTensor in = tess_view(f32_in, tess_f32, 1, line, NULL), to = tess_view(out, tess_f32, 1, line, NULL);
    const DLTensor *arrays[] = {&in, &to};
    tess_profile *profile;
    const char *launch = c->variant ? "add<<<1, 40>>>(inout:f32[48]=random:3, out:$1, {2, 5})" : "add<<<2, 32>>>(in:$0, out:$1, {0.5f, i32:1})";
    tess_status status = tess_profile_kernel(&profile, context, source, launch, arrays, 2, NULL);
    if (status != TESS_OK)
        return status;
    for (int format = TESS_TEXT; format <= TESS_HTML; format++)
        assert_int_equal(tess_profile_text(profile, (tess_format)format, text, sizeof text, &length), TESS_ERR_SIZE);
    tess_profile_free(profile);
    return TESS_OK;
}
static void profiled(void **state) {
    (void)state;
    trial(&(call){"profile", profiles, 0, NULL}, 2);
    trial(&(call){"profile", profiles, 1, NULL}, 1);
}

static void limits_without_memory(void **state) {
    (void)state;
    tess_context *context;
    tess_limits limits = {.struct_size = sizeof limits};
    ledger.requests = 0;
    ledger.fail_at = 0;
    assert_tess_ok(open_context(&context, 1));
    ledger.fail_at = ledger.requests + 1;
    assert_tess_fails(tess_measure_limits(context, 0, &limits), TESS_ERR_MEMORY);
    tess_close(context);
    assert_int_equal(ledger.count, 0);
}

static int set_up(void **state) {
    (void)state;
    uint64_t random = 3;
    for (int i = 0; i < N * N; i++) {
        int64_t v = hostile_between(&random, -100, 100);
        real_in[i] = (double)v / 8;
        f32_in[i] = (float)v / 4;
        f16_in[i] = (uint16_t)(0x3c00 + (v & 0xff));
        i16_in[i] = (int16_t)v;
        c64_in[2 * i] = (float)v;
        c64_in[2 * i + 1] = (float)-v / 2;
    }
    int descriptor = mkstemp(wisdom_path);
    setenv("TESSERA_WISDOM", "/dev/null", 1);
    return descriptor < 0 ? -1 : close(descriptor);
}
static int tear_down(void **state) {
    (void)state;
    return unlink(wisdom_path);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(correlations),
                                       cmocka_unit_test(reductions),
                                       cmocka_unit_test(transposes),
                                       cmocka_unit_test(lookups),
                                       cmocka_unit_test(wisdom_calls),
                                       cmocka_unit_test(plans_and_tuning),
                                       cmocka_unit_test(limits_without_memory),
                                       cmocka_unit_test(profiled)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
