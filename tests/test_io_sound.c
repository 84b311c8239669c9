/* SPDX-License-Identifier: Apache-2.0
 * Proves: recordings go to WAV and FLAC and back - exactly for integers, floats in WAV too -, keep their rate and sample type, clip at full scale;
 * cut files are refused. */
#include <sndfile.h>

#include "io_files.h"

static int subtype_of(const char *path, SF_INFO *info) {
    memset(info, 0, sizeof *info);
    SNDFILE *file = sf_open(path, SFM_READ, info);
    assert_non_null(file);
    sf_close(file);
    return info->format & SF_FORMAT_SUBMASK;
}

static void test_float(void **state) {
    tess_io_array a, b;
    SF_INFO info;
    const char *path = files_name(0, "a.wav");
    (void)state;
    for (int64_t channels = 1; channels <= 3; channels++) {
        assert_int_equal(tess_io_make(&a, tess_f32, channels == 1 ? 1 : 2, (const int64_t[]){500, channels}, "test", &(tess_io_message){""}),
                         TESS_IO_OK);
        for (int i = 0; i < 500 * (int)channels; i++)
            ((float *)a.block)[i] = (float)(i - 300) / 100; /* beyond full scale too: a float file keeps it */
        a.rate = 22050;
        files_write(&a, path);
        files_read(&b, path);
        files_same(&a, &b);
        assert_int_equal(b.rate, 22050);
        assert_int_equal(b.work_axes, 1);
        assert_int_equal(subtype_of(path, &info), SF_FORMAT_FLOAT);
        tess_io_free(&a);
        tess_io_free(&b);
    }
}

static void test_integers(void **state) {
    static const char *const names[] = {"a.wav", "a.flac"};
    (void)state;
    for (int k = 0; k < 2; k++) {
        tess_io_array a, b, c;
        SF_INFO info;
        const char *path = files_name(0, names[k]), *again = files_name(1, k ? "b.flac" : "b.wav");
        files_array(&a, tess_i16, 2, (const int64_t[]){5000, 2});
        a.rate = 48000;
        files_write(&a, path);
        assert_int_equal(subtype_of(path, &info), SF_FORMAT_PCM_16);
        files_read(&b, path);
        for (int i = 0; i < 10000; i++) /* full scale is 2^15: exact in a float */
            assert_true(((float *)b.block)[i] * 32768 == ((int16_t *)a.block)[i]);
        /* A recording that was 16 bits stays so, and nothing is lost on the way. */
        files_write(&b, again);
        assert_int_equal(subtype_of(again, &info), SF_FORMAT_PCM_16);
        assert_int_equal(info.samplerate, 48000);
        files_read(&c, again);
        files_same(&b, &c);
        tess_io_free(&a);
        tess_io_free(&b);
        tess_io_free(&c);
    }
}

static void test_clipping(void **state) {
    const float values[4] = {3, -3, 0.5f, 1};
    tess_io_array a, b;
    (void)state;
    files_array(&a, tess_f32, 1, (const int64_t[]){4});
    memcpy(a.block, values, sizeof values);
    a.rate = 8000;
    a.subtype = SF_FORMAT_PCM_16;
    files_write(&a, files_name(0, "clip.wav"));
    files_read(&b, files_name(0, "clip.wav"));
    const float expected[4] = {32767.0f / 32768, -1, 0.5f, 32767.0f / 32768};
    assert_memory_equal(b.block, expected, sizeof expected);
    tess_io_free(&a);
    tess_io_free(&b);
}

/* WAV says how many bytes of sound there are: a file that ends before is refused, but for one written into a pipe, which promises the most. */
static void test_cut(void **state) {
    static unsigned char file[4096];
    tess_io_array a;
    (void)state;
    files_array(&a, tess_i16, 1, (const int64_t[]){1000});
    a.rate = 8000;
    files_write(&a, files_name(0, "a.wav"));
    tess_io_free(&a);
    const size_t size = files_get(files_name(0, "a.wav"), file, sizeof file), data = size - 2000;
    assert_memory_equal(file + data - 8, "data", 4);
    for (size_t cut = data + 1; cut < size; cut += 333) {
        files_put(files_name(1, "b.wav"), file, cut);
        files_refused(files_name(1, "b.wav"), "b.wav is truncated");
    }
    static const unsigned char most[3][4] = {{0xff, 0xff, 0xff, 0xff}, {0, 0, 0, 0x80}, {0, 0xf0, 0xff, 0x7f}};
    for (int k = 0; k < 3; k++) {
        memcpy(file + data - 4, most[k], 4);
        files_put(files_name(1, "b.wav"), file, data + 1000);
        files_read(&a, files_name(1, "b.wav"));
        assert_int_equal(a.tensor.shape[0], 500);
        tess_io_free(&a);
    }
    SF_INFO info = {.samplerate = 8000, .channels = 1, .format = SF_FORMAT_WAV | SF_FORMAT_PCM_16 | SF_ENDIAN_BIG};
    SNDFILE *big = sf_open(files_name(0, "big.wav"), SFM_WRITE, &info);
    assert_int_equal(sf_write_short(big, (const short[100]){1, 2, 3}, 100), 100);
    sf_close(big);
    files_read(&a, files_name(0, "big.wav"));
    tess_io_free(&a);
    files_put(files_name(1, "b.wav"), file, files_get(files_name(0, "big.wav"), file, sizeof file) - 100);
    files_refused(files_name(1, "b.wav"), "b.wav is truncated");
}

static void test_refused(void **state) {
    static unsigned char file[1 << 16];
    tess_io_array a;
    tess_io_message message;
    (void)state;
    files_array(&a, tess_f32, 1, (const int64_t[]){4});
    assert_int_equal(tess_io_write(&a, files_name(0, "x.wav"), &message), TESS_IO_ERR_OUTPUT);
    assert_non_null(strstr(message.text, "--rate"));
    tess_io_free(&a);
    files_array(&a, tess_f32, 2, (const int64_t[]){4, 9});
    a.rate = 8000;
    assert_int_equal(tess_io_write(&a, files_name(0, "x.flac"), &message), TESS_IO_ERR_OUTPUT);
    assert_non_null(strstr(message.text, "9 channels"));
    tess_io_free(&a);
    /* FLAC says how many frames there are: a file that ends before is refused; and its frames are limited. */
    files_array(&a, tess_i16, 1, (const int64_t[]){20000});
    a.rate = 8000;
    files_write(&a, files_name(0, "a.flac"));
    tess_io_free(&a);
    size_t size = files_get(files_name(0, "a.flac"), file, sizeof file);
    for (size_t cut = 4; cut < size - 1; cut += 997) {
        files_put(files_name(1, "b.flac"), file, cut);
        files_refused(files_name(1, "b.flac"), "b.flac is");
    }
    tess_io_limits limits = {.pixels = 19999};
    assert_int_equal(tess_io_read(&a, files_name(0, "a.flac"), &limits, &message), TESS_IO_ERR_INPUT);
    assert_non_null(strstr(message.text, "20000 frames are more than the limit of 19999"));
    /* Changed bytes: refused or read, nothing else. */
    for (size_t at = 0; at < 200 && at < size; at++) {
        file[at] ^= 0x55;
        files_put(files_name(1, "b.flac"), file, size);
        if (tess_io_read(&a, files_name(1, "b.flac"), NULL, &message) == TESS_IO_OK)
            tess_io_free(&a);
        file[at] ^= 0x55;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_float), cmocka_unit_test(test_integers), cmocka_unit_test(test_clipping),
        cmocka_unit_test(test_cut),   cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
