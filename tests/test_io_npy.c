/* SPDX-License-Identifier: Apache-2.0
 * Proves: every type and shape goes to .npy and back bit for bit; all header versions, both orders of axes and of bytes are read; a header that lies,
 * is cut, or holds anything but the few forms of NumPy is refused with a sentence that says what is wrong, from a file and from a pipe alike. */
#include "io_files.h"

static const tess_type types[] = {tess_bool, tess_u8,  tess_i8,  tess_u16, tess_i16, tess_u32, tess_i32,
                                  tess_u64,  tess_i64, tess_f16, tess_f32, tess_f64, tess_c64, tess_c128};

static void test_round_trip(void **state) {
    static const int64_t shapes[][4] = {{0}, {1}, {5}, {3, 4}, {2, 0, 3}, {2, 3, 4, 5}};
    static const int ranks[] = {0, 1, 1, 2, 3, 4};
    const char *path = files_name(0, "a.npy");
    (void)state;
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
        for (size_t s = 0; s < sizeof ranks / sizeof ranks[0]; s++) {
            tess_io_array a, b;
            files_array(&a, types[t], ranks[s], shapes[s]);
            files_write(&a, path);
            files_read(&b, path);
            files_same(&a, &b);
            assert_int_equal((uintptr_t)b.tensor.data % 64, 0); /* the header is padded so that mapped data is aligned */
            tess_io_free(&a);
            tess_io_free(&b);
        }
    assert_int_equal(files_count(), 1);
}

/* Makes an .npy of any version from header text and data. */
static size_t assemble(unsigned char *file, int version, const char *text, const void *data, size_t size) {
    size_t length = strlen(text), at = version == 1 ? 10 : 12;
    memcpy(file, "\x93NUMPY", 6);
    file[6] = (unsigned char)version;
    file[7] = 0;
    for (size_t k = 0; k < at - 8; k++)
        file[8 + k] = (unsigned char)(length >> 8 * k);
    memcpy(file + at, text, length);
    memcpy(file + at + length, data, size);
    return at + length + size;
}

static void test_forms(void **state) {
    /* Whatever Python would also read: other spacing, quotes, order of keys, the L of Python 2. */
    static const char *const texts[] = {
        "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }          \n",
        "{'descr':'<i2','fortran_order':False,'shape':(2,3)}\n",
        "{ 'shape' : ( 2 , 3 , ) , \"fortran_order\" : False , \"descr\" : \"<i2\" }",
        "{'descr': '<i2', 'fortran_order': False, 'shape': (2L, 3L), }\n",
    };
    unsigned char file[512];
    int16_t data[6] = {1, 2, 3, 4, 5, 6};
    const char *path = files_name(0, "a.npy");
    (void)state;
    for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++)
        for (int version = 1; version <= 3; version++) {
            tess_io_array a;
            files_put(path, file, assemble(file, version, texts[t], data, sizeof data));
            files_read(&a, path);
            assert_int_equal(a.tensor.ndim, 2);
            assert_int_equal(a.shape[1], 3);
            assert_memory_equal(a.tensor.data, data, sizeof data);
            tess_io_free(&a);
        }
}

static void test_order(void **state) {
    unsigned char file[512], big[] = {0, 1, 0, 2, 0, 3, 1, 4, 0, 5, 0, 6};
    const int16_t values[] = {1, 2, 3, 260, 5, 6};
    unsigned char complex_big[] = {0x3f, 0x80, 0, 0, 0x40, 0, 0, 0};
    const float one_two[] = {1, 2};
    tess_io_array a;
    const char *path = files_name(0, "a.npy");
    (void)state;
    files_put(path, file, assemble(file, 1, "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }\n", big, sizeof big));
    files_read(&a, path);
    assert_memory_equal(a.tensor.data, values, sizeof values);
    assert_int_equal(a.strides[0], 1);
    assert_int_equal(a.strides[1], 2);
    tess_io_free(&a);
    unsigned char after[512];
    size_t size = files_get(path, after, sizeof after);
    assert_memory_equal(file, after, size); /* the file itself was not swapped */
    files_put(path, file, assemble(file, 1, "{'descr': '>c8', 'fortran_order': False, 'shape': (), }\n", complex_big, sizeof complex_big));
    files_read(&a, path);
    assert_memory_equal(a.tensor.data, one_two, sizeof one_two); /* the halves are swapped, not exchanged */
    tess_io_free(&a);
}

