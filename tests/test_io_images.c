/* SPDX-License-Identifier: Apache-2.0
 * Proves: PNG of 8 and 16 bits and TIFF of every sample type go out and come back value for value; palettes, low bit depths, transparency,
 * interlacing, tiles, separate planes and the other byte order are read; bombs, cuts and damage are refused with a sentence. The odd files are made
 * by libpng and libtiff here. */
#include <png.h>
#include <tiffio.h>

#include "io_files.h"

static void round_trip(const char *name, tess_type type, int ndim, const int64_t *shape) {
    tess_io_array a, b;
    const char *path = files_name(0, name);
    files_array(&a, type, ndim, shape);
    files_write(&a, path);
    files_read(&b, path);
    files_same(&a, &b);
    assert_int_equal(b.work_axes, 2);
    tess_io_free(&a);
    tess_io_free(&b);
}

static void test_png_round_trip(void **state) {
    (void)state;
    for (int64_t channels = 1; channels <= 4; channels++)
        for (int64_t h = 1; h <= 65; h += 32)
            for (int k = 0; k < 2; k++)
                round_trip("a.png", k ? tess_u16 : tess_u8, channels == 1 ? 2 : 3, (const int64_t[]){h, 70 - h, channels});
    /* One channel written out comes back without its axis. */
    tess_io_array a, b;
    files_array(&a, tess_u8, 3, (const int64_t[]){5, 7, 1});
    files_write(&a, files_name(0, "a.png"));
    files_read(&b, files_name(0, "a.png"));
    assert_int_equal(b.tensor.ndim, 2);
    assert_memory_equal(a.block, b.block, 35);
    tess_io_free(&a);
    tess_io_free(&b);
}

/* A small PNG of any colour type and depth, made by libpng alone. */
static void odd_png(const char *path, int colour, int depth, int interlace, const unsigned char *rows, size_t pitch, bool transparent) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_color palette[4] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}};
    png_byte alpha[4] = {255, 128, 0, 7};
    png_init_io(png, file);
    png_set_IHDR(png, info, 4, 4, depth, colour, interlace, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (colour == PNG_COLOR_TYPE_PALETTE)
        png_set_PLTE(png, info, palette, 4);
    if (transparent)
        png_set_tRNS(png, info, alpha, 4, NULL);
    png_write_info(png, info);
    png_bytep pointers[4];
    for (size_t y = 0; y < 4; y++)
        pointers[y] = (png_bytep)(uintptr_t)rows + y * pitch;
    png_write_image(png, pointers);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    fclose(file);
}

