/* SPDX-License-Identifier: Apache-2.0
 * test_correlate_tiles_gpu.c - proves: masks along short rows by correlate/tile1d, of which a tile or two or several to a block are rows, and masks of small integers over
 * pixels of bytes by correlate/patch_bytes have the CPU's bits: by every boundary and extent, with origins, of rows that begin anywhere too. */
#include "gpu_rows.h"

static tess_context *context;
static tess_engine engine;

typedef struct tiles_case {
    tess_type in, mask, out;
    int ndim, axes[2], masked;
    int64_t shape[3], width[2], origin[2];
    const char *row;
} tiles_case;

static void compare(const tiles_case *c, tess_boundary boundary, tess_extent extent, uint64_t *random) {
    hostile_array in, mask, expected, out;
    int64_t shape[3];
    char name[64];
    tess_correlate_options options = {.struct_size = sizeof options,
                                      .axes = c->axes,
                                      .naxes = c->masked,
                                      .boundary = boundary,
                                      .constant = boundary == TESS_BOUNDARY_CONSTANT ? 3 : 0,
                                      .extent = extent,
                                      .origin = extent == TESS_EXTENT_SAME ? c->origin : NULL};
    memcpy(shape, c->shape, sizeof shape);
    for (int k = 0; k < c->masked; k++)
        shape[c->axes[k]] += extent == TESS_EXTENT_FULL ? c->width[k] - 1 : extent == TESS_EXTENT_VALID ? 1 - c->width[k] : 0;
    hostile_make(&in, random, c->in, c->ndim, c->shape, HOSTILE_COMPACT);
    hostile_fill(&in, random, 1);
    hostile_make(&mask, random, c->mask, c->masked, c->width, HOSTILE_COMPACT);
    hostile_fill(&mask, random, 0);
    hostile_make(&expected, random, c->out, c->ndim, shape, HOSTILE_COMPACT);
    options.call.engine = TESS_ENGINE_CPU;
    assert_tess_ok(tess_correlate(context, &in.tensor, &mask.tensor, &expected.tensor, &options));
    options.call.engine = engine;
    int ran = 0;
    for (int r = 0; r < 2; r++) {
        hostile_make(&out, random, c->out, c->ndim, shape, HOSTILE_COMPACT);
        snprintf(name, sizeof name, "correlate/%s%s", c->row, r ? "_odd" : "");
        options.call.strategy = name;
        if (tess_correlate(context, &in.tensor, &mask.tensor, &out.tensor, &options) ==
            TESS_OK) { /* a row may ask for rows at multiples of 16 bytes, or for a short mask */
            ran++;
            if (hostile_differs(&out, &expected) >= 0 || !hostile_intact(&out))
                fail_msg("%s: %s by %s to %s, %d x %d x %d by %d x %d, boundary %d, extent %d: other bits than the CPU's", name,
                         tess_type_name(c->in), tess_type_name(c->mask), tess_type_name(c->out), (int)c->shape[0], (int)c->shape[1], (int)c->shape[2],
                         (int)c->width[0], (int)c->width[1], (int)boundary, (int)extent);
        }
        hostile_free(&out);
    }
    if (ran == 0 && extent == TESS_EXTENT_SAME)
        fail_msg("%s, rows of %d: neither row takes it: %s", tess_type_name(c->in), (int)c->shape[c->ndim - 1], tess_detail());
    hostile_free(&mask);
    hostile_free(&in);
    hostile_free(&expected);
}

#define ALONG(types, rows, columns, taps, origin) \
    { types, 2, {1}, 1, {rows, columns}, {taps}, {origin}, "tile1d" }
#define PIXELS(in, out, high, wide, colours, ky, kx) \
    { in, tess_i8, out, 3, {0, 1}, 2, {high, wide, colours}, {ky, kx}, {0}, "patch_bytes" }
#define F32 tess_f32, tess_f32, tess_f32
#define U8 tess_u8, tess_f32, tess_u8
#define F16 tess_f16, tess_f32, tess_f16
#define BF16 tess_bf16, tess_f32, tess_f32
#define U8_F32 tess_u8, tess_f32, tess_f32
#define F32_U8 tess_f32, tess_f32, tess_u8
#define I16 tess_i16, tess_f32, tess_i16
#define F64 tess_f64, tess_f64, tess_f64

