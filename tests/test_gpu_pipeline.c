/* SPDX-License-Identifier: Apache-2.0
 * test_gpu_pipeline.c - proves: host arrays that exceed TESSERA_GPU_MEMORY give the reference's bytes slab by slab, whatever their strides, and touch
 * nothing else; the device memory in use stays below the cap; what cannot be cut, or not so small, is refused with a sentence; without a cap small
 * arrays are copied whole. Correlations: test_gpu_pipeline_correlate.c. On a card when there is one, else on the virtual GPU. */
#include "gpu_rows.h"
#include "ops/reduce/reduce.h"
#include "ops/transpose/transpose.h"

static tess_context *context;
static tess_engine engine;

static void transposed(uint64_t *random, tess_type type, int ndim, const int64_t *shape, const int *perm, int layout) {
    hostile_array in, expected, out;
    int64_t out_shape[4];
    tess_transpose_options options = {.struct_size = sizeof options, .perm = perm, .nperm = ndim};
    for (int k = 0; k < ndim; k++)
        out_shape[k] = shape[perm[k]];
    hostile_make(&in, random, type, ndim, shape, layout);
    hostile_fill(&in, random, 2);
    uint64_t same = *random;
    hostile_make(&expected, random, type, ndim, out_shape, layout);
    hostile_make(&out, &same, type, ndim, out_shape, layout);
    assert_tess_ok(tess_transpose(context, &in.tensor, &expected.tensor, &options));
    options.call.engine = engine;
    assert_tess_ok(tess_transpose(context, &in.tensor, &out.tensor, &options));
    assert_memory_equal(out.block, expected.block, out.block_size);
    hostile_free(&in);
    hostile_free(&expected);
    hostile_free(&out);
}

static void transposes(void **state) {
    (void)state;
    uint64_t random = 1;
    static const int turned[] = {1, 0}, reversed[] = {2, 1, 0}, channels[] = {0, 2, 1};
    setenv("TESSERA_GPU_MEMORY", "96K", 1);
    for (int layout = HOSTILE_COMPACT; layout <= HOSTILE_STRIDED; layout++) {
        transposed(&random, tess_f32, 2, (const int64_t[]){300, 200}, turned, layout);
        transposed(&random, tess_u8, 2, (const int64_t[]){531, 333}, turned, layout);
        transposed(&random, tess_f64, 3, (const int64_t[]){30, 17, 41}, reversed, layout);
        transposed(&random, tess_i16, 3, (const int64_t[]){70, 31, 40}, channels, layout);
    }
}

static void reduced(uint64_t *random, tess_reduction operation, tess_type in_type, tess_type out_type, int ndim, const int64_t *shape, int axis,
                    int layout) {
    hostile_array in, expected, out;
    int64_t out_shape[4];
    int n = 0;
    tess_reduce_options options = {.struct_size = sizeof options, .axes = &axis, .naxes = 1};
    for (int d = 0; d < ndim; d++)
        if (d != axis)
            out_shape[n++] = shape[d];
    hostile_make(&in, random, in_type, ndim, shape, layout);
    hostile_fill(&in, random, 1);
    uint64_t same = *random;
    hostile_make(&expected, random, out_type, n, out_shape, layout);
    hostile_make(&out, &same, out_type, n, out_shape, layout);
    assert_tess_ok(tess_reduce(context, operation, &in.tensor, &expected.tensor, &options));
    options.call.engine = engine;
    assert_tess_ok(tess_reduce(context, operation, &in.tensor, &out.tensor, &options));
    assert_memory_equal(out.block, expected.block, out.block_size);
    hostile_free(&in);
    hostile_free(&expected);
    hostile_free(&out);
}

static void reductions(void **state) {
    (void)state;
    uint64_t random = 2;
    setenv("TESSERA_GPU_MEMORY", "100000", 1);
    for (int layout = HOSTILE_COMPACT; layout <= HOSTILE_STRIDED; layout++) {
        reduced(&random, TESS_SUM, tess_f32, tess_f32, 2, (const int64_t[]){300, 200}, 1, layout);
        reduced(&random, TESS_SUM, tess_f32, tess_f64, 2, (const int64_t[]){300, 200}, 0, layout);
        reduced(&random, TESS_ARGMAX, tess_f64, tess_i64, 3, (const int64_t[]){20, 30, 40}, 1, layout);
    }
}

