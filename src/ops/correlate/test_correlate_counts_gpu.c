/* SPDX-License-Identifier: Apache-2.0
 * test_correlate_counts_gpu.c - proves: the formulas of each GPU row of correlations (but of the transforms: test_correlate_fft_gpu.c) give what the virtual GPU counts, to the last one: shapes that leave blocks
 * incomplete, rows that begin anywhere, batches that do, ends by every boundary, elements of every size, lists in either order. */
#include "gpu_counts.h"
#include "ops/correlate/correlate.h"

static tess_context *context;
static tess_engine engine;

/* One mask, or a list of `list` masks of one axis each; the arrays' last axes are masked, or the named ones. */
typedef struct predicted {
    tess_type in, out;
    int ndim;
    int64_t shape[4];
    int mask_ndim;
    int64_t width[3];
    tess_boundary boundary;
    int list;
    int axes[3];
    bool named;
    int64_t gap, gap_out; /* elements between rows; so many more between those of results */
    tess_type mask;
    bool huge; /* weights */
    tess_extent extent;
    int turned;   /* 1: the input lies in Fortran's order, 2: the output, 3: both */
    int64_t step; /* of the input's finest axis, where it is not 1 */
} predicted;

static char *array(DLTensor *tensor, tess_type type, int ndim, int64_t *shape, int64_t *strides, int64_t gap, bool turned, int64_t step) {
    for (int k = ndim - 1; k >= 0; k--) {
        const int d = turned ? ndim - 1 - k : k;
        strides[d] = step;
        step *= shape[d] + (k == ndim - 1 ? gap : 0);
    }
    char *memory = calloc((size_t)step, tess_type_size(type));
    assert_non_null(memory);
    *tensor = tess_view(memory, type, ndim, shape, strides);
    return memory;
}

/* Whether enough numbers were compared: requests and sectors are among them. */
static bool predict_one(const tess_strategy *row, const predicted *c) {
    int64_t shape[4], out_shape[4], width[3], strides[2][4];
    int axes[3];
    bool all = false;
    static float weights[2048];
    static signed char bytes[2048];
    memcpy(shape, c->shape, sizeof shape);
    memcpy(out_shape, c->shape, sizeof shape);
    memcpy(width, c->width, sizeof width);
    for (int d = 0; d < c->mask_ndim; d++) {
        axes[d] = c->named ? c->axes[d] : c->ndim - c->mask_ndim + d;
        out_shape[axes[d]] += c->extent == TESS_EXTENT_VALID ? 1 - width[d] : c->extent == TESS_EXTENT_FULL ? width[d] - 1 : 0;
    }
    for (int i = 0; i < TESS_COUNT(weights); i++) {
        bytes[i] = (signed char)(i % 7 - 3);
        weights[i] = c->huge ? 1e35f : bytes[i];
    }
    DLTensor in, out, mask[3];
    char *from = array(&in, c->in, c->ndim, shape, strides[0], c->gap, c->turned & 1, c->step ? c->step : 1),
         *to = array(&out, c->out, c->ndim, out_shape, strides[1], c->gap + c->gap_out, c->turned & 2, 1);
    const DLTensor *masks[] = {&mask[0], &mask[1], &mask[2]};
    for (int k = 0; k < (c->list ? c->list : 1); k++)
        mask[k] = tess_view(c->mask == tess_i8 ? (void *)bytes : weights, c->mask == tess_i8 ? tess_i8 : tess_f32, c->list ? 1 : c->mask_ndim,
                            c->list ? &width[k] : width, NULL);
    const tess_correlate_options options = {.struct_size = sizeof options,
                                            .axes = c->named || c->mask_ndim < c->ndim ? axes : NULL,
                                            .naxes = c->named || c->mask_ndim < c->ndim ? c->mask_ndim : 0,
                                            .boundary = c->boundary,
                                            .extent = c->extent,
                                            .call = {.engine = engine, .strategy = row->name}};
    tess_plan *plan;
    if (tess_plan_correlate(&plan, context, &in, masks, c->list ? c->list : 1, &out, &options) == TESS_OK) {
        char what[128];
        snprintf(what, sizeof what, "%lld x %lld x %lld %s to %s with %lld x %lld x %lld%s, boundary %d", (long long)shape[0], (long long)shape[1],
                 (long long)shape[2], tess_type_name(c->in), tess_type_name(c->out), (long long)width[0], (long long)width[1], (long long)width[2],
                 c->list ? ", a list" : "", (int)c->boundary);
        all = gpu_counts_check(plan, from, NULL, to, what) > 5;
        tess_plan_free(plan);
    }
    free(from);
    free(to);
    return all;
}

#define U8 tess_u8, tess_u8
#define I8 tess_i8, tess_i8
#define F16 tess_f16, tess_f16
#define F32 tess_f32, tess_f32
#define F64 tess_f64, tess_f64
#define BY(rule) .boundary = TESS_BOUNDARY_##rule
#define ROWS_FIRST .axes = {1, 0}, .named = true
#define PIXELS .axes = {0, 1}, .named = true

