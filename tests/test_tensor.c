/* SPDX-License-Identifier: Apache-2.0
 * test_tensor.c - proves: what tess_array_import takes and refuses, with which status and which words; sizes and strides at the edge of 64 bits;
 * axis lists; shape texts; that collapsing axes keeps the elements and their order; that an index walks them, from any start. */
#include "hostile.h"

#include "core/tensor.h"

static DLTensor tensor(int64_t *shape, int ndim, int64_t *strides) {
    static char memory[64];
    return tess_view(memory, tess_f32, ndim, shape, strides);
}

static void types_have_names_sizes_and_codes(void **state) {
    (void)state;
    static const char *const names[] = {"?",   "bool", "u8",  "i8",   "u16", "i16", "u32", "i32",
                                        "u64", "i64",  "f16", "bf16", "f32", "f64", "c64", "c128"};
    static const int sizes[] = {0, 1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8, 8, 16};
    for (int t = 0; t < TESS_TYPES; t++) {
        assert_string_equal(tess_type_name((tess_type)t), names[t]);
        assert_int_equal(tess_type_size((tess_type)t), sizes[t]);
        assert_int_equal(tess_type_of(tess_dl_type((tess_type)t)), t);
        assert_int_equal(tess_type_named(names[t]), t);
    }
    assert_int_equal(tess_type_named("f128"), tess_no_type);
    assert_int_equal(tess_type_named(""), tess_no_type);
    assert_int_equal(tess_type_named(NULL), tess_no_type);
    assert_int_equal(tess_type_size((tess_type)99), 0);
    assert_string_equal(tess_type_name((tess_type)-1), "?");
    assert_int_equal(tess_type_of((DLDataType){kDLFloat, 32, 2}), tess_no_type);
    assert_int_equal(tess_type_of((DLDataType){kDLFloat, 24, 1}), tess_no_type);
    assert_int_equal(tess_type_of((DLDataType){99, 32, 1}), tess_no_type);
}

static void good_tensors(void **state) {
    (void)state;
    tess_array a;
    int64_t shape[] = {2, 3, 4}, strides[] = {-12, 4, -1};
    DLTensor t = tensor(shape, 3, NULL);
    t.byte_offset = 3;
    assert_tess_ok(tess_array_import(&a, &t, "in", true));
    assert_int_equal(a.count, 24);
    assert_ptr_equal(a.data, (char *)t.data + 3);
    assert_true(a.stride[0] == 48 && a.stride[1] == 16 && a.stride[2] == 4);
    assert_true(tess_array_is_compact(&a));
    t.strides = strides;
    assert_tess_ok(tess_array_import(&a, &t, "in", true));
    assert_true(a.stride[0] == -48 && a.stride[1] == 16 && a.stride[2] == -4);
    assert_false(tess_array_is_compact(&a));
    int64_t low, high;
    tess_array_extent(&a, &low, &high);
    assert_true(low == -48 - 12 && high == 32 + 4);
    t = tensor(NULL, 0, NULL); /* 0-d: one element */
    assert_tess_ok(tess_array_import(&a, &t, "in", true));
    assert_int_equal(a.count, 1);
    int64_t empty[] = {INT64_MAX / 4, 0, 1};
    t = tensor(empty, 3, NULL);
    t.data = NULL;
    assert_tess_ok(tess_array_import(&a, &t, "in", true));
    assert_int_equal(a.count, 0);
    tess_array_extent(&a, &low, &high);
    assert_true(low == 0 && high == 0);
    int64_t ones[TESS_MAX_NDIM], huge[TESS_MAX_NDIM];
    for (int d = 0; d < TESS_MAX_NDIM; d++) {
        ones[d] = 1;
        huge[d] = INT64_MIN; /* never stepped along */
    }
    t = tensor(ones, TESS_MAX_NDIM, huge);
    assert_tess_ok(tess_array_import(&a, &t, "in", true));
    assert_true(a.count == 1 && tess_array_is_compact(&a));
    int64_t widest[] = {INT64_MAX / 4}; /* the largest compact f32 array */
    t = tensor(widest, 1, NULL);
    assert_tess_ok(tess_array_import(&a, &t, "in", false));
    int64_t many[] = {(int64_t)1 << 40, (int64_t)1 << 20}, zero[] = {0, 0}; /* broadcast: 2^60 elements in one place */
    t = tensor(many, 2, zero);
    assert_tess_ok(tess_array_import(&a, &t, "in", true));
    assert_int_equal(a.count, (int64_t)1 << 60);
}