/* Segments: outputs beside them are cut, or the axis of segments itself, whole segments a slab. kind: 0 of all lengths, some empty; 1 one long one; 2 none
 * with elements in the first half. */
static void segmented(uint64_t *random, tess_reduction operation, tess_type in_type, tess_type out_type, int ndim, const int64_t *shape, int axis,
                      int64_t segments, int kind, int layout, bool exact) {
    hostile_array in, expected, out;
    int64_t out_shape[4], offsets[2001];
    for (int64_t i = 0; i <= segments; i++)
        offsets[i] = kind == 0 ? shape[axis] * i / segments - (i % 3 == 1 && i > 1 ? shape[axis] / segments : 0) + (i == 0 ? 3 : 0)
                     : kind == 1
                         ? (i <= segments / 2 ? i : shape[axis] - (segments - i))
                         : (i < segments / 2 ? shape[axis] / 8
                                             : shape[axis] / 8 + (shape[axis] - shape[axis] / 8) * (i - segments / 2) / (segments - segments / 2));
    for (int64_t i = 1; i <= segments; i++)
        offsets[i] = tess_max64(offsets[i], offsets[i - 1]);
    DLTensor given = tess_view(offsets, tess_i64, 1, (int64_t[]){segments + 1}, NULL);
    tess_reduce_options options = {.struct_size = sizeof options, .axes = &axis, .naxes = 1, .offsets = &given, .exact = exact};
    for (int d = 0; d < ndim; d++)
        out_shape[d] = d == axis ? segments : shape[d];
    hostile_make(&in, random, in_type, ndim, shape, layout);
    hostile_fill(&in, random, 1);
    uint64_t same = *random;
    hostile_make(&expected, random, out_type, ndim, out_shape, layout);
    hostile_make(&out, &same, out_type, ndim, out_shape, layout);
    options.call.strategy = "reduce/reference";
    assert_tess_ok(tess_reduce(context, operation, &in.tensor, &expected.tensor, &options));
    options.call.strategy = NULL;
    options.call.engine = engine;
    assert_tess_ok(tess_reduce(context, operation, &in.tensor, &out.tensor, &options));
    if (memcmp(out.block, expected.block, out.block_size))
        fail_msg("%s of %s to %s by segments differs, axis %d, kind %d", tess_reduction_name(operation), tess_type_name(in_type),
                 tess_type_name(out_type), axis, kind);
    hostile_free(&in);
    hostile_free(&expected);
    hostile_free(&out);
}

static void segments(void **state) {
    (void)state;
    uint64_t random = 9;
    for (int layout = HOSTILE_COMPACT; layout <= HOSTILE_STRIDED; layout++) {
        setenv("TESSERA_GPU_MEMORY", "100000", 1);
        segmented(&random, TESS_SUM, tess_f32, tess_f32, 1, (const int64_t[]){60000}, 0, 700, 0, layout, false);
        segmented(&random, TESS_SUM, tess_f32, tess_f32, 1, (const int64_t[]){60000}, 0, 2000, 2, layout, false);
        segmented(&random, TESS_ARGMAX, tess_f64, tess_i64, 2, (const int64_t[]){30, 2000}, 1, 90, 1, layout, false);
        segmented(&random, TESS_SUM, tess_f32, tess_f64, 2, (const int64_t[]){6000, 20}, 0, 400, 0, layout, false);
        segmented(&random, TESS_SUM, tess_c64, tess_c64, 1, (const int64_t[]){30000}, 0, 700, 2, layout, false);
        segmented(&random, TESS_SUM, tess_f64, tess_f64, 1, (const int64_t[]){30000}, 0, 300, 0, layout, true);
        setenv("TESSERA_GPU_MEMORY", "800000", 1);
        segmented(&random, TESS_VAR, tess_f32, tess_f64, 1, (const int64_t[]){250000}, 0, 11, 0, layout, false);
        segmented(&random, TESS_MEAN, tess_c128, tess_c64, 1, (const int64_t[]){60000}, 0, 9, 0, layout, false);
        segmented(&random, TESS_SUM, tess_c64, tess_c64, 1, (const int64_t[]){60000}, 0, 7, 0, layout, true);
        segmented(&random, TESS_SUM, tess_f32, tess_f32, 3, (const int64_t[]){10, 700, 40}, 1, 30, 0, layout, false);
    }
}

/* Reductions that are cut along the reduced axes: leaves come back and are paired. axes: a bit an axis that is reduced. */
static bool exactly; /* sums that are rounded once */