static void test_png_forms(void **state) {
    const char *path = files_name(0, "odd.png");
    tess_io_array a;
    (void)state;
    unsigned char packed[4] = {0x1b, 0xe4, 0x00, 0xff}; /* 2 bits: 0 1 2 3, 3 2 1 0, 0 0 0 0, 3 3 3 3 */
    odd_png(path, PNG_COLOR_TYPE_PALETTE, 2, PNG_INTERLACE_NONE, packed, 1, false);
    files_read(&a, path);
    assert_int_equal(a.tensor.ndim, 3);
    assert_int_equal(a.shape[2], 3);
    const unsigned char first[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    assert_memory_equal(a.block, first, 12);
    tess_io_free(&a);
    odd_png(path, PNG_COLOR_TYPE_PALETTE, 2, PNG_INTERLACE_ADAM7, packed, 1, true);
    files_read(&a, path);
    const unsigned char with_alpha[16] = {1, 2, 3, 255, 4, 5, 6, 128, 7, 8, 9, 0, 10, 11, 12, 7};
    assert_int_equal(a.shape[2], 4);
    assert_memory_equal(a.block, with_alpha, 16);
    tess_io_free(&a);
    odd_png(path, PNG_COLOR_TYPE_GRAY, 2, PNG_INTERLACE_NONE, packed, 1, false);
    files_read(&a, path);
    const unsigned char grey[8] = {0, 85, 170, 255, 255, 170, 85, 0};
    assert_int_equal(a.tensor.ndim, 2);
    assert_memory_equal(a.block, grey, 8);
    tess_io_free(&a);
    unsigned char deep[32];
    uint16_t expected[16];
    for (int i = 0; i < 16; i++) {
        expected[i] = (uint16_t)(i * 4099);
        deep[2 * i] = (unsigned char)(expected[i] >> 8); /* PNG is big-endian */
        deep[2 * i + 1] = (unsigned char)expected[i];
    }
    odd_png(path, PNG_COLOR_TYPE_GRAY, 16, PNG_INTERLACE_ADAM7, deep, 8, false);
    files_read(&a, path);
    assert_memory_equal(a.block, expected, sizeof expected);
    tess_io_free(&a);
}

static void limited(const char *path, int64_t pixels, const char *words) {
    tess_io_array a;
    tess_io_message message = {""};
    tess_io_limits limits = {.pixels = pixels};
    tess_io_status status = tess_io_read(&a, path, &limits, &message);
    if (status != TESS_IO_ERR_INPUT || !strstr(message.text, words))
        fail_msg("%s: \"%s\" where \"%s\" was expected", path, message.text, words);
}

static void test_bombs(void **state) {
    /* 60000 x 60000 pixels in the header and hardly any data: the size alone must end it. The checksum is libpng's own. */
    static unsigned char bomb[] = {0x89, 'P', 'N', 'G',  13,   10, 26, 10,   0,    0, 0, 13, 'I', 'H', 'D',
                                   'R',  0,   0,   0xea, 0x60, 0,  0,  0xea, 0x60, 8, 2, 0,  0,   0};
    unsigned char file[64];
    tess_io_array a;
    (void)state;
    uint32_t crc = 0xffffffffu;
    for (size_t i = 12; i < sizeof bomb; i++) {
        crc ^= bomb[i];
        for (int k = 0; k < 8; k++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    crc ^= 0xffffffffu;
    memcpy(file, bomb, sizeof bomb);
    for (int k = 0; k < 4; k++)
        file[sizeof bomb + (size_t)k] = (unsigned char)(crc >> (24 - 8 * k));
    const char *path = files_name(0, "bomb.png");
    files_put(path, file, sizeof bomb + 4);
    files_refused(path, "60000 x 60000 pixels are more than the limit of 268435456; --max-pixels");
    limited(path, (int64_t)1 << 40, "truncated"); /* allowed by the user: costs what arrives, nothing */
    files_array(&a, tess_u8, 2, (const int64_t[]){100, 100});
    files_write(&a, files_name(0, "a.png"));
    files_write(&a, files_name(1, "a.tif"));
    limited(files_name(0, "a.png"), 9999, "100 x 100 pixels are more than the limit of 9999");
    limited(files_name(1, "a.tif"), 9999, "100 x 100 pixels are more than the limit of 9999");
    tess_io_free(&a);
}

/* Every cut, and a change of any byte, either is refused with a sentence or gives an array; nothing else may happen (run under the sanitizers too).
 */
static void test_damage(void **state) {
    static const char *const names[] = {"a.png", "a.tif"};
    static unsigned char file[65536];
    (void)state;
    for (int k = 0; k < 2; k++) {
        tess_io_array a;
        tess_io_message message;
        const char *path = files_name(0, names[k]), *broken = files_name(1, k ? "b.tif" : "b.png");
        files_array(&a, tess_u8, 3, (const int64_t[]){9, 11, 3});
        files_write(&a, path);
        tess_io_free(&a);
        size_t size = files_get(path, file, sizeof file);
        for (size_t cut = 0; cut < size; cut++) {
            files_put(broken, file, cut);
            if (tess_io_read(&a, broken, NULL, &message) == TESS_IO_OK)
                fail_msg("%s cut to %zu of %zu bytes was taken for whole", path, cut, size);
        }
        for (size_t at = 0; at < size; at++) {
            file[at] ^= 0x55;
            files_put(broken, file, size);
            if (tess_io_read(&a, broken, NULL, &message) == TESS_IO_OK)
                tess_io_free(&a);
            else
                assert_null(strchr(message.text, '\n'));
            file[at] ^= 0x55;
        }
    }
}

static void test_tiff_round_trip(void **state) {
    static const tess_type types[] = {tess_u8, tess_i8, tess_u16, tess_i16, tess_u32, tess_i32, tess_f32, tess_f64};
    (void)state;
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
        for (int64_t channels = 1; channels <= 5; channels++)
            round_trip("a.tiff", types[t], channels == 1 ? 2 : 3, (const int64_t[]){67, 129, channels});
}

static void test_tiff_forms(void **state) {
    const char *path = files_name(0, "odd.tif");
    uint16_t pixels[40 * 50 * 3], tile[16 * 16], line[50];
    tess_io_array a;
    (void)state;
    for (int i = 0; i < 40 * 50 * 3; i++)
        pixels[i] = (uint16_t)(i * 7);
    for (int form = 0; form < 4; form++) { /* tiles or lines, separate planes or not, either byte order */
        bool tiled = form & 1;
        TIFF *tiff = TIFFOpen(path, form & 2 ? "wb" : "wl");
        assert_non_null(tiff);
        TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 50);
        TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 40);
        TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 3);
        TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 16);
        TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_RGB);
        TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_SEPARATE);
        TIFFSetField(tiff, TIFFTAG_COMPRESSION, form & 2 ? COMPRESSION_LZW : COMPRESSION_NONE);
        if (tiled) {
            TIFFSetField(tiff, TIFFTAG_TILEWIDTH, 16);
            TIFFSetField(tiff, TIFFTAG_TILELENGTH, 16);
        } else {
            TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 7);
        }
        for (uint16_t plane = 0; plane < 3; plane++) {
            for (int y = 0; !tiled && y < 40; y++) {
                for (int x = 0; x < 50; x++)
                    line[x] = pixels[(y * 50 + x) * 3 + plane];
                assert_int_equal(TIFFWriteScanline(tiff, line, (uint32_t)y, plane), 1);
            }
            for (int y = 0; tiled && y < 40; y += 16)
                for (int x = 0; x < 50; x += 16) {
                    for (int i = 0; i < 256; i++)
                        tile[i] = y + i / 16 < 40 && x + i % 16 < 50 ? pixels[((y + i / 16) * 50 + x + i % 16) * 3 + plane] : 0;
                    assert_true(TIFFWriteTile(tiff, tile, (uint32_t)x, (uint32_t)y, 0, plane) > 0);
                }
        }
        TIFFClose(tiff);
        files_read(&a, path);
        assert_int_equal(tess_io_type(&a), tess_u16);
        assert_int_equal(a.shape[0], 40);
        assert_int_equal(a.shape[1], 50);
        assert_memory_equal(a.block, pixels, sizeof pixels);
        tess_io_free(&a);
    }
}

static void test_unfit(void **state) {
    static const int64_t shapes[][3] = {{4, 0, 0}, {4, 4, 5}, {0, 4, 3}};
    static const int ranks[] = {1, 3, 3};
    tess_io_array a;
    tess_io_message message;
    (void)state;
    for (int k = 0; k < 3; k++) {
        files_array(&a, tess_u8, ranks[k], shapes[k]);
        assert_int_equal(tess_io_write(&a, files_name(0, "x.png"), &message), TESS_IO_ERR_OUTPUT);
        tess_io_free(&a);
    }
    files_array(&a, tess_f32, 2, (const int64_t[]){4, 4});
    assert_int_equal(tess_io_write(&a, files_name(0, "x.png"), &message), TESS_IO_ERR_OUTPUT);
    assert_non_null(strstr(message.text, "type f32"));
    tess_io_free(&a);
    assert_int_not_equal(access(files_name(0, "x.png"), F_OK), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_png_round_trip),  cmocka_unit_test(test_png_forms),  cmocka_unit_test(test_bombs), cmocka_unit_test(test_damage),
        cmocka_unit_test(test_tiff_round_trip), cmocka_unit_test(test_tiff_forms), cmocka_unit_test(test_unfit),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