static void refuse(const DLTensor *t, tess_status status, const char *words) {
    tess_array a;
    assert_tess_fails(tess_array_import(&a, t, "in", true), status);
    if (!strstr(tess_detail(), words))
        fail_msg("the detail \"%s\" does not say \"%s\"", tess_detail(), words);
}

static void bad_tensors(void **state) {
    (void)state;
    int64_t shape[] = {2, 3};
    refuse(NULL, TESS_ERR_ARGUMENT, "in is NULL");
    DLTensor t = tensor(shape, 65, NULL);
    refuse(&t, TESS_ERR_SHAPE, "ndim 65");
    t.ndim = -1;
    refuse(&t, TESS_ERR_SHAPE, "ndim -1");
    t = tensor(NULL, 2, NULL);
    refuse(&t, TESS_ERR_ARGUMENT, "NULL shape");
    t = tensor(shape, 2, NULL);
    t.dtype.lanes = 4;
    refuse(&t, TESS_ERR_TYPE, "4 lanes");
    t.dtype = (DLDataType){7, 33, 1};
    refuse(&t, TESS_ERR_TYPE, "type code 7, 33 bits");
    t = tensor(shape, 2, NULL);
    t.device.device_type = (DLDeviceType)4; /* OpenCL */
    refuse(&t, TESS_ERR_DEVICE, "device type 4");
    t.device.device_type = (DLDeviceType)0;
    refuse(&t, TESS_ERR_DEVICE, "device type 0");
    t = tensor(shape, 2, NULL);
    t.data = NULL;
    refuse(&t, TESS_ERR_ARGUMENT, "NULL data and 6 elements");
    int64_t negative[] = {2, -3};
    t = tensor(negative, 2, NULL);
    refuse(&t, TESS_ERR_SHAPE, "size -3 on axis 1");
    int64_t product[] = {(int64_t)1 << 32, (int64_t)1 << 32};
    t = tensor(product, 2, NULL);
    refuse(&t, TESS_ERR_SIZE, "axis 1 (size 4294967296)");
    int64_t nothing[] = {(int64_t)1 << 32, 0, (int64_t)1 << 32}; /* empty, but sizes of some axes could not be multiplied */
    t = tensor(nothing, 3, NULL);
    refuse(&t, TESS_ERR_SIZE, "axis 2 (size 4294967296)");
    int64_t wide[] = {INT64_MAX / 4 + 1}; /* elements fit, bytes do not */
    t = tensor(wide, 1, NULL);
    refuse(&t, TESS_ERR_SIZE, "2^63 bytes");
    int64_t two[] = {2, 1}, strides[] = {INT64_MAX / 4 - 1, 1};
    t = tensor(two, 2, strides);
    tess_array a;
    assert_tess_ok(tess_array_import(&a, &t, "in", false)); /* one step of 2^63 - 8 bytes and an element end at the limit */
    int64_t low, high;
    tess_array_extent(&a, &low, &high);
    assert_true(low == 0 && high == INT64_MAX - 3);
    strides[0]++;
    refuse(&t, TESS_ERR_SIZE, "beyond 2^63 bytes");
    t = tensor(shape, 2, strides);
    int64_t far[] = {INT64_MAX / 2, 1}, back[] = {INT64_MIN, 1}, sum[] = {INT64_MAX / 8, INT64_MIN / 16};
    t.strides = far;
    refuse(&t, TESS_ERR_SIZE, "on axis 0");
    t.strides = back;
    refuse(&t, TESS_ERR_SIZE, "on axis 0");
    t.strides = sum; /* each axis can be counted, both together cannot */
    refuse(&t, TESS_ERR_SIZE, "beyond 2^63 bytes");
}

static void axis_lists(void **state) {
    (void)state;
    int axes[4], given[] = {-1, 0, 2}, twice[] = {1, -3}, out[] = {4}, low[] = {INT32_MIN};
    assert_tess_ok(tess_axes_check(axes, given, 3, 4, "axes"));
    assert_true(axes[0] == 3 && axes[1] == 0 && axes[2] == 2);
    assert_tess_ok(tess_axes_check(axes, NULL, 0, 0, "axes"));
    assert_tess_fails(tess_axes_check(axes, twice, 2, 4, "axes"), TESS_ERR_AXIS);
    assert_non_null(strstr(tess_detail(), "axes[1] is -3: axis 1 is named twice"));
    assert_tess_fails(tess_axes_check(axes, out, 1, 4, "axes"), TESS_ERR_AXIS);
    assert_non_null(strstr(tess_detail(), "axes[0] is 4"));
    assert_tess_fails(tess_axes_check(axes, low, 1, 4, "axes"), TESS_ERR_AXIS);
    assert_tess_fails(tess_axes_check(axes, given, 3, 2, "axes"), TESS_ERR_AXIS);
    assert_tess_fails(tess_axes_check(axes, given, -1, 2, "axes"), TESS_ERR_AXIS);
    assert_tess_fails(tess_axes_check(axes, NULL, 1, 2, "axes"), TESS_ERR_ARGUMENT);
}