static void paired(uint64_t *random, tess_reduction operation, tess_type in_type, tess_type out_type, int ndim, const int64_t *shape, int axes,
                   tess_nan nan, int fill, int layout) {
    hostile_array in, expected, out;
    int list[4], n = 0, kept = 0;
    int64_t out_shape[4];
    for (int d = 0; d < ndim; d++)
        if (axes >> d & 1)
            list[n++] = d;
        else
            out_shape[kept++] = shape[d];
    tess_reduce_options options = {.struct_size = sizeof options, .axes = list, .naxes = n, .nan = nan, .ddof = 1, .exact = exactly};
    hostile_make(&in, random, in_type, ndim, shape, layout);
    hostile_fill(&in, random, fill);
    uint64_t same = *random;
    hostile_make(&expected, random, out_type, kept, out_shape, layout);
    hostile_make(&out, &same, out_type, kept, out_shape, layout);
    assert_tess_ok(tess_reduce(context, operation, &in.tensor, &expected.tensor, &options));
    options.call.engine = engine;
    assert_tess_ok(tess_reduce(context, operation, &in.tensor, &out.tensor, &options));
    if (memcmp(out.block, expected.block, out.block_size))
        fail_msg("%s of %s to %s differs", tess_reduction_name(operation), tess_type_name(in_type), tess_type_name(out_type));
    hostile_free(&in);
    hostile_free(&expected);
    hostile_free(&out);
}

static void leaves(void **state) {
    (void)state;
    uint64_t random = 3;
    static const struct {
        tess_reduction operation;
        tess_type in, out;
        tess_nan nan;
    } cases[] = {{TESS_SUM, tess_f32, tess_f32, 0},           {TESS_MEAN, tess_f32, tess_f32, 1},   {TESS_PROD, tess_f32, tess_f64, 0},
                 {TESS_VAR, tess_f32, tess_f64, 0},           {TESS_VAR, tess_u8, tess_f64, 0},     {TESS_STD, tess_f64, tess_f32, 1},
                 {TESS_ARGMAX, tess_f32, tess_i64, 0},        {TESS_ARGMIN, tess_i16, tess_i64, 0}, {TESS_ARGMAX, tess_f32, tess_i64, 1},
                 {TESS_MIN, tess_f16, tess_f16, 1},           {TESS_NORM_INF, tess_i8, tess_u8, 0}, {TESS_NORM2, tess_f32, tess_f32, 0},
                 {TESS_NORM1, tess_i16, tess_i64, 0},         {TESS_ANY, tess_f32, tess_bool, 1},   {TESS_ALL, tess_u8, tess_bool, 0},
                 {TESS_COUNT_NONZERO, tess_f32, tess_i64, 1}, {TESS_MEAN, tess_u64, tess_f64, 0},   {TESS_SUM, tess_c64, tess_c64, 1},
                 {TESS_MEAN, tess_c64, tess_c128, 0},         {TESS_PROD, tess_c64, tess_c64, 0},   {TESS_NORM1, tess_c64, tess_f64, 0},
                 {TESS_NORM_INF, tess_c64, tess_f64, 0}};
    setenv("TESSERA_GPU_MEMORY", "420000", 1);
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int fill = 1; fill <= 2; fill++) {
            int64_t size = (int64_t)tess_type_size(cases[i].in), n = 430000 / size * 2 - 77;
            if (size < 4 || i == 0 || fill == 2) /* a second compile is saved where nothing new is seen */
                paired(&random, cases[i].operation, cases[i].in, cases[i].out, 1, &n, 1, cases[i].nan, fill, i % 2);
        }
    paired(&random, TESS_SUM, tess_f32, tess_f32, 3, (const int64_t[]){3, 301, 160}, 6, 0, 1, HOSTILE_STRIDED);
    paired(&random, TESS_ARGMIN, tess_f64, tess_i64, 2, (const int64_t[]){40003, 2}, 1, 0, 1, HOSTILE_COMPACT);
    paired(&random, TESS_SUM, tess_f32, tess_f64, 3, (const int64_t[]){301, 3, 160}, 5, 0, 1, HOSTILE_STRIDED);
}