/* Rungs of the ladder: f32, zeros beyond the ends. */
static const predicted lines[] = {{F32, 1, {1000}, 1, {5}, BY(ZERO)}, {F32, 1, {257}, 1, {4}, BY(ZERO)}, {F32, 1, {7}, 1, {9}, BY(ZERO)}};
static const int64_t images[][4] = {{40, 70, 3, 3}, {16, 64, 5, 5}, {9, 33, 2, 7}, {50, 20, 1, 3}};
/* Production rows of one mask: several blocks each way, ends of rows and of columns by every boundary, elements of every size, batches that begin anywhere. */
static const predicted single[] = {
    {tess_u8, tess_f32, 3, {13, 31, 64}, 3, {6, 3, 1}, BY(CONSTANT)}, /* taps 64 elements apart */
    {F32, 2, {70, 4096}, 2, {7, 7}, BY(ZERO)},
    {F32, 2, {37, 1500}, 2, {9, 5}, BY(REFLECT)},
    {F32, 2, {37, 1501}, 2, {5, 6}, BY(MIRROR)},
    {F32, 3, {3, 41, 259}, 2, {3, 4}, BY(NEAREST)},
    {F64, 2, {33, 602}, 2, {5, 5}, BY(WRAP)},
    {tess_f64, tess_f32, 2, {20, 301}, 2, {4, 3}, BY(ZERO)},
    {U8, 2, {40, 3104}, 2, {7, 7}, BY(REFLECT)},
    {U8, 2, {21, 3103}, 2, {5, 5}, BY(NEAREST)},
    {F16, 2, {31, 2064}, 2, {6, 6}, BY(WRAP)},
    {tess_i16, tess_f32, 2, {31, 1041}, 2, {3, 9}, BY(ZERO)},
    {F32, 3, {3, 41, 256}, 2, {3, 3}, BY(MIRROR)},
    {F32, 3, {7, 37, 520}, 3, {3, 3, 3}, BY(REFLECT)},
    {F32, 3, {9, 100, 136}, 3, {5, 5, 5}, BY(ZERO)},
    {F64, 3, {5, 21, 130}, 3, {3, 2, 3}, BY(WRAP)},
    {U8, 3, {6, 70, 1040}, 3, {3, 3, 3}, BY(NEAREST)},
    {F16, 3, {6, 40, 264}, 3, {2, 3, 3}, BY(MIRROR)},
    {F32, 2, {3, 4500}, 1, {33}, BY(REFLECT)},
    {F32, 1, {3001}, 1, {150}, BY(ZERO)},
    {F64, 2, {3, 1203}, 1, {9}, BY(WRAP)},
    {F32, 3, {7, 37, 523}, 3, {3, 3, 3}, BY(REFLECT)},
    {F32, 3, {9, 100, 133}, 3, {5, 5, 5}, BY(ZERO)},
    {F64, 3, {5, 21, 131}, 3, {3, 2, 3}, BY(WRAP)},
    {U8, 1, {20003}, 1, {9}, BY(REFLECT)},
    {F16, 2, {3, 9008}, 1, {5}, BY(ZERO)},
    {tess_u16, tess_u16, 2, {3, 5008}, 1, {7}, BY(MIRROR)},
    {tess_bf16, tess_bf16, 1, {2100}, 1, {3}, BY(MIRROR)},
    {tess_i16, tess_i16, 1, {9001}, 1, {4}, BY(WRAP)},
    {I8, 2, {5, 7952}, 1, {14}, BY(NEAREST)},
    {F32, 3, {5, 40, 200}, 1, {7}, BY(REFLECT), .axes = {1}, .named = true},
    {I8, 3, {5, 40, 81}, 1, {5}, BY(ZERO), .axes = {1}, .named = true},
    {F32, 2, {9, 1000}, 1, {101}, BY(ZERO)}, /* rows that are a tile, or several of which are a block's */
    {F32, 2, {1030, 300}, 1, {9}, BY(REFLECT)},
    {F16, 2, {1027, 88}, 1, {6}, BY(WRAP)},
    {U8, 2, {1025, 83}, 1, {9}, BY(NEAREST)},
    {tess_u8, tess_f32, 2, {9, 992}, 1, {33}, BY(MIRROR), .extent = TESS_EXTENT_FULL},
    {F32, 2, {9, 500}, 1, {40}, BY(CONSTANT), .extent = TESS_EXTENT_VALID, .gap_out = 3},
};
/* Small masks. */
static const predicted small[] = {
    {F32, 2, {70, 1040}, 2, {3, 3}, BY(ZERO)},
    {F32, 2, {71, 1044}, 2, {5, 5}, BY(REFLECT)},
    {F32, 2, {71, 1044}, 2, {4, 8}, BY(MIRROR)},
    {F32, 2, {1, 5000}, 2, {1, 7}, BY(WRAP)},
    {F32, 2, {5, 1300}, 2, {3, 2}, BY(NEAREST)},
    {F32, 3, {5, 33, 260}, 2, {2, 3}, BY(CONSTANT)},
    {F32, 2, {33, 1300}, 2, {5, 5}, BY(ZERO), .extent = TESS_EXTENT_VALID},
    {F32, 2, {5, 1300}, 1, {5}, BY(NEAREST)},
    {F32, 2, {9, 1300}, 1, {1}, BY(NEAREST)},
    {tess_i16, tess_i16, 2, {4, 1304}, 1, {5}, BY(NEAREST)},
    {tess_i8, tess_i8, 2, {6, 1312}, 1, {5}, BY(NEAREST)},
    {U8, 2, {43, 48}, 2, {3, 3}, BY(NEAREST)},
    {F16, 2, {43, 48}, 2, {3, 3}, BY(NEAREST)},
    {F32, 2, {24, 1300}, 2, {3, 1}, BY(NEAREST)},
    {F16, 2, {24, 1304}, 2, {3, 1}, BY(ZERO)},
    {F32, 3, {43, 100, 3}, 2, {3, 3}, BY(REFLECT), .axes = {0, 1}, .named = true},
    {U8, 3, {43, 100, 3}, 2, {3, 3}, BY(MIRROR), .axes = {0, 1}, .named = true},
    {F64, 3, {43, 100, 4}, 2, {3, 2}, BY(WRAP), .axes = {0, 1}, .named = true},
    {F32, 2, {43, 1000}, 2, {3, 3}, BY(WRAP), .gap = 3},
    {F16, 2, {43, 5}, 2, {3, 3}, BY(WRAP), .gap = 2},
    {F32, 2, {43, 9}, 2, {3, 3}, BY(CONSTANT), .extent = TESS_EXTENT_FULL},
    {F32, 2, {33, 1300}, 2, {3, 4}, BY(ZERO), .extent = TESS_EXTENT_VALID, .gap_out = 3},
    {F32, 2, {33, 1300}, 2, {3, 4}, BY(REFLECT), .extent = TESS_EXTENT_FULL, .gap_out = 1},
    {F32, 2, {71, 1041}, 2, {3, 3}, BY(MIRROR)},
    {F32, 3, {3, 71, 1041}, 2, {5, 5}, BY(ZERO)},
    {F32, 3, {3, 17, 141}, 2, {4, 7}, BY(REFLECT)},
    {F32, 2, {1, 3001}, 2, {1, 5}, BY(WRAP)},
    {F32, 2, {23, 521}, 2, {3, 1}, BY(NEAREST)},
    {F32, 2, {23, 3}, 2, {3, 3}, BY(NEAREST)},
    {F64, 2, {33, 602}, 2, {5, 3}, BY(WRAP)},
    {F64, 2, {33, 603}, 2, {5, 5}, BY(MIRROR)},
    {F64, 2, {33, 603}, 2, {3, 2}, BY(ZERO)},
    {tess_f64, tess_u8, 2, {33, 608}, 2, {3, 3}, BY(ZERO)},
    {tess_f64, tess_u8, 2, {33, 607}, 2, {3, 3}, BY(ZERO)},
    {tess_f64, tess_f16, 2, {33, 607}, 2, {3, 3}, BY(REFLECT)},
    {tess_f32, tess_f16, 2, {33, 1304}, 2, {3, 3}, BY(REFLECT)},
    {tess_f32, tess_u8, 2, {33, 1301}, 2, {5, 4}, BY(CONSTANT)},
    {F16, 2, {33, 2064}, 2, {5, 7}, BY(NEAREST)},
    {F16, 2, {33, 2063}, 2, {5, 7}, BY(NEAREST)},
    {F16, 2, {33, 1063}, 2, {3, 3}, BY(ZERO)},
    {F16, 2, {33, 2163}, 2, {2, 3}, BY(WRAP)},
    {U8, 2, {43, 2072}, 2, {3, 3}, BY(NEAREST)},
    {U8, 2, {43, 2080}, 2, {5, 7}, BY(ZERO)},
    {U8, 2, {43, 2081}, 2, {5, 5}, BY(REFLECT), .huge = true},
    {U8, 2, {43, 1081}, 2, {3, 3}, BY(MIRROR)},
    {U8, 2, {1, 10081}, 2, {1, 3}, BY(ZERO)},
    {tess_u8, tess_f32, 2, {43, 2081}, 2, {3, 3}, BY(ZERO)},
    {tess_i8, tess_f32, 2, {43, 1040}, 2, {3, 6}, BY(ZERO)},
    {tess_i16, tess_i16, 2, {43, 1040}, 2, {4, 6}, BY(ZERO)},
    {tess_u16, tess_f32, 2, {43, 3040}, 2, {3, 3}, BY(ZERO)},
    {tess_bf16, tess_bf16, 2, {21, 1043}, 2, {3, 3}, BY(ZERO)},
    {U8, 2, {70, 1552}, 2, {3, 3}, BY(ZERO), .mask = tess_i8},
    {U8, 2, {71, 1560}, 2, {5, 5}, BY(REFLECT), .mask = tess_i8, .gap = 8},
    {I8, 2, {71, 1552}, 2, {8, 9}, BY(MIRROR), .mask = tess_i8},
    {I8, 2, {1, 5072}, 2, {1, 9}, BY(WRAP), .mask = tess_i8},
    {I8, 2, {15, 1072}, 2, {3, 4}, BY(CONSTANT), .mask = tess_i8},
    {tess_u8, tess_i16, 2, {35, 1072}, 2, {3, 3}, BY(NEAREST), .mask = tess_i8},
    {U8, 2, {71, 1553}, 2, {3, 3}, BY(ZERO), .mask = tess_i8},
    {U8, 3, {3, 71, 2553}, 2, {5, 5}, BY(REFLECT), .mask = tess_i8},
    {I8, 2, {71, 2551}, 2, {3, 8}, BY(MIRROR), .mask = tess_i8},
    {tess_u8, tess_i32, 2, {71, 551}, 2, {3, 3}, BY(WRAP), .mask = tess_i8},
    {U8, 3, {43, 352, 3}, 2, {5, 5}, BY(REFLECT), PIXELS, .mask = tess_i8},
    {I8, 3, {43, 352, 4}, 2, {7, 7}, BY(ZERO), PIXELS, .mask = tess_i8},
    {U8, 3, {43, 353, 3}, 2, {3, 3}, BY(WRAP), PIXELS, .mask = tess_i8},
};
/* Small masks over narrow elements in whole rows, by way of shared memory: blocks that pass a row's end, that lie inside, as wide as a row, of two arrays. */
static const predicted narrow[] = {
    {U8, 2, {70, 1552}, 2, {3, 3}, BY(REFLECT)},
    {U8, 2, {70, 3120}, 2, {3, 3}, BY(ZERO)},
    {U8, 2, {70, 5120}, 2, {5, 5}, BY(MIRROR)},
    {U8, 3, {5, 64, 64}, 2, {3, 3}, BY(WRAP)},
    {U8, 3, {5, 112, 112}, 2, {3, 3}, BY(NEAREST)},
    {U8, 3, {925, 112, 112}, 2, {3, 3}, BY(WRAP)}, /* two arrays a block */
    {U8, 3, {4, 112, 112}, 2, {5, 5}, BY(CONSTANT)},
    {U8, 3, {3, 224, 224}, 2, {4, 5}, BY(REFLECT)},
    {I8, 2, {45, 1048}, 2, {3, 2}, BY(ZERO), .gap = 8},
    {tess_u8, tess_f32, 2, {45, 2048}, 2, {3, 3}, BY(WRAP)},
    {F16, 2, {70, 1552}, 2, {3, 3}, BY(REFLECT)},
    {F16, 2, {70, 3120}, 2, {5, 5}, BY(ZERO)},
    {F16, 3, {5, 80, 112}, 2, {5, 4}, BY(MIRROR)},
    {F16, 3, {3, 256, 256}, 2, {3, 3}, BY(WRAP)},
    {tess_bf16, tess_f32, 2, {70, 520}, 2, {2, 5}, BY(WRAP)},
    {tess_i16, tess_i16, 2, {70, 1032}, 2, {5, 5}, BY(NEAREST)},
    {tess_u16, tess_u8, 2, {70, 1040}, 2, {3, 3}, BY(CONSTANT)},
    {U8, 3, {70, 176, 3}, 2, {3, 3}, BY(CONSTANT), .axes = {0, 1}, .named = true},
    {U8, 2, {70, 1540}, 2, {3, 3}, BY(REFLECT), .gap = 12},
};
/* The mask's last axis is not the rows'. */
static const predicted turned[] = {
    {U8, 2, {1552, 70}, 2, {3, 3}, BY(REFLECT), .turned = 3},
    {U8, 2, {3120, 70}, 2, {3, 3}, BY(ZERO), .turned = 3},
    {U8, 3, {5, 112, 112}, 2, {3, 5}, BY(WRAP), .axes = {2, 1}, .named = true},
    {tess_u8, tess_f32, 2, {528, 45}, 2, {5, 4}, BY(MIRROR), .turned = 3},
    {F16, 2, {1040, 70}, 2, {3, 3}, BY(NEAREST), .turned = 3},
    {tess_i16, tess_u8, 2, {3088, 30}, 2, {3, 2}, BY(CONSTANT), .turned = 3},
    {F16, 3, {3, 256, 256}, 2, {5, 5}, BY(WRAP), .axes = {2, 1}, .named = true},
    {F32, 2, {1032, 70}, 2, {7, 7}, BY(REFLECT), .turned = 3},
    {tess_i32, tess_f32, 2, {516, 43}, 2, {6, 6}, BY(WRAP), .turned = 3},
    {F32, 3, {136, 21, 19}, 3, {3, 3, 3}, BY(REFLECT), .turned = 3},
    {F32, 3, {520, 37, 7}, 3, {3, 3, 3}, BY(ZERO), .turned = 3},
    {F32, 3, {9, 21, 268}, 3, {3, 2, 4}, BY(WRAP), .axes = {2, 0, 1}, .named = true},
    {F64, 3, {34, 43, 11}, 3, {3, 3, 3}, BY(CONSTANT), .turned = 3},
    {U8, 3, {272, 17, 12}, 3, {3, 3, 3}, BY(NEAREST), .turned = 3},
    {F16, 3, {72, 35, 12}, 3, {3, 3, 2}, BY(MIRROR), .turned = 3},
    {F32, 3, {70, 9, 136}, 3, {3, 3, 3}, BY(REFLECT), .turned = 1}, /* the input's alone is another */
    {F32, 3, {131, 13, 272}, 3, {2, 3, 4}, BY(ZERO), .turned = 1},
    {F32, 3, {140, 5, 72}, 3, {3, 2, 3}, BY(WRAP), .turned = 1, .gap = 4},
    {tess_f32, tess_u8, 3, {68, 7, 80}, 3, {3, 3, 2}, BY(CONSTANT), .turned = 1},
    {tess_i32, tess_f32, 3, {200, 9, 200}, 3, {3, 3, 3}, BY(NEAREST), .turned = 1},
};
/* Fewer rows or planes than the mask has taps along them. */
static const predicted few[] = {
    {F32, 2, {4, 1040}, 2, {5, 5}, BY(MIRROR)},        {U8, 2, {4, 2081}, 2, {5, 3}, BY(REFLECT)}, {F32, 2, {6, 777}, 2, {9, 5}, BY(WRAP)},
    {F32, 3, {4, 37, 520}, 3, {7, 3, 3}, BY(REFLECT)}, {U8, 2, {6, 2048}, 2, {9, 9}, BY(NEAREST)}, {F16, 3, {5, 3, 264}, 3, {7, 4, 5}, BY(REFLECT)},
};
/* The input's finest axis is another than the output's: a transpose and a correlation. */
static const predicted apart[] = {
    {F32, 2, {150, 260}, 2, {3, 3}, BY(ZERO), .turned = 1},
    {U8, 2, {203, 300}, 2, {3, 5}, BY(REFLECT), .turned = 1},
    {tess_f32, tess_u8, 2, {144, 272}, 2, {3, 3}, BY(WRAP), .turned = 1}, /* the output is turned */
    {I8, 3, {70, 21, 40}, 3, {3, 5, 5}, BY(CONSTANT), .turned = 1, .list = 3},
    {F16, 2, {5000, 5}, 2, {3, 7}, BY(NEAREST), .turned = 1, .list = 2},
    {U8, 2, {301, 205}, 2, {5, 7}, BY(ZERO), .turned = 1, .list = 2},
};
/* Lists in parts. */
static const predicted parts[] = {
    {F16, 3, {2, 59, 131}, 3, {9, 7, 3}, BY(WRAP), .list = 3},
    {I8, 2, {8, 3001}, 2, {10, 3}, BY(REFLECT), .list = 2},
    {F32, 3, {14, 1041, 1}, 2, {3, 5}, BY(NEAREST), .list = 2},
    {U8, 3, {1500, 4, 6}, 2, {5, 3}, BY(MIRROR), .list = 2},
    {F32, 2, {3, 2131}, 2, {5, 30}, BY(ZERO), .list = 2, .extent = TESS_EXTENT_FULL},
};
/* Small images without gaps. */
static const predicted flat[] = {
    {F32, 3, {60, 50, 8}, 2, {3, 3}, BY(REFLECT), .axes = {0, 1}, .named = true},
    {F32, 3, {3, 64, 61}, 2, {3, 3}, BY(REFLECT)},
    {F32, 3, {3, 255, 253}, 2, {3, 3}, BY(ZERO)},
    {F32, 3, {2, 100, 253}, 2, {5, 5}, BY(WRAP)},
    {F16, 3, {3, 64, 61}, 2, {3, 3}, BY(MIRROR)},
    {F16, 3, {3, 97, 113}, 2, {5, 5}, BY(NEAREST)},
    {U8, 3, {3, 255, 253}, 2, {3, 3}, BY(CONSTANT)},
    {U8, 3, {3, 255, 250}, 2, {5, 5}, BY(MIRROR)},
    {U8, 3, {3, 100, 203}, 2, {7, 7}, BY(REFLECT)},
    {F32, 3, {3, 100, 203}, 2, {7, 7}, BY(MIRROR)},
    {F32, 3, {17, 31, 37}, 2, {2, 3}, BY(WRAP)},
    {F32, 3, {5, 41, 128}, 2, {3, 3}, BY(WRAP)},
    {F32, 3, {5, 43, 64}, 2, {5, 5}, BY(ZERO)},
    {F32, 3, {5, 43, 64}, 2, {7, 7}, BY(ZERO)},
    {F32, 3, {5, 43, 64}, 2, {2, 2}, BY(REFLECT)},
    {U8, 3, {5, 61, 128}, 2, {3, 3}, BY(WRAP)},
    {F32, 3, {17, 31, 38}, 2, {3, 2}, BY(CONSTANT)},
    {F32, 2, {41, 2049}, 2, {6, 5}, BY(NEAREST)},
    {F16, 2, {41, 4099}, 2, {7, 7}, BY(MIRROR)},
    {F16, 2, {41, 2999}, 2, {3, 3}, BY(WRAP)},
    {U8, 2, {41, 5001}, 2, {3, 3}, BY(ZERO)},
    {U8, 2, {41, 5001}, 2, {7, 7}, BY(WRAP)},
    {U8, 2, {41, 5003}, 2, {3, 3}, BY(MIRROR), .mask = tess_i8},
    {U8, 2, {41, 5003}, 2, {7, 6}, BY(ZERO), .mask = tess_i8},
    {I8, 3, {37, 40, 77}, 2, {3, 3}, BY(ZERO), .mask = tess_i8},
    {tess_u8, tess_f16, 3, {5, 60, 99}, 2, {3, 3}, BY(ZERO)},
    {tess_f32, tess_u8, 3, {5, 60, 99}, 2, {3, 5}, BY(REFLECT)},
    {F32, 3, {60, 99, 3}, 2, {3, 5}, BY(REFLECT), .axes = {0, 1}, .named = true},
    {U8, 3, {60, 99, 3}, 2, {5, 3}, BY(WRAP), .axes = {0, 1}, .named = true},
    {tess_i16, tess_u8, 3, {5, 60, 99}, 2, {3, 3}, BY(REFLECT)},
    {U8, 3, {3, 100, 203}, 2, {3, 3}, BY(REFLECT), .mask = tess_i8},
    {U8, 3, {3, 100, 203}, 2, {5, 7}, BY(ZERO), .mask = tess_i8},
};
/* Axes of few elements: rows, pixels, columns, stacks. */
static const predicted short_ones[] = {
    {F32, 4, {3, 20, 16, 16}, 3, {3, 3, 3}, BY(REFLECT), .axes = {1, 2, 3}, .named = true}, /* volumes: planes with a halo, whole ones */
    {F32, 4, {9, 8, 8, 8}, 3, {3, 5, 3}, BY(WRAP), .axes = {1, 2, 3}, .named = true, .list = 3},
    {U8, 3, {90, 12, 20}, 3, {5, 3, 3}, BY(MIRROR)},
    {U8, 3, {8200, 8, 8}, 2, {3, 3}, BY(CONSTANT)},        /* several rows a thread */
    {U8, 3, {60, 28, 28}, 2, {5, 3}, BY(WRAP), .list = 2}, /* in one launch */
    {F32, 2, {3000, 12}, 2, {7, 7}, BY(ZERO)},
    {U8, 2, {1500, 34}, 1, {7}, BY(REFLECT)},
    {U8, 3, {700, 7, 3}, 2, {3, 5}, BY(NEAREST), PIXELS},
    {F16, 2, {1, 5001}, 1, {9}, BY(WRAP), .axes = {0}, .named = true},
    {F32, 2, {3, 3001}, 2, {9, 3}, BY(MIRROR)},
    {F16, 3, {50, 10, 58}, 2, {3, 7}, BY(REFLECT)},
    {U8, 3, {301, 5, 9}, 2, {3, 3}, BY(REFLECT)},
    {F32, 3, {2050, 32, 8}, 2, {3, 3}, BY(NEAREST), .list = 2},
};
static const predicted large[] = {
    {F32, 2, {50, 170}, 2, {31, 23}, BY(MIRROR)},
    {F32, 2, {150, 301}, 2, {9, 101}, BY(ZERO)},
    {F32, 1, {3001}, 1, {1023}, BY(REFLECT)},
    {F64, 2, {40, 131}, 2, {17, 19}, BY(WRAP)},
    {U8, 2, {90, 203}, 2, {19, 17}, BY(NEAREST)},
    {F16, 3, {3, 61, 100}, 2, {21, 15}, BY(ZERO)},
    {F32, 3, {9, 31, 97}, 3, {4, 9, 10}, BY(WRAP)},
    {F32, 3, {31, 33, 3}, 2, {19, 21}, BY(NEAREST), .axes = {0, 1}, .named = true},
    {tess_i32, tess_i64, 2, {40, 66}, 2, {5, 20}, BY(REFLECT), .mask = tess_i8},
    {F32, 2, {90, 70}, 1, {33}, BY(WRAP), .axes = {0}, .named = true},
};
/* Elements in any order and at any steps, and complex numbers. */
static const predicted bricks[] = {
    {F32, 2, {150, 271}, 2, {3, 3}, BY(ZERO), .turned = 3},
    {F32, 2, {271, 150}, 2, {5, 3}, BY(REFLECT), .turned = 1},
    {U8, 2, {75, 290}, 2, {3, 4}, BY(WRAP), .turned = 2},
    {F16, 3, {40, 35, 70}, 3, {3, 2, 3}, BY(MIRROR), .turned = 3},
    {F32, 3, {40, 35, 70}, 3, {3, 3, 3}, BY(NEAREST), .turned = 1},
    {F32, 3, {5, 60, 141}, 2, {3, 3}, BY(CONSTANT), .turned = 3, .gap = 3},
    {U8, 3, {33, 21, 190}, 3, {3, 3, 2}, BY(ZERO), .turned = 3},
    {F32, 2, {75, 290}, 2, {3, 3}, BY(ZERO), .step = 2},
    {tess_u8, tess_f32, 2, {75, 291}, 2, {3, 3}, BY(REFLECT), .step = 3},
    {F64, 2, {75, 290}, 2, {3, 3}, BY(WRAP), .step = 2},
    {F32, 1, {9001}, 1, {5}, BY(MIRROR), .step = 2},
    {F32, 2, {120, 301}, 1, {7}, BY(NEAREST), .step = 3},
    {tess_c64, tess_c64, 2, {75, 290}, 2, {3, 3}, BY(ZERO)},
    {tess_c64, tess_c64, 2, {75, 290}, 2, {5, 5}, BY(REFLECT), .extent = TESS_EXTENT_FULL},
    {tess_c128, tess_c64, 2, {75, 130}, 2, {3, 2}, BY(WRAP), .turned = 1},
    {tess_c64, tess_c64, 3, {75, 130, 3}, 2, {3, 2}, BY(WRAP), .axes = {0, 1}, .named = true},
    {tess_c64, tess_c64, 1, {5003}, 1, {31}, BY(ZERO), .extent = TESS_EXTENT_VALID},
    {tess_c64, tess_c64, 2, {90, 170}, 2, {7, 5}, BY(CONSTANT), .list = 2},
    {tess_i32, tess_i64, 2, {75, 130}, 2, {3, 3}, BY(ZERO), .mask = tess_i8, .turned = 3},
    {F32, 2, {280, 75}, 2, {7, 5}, BY(REFLECT), .turned = 3}, /* lines of whole vectors */
    {F32, 2, {70, 140}, 2, {3, 4}, BY(CONSTANT), .step = 2},
    {U8, 2, {276, 75}, 2, {3, 3}, BY(WRAP), .turned = 3},
    {tess_u8, tess_f32, 2, {148, 75}, 2, {5, 2}, BY(NEAREST), .turned = 3, .extent = TESS_EXTENT_FULL},
    {F32, 3, {76, 39, 21}, 3, {3, 3, 3}, BY(MIRROR), .turned = 3},
    {U8, 3, {76, 39, 21}, 3, {3, 2, 3}, BY(ZERO), .turned = 3},
    {F64, 2, {140, 75}, 2, {3, 3}, BY(ZERO), .turned = 3, .list = 2},
};
/* Of lists. */
static const predicted lists[] = {
    {U8, 2, {70, 2048}, 2, {3, 3}, BY(ZERO), .list = 2},
    {U8, 3, {3, 150, 1501}, 2, {7, 7}, BY(REFLECT), .list = 2, .gap = 1},
    {U8, 2, {71, 3801}, 2, {9, 9}, BY(NEAREST), .list = 2},
    {U8, 3, {2, 150, 1501}, 2, {3, 5}, BY(CONSTANT), .list = 2, .extent = TESS_EXTENT_FULL},
    {F16, 3, {3, 120, 1777}, 2, {5, 7}, BY(WRAP), .list = 2, .extent = TESS_EXTENT_VALID},
    {tess_u8, tess_f16, 2, {33, 1501}, 2, {9, 7}, BY(MIRROR), .list = 2, .extent = TESS_EXTENT_FULL},
    {U8, 2, {40, 844}, 2, {3, 3}, BY(ZERO), .list = 2, .gap = 4},
    {U8, 2, {70, 1456}, 2, {3, 3}, BY(WRAP), .list = 2},
    {U8, 3, {3, 61, 512}, 2, {7, 7}, BY(REFLECT), .list = 2},
    {U8, 2, {9, 1040}, 2, {9, 9}, BY(WRAP), .list = 2},
    {I8, 2, {75, 1040}, 2, {5, 3}, BY(MIRROR), .list = 2},
    {U8, 2, {75, 1044}, 2, {5, 6}, BY(NEAREST), .list = 2, .gap = 12},
    {U8, 2, {75, 3044}, 2, {5, 6}, BY(CONSTANT), .list = 2, .gap = 12},
    {F16, 2, {75, 1040}, 2, {7, 7}, BY(CONSTANT), .list = 2},
    {F16, 2, {75, 2052}, 2, {3, 5}, BY(WRAP), .list = 2, .gap = 4},
    {tess_bf16, tess_f32, 2, {45, 1040}, 2, {4, 4}, BY(REFLECT), .list = 2},
    {tess_u8, tess_f32, 2, {45, 1040}, 2, {4, 4}, BY(ZERO), .list = 2},
    {U8, 2, {45, 1040}, 2, {3, 5}, BY(ZERO), .list = 2, .extent = TESS_EXTENT_VALID, .gap_out = 4},
    {U8, 3, {77, 336, 3}, 2, {7, 7}, BY(REFLECT), .list = 2, .axes = {0, 1}, .named = true}, /* pixels */
    {U8, 4, {2, 95, 240, 4}, 2, {3, 3}, BY(ZERO), .list = 2, .axes = {1, 2}, .named = true},
    {U8, 3, {30, 160, 3}, 2, {9, 8}, BY(WRAP), .list = 2, .axes = {0, 1}, .named = true},
    {F16, 3, {50, 168, 3}, 2, {5, 7}, BY(CONSTANT), .list = 2, .axes = {0, 1}, .named = true},
    {tess_u8, tess_f32, 3, {50, 192, 2}, 2, {4, 4}, BY(MIRROR), .list = 2, .axes = {0, 1}, .named = true},
    {U8, 3, {77, 335, 3}, 2, {7, 7}, BY(REFLECT), .list = 2, PIXELS}, /* of any width */
    {U8, 4, {2, 95, 241, 4}, 2, {3, 3}, BY(ZERO), .list = 2, .axes = {1, 2}, .named = true},
    {U8, 3, {30, 161, 3}, 2, {9, 8}, BY(WRAP), .list = 2, PIXELS},
    {F16, 3, {50, 331, 3}, 2, {5, 7}, BY(CONSTANT), .list = 2, PIXELS},
    {tess_u8, tess_f32, 3, {50, 191, 2}, 2, {4, 4}, BY(MIRROR), .list = 2, PIXELS, .extent = TESS_EXTENT_FULL},
    {U8, 3, {3, 64, 101}, 2, {3, 3}, BY(ZERO), .list = 2},
    {U8, 3, {3, 61, 509}, 2, {7, 7}, BY(REFLECT), .list = 2},
    {U8, 3, {5, 64, 128}, 2, {5, 4}, BY(WRAP), .list = 2},
    {I8, 3, {3, 64, 255}, 2, {3, 5}, BY(MIRROR), .list = 2},
    {F16, 3, {3, 64, 253}, 2, {7, 7}, BY(NEAREST), .list = 2},
    {F16, 3, {3, 63, 255}, 2, {3, 3}, BY(CONSTANT), .list = 2},
    {tess_i16, tess_i16, 3, {3, 50, 125}, 2, {4, 3}, BY(WRAP), .list = 2},
    {tess_u16, tess_u8, 3, {3, 50, 125}, 2, {4, 3}, BY(REFLECT), .list = 2},
    {U8, 3, {3, 75, 79}, 2, {7, 5}, BY(ZERO), .list = 2}, /* several bands a warp */
    {F16, 3, {3, 61, 179}, 2, {5, 7}, BY(REFLECT), .list = 2},
    {F16, 3, {3, 45, 493}, 2, {7, 5}, BY(WRAP), .list = 2},
    {U8, 3, {3, 61, 1918}, 2, {7, 7}, BY(REFLECT), .list = 2}, /* several warps a row */
    {I8, 3, {3, 41, 713}, 2, {3, 4}, BY(CONSTANT), .list = 2},
    {F16, 3, {3, 40, 717}, 2, {5, 7}, BY(MIRROR), .list = 2},
    {tess_i16, tess_u8, 3, {2, 37, 1435}, 2, {2, 3}, BY(NEAREST), .list = 2},
    {F32, 2, {43, 1300}, 2, {3, 3}, BY(ZERO), .list = 2},
    {F32, 2, {43, 1300}, 2, {5, 5}, BY(REFLECT), .list = 2, ROWS_FIRST},
    {F32, 3, {3, 43, 1301}, 2, {5, 7}, BY(CONSTANT), .list = 2},
    {F32, 2, {43, 1301}, 2, {3, 5}, BY(MIRROR), .list = 2, ROWS_FIRST},
    {F32, 2, {9, 1301}, 2, {9, 9}, BY(WRAP), .list = 2},
    {F64, 2, {33, 602}, 2, {3, 5}, BY(NEAREST), .list = 2},
    {F64, 2, {33, 603}, 2, {3, 3}, BY(WRAP), .list = 2},
    {F64, 2, {33, 603}, 2, {3, 3}, BY(ZERO), .list = 2, ROWS_FIRST},
    {tess_f32, tess_u8, 2, {33, 1303}, 2, {3, 4}, BY(ZERO), .list = 2},
    {tess_i32, tess_f32, 2, {33, 303}, 2, {3, 4}, BY(ZERO), .list = 2},
    {U8, 2, {33, 1303}, 2, {3, 4}, BY(ZERO), .list = 2, .huge = true},
    {tess_i16, tess_f32, 2, {33, 1303}, 2, {9, 9}, BY(ZERO), .list = 2},
    {F16, 2, {33, 1304}, 2, {9, 8}, BY(MIRROR), .list = 2},
    {U8, 2, {33, 1303}, 2, {3, 4}, BY(REFLECT), .list = 2, .huge = true},
    {tess_i16, tess_f32, 2, {33, 1303}, 2, {9, 9}, BY(NEAREST), .list = 2},
    {tess_i32, tess_i32, 2, {33, 303}, 2, {3, 4}, BY(MIRROR), .list = 2},
    {F32, 2, {43, 1300}, 2, {4, 4}, BY(WRAP), .list = 2},
    {F32, 2, {43, 1301}, 2, {4, 4}, BY(NEAREST), .list = 2},
    {U8, 2, {33, 1307}, 2, {3, 15}, BY(MIRROR), .list = 2},
    {F32, 2, {70, 1040}, 2, {7, 7}, BY(ZERO), .list = 2},
    {F32, 2, {70, 1040}, 2, {7, 7}, BY(ZERO), .list = 2, ROWS_FIRST},
    {F32, 3, {3, 41, 1501}, 2, {5, 8}, BY(REFLECT), .list = 2},
    {F32, 3, {3, 41, 1501}, 2, {5, 8}, BY(REFLECT), .list = 2, .axes = {2, 1}, .named = true},
    {F32, 2, {37, 520}, 2, {11, 3}, BY(MIRROR), .list = 2},
    {F32, 2, {140, 776}, 2, {21, 31}, BY(ZERO), .list = 2},
    {F32, 2, {140, 776}, 2, {21, 31}, BY(WRAP), .list = 2, ROWS_FIRST},
    {F32, 2, {60, 1501}, 2, {25, 9}, BY(NEAREST), .list = 2},
    {F64, 2, {41, 602}, 2, {5, 5}, BY(WRAP), .list = 2},
    {F64, 2, {41, 602}, 2, {13, 9}, BY(ZERO), .list = 2},
    {F64, 2, {41, 603}, 2, {5, 7}, BY(MIRROR), .list = 2},
    {F64, 2, {41, 602}, 2, {4, 7}, BY(MIRROR), .list = 2, ROWS_FIRST},
    {tess_f64, tess_f32, 2, {41, 604}, 2, {7, 4}, BY(NEAREST), .list = 2, ROWS_FIRST},
    {tess_f64, tess_f32, 2, {41, 601}, 2, {7, 4}, BY(NEAREST), .list = 2},
    {tess_f64, tess_u8, 2, {41, 608}, 2, {3, 6}, BY(ZERO), .list = 2},
    {tess_f64, tess_i8, 2, {41, 601}, 2, {7, 7}, BY(WRAP), .list = 2},
    {tess_f64, tess_u8, 2, {41, 608}, 2, {5, 4}, BY(REFLECT), .list = 2},
    {tess_f64, tess_f16, 2, {41, 608}, 2, {5, 4}, BY(CONSTANT), .list = 2},
    {F32, 2, {12, 20000}, 2, {3, 5}, BY(MIRROR), .list = 2},
    {F32, 2, {7, 20001}, 2, {3, 5}, BY(ZERO), .list = 2},
    {F16, 2, {7, 20008}, 2, {3, 9}, BY(ZERO), .list = 2},
    {F32, 2, {7, 20000}, 2, {3, 5}, BY(ZERO), .list = 2, ROWS_FIRST},
    {F32, 2, {29, 520}, 2, {4, 5}, BY(ZERO), .list = 2},
    {F32, 2, {29, 500}, 2, {4, 4}, BY(ZERO), .list = 2},
    {F32, 2, {29, 500}, 2, {3, 1}, BY(ZERO), .list = 2},
    {F32, 2, {29, 500}, 2, {1, 3}, BY(ZERO), .list = 2},
    {F32, 2, {29, 500}, 2, {3, 1}, BY(ZERO), .list = 2, ROWS_FIRST},
    {F32, 2, {29, 500}, 2, {1, 3}, BY(ZERO), .list = 2, ROWS_FIRST},
    {F64, 2, {29, 500}, 2, {3, 1}, BY(ZERO), .list = 2},
    {F32, 2, {29, 501}, 2, {3, 2}, BY(MIRROR), .list = 2},
    {tess_f32, tess_u8, 2, {29, 1001}, 2, {5, 7}, BY(MIRROR), .list = 2},
    {tess_f32, tess_f16, 2, {29, 1008}, 2, {5, 7}, BY(MIRROR), .list = 2, .extent = TESS_EXTENT_VALID},
    {U8, 2, {53, 3104}, 2, {7, 7}, BY(REFLECT), .list = 2},
    {I8, 2, {23, 1048}, 2, {3, 3}, BY(REFLECT), .list = 2, .gap = 8},
    {tess_bf16, tess_bf16, 2, {23, 1048}, 2, {3, 3}, BY(REFLECT), .list = 2, .gap = 8},
    {tess_i16, tess_i16, 2, {23, 1048}, 2, {3, 5}, BY(NEAREST), .list = 2, .gap = 9},
    {tess_u16, tess_u16, 2, {23, 1048}, 2, {5, 3}, BY(WRAP), .list = 2, ROWS_FIRST},
    {U8, 2, {53, 3104}, 2, {13, 7}, BY(ZERO), .list = 2},
    {U8, 2, {53, 3103}, 2, {9, 6}, BY(NEAREST), .list = 2},
    {U8, 2, {53, 3104}, 2, {5, 6}, BY(WRAP), .list = 2, ROWS_FIRST},
    {U8, 2, {53, 1103}, 2, {5, 6}, BY(ZERO), .list = 2, ROWS_FIRST},
    {F16, 2, {53, 2064}, 2, {7, 7}, BY(MIRROR), .list = 2},
    {F16, 2, {53, 2064}, 2, {15, 9}, BY(ZERO), .list = 2},
    {F16, 2, {53, 1041}, 2, {7, 7}, BY(ZERO), .list = 2},
    {F16, 2, {53, 1040}, 2, {6, 9}, BY(REFLECT), .list = 2, ROWS_FIRST},
    {tess_i16, tess_f32, 2, {53, 1041}, 2, {3, 9}, BY(WRAP), .list = 2, ROWS_FIRST},
    {tess_f32, tess_u8, 3, {17, 80, 3}, 2, {5, 7}, BY(REFLECT), .list = 2, PIXELS},
    {U8, 3, {53, 700, 3}, 2, {7, 7}, BY(REFLECT), .list = 2, PIXELS},
    {U8, 3, {53, 704, 3}, 2, {5, 3}, BY(ZERO), .list = 2, .axes = {1, 0}, .named = true},
    {U8, 3, {61, 320, 4}, 2, {13, 9}, BY(CONSTANT), .list = 2, PIXELS},
    {F16, 3, {53, 333, 3}, 2, {7, 7}, BY(MIRROR), .list = 2, PIXELS},
    {F32, 3, {53, 333, 3}, 2, {7, 7}, BY(WRAP), .list = 2, PIXELS},
    {F32, 3, {53, 336, 3}, 2, {9, 4}, BY(NEAREST), .list = 2, PIXELS, .extent = TESS_EXTENT_VALID},
    {F32, 3, {43, 160, 2}, 2, {3, 7}, BY(REFLECT), .list = 2, .axes = {1, 0}, .named = true},
    {F32, 3, {43, 60, 24}, 2, {3, 3}, BY(ZERO), .list = 2, PIXELS},
    {F64, 3, {33, 130, 3}, 2, {5, 4}, BY(WRAP), .list = 2, PIXELS},
    {U8, 3, {43, 64, 7}, 2, {3, 5}, BY(MIRROR), .list = 2, .axes = {1, 0}, .named = true},
};

