/* SPDX-License-Identifier: Apache-2.0
 * test_context.c - proves: what tess_open takes and refuses, from options and from the environment; that a context allocates through the caller's
 * functions alone, aligned, and gives all back with the sizes it asked for; that a failure to open leaves nothing; the default context. */
#include "hostile.h"

#include <pthread.h>

#include "core/context.h"
#include "core/strategy.h"

/* An allocator that remembers: bytes and blocks that are out, and fails at the `fail_at`-th request (1 = the first; 0 = never). */
typedef struct ledger {
    int64_t bytes, blocks, requests, fail_at;
} ledger;

static void *ledger_allocate(void *user, size_t size, size_t alignment) {
    ledger *l = user;
    assert_true(alignment > 0 && alignment <= 4096 && (alignment & (alignment - 1)) == 0);
    assert_true(size > 0);
    if (++l->requests == l->fail_at)
        return NULL;
    void *memory = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    assert_non_null(memory);
    l->bytes += (int64_t)size;
    l->blocks++;
    return memory;
}
static void ledger_release(void *user, void *memory, size_t size) {
    ledger *l = user;
    assert_non_null(memory);
    l->bytes -= (int64_t)size;
    l->blocks--;
    free(memory);
}

static void refuse(const tess_context_options *options, tess_status status, const char *words) {
    tess_context *context = (tess_context *)&status; /* must become NULL */
    assert_tess_fails(tess_open(&context, options), status);
    assert_null(context);
    if (!strstr(tess_detail(), words))
        fail_msg("the detail \"%s\" does not say \"%s\"", tess_detail(), words);
}

static void open_and_refuse(void **state) {
    (void)state;
    tess_context *context;
    assert_tess_fails(tess_open(NULL, NULL), TESS_ERR_ARGUMENT);
    assert_tess_ok(tess_open(&context, NULL));
    assert_true(tess_threads(context) >= 1);
    tess_close(context);
    tess_close(NULL);
    tess_context_options options = {.struct_size = sizeof options};
    assert_tess_ok(tess_open(&context, &options));
    tess_close(context);
    options.struct_size = 0;
    refuse(&options, TESS_ERR_ARGUMENT, "struct_size is 0");
    options = (tess_context_options){.struct_size = sizeof options, .threads = -1};
    refuse(&options, TESS_ERR_ARGUMENT, "threads is -1");
    options.threads = 1025;
    refuse(&options, TESS_ERR_ARGUMENT, "limits are 0 and 1024");
    options = (tess_context_options){.struct_size = sizeof options, .isa = (tess_isa)17};
    refuse(&options, TESS_ERR_ARGUMENT, "isa is 17");
    options = (tess_context_options){.struct_size = sizeof options, .engine = (tess_engine)-3};
    refuse(&options, TESS_ERR_ARGUMENT, "engine is -3");
    options = (tess_context_options){.struct_size = sizeof options, .strategy = "reduce/nothing_of_the_kind"};
    refuse(&options, TESS_ERR_STRATEGY, "reduce/nothing_of_the_kind");
    options = (tess_context_options){.struct_size = sizeof options, .allocate = ledger_allocate};
    refuse(&options, TESS_ERR_ARGUMENT, "both or neither");
    for (tess_isa isa = TESS_ISA_BASELINE; isa <= TESS_ISA_NEON; isa++) {
        options = (tess_context_options){.struct_size = sizeof options, .isa = isa};
        tess_isa_slot slot = (tess_isa_slot)(isa - TESS_ISA_BASELINE);
        if (tess_cpu_has_slot(slot)) {
            assert_tess_ok(tess_open(&context, &options));
            assert_int_equal(context->slot, slot);
            tess_close(context);
        } else {
            refuse(&options, TESS_ERR_ENGINE, tess_slot_name(slot));
        }
    }
}

static void environment(void **state) {
    (void)state;
    tess_context *context;
    tess_context_options options = {.struct_size = sizeof options, .threads = 3, .isa = TESS_ISA_BASELINE};
    setenv("TESSERA_THREADS", "5", 1);
    setenv("TESSERA_ISA", "baseline", 1);
    assert_tess_ok(tess_open(&context, NULL));
    assert_int_equal(tess_threads(context), 5);
    assert_int_equal(context->slot, TESS_SLOT_BASELINE);
    assert_tess_ok(tess_set_threads(context, 2));
    assert_int_equal(tess_threads(context), 2);
    assert_tess_fails(tess_set_threads(context, -2), TESS_ERR_ARGUMENT);
    assert_int_equal(tess_threads(context), 2); /* a refusal changes nothing */
    assert_tess_ok(tess_set_threads(context, 0));
    assert_int_equal(tess_threads(context), 5);
    tess_close(context);
    static const char *const wrong[] = {"0", "-1", "1025", "4x", "99999999999999999999", " "};
    for (int i = 0; i < TESS_COUNT(wrong); i++) {
        setenv("TESSERA_THREADS", wrong[i], 1);
        refuse(NULL, TESS_ERR_ARGUMENT, "TESSERA_THREADS");
        assert_tess_ok(tess_open(&context, &options)); /* options overrule it */
        assert_int_equal(tess_threads(context), 3);
        tess_close(context);
    }
    setenv("TESSERA_THREADS", "", 1);
    setenv("TESSERA_ISA", "mmx", 1);
    refuse(NULL, TESS_ERR_ARGUMENT, "TESSERA_ISA is \"mmx\"");
    assert_tess_ok(tess_open(&context, &options));
    tess_close(context);
    setenv("TESSERA_ISA", "", 1);
    setenv("TESSERA_STRATEGY", "no/such", 1);
    refuse(NULL, TESS_ERR_STRATEGY, "no/such");
    unsetenv("TESSERA_STRATEGY");
    unsetenv("TESSERA_THREADS");
    unsetenv("TESSERA_ISA");
}

