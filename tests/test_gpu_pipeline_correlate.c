/* SPDX-License-Identifier: Apache-2.0
 * test_gpu_pipeline_correlate.c - proves: correlations, lists of masks and transforms of host arrays that exceed TESSERA_GPU_MEMORY give the CPU's bytes slab by
 * slab, with every boundary on the cut axis. On a card when there is one, else on the virtual GPU. */
#include "gpu_rows.h"

static tess_context *context;
static tess_engine engine;

/* A correlation on the engine against the CPU's bytes. mask: ndim sizes. */
static void correlated(uint64_t *random, tess_type in_type, tess_type mask_type, tess_type out_type, int ndim, const int64_t *shape, int mask_ndim,
                       const int64_t *mask_shape, const tess_correlate_options *given, int layout) {
    hostile_array in, mask, expected, out;
    int64_t out_shape[4];
    tess_correlate_options options = *given;
    for (int d = 0; d < ndim; d++) {
        int m = d - (ndim - mask_ndim);
        out_shape[d] = shape[d];
        if (m >= 0 && options.extent == TESS_EXTENT_VALID)
            out_shape[d] -= mask_shape[m] - 1;
        if (m >= 0 && options.extent == TESS_EXTENT_FULL)
            out_shape[d] += mask_shape[m] - 1;
    }
    hostile_make(&in, random, in_type, ndim, shape, layout);
    hostile_fill(&in, random, 1);
    hostile_make(&mask, random, mask_type, mask_ndim, mask_shape, HOSTILE_COMPACT);
    hostile_fill(&mask, random, 0);
    uint64_t same = *random;
    hostile_make(&expected, random, out_type, ndim, out_shape, layout);
    hostile_make(&out, &same, out_type, ndim, out_shape, layout);
    assert_tess_ok(tess_correlate(context, &in.tensor, &mask.tensor, &expected.tensor, &options));
    options.call.engine = engine;
    assert_tess_ok(tess_correlate(context, &in.tensor, &mask.tensor, &out.tensor, &options));
    assert_memory_equal(out.block, expected.block, out.block_size);
    hostile_free(&in);
    hostile_free(&mask);
    hostile_free(&expected);
    hostile_free(&out);
}

/* Every boundary on a cut axis, first, middle and last slabs; masks that are longer than a slab, and than the axis; constants that the input's type
 * lacks; lists; every extent. */
static void correlations(void **state) {
    (void)state;
    uint64_t random = 4;
    setenv("TESSERA_GPU_MEMORY", "40000", 1);
    for (int boundary = TESS_BOUNDARY_ZERO; boundary <= TESS_BOUNDARY_WRAP; boundary++) {
        tess_correlate_options o = {.struct_size = sizeof o, .boundary = boundary, .constant = 0.37};
        int layout = boundary % 2 ? HOSTILE_COMPACT : HOSTILE_STRIDED;
        correlated(&random, tess_f32, tess_f32, tess_f32, 2, (const int64_t[]){131, 67}, 2, (const int64_t[]){5, 3}, &o, layout);
        correlated(&random, tess_u8, tess_f32, tess_f32, 2, (const int64_t[]){7, 3001}, 2, (const int64_t[]){2, 40}, &o, HOSTILE_COMPACT);
        correlated(&random, tess_f64, tess_f64, tess_f32, 2, (const int64_t[]){9, 901}, 2, (const int64_t[]){23, 1}, &o, HOSTILE_COMPACT);
    }
    tess_correlate_options o = {.struct_size = sizeof o, .boundary = TESS_BOUNDARY_REFLECT, .extent = TESS_EXTENT_FULL, .origin = NULL};
    correlated(&random, tess_i16, tess_i16, tess_i32, 3, (const int64_t[]){50, 11, 41}, 2, (const int64_t[]){3, 4}, &o, HOSTILE_STRIDED);
    correlated(&random, tess_c64, tess_f32, tess_c64, 1, (const int64_t[]){6000}, 1, (const int64_t[]){300}, &o, HOSTILE_COMPACT);
    o.extent = TESS_EXTENT_VALID;
    correlated(&random, tess_f32, tess_f32, tess_f32, 1, (const int64_t[]){30001}, 1, (const int64_t[]){77}, &o, HOSTILE_STRIDED);
}