/* Exact sums: accumulators come back and are merged. */
static void exact_sums(void **state) {
    (void)state;
    uint64_t random = 13;
    setenv("TESSERA_GPU_MEMORY", "420000", 1);
    exactly = true;
    const int64_t n = 210077, few = 60000;
    for (int fill = 1; fill <= 2; fill++) {
        paired(&random, TESS_SUM, tess_f32, tess_f32, 1, &n, 1, 0, fill, fill - 1);
        paired(&random, TESS_MEAN, tess_f64, tess_f32, 1, &n, 1, 1, fill, 2 - fill);
    }
    paired(&random, TESS_SUM, tess_c64, tess_c128, 1, &few, 1, 1, 2, HOSTILE_COMPACT);
    paired(&random, TESS_SUM, tess_c64, tess_c64, 1, &few, 1, 0, 1, HOSTILE_STRIDED);
    paired(&random, TESS_NORM1, tess_c64, tess_f64, 1, &few, 1, 0, 1, HOSTILE_COMPACT);
    paired(&random, TESS_MEAN, tess_u64, tess_f64, 1, &few, 1, 0, 0, HOSTILE_COMPACT);
    paired(&random, TESS_SUM, tess_f16, tess_f16, 1, (const int64_t[]){300001}, 1, 1, 2, HOSTILE_COMPACT);
    paired(&random, TESS_SUM, tess_f32, tess_f64, 3, (const int64_t[]){3, 301, 160}, 6, 0, 1, HOSTILE_STRIDED);
    exactly = false;
}

/* Indices 0 .. entries - 1 of any type. */
static void fill_index(const hostile_array *index, uint64_t *random, int64_t count, int64_t entries) {
    tess_index walk;
    int64_t strides[1][TESS_MAX_NDIM];
    for (int d = 0; d < index->tensor.ndim; d++)
        strides[0][d] = index->tensor.strides[d] * (int64_t)tess_type_size(tess_type_of(index->tensor.dtype));
    tess_index_start(&walk, index->tensor.ndim, index->tensor.shape, 1, strides, 0);
    for (int64_t i = 0; i < count; i++, tess_index_next(&walk)) {
        double x = (double)(hostile_random(random) % (uint64_t)entries);
        tess_storer(TESS_SLOT_BASELINE, tess_f64, tess_type_of(index->tensor.dtype))(tess_first_element(&index->tensor) + walk.offset[0], 0, &x, 1);
    }
}

static const DLTensor *among; /* positions */

static void looked_up(uint64_t *random, tess_type table_type, tess_type index_type, tess_type out_type, int table_ndim, const int64_t *table_shape,
                      int axis, int index_ndim, const int64_t *index_shape, tess_interpolation interpolation, int layout) {
    hostile_array table, index, expected, out;
    int64_t shape[8], count = 1;
    int n = 0;
    tess_lookup_options options = {.struct_size = sizeof options, .axis = axis, .interpolation = interpolation, .positions = among};
    if (among)
        options.outside = TESS_OUTSIDE_CLIP;
    for (int d = 0; d < axis; d++)
        shape[n++] = table_shape[d];
    for (int d = 0; d < index_ndim; d++) {
        shape[n++] = index_shape[d];
        count *= index_shape[d];
    }
    for (int d = axis + 1; d < table_ndim; d++)
        shape[n++] = table_shape[d];
    hostile_make(&table, random, table_type, table_ndim, table_shape, layout);
    hostile_fill(&table, random, 1);
    hostile_make(&index, random, index_type, index_ndim, index_shape, layout);
    fill_index(&index, random, count, table_shape[axis]);
    uint64_t same = *random;
    hostile_make(&expected, random, out_type, n, shape, layout);
    hostile_make(&out, &same, out_type, n, shape, layout);
    assert_tess_ok(tess_lookup(context, &table.tensor, &index.tensor, &expected.tensor, &options));
    options.call.engine = engine;
    assert_tess_ok(tess_lookup(context, &table.tensor, &index.tensor, &out.tensor, &options));
    assert_memory_equal(out.block, expected.block, out.block_size);
    hostile_free(&table);
    hostile_free(&index);
    hostile_free(&expected);
    hostile_free(&out);
}