static void same_bits(void **state) {
    (void)state;
    static const tiles_case cases[] = {
        ALONG(F32, 5, 1000, 101, 0),
        ALONG(F32, 3, 1000, 33, -7),
        ALONG(F32, 1027, 60, 9, 2),
        ALONG(F32, 1031, 61, 9, 0),
        ALONG(F32, 3, 501, 25, 0),
        ALONG(F32, 2, 2000, 300, 0),
        ALONG(F32, 2, 37, 33, 0),
        ALONG(F64, 3, 500, 31, 3),
        ALONG(F64, 1025, 38, 7, 0),
        ALONG(F16, 3, 1000, 33, 0),
        ALONG(F16, 1026, 88, 12, -1),
        ALONG(BF16, 3, 504, 31, 0),
        ALONG(U8, 3, 1008, 33, 0),
        ALONG(U8, 1025, 83, 17, 0),
        ALONG(U8, 1025, 112, 31, 5),
        ALONG(U8_F32, 2, 1000, 9, 0),
        ALONG(F32_U8, 2, 1000, 9, 0),
        ALONG(I16, 1024, 40, 9, 0),
        {tess_f32, tess_f32, tess_f32, 3, {1}, 1, {3, 100, 3}, {9}, {0}, "tile1d"},
        {tess_u8, tess_f32, tess_u8, 3, {1}, 1, {1024, 10, 8}, {7}, {1}, "tile1d"},
        PIXELS(tess_u8, tess_u8, 43, 352, 3, 5, 5),
        PIXELS(tess_u8, tess_u8, 37, 176, 3, 7, 7),
        PIXELS(tess_u8, tess_u8, 37, 176, 3, 3, 3),
        PIXELS(tess_i8, tess_i8, 37, 160, 4, 5, 5),
        PIXELS(tess_i8, tess_i16, 33, 96, 4, 7, 7),
        PIXELS(tess_u8, tess_i32, 33, 96, 2, 4, 9),
        PIXELS(tess_u8, tess_u8, 41, 91, 3, 5, 5),
        PIXELS(tess_i8, tess_i8, 25, 97, 3, 3, 4),
        PIXELS(tess_u8, tess_u8, 19, 64, 4, 8, 8),
        PIXELS(tess_u8, tess_f32, 9, 33, 4, 3, 2),
        PIXELS(tess_u8, tess_u8, 75, 1056, 1, 5, 5),
        PIXELS(tess_i8, tess_i32, 45, 272, 1, 6, 9),
        PIXELS(tess_u8, tess_u8, 70, 160, 3, 4, 1),
        PIXELS(tess_u8, tess_i16, 41, 96, 4, 8, 1),
        PIXELS(tess_u8, tess_u8, 30, 96, 2, 2, 9),
        PIXELS(tess_u8, tess_u8, 120, 256, 1, 7, 7),
        PIXELS(tess_u8, tess_u8, 20, 16, 3, 5, 5), /* short rows, and single ones */
        PIXELS(tess_i8, tess_i8, 11, 8, 4, 7, 7),
        PIXELS(tess_u8, tess_u8, 9, 352, 3, 1, 5),
    };
    uint64_t random = 20;
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int boundary = TESS_BOUNDARY_ZERO; boundary <= TESS_BOUNDARY_WRAP; boundary++)
            for (int extent = TESS_EXTENT_SAME; extent <= TESS_EXTENT_FULL; extent++) {
                const bool many = cases[i].shape[0] > 1000; /* which differ little from each other */
                if ((extent != TESS_EXTENT_SAME && (boundary + i) % (many ? 6 : 3) != 0) || (many && boundary % 2) ||
                    gpu_test_spared(engine, i + boundary, 4, 8))
                    continue;
                if (extent == TESS_EXTENT_VALID && cases[i].shape[cases[i].axes[cases[i].masked - 1]] < cases[i].width[cases[i].masked - 1])
                    continue;
                compare(&cases[i], (tess_boundary)boundary, (tess_extent)extent, &random);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}