/* Of lists beside rows: strips, tiles, both. */
static const predicted beside[] = {
    {F32, 3, {19, 23, 300}, 2, {7, 5}, BY(REFLECT), .list = 2, PIXELS},
    {F32, 3, {19, 23, 272}, 2, {3, 4}, BY(ZERO), .list = 2, .axes = {1, 0}, .named = true},
    {F32, 3, {33, 20, 64}, 2, {5, 7}, BY(WRAP), .list = 2, PIXELS},
    {F32, 3, {33, 20, 61}, 2, {5, 7}, BY(MIRROR), .list = 2, PIXELS},
    {U8, 3, {29, 31, 288}, 2, {3, 3}, BY(NEAREST), .list = 2, PIXELS},
    {U8, 3, {29, 31, 131}, 2, {3, 3}, BY(ZERO), .list = 2, PIXELS},
    {F64, 3, {19, 23, 130}, 2, {3, 5}, BY(CONSTANT), .list = 2, PIXELS, .extent = TESS_EXTENT_FULL},
    {F32, 2, {60, 260}, 2, {41, 37}, BY(REFLECT), .list = 2},
};
/* Of three masks. */
static const predicted triples[] = {
    {F32, 3, {17, 23, 136}, 3, {7, 5, 7}, BY(ZERO), .list = 3},
    {F32, 3, {17, 23, 135}, 3, {3, 5, 4}, BY(REFLECT), .list = 3},
    {F32, 3, {13, 40, 264}, 3, {3, 3, 3}, BY(MIRROR), .list = 3},
    {F32, 3, {19, 41, 264}, 3, {9, 5, 3}, BY(WRAP), .list = 3, .axes = {2, 0, 1}, .named = true},
    {F32, 3, {19, 21, 131}, 3, {9, 5, 3}, BY(ZERO), .list = 3, .axes = {0, 2, 1}, .named = true},
    {F32, 3, {24, 29, 133}, 3, {17, 5, 15}, BY(CONSTANT), .list = 3},
    {F32, 3, {24, 29, 132}, 3, {5, 15, 21}, BY(NEAREST), .list = 3},
    {F64, 3, {9, 17, 130}, 3, {3, 5, 5}, BY(WRAP), .list = 3},
    {F64, 3, {9, 17, 130}, 3, {3, 5, 5}, BY(ZERO), .list = 3},
    {F64, 3, {9, 17, 131}, 3, {3, 5, 4}, BY(ZERO), .list = 3, .axes = {0, 2, 1}, .named = true},
    {F64, 3, {9, 17, 130}, 3, {5, 3, 3}, BY(ZERO), .list = 3, .axes = {0, 2, 1}, .named = true},
    {F64, 3, {9, 17, 131}, 3, {5, 3, 3}, BY(MIRROR), .list = 3, .axes = {2, 1, 0}, .named = true},
    {F32, 3, {19, 43, 520}, 3, {3, 7, 5}, BY(CONSTANT), .list = 3, .axes = {1, 2, 0}, .named = true},
    {F32, 3, {19, 43, 1030}, 3, {9, 11, 11}, BY(REFLECT), .list = 3, .gap = 2},
    {F32, 3, {5, 143, 521}, 3, {3, 3, 3}, BY(NEAREST), .list = 3, .axes = {2, 1, 0}, .named = true},
    {F32, 3, {33, 24, 500}, 3, {3, 3, 3}, BY(ZERO), .list = 3, .axes = {2, 1, 0}, .named = true},
    {U8, 3, {9, 25, 1008}, 3, {3, 3, 3}, BY(ZERO), .list = 3},
    {F16, 3, {9, 25, 1008}, 3, {3, 3, 3}, BY(ZERO), .list = 3, .axes = {2, 1, 0}, .named = true},
    {tess_i16, tess_f32, 3, {9, 25, 1008}, 3, {5, 3, 3}, BY(ZERO), .list = 3, .axes = {0, 2, 1}, .named = true},
    {I8, 3, {9, 25, 1040}, 3, {3, 7, 3}, BY(WRAP), .list = 3, .axes = {2, 1, 0}, .named = true},
    {F32, 3, {9, 26, 500}, 3, {3, 1, 3}, BY(ZERO), .list = 3},
    {F32, 3, {5, 201, 1031}, 3, {3, 3, 3}, BY(REFLECT), .list = 3},
    {U8, 3, {203, 5, 1537}, 3, {5, 3, 3}, BY(WRAP), .list = 3},
    {F32, 3, {101, 7, 1031}, 3, {3, 5, 3}, BY(WRAP), .list = 3},
    {F16, 3, {103, 5, 1033}, 3, {3, 3, 5}, BY(ZERO), .list = 3},
    {F64, 3, {3, 101, 801}, 3, {3, 3, 3}, BY(NEAREST), .list = 3},
    {tess_f32, tess_f64, 3, {3, 101, 801}, 3, {3, 3, 3}, BY(MIRROR), .list = 3},
    {F32, 3, {9, 26, 501}, 3, {1, 3, 3}, BY(ZERO), .list = 3},
    {F32, 3, {9, 26, 500}, 3, {3, 3, 1}, BY(WRAP), .list = 3},
    {F64, 3, {9, 17, 133}, 3, {3, 5, 5}, BY(ZERO), .list = 3},
    {F16, 3, {9, 29, 176}, 3, {7, 7, 7}, BY(REFLECT), .list = 3},
    {F16, 3, {9, 29, 173}, 3, {3, 5, 7}, BY(ZERO), .list = 3},
    {U8, 3, {9, 25, 160}, 3, {7, 7, 7}, BY(NEAREST), .list = 3},
    {U8, 3, {9, 25, 163}, 3, {3, 4, 5}, BY(CONSTANT), .list = 3},
    {tess_u8, tess_f32, 3, {9, 17, 133}, 3, {3, 5, 5}, BY(MIRROR), .list = 3},
    {tess_f32, tess_u8, 3, {9, 17, 144}, 3, {3, 5, 5}, BY(ZERO), .list = 3},
    {U8, 3, {9, 25, 1008}, 3, {7, 7, 7}, BY(ZERO), .list = 3},
    {U8, 3, {37, 25, 208}, 3, {5, 3, 5}, BY(CONSTANT), .list = 3, .gap = 16},
    {F16, 4, {3, 9, 13, 104}, 3, {5, 7, 3}, BY(MIRROR), .list = 3},
    {U8, 4, {9, 17, 80, 3}, 3, {3, 5, 7}, BY(REFLECT), .list = 3, .axes = {0, 1, 2}, .named = true},
    {F32, 4, {9, 17, 45, 3}, 3, {3, 5, 3}, BY(WRAP), .list = 3, .axes = {2, 0, 1}, .named = true},
};