static void lookups(void **state) {
    (void)state;
    uint64_t random = 6;
    setenv("TESSERA_GPU_MEMORY", "60000", 1);
    for (int layout = HOSTILE_COMPACT; layout <= HOSTILE_STRIDED; layout++) {
        looked_up(&random, tess_f32, tess_i32, tess_f32, 1, (const int64_t[]){1000}, 0, 1, (const int64_t[]){20001}, TESS_INTERPOLATE_NONE, layout);
        looked_up(&random, tess_u8, tess_u16, tess_u8, 2, (const int64_t[]){500, 3}, 0, 2, (const int64_t[]){170, 101}, TESS_INTERPOLATE_NONE,
                  layout);
        looked_up(&random, tess_i16, tess_i64, tess_i16, 2, (const int64_t[]){301, 210}, 1, 1, (const int64_t[]){90}, TESS_INTERPOLATE_NONE, layout);
        looked_up(&random, tess_i16, tess_f32, tess_f64, 2, (const int64_t[]){301, 210}, 1, 1, (const int64_t[]){33}, TESS_INTERPOLATE_LINEAR,
                  layout);
    }
    looked_up(&random, tess_c64, tess_f32, tess_c64, 1, (const int64_t[]){700}, 0, 1, (const int64_t[]){9000}, TESS_INTERPOLATE_CUBIC,
              HOSTILE_COMPACT);
    static double halves[1000]; /* of the entries' numbers: places beyond half of them are outside, which CLIP takes */
    for (int i = 0; i < 1000; i++)
        halves[i] = 0.5 * i - 20;
    const DLTensor positions = tess_view(halves, tess_f64, 1, (int64_t[]){1000}, NULL);
    among = &positions;
    for (int layout = HOSTILE_COMPACT; layout <= HOSTILE_STRIDED; layout++)
        looked_up(&random, tess_f32, tess_f32, tess_f32, 1, (const int64_t[]){1000}, 0, 1, (const int64_t[]){20001}, TESS_INTERPOLATE_LINEAR, layout);
    among = NULL;
}

/* The first bad index of all slabs is named by its place in the whole. */
static void bad_index(void **state) {
    (void)state;
    static int32_t index[30000];
    static float table[100], out[30000];
    DLTensor from = tess_view(table, tess_f32, 1, (int64_t[]){100}, NULL), at = tess_view(index, tess_i32, 2, (int64_t[]){300, 100}, NULL),
             to = tess_view(out, tess_f32, 2, (int64_t[]){300, 100}, NULL);
    tess_lookup_options options = {.struct_size = sizeof options, .call.engine = engine};
    setenv("TESSERA_GPU_MEMORY", "50000", 1);
    index[23456] = 100;
    index[29999] = -5;
    assert_tess_fails(tess_lookup(context, &from, &at, &to, &options), TESS_ERR_INDEX);
    assert_non_null(strstr(tess_detail(), "index[234, 56] is 100, axis 0 of the table has the entries 0..99"));
}

/* ---- what lies on the device ---- */

static CUresult (*real_alloc)(CUdeviceptr *, size_t), (*real_free)(CUdeviceptr);
static struct {
    CUdeviceptr at;
    size_t size;
} blocks[64];
static size_t in_use, most_in_use;

static CUresult counted_alloc(CUdeviceptr *memory, size_t size) {
    CUresult result = real_alloc(memory, size);
    int i = 0;
    while (result == CUDA_SUCCESS && blocks[i].size > 0)
        i++;
    assert_true(i < TESS_COUNT(blocks));
    if (result == CUDA_SUCCESS) {
        blocks[i].at = *memory;
        blocks[i].size = size;
        in_use += size;
        most_in_use = in_use > most_in_use ? in_use : most_in_use;
    }
    return result;
}

static CUresult counted_free(CUdeviceptr memory) {
    for (int i = 0; i < TESS_COUNT(blocks); i++)
        if (blocks[i].size > 0 && blocks[i].at == memory) {
            in_use -= blocks[i].size;
            blocks[i].size = 0;
        }
    return real_free(memory);
}

