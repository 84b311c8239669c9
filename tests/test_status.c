/* SPDX-License-Identifier: Apache-2.0
 * test_status.c - proves: every status has its name and text from the one list, numbers are dense from TESS_OK = 0, unknown values
 * are answered; the detail is per thread, cut and never overrun; option structures of other versions are taken or refused as the header says. */
#include "hostile.h"

#include <pthread.h>

#include "core/status.h"

static void names_and_texts(void **state) {
    (void)state;
    int expected = 0;
#define CHECK(name, text)                               \
    assert_int_equal(name, expected++);                 \
    assert_string_equal(tess_status_name(name), #name); \
    assert_string_equal(tess_status_text(name), text);
    TESS_STATUS_LIST(CHECK)
#undef CHECK
    assert_int_equal(TESS_OK, 0);
    assert_string_equal(tess_status_name((tess_status)expected), "?");
    assert_string_equal(tess_status_text((tess_status)-1), "unknown status");
}

static void version_is_the_header_s(void **state) {
    (void)state;
    assert_int_equal(tess_version(), TESSERA_VERSION);
    assert_int_equal(TESSERA_VERSION, TESSERA_VERSION_MAJOR * 10000 + TESSERA_VERSION_MINOR * 100 + TESSERA_VERSION_PATCH);
}

static void *other_thread(void *argument) {
    const char **seen = argument;
    seen[0] = strdup(tess_detail());
    tess_fail(TESS_ERR_ARGUMENT, "other");
    seen[1] = strdup(tess_detail());
    return NULL;
}

static void detail_belongs_to_a_thread(void **state) {
    (void)state;
    char *seen[2];
    pthread_t thread;
    assert_int_equal(tess_fail(TESS_ERR_SHAPE, "value %d, limit %s", 7, "6"), TESS_ERR_SHAPE);
    assert_string_equal(tess_detail(), "value 7, limit 6");
    assert_int_equal(pthread_create(&thread, NULL, other_thread, seen), 0);
    pthread_join(thread, NULL);
    assert_string_equal(seen[0], "");
    assert_string_equal(seen[1], "other");
    assert_string_equal(tess_detail(), "value 7, limit 6");
    free(seen[0]);
    free(seen[1]);
}

static void long_details_are_cut(void **state) {
    (void)state;
    char text[4096];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    tess_fail(TESS_ERR_ARGUMENT, "%s", text);
    size_t length = strlen(tess_detail());
    assert_true(length >= 255 && length < sizeof text);
    assert_int_equal(strspn(tess_detail(), "x"), length);
}

typedef struct pair {
    size_t struct_size;
    int64_t first, second;
} pair;

static void option_structures_of_other_versions(void **state) {
    (void)state;
    pair to, from = {.struct_size = sizeof from, .first = 1, .second = 2};
    assert_tess_ok(tess_options_copy(&to, sizeof to, &from, "options"));
    assert_int_equal(to.second, 2);
    assert_tess_ok(tess_options_copy(&to, sizeof to, NULL, "options"));
    assert_int_equal(to.struct_size, sizeof to);
    assert_true(to.first == 0 && to.second == 0);
    from.struct_size = offsetof(pair, second); /* an older caller */
    assert_tess_ok(tess_options_copy(&to, sizeof to, &from, "options"));
    assert_true(to.first == 1 && to.second == 0 && to.struct_size == sizeof to);
    struct {
        pair known;
        int64_t later;
    } newer = {.known = {.struct_size = sizeof newer, .first = 3, .second = 4}};
    assert_tess_ok(tess_options_copy(&to, sizeof to, &newer, "options"));
    assert_true(to.first == 3 && to.second == 4);
    newer.later = 1;
    assert_tess_fails(tess_options_copy(&to, sizeof to, &newer, "options"), TESS_ERR_ARGUMENT);
    assert_non_null(strstr(tess_detail(), "options: struct_size is 32"));
    size_t wrong[] = {0, 7, 65537, SIZE_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        from.struct_size = wrong[i];
        assert_tess_fails(tess_options_copy(&to, sizeof to, &from, "options"), TESS_ERR_ARGUMENT);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_and_texts), cmocka_unit_test(version_is_the_header_s),
                                       cmocka_unit_test(detail_belongs_to_a_thread), cmocka_unit_test(long_details_are_cut),
                                       cmocka_unit_test(option_structures_of_other_versions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