/* How many of them the row takes and is held against; of what is not its own each fifth, and fewer when it was held against some. */
static int compare(const tess_strategy *row, const predicted *list, int count, bool own) {
    int compared = 0, turn = 0;
    for (int i = 0; i < count; i += own ? 1 : 5)
        if (!(compared && hostile_spared(i, 48)) && !gpu_test_rests(engine, compared, own ? 4 : 1, &turn))
            compared += predict_one(row, &list[i]);
    return compared;
}
#define COMPARE(list, own) compare(row, list, TESS_COUNT(list), own)

static void check(const tess_strategy *row) {
    const bool wide = strcmp(row->name, "correlate/wide") == 0, brick = strncmp(row->name, "correlate/brick", 15) == 0,
               brief = strcmp(row->name, "correlate/short_rows") == 0, two = strcmp(row->name, "correlate/turned") == 0,
               several = strcmp(row->name, "correlate/mixed") == 0,
               all = !wide && !brick && !brief && !two && !several; /* which take most of what is not for them, too */
    int compared = wide      ? COMPARE(large, true)
                   : brick   ? COMPARE(bricks, true)
                   : brief   ? COMPARE(short_ones, true)
                   : two     ? COMPARE(apart, true)
                   : several ? COMPARE(parts, true)
                             : 0;
    if (all)
        compared += COMPARE(lines, true);
    int turn = 0;
    for (int i = 0; i < TESS_COUNT(images) && all; i++)
        for (int list = 0; list <= 2; list += 2) {
            const int64_t *n = images[i];
            if (hostile_spared(i, 48) || gpu_test_rests(engine, i, 3, &turn))
                continue;
            compared += predict_one(row, &(predicted){F32, 2, {n[0], n[1]}, 2, {n[2], n[3]}, BY(ZERO), .list = list});
        }
    if (all && row->gpu->production) {
        const bool each = strncmp(row->name, "correlate/separable_each", 24) == 0; /* takes any list; its own are those beside rows */
        const bool patch = strncmp(row->name, "correlate/patch", 15) == 0, runs = strcmp(row->name, "correlate/flat") == 0,
                   kept = strcmp(row->name, "correlate/march_kept") == 0 || strcmp(row->name, "correlate/march_across") == 0;
        compared += COMPARE(single, !patch && !runs) + COMPARE(small, patch) + COMPARE(narrow, patch) + COMPARE(turned, patch || kept) +
                    COMPARE(flat, runs) + COMPARE(few, true);
        compared += COMPARE(lists, !each) + COMPARE(triples, !each) + COMPARE(beside, true);
    }
    if (compared < (TESS_SANITIZED ? 1 : 3))
        fail_msg("%s: predictions were compared %d times only", row->name, compared);
}

static void counts_as_predicted(void **state) {
    (void)state;
    if (engine != TESS_ENGINE_VIRTUAL)
        return;
    gpu_counts_begin(context);
    for (int r = 0; r < tess_correlate_op.gpu_count; r++)
        if (tess_correlate_op.gpu_rows[r].gpu->predict && strncmp(tess_correlate_op.gpu_rows[r].name, "correlate/fft_", 14) != 0)
            check(&tess_correlate_op.gpu_rows[r]);
    gpu_counts_end(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts_as_predicted)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}