typedef struct bad_header {
    const char *text, *words;
} bad_header;
#define SHAPED(shape) "{'descr': '<f4', 'fortran_order': False, 'shape': " shape ", }\n"
#define TYPED(descr) "{'descr': " descr ", 'fortran_order': False, 'shape': (2,), }\n"
static const bad_header bad[] = {
    {"", "too few"},
    {"   ", "dictionary is expected"},
    {"{}", "missing"},
    {"{'descr': '<f4', 'shape': (2,)}", "missing"},
    {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", "each once"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}", "each once"},
    {"{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}", "True or False"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} and more", "follows the dictionary"},
    {"{'descr': '<f4' 'fortran_order': False, 'shape': (2,)}", "comma"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)", "comma or }"},
    {"{'descr': '<f4", "does not end"},
    {"__import__('os').system('true')", "dictionary is expected"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (__import__('os'),)}", "size is expected"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': ((((((((2))))))))}", "size is expected"},
    {"{'de\\x73cr': '<f4', 'fortran_order': False, 'shape': (2,)}", "escape"},
    {SHAPED("(2)"), "needs a comma"},
    {SHAPED("2"), "tuple of sizes"},
    {SHAPED("(-2,)"), "negative"},
    {SHAPED("(2.0,)"), "comma or )"},
    {SHAPED("(1e9,)"), "comma or )"},
    {SHAPED("(2**60,)"), "comma or )"},
    {SHAPED("(,)"), "size is expected"},
    {SHAPED("(2"), "size is expected"},
    {SHAPED("(9223372036854775808,)"), "limit of 2^63"},
    {SHAPED("(4611686018427387904, 2)"), "overflows"},
    {SHAPED("(0, 4611686018427387904, 4)"), "overflows"},
    {SHAPED("(1152921504606846976,)"), "promises 4611686018427387904 bytes of data, "},
    {SHAPED("(3,)"), "promises 12 bytes of data, "},
    {SHAPED("(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)"),
     "limit of 64"},
    {TYPED("'<f3'"), "unknown type '<f3'"},
    {TYPED("'<V2'"), "bfloat16"},
    {TYPED("'|O'"), "pickle"},
    {TYPED("'<U4'"), "unknown type"},
    {TYPED("'<M8[ns]'"), "unknown type"},
    {TYPED("'<f16'"), "long doubles"},
    {TYPED("'|f4'"), "no byte order"},
    {TYPED("[('a', '<f4'), ('b', '<i4')]"), "records"},
    {TYPED("''"), "unknown type"},
    {TYPED("4"), "quoted string"},
};

static void test_refused(void **state) {
    unsigned char file[1024];
    float data[2] = {1, 2};
    const char *path = files_name(0, "bad.npy");
    (void)state;
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        size_t size = assemble(file, 1, bad[k].text, data, sizeof data);
        files_put(path, file, size);
        if (k == 0)
            files_put(path, file, 11);
        files_refused(path, k == 0 ? "too few" : bad[k].words);
    }
    /* More data than the header promises. */
    size_t size = assemble(file, 1, SHAPED("(1,)"), data, sizeof data);
    files_put(path, file, size);
    files_refused(path, "promises 4 bytes of data, the file has 8");
    /* Every cut of a good file is refused. */
    size = assemble(file, 1, SHAPED("(2,)"), data, sizeof data);
    for (size_t cut = 0; cut < size; cut++) {
        files_put(path, file, cut);
        files_refused(path, path);
    }
    file[6] = 4;
    files_put(path, file, size);
    files_refused(path, "version 4.0 is unknown");
    file[6] = 2;
    file[8] = file[9] = file[10] = file[11] = 255;
    files_put(path, file, size);
    files_refused(path, "claims 4294967295 bytes, the limit is 65536");
    files_refused(files_folder, "is a directory");
    files_refused(files_name(1, "none.npy"), "cannot be opened");
    files_put(path, "hello", 5);
    files_refused(path, "begins with the bytes 68 65 6c 6c 6f");
    files_put(path, "", 0);
    files_refused(path, "is empty");
}

/* Gives `size` bytes through a pipe and reads them by the pipe's name. */
static tess_io_status through_pipe(tess_io_array *a, const void *bytes, size_t size, tess_io_message *message) {
    int ends[2];
    char name[32];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], bytes, size), size); /* a pipe holds 64 KiB */
    close(ends[1]);
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    tess_io_status status = tess_io_read(a, name, NULL, message);
    close(ends[0]);
    return status;
}

static void test_stream(void **state) {
    unsigned char file[1024];
    float data[2] = {1, 2};
    tess_io_array a;
    tess_io_message message;
    (void)state;
    size_t size = assemble(file, 1, SHAPED("(2,)"), data, sizeof data);
    assert_int_equal(through_pipe(&a, file, size, &message), TESS_IO_OK);
    assert_memory_equal(a.tensor.data, data, sizeof data);
    tess_io_free(&a);
    for (size_t cut = 0; cut < size; cut++) {
        assert_int_equal(through_pipe(&a, file, cut, &message), TESS_IO_ERR_INPUT);
        assert_null(a.block);
    }
    /* A header that claims 4 TiB, or more than there is address space, costs nothing. */
    size = assemble(file, 1, SHAPED("(1099511627776,)"), data, sizeof data);
    assert_int_not_equal(through_pipe(&a, file, size, &message), TESS_IO_OK);
    size = assemble(file, 1, SHAPED("(1152921504606846976,)"), data, sizeof data);
    assert_int_equal(through_pipe(&a, file, size, &message), TESS_IO_ERR_MEMORY);
    assert_non_null(strstr(message.text, "4611686018427387904 bytes"));
}

static void test_unwritable(void **state) {
    tess_io_array a;
    tess_io_message message;
    (void)state;
    files_array(&a, tess_bf16, 1, (const int64_t[]){2});
    assert_int_equal(tess_io_write(&a, files_name(0, "x.npy"), &message), TESS_IO_ERR_OUTPUT);
    assert_non_null(strstr(message.text, "bf16"));
    assert_int_not_equal(access(files_name(0, "x.npy"), F_OK), 0);
    tess_io_free(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_forms),  cmocka_unit_test(test_order),
        cmocka_unit_test(test_refused),    cmocka_unit_test(test_stream), cmocka_unit_test(test_unwritable),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