/* Transforms: cut behind whole pairs of tiles, of planes and of lines, an odd number of them beside each other, with other axes. */
static void transforms(void **state) {
    (void)state;
    uint64_t random = 5;
    setenv("TESSERA_GPU_MEMORY", "700K", 1);
    for (int boundary = TESS_BOUNDARY_ZERO; boundary <= TESS_BOUNDARY_WRAP; boundary += 2) {
        tess_correlate_options o = {.struct_size = sizeof o, .boundary = boundary, .constant = 0.37, .accuracy = TESS_ACCURACY_FFT};
        const int layout = boundary % 4 ? HOSTILE_COMPACT : HOSTILE_STRIDED;
        correlated(&random, tess_f32, tess_f32, tess_f32, 2, (const int64_t[]){1100, 100}, 2, (const int64_t[]){17, 15}, &o, layout);
        correlated(&random, tess_f32, tess_f32, tess_f32, 1, (const int64_t[]){100001}, 1, (const int64_t[]){301}, &o, layout);
    }
    tess_correlate_options o = {.struct_size = sizeof o, .boundary = TESS_BOUNDARY_MIRROR, .extent = TESS_EXTENT_FULL, .accuracy = TESS_ACCURACY_FFT};
    correlated(&random, tess_f64, tess_f64, tess_f64, 2, (const int64_t[]){3, 19000}, 1, (const int64_t[]){99}, &o, HOSTILE_COMPACT);
    setenv("TESSERA_GPU_MEMORY", "1600K", 1); /* a slab is a plane of the first, and two tiles of the second */
    correlated(&random, tess_f32, tess_f32, tess_f64, 3, (const int64_t[]){3, 700, 60}, 2, (const int64_t[]){20, 9}, &o, HOSTILE_STRIDED);
    correlated(&random, tess_f32, tess_f32, tess_f64, 3, (const int64_t[]){3, 2500, 60}, 2, (const int64_t[]){20, 9}, &o, HOSTILE_STRIDED);
}

/* A list of masks: the passes before the one along the cut axis meet copied rows. */
static void lists(void **state) {
    (void)state;
    uint64_t random = 5;
    const int64_t shape[] = {180, 61}, sizes[2][1] = {{7}, {4}};
    hostile_array in, mask[2], expected, out;
    const DLTensor *masks[2];
    setenv("TESSERA_GPU_MEMORY", "40000", 1);
    hostile_make(&in, &random, tess_f32, 2, shape, HOSTILE_COMPACT);
    hostile_fill(&in, &random, 1);
    for (int k = 0; k < 2; k++) {
        hostile_make(&mask[k], &random, tess_f32, 1, sizes[k], HOSTILE_COMPACT);
        hostile_fill(&mask[k], &random, 0);
        masks[k] = &mask[k].tensor;
    }
    for (int boundary = TESS_BOUNDARY_CONSTANT; boundary <= TESS_BOUNDARY_WRAP; boundary += 2)
        for (int turned = 0; turned < 2; turned++) {
            const int axes[] = {turned, 1 - turned};
            tess_correlate_options o = {.struct_size = sizeof o, .boundary = boundary, .constant = 0.37, .axes = axes, .naxes = 2};
            uint64_t same = random;
            hostile_make(&expected, &random, tess_f32, 2, shape, HOSTILE_COMPACT);
            hostile_make(&out, &same, tess_f32, 2, shape, HOSTILE_COMPACT);
            assert_tess_ok(tess_correlate_separable(context, &in.tensor, masks, 2, &expected.tensor, &o));
            o.call.engine = engine;
            assert_tess_ok(tess_correlate_separable(context, &in.tensor, masks, 2, &out.tensor, &o));
            assert_memory_equal(out.block, expected.block, out.block_size);
            hostile_free(&expected);
            hostile_free(&out);
        }
    hostile_free(&in);
    hostile_free(&mask[0]);
    hostile_free(&mask[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(correlations), cmocka_unit_test(lists), cmocka_unit_test(transforms)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}