/* Slots of another size, kept from the call before, go before new ones come. */
static void the_cap_is_kept(void **state) {
    (void)state;
    uint64_t random = 7;
    static const int turned[] = {1, 0};
    static const char *const caps[] = {"48K", "384K", "96K", "95K", "384K", "48K"};
    tess_context *all = context;
    tess_gpu *gpu;
    assert_tess_ok(tess_open(&context, NULL)); /* whose slots are all its own */
    assert_tess_ok(tess_gpu_get_engine(&gpu, context, engine));
    assert_tess_ok(tess_gpu_open(gpu));
    real_alloc = gpu->driver.cuMemAlloc;
    real_free = gpu->driver.cuMemFree;
    gpu->driver.cuMemAlloc = counted_alloc;
    gpu->driver.cuMemFree = counted_free;
    unsetenv("TESSERA_GPU_MEMORY");
    transposed(&random, tess_f32, 2, (const int64_t[]){400, 300}, turned, HOSTILE_COMPACT); /* its kernels are tried now, not under a cap */
    for (int i = 0; i < TESS_COUNT(caps); i++) {
        setenv("TESSERA_GPU_MEMORY", caps[i], 1);
        most_in_use = 0;
        transposed(&random, tess_f32, 2, (const int64_t[]){400, 300}, turned, HOSTILE_COMPACT);
        if (most_in_use == 0 || most_in_use > (size_t)atoi(caps[i]) << 10)
            fail_msg("%zu bytes on the device under a cap of %s", most_in_use, caps[i]);
    }
    tess_close(context);
    assert_int_equal(in_use, 0);
    context = all;
}

static void what_is_refused(void **state) {
    (void)state;
    static float x[100000], y[100000];
    DLTensor in = tess_view(x, tess_f32, 1, (int64_t[]){100000}, NULL), one = tess_view(y, tess_f32, 0, NULL, NULL);
    tess_reduce_options sum = {.struct_size = sizeof sum, .call.engine = engine};
    setenv("TESSERA_GPU_MEMORY", "100K", 1);
    DLTensor rows = tess_view(x, tess_f32, 2, (int64_t[]){2, 50000}, NULL), columns = tess_view(y, tess_f32, 2, (int64_t[]){50000, 2}, NULL);
    tess_transpose_options turn = {.struct_size = sizeof turn, .call.engine = engine};
    float mask[9999] = {1};
    DLTensor line = tess_view(x, tess_f32, 1, (int64_t[]){100000}, NULL), to = tess_view(y, tess_f32, 1, (int64_t[]){100000}, NULL),
             long_mask = tess_view(mask, tess_f32, 1, (int64_t[]){9999}, NULL);
    tess_correlate_options wide = {.struct_size = sizeof wide, .call.engine = engine};
    assert_tess_fails(tess_correlate(context, &line, &long_mask, &to, &wide), TESS_ERR_MEMORY);
    assert_non_null(strstr(tess_detail(), "one slab takes"));
    assert_tess_ok(tess_transpose(context, &rows, &columns, &turn));
    tess_reduce_options by_segment = sum;
    int64_t list[] = {0, 7, 100000};
    DLTensor offsets = tess_view(list, tess_i64, 1, (int64_t[]){3}, NULL), two = tess_view(y, tess_f32, 1, (int64_t[]){2}, NULL);
    int axis = 0;
    by_segment.offsets = &offsets;
    by_segment.axes = &axis;
    by_segment.naxes = 1;
    assert_tess_fails(tess_reduce(context, TESS_SUM, &in, &two, &by_segment), TESS_ERR_MEMORY);
    assert_non_null(strstr(tess_detail(), "one slab takes"));
    DLTensor square = tess_view(x, tess_f32, 2, (int64_t[]){300, 300}, NULL);
    assert_tess_fails(tess_transpose(context, &square, &square, &turn), TESS_ERR_MEMORY);
    assert_non_null(strstr(tess_detail(), "this problem is not cut"));
    static const char *const caps[] = {"x", "K", "12KB", "-5", "0", "1e30", "nan"};
    for (int i = 0; i < TESS_COUNT(caps); i++) {
        setenv("TESSERA_GPU_MEMORY", caps[i], 1);
        assert_tess_fails(tess_reduce(context, TESS_SUM, &in, &one, &sum), TESS_ERR_ARGUMENT);
        assert_non_null(strstr(tess_detail(), "must be a number of bytes"));
    }
    setenv("TESSERA_GPU_MEMORY", "", 1);
    assert_tess_ok(tess_reduce(context, TESS_SUM, &in, &one, &sum));
    unsetenv("TESSERA_GPU_MEMORY");
    assert_tess_ok(tess_reduce(context, TESS_SUM, &in, &one, &sum));
    assert_tess_ok(tess_transpose(context, &rows, &columns, &turn));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(transposes), cmocka_unit_test(reductions),      cmocka_unit_test(segments),
                                       cmocka_unit_test(leaves),     cmocka_unit_test(exact_sums),      cmocka_unit_test(lookups),
                                       cmocka_unit_test(bad_index),  cmocka_unit_test(the_cap_is_kept), cmocka_unit_test(what_is_refused)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}