/* A list of all strategies there are: the longest that a context may have to keep a copy of. */
static char *all_strategies(void) {
    char *list = calloc(1, 65536);
    tess_strategy_info info;
    for (int i = 0; tess_strategy_get(i, &info); i++) {
        strcat(list, *list ? "," : "");
        strcat(list, info.name);
    }
    return list;
}

static void everything_from_the_caller_s_allocator(void **state) {
    (void)state;
    char *list = all_strategies();
    ledger l = {0};
    tess_context_options options = {
        .struct_size = sizeof options, .strategy = list, .allocate = ledger_allocate, .release = ledger_release, .allocator_user = &l};
    tess_context *context;
    assert_tess_ok(tess_open(&context, &options));
    if (*list) {
        assert_string_equal(context->options.strategy, list);
        assert_ptr_not_equal(context->options.strategy, list);
    }
    void *block = tess_allocate_zeroed(context, 1000);
    assert_int_equal((uintptr_t)block % 64, 0);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(((char *)block)[i], 0);
    tess_free(context, block, 1000);
    block = tess_allocate(context, 0);
    assert_non_null(block);
    tess_free(context, block, 0);
    tess_free(context, NULL, 5);
    tess_close(context);
    assert_true(l.bytes == 0 && l.blocks == 0);
    int64_t requests = l.requests - 2;
    for (int64_t k = 1; k <= requests; k++) {
        l = (ledger){.fail_at = k};
        refuse(&options, TESS_ERR_MEMORY, "could not be allocated");
        assert_true(l.bytes == 0 && l.blocks == 0);
    }
    free(list);
}

static void an_allocation_that_cannot_be(void **state) {
    (void)state;
    tess_context *context;
    assert_tess_ok(tess_open(&context, NULL));
    assert_null(tess_allocate(context, SIZE_MAX));
    assert_non_null(strstr(tess_detail(), "18446744073709551615 bytes"));
    assert_null(tess_allocate_zeroed(context, SIZE_MAX / 2));
    tess_close(context);
}

/* Eight threads meet the default context at once: all get the same one. */
static void *get_default(void *argument) {
    tess_context **seen = argument;
    assert_int_equal(tess_context_get(seen, NULL), TESS_OK);
    return NULL;
}
static void default_context_is_one(void **state) {
    (void)state;
    setenv("TESSERA_ISA", "mmx", 1); /* a wrong environment fails the call that meets it, and is tried again */
    tess_context *context, *seen[8];
    assert_tess_fails(tess_context_get(&context, NULL), TESS_ERR_ARGUMENT);
    unsetenv("TESSERA_ISA");
    pthread_t thread[8];
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, get_default, &seen[i]), 0);
    for (int i = 0; i < 8; i++) {
        pthread_join(thread[i], NULL);
        assert_ptr_equal(seen[i], seen[0]);
    }
    assert_non_null(seen[0]);
    assert_tess_ok(tess_open(&context, NULL));
    tess_context *other;
    assert_tess_ok(tess_context_get(&other, context));
    assert_ptr_equal(other, context);
    tess_close(context);
}

static void devices_texts(void **state) {
    (void)state;
    for (tess_format format = TESS_TEXT; format <= TESS_JSON; format++) {
        size_t length, again;
        assert_tess_ok(tess_devices(NULL, format, NULL, 0, &length));
        assert_true(length > 20);
        char *text = malloc(length + 1);
        assert_tess_ok(tess_devices(NULL, format, text, length + 1, &again));
        assert_true(again == length && strlen(text) == length);
        assert_tess_fails(tess_devices(NULL, format, text, length, &again), TESS_ERR_SIZE);
        assert_int_equal(again, length);
        assert_int_equal(strlen(text), length - 1); /* cut, terminated */
        free(text);
        assert_tess_fails(tess_devices(NULL, format, NULL, 5, NULL), TESS_ERR_ARGUMENT);
    }
    assert_tess_fails(tess_devices(NULL, TESS_HTML, NULL, 0, NULL), TESS_ERR_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(open_and_refuse),
                                       cmocka_unit_test(environment),
                                       cmocka_unit_test(everything_from_the_caller_s_allocator),
                                       cmocka_unit_test(an_allocation_that_cannot_be),
                                       cmocka_unit_test(default_context_is_one),
                                       cmocka_unit_test(devices_texts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