static void shape_texts(void **state) {
    (void)state;
    char text[32], wide[64];
    int64_t shape[TESS_MAX_NDIM] = {3, 4, 5};
    assert_string_equal(tess_shape_text(text, sizeof text, 3, shape), "[3, 4, 5]");
    assert_string_equal(tess_shape_text(text, sizeof text, 0, shape), "[]");
    assert_string_equal(tess_shape_text(wide, sizeof wide, 4, (int64_t[]){INT64_MIN, -7, INT64_MAX, 0}),
                        "[-9223372036854775808, -7, 9223372036854775807, 0]");
    assert_string_equal(tess_shape_text(text, 10, 3, shape), "[3, 4, 5]");
    assert_string_equal(tess_shape_text(text, 9, 3, shape), "[3, 4...");
    for (size_t size = 4; size <= sizeof text; size++) { /* never past its end, always terminated, cut visibly */
        memset(text, 'x', sizeof text);
        tess_shape_text(text, size, TESS_MAX_NDIM, shape);
        assert_int_equal(strlen(text), size - 1);
        assert_string_equal(text + size - 4, "...");
        for (size_t i = size; i < sizeof text; i++)
            assert_int_equal(text[i], 'x');
    }
}

/* The offsets of all elements in row-major order, by division: what collapsing and walking must reproduce. */
static int64_t offset_of(int64_t number, int ndim, const int64_t *shape, const int64_t *stride) {
    int64_t offset = 0;
    for (int d = ndim - 1; d >= 0; d--) {
        offset += number % shape[d] * stride[d];
        number /= shape[d];
    }
    return offset;
}

static void collapse_and_walk(void **state) {
    (void)state;
    uint64_t random = 7;
    int collapsed_some = 0;
    for (int round = 0; round < 3000; round++) {
        int ndim = (int)hostile_between(&random, 0, 6);
        int64_t shape[TESS_MAX_NDIM], before[TESS_MAX_NDIM], strides[2][TESS_MAX_NDIM], old[2][TESS_MAX_NDIM], count = 1, step = 4;
        for (int d = ndim - 1; d >= 0; d--) {
            before[d] = shape[d] = hostile_between(&random, 1, 4);
            count *= shape[d];
            old[0][d] = strides[0][d] = step; /* sometimes with a gap, a sign, or a broadcast */
            step *= shape[d] * (hostile_between(&random, 0, 3) ? 1 : -2);
            old[1][d] = strides[1][d] = hostile_between(&random, 0, 2) ? step / shape[d] : 0;
        }
        int kept = tess_collapse(ndim, shape, 2, strides);
        collapsed_some += kept < ndim;
        assert_true(kept <= ndim);
        int64_t product = 1;
        for (int d = 0; d < kept; d++) {
            assert_true(shape[d] > 1);
            product *= shape[d];
        }
        assert_int_equal(product, count);
        for (int64_t i = 0; i < count; i++)
            for (int k = 0; k < 2; k++)
                assert_int_equal(offset_of(i, kept, shape, strides[k]), offset_of(i, ndim, before, old[k]));
        tess_index index;
        int64_t start = hostile_between(&random, 0, count - 1), i = start;
        tess_index_start(&index, ndim, before, 2, old, start);
        do {
            assert_int_equal(index.offset[0], offset_of(i, ndim, before, old[0]));
            assert_int_equal(index.offset[1], offset_of(i, ndim, before, old[1]));
            i++;
        } while (tess_index_next(&index));
        assert_int_equal(i, count);
        assert_true(index.offset[0] == 0 && index.offset[1] == 0); /* back at the start */
    }
    assert_true(collapsed_some > 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(types_have_names_sizes_and_codes),
                                       cmocka_unit_test(good_tensors),
                                       cmocka_unit_test(bad_tensors),
                                       cmocka_unit_test(axis_lists),
                                       cmocka_unit_test(shape_texts),
                                       cmocka_unit_test(collapse_and_walk)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
