/* SPDX-License-Identifier: Apache-2.0
 * gpu_limit_images.h - the correlations over images for which test_gpu_limits.c compiles the GPU's rows; included there, where problem_of and context are. */
#ifndef TESS_TESTS_GPU_LIMIT_IMAGES_H
#define TESS_TESTS_GPU_LIMIT_IMAGES_H

/* Lists and one mask over images: small ones, odd widths, colours, long pixels, few columns and few rows; masks along short rows and along columns. */
static void images(void) {
    enum { ONE, LIST, LINE /* a mask along the first of the axes */ };
    static const struct {
        tess_type type;
        int64_t shape[3];
        int axis; /* the first of the masks; the other is the next */
        int64_t width;
        int form;
        const char *words;
    } all[] = {
        {tess_u8, {1024, 255, 253}, 1, 3, LIST, "u8 255 x 253, 3 + 3"},      {tess_u8, {1024, 255, 253}, 1, 7, LIST, "u8 255 x 253, 7 + 7"},
        {tess_f16, {1024, 255, 253}, 1, 7, LIST, "f16 255 x 253, 7 + 7"},    {tess_f16, {1024, 255, 381}, 1, 7, LIST, "f16 255 x 381, 7 + 7"},
        {tess_u8, {1024, 255, 381}, 1, 7, LIST, "u8 255 x 381, 7 + 7"},      {tess_u8, {1024, 255, 509}, 1, 7, LIST, "u8 255 x 509, 7 + 7"},
        {tess_f16, {1024, 255, 509}, 1, 7, LIST, "f16 255 x 509, 7 + 7"},    {tess_u8, {1024, 255, 1918}, 1, 7, LIST, "u8 255 x 1918, 7 + 7"},
        {tess_u8, {1024, 224, 224}, 1, 3, ONE, "u8 224 x 224, 3 x 3"},       {tess_u8, {1024, 224, 224}, 1, 5, ONE, "u8 224 x 224, 5 x 5"},
        {tess_f16, {1024, 224, 224}, 1, 5, ONE, "f16 224 x 224, 5 x 5"},     {tess_f16, {1024, 112, 112}, 1, 5, ONE, "f16 112 x 112, 5 x 5"},
        {tess_f16, {1024, 256, 256}, 1, 5, ONE, "f16 256 x 256, 5 x 5"},     {tess_u8, {1024, 255, 253}, 1, 5, ONE, "u8 255 x 253, 5 x 5"},
        {tess_f16, {1024, 255, 253}, 1, 5, ONE, "f16 255 x 253, 5 x 5"},     {tess_f16, {1024, 255, 253}, 1, 7, ONE, "f16 255 x 253, 7 x 7"},
        {tess_f32, {1024, 112, 112}, 1, 7, ONE, "f32 112 x 112, 7 x 7"},     {tess_u8, {4096, 4096, 3}, 0, 7, LIST, "u8 x 3, 7 + 7"},
        {tess_u8, {4096, 4095, 3}, 0, 7, LIST, "u8 x 3, 7 + 7, odd"},        {tess_f16, {4096, 4096, 3}, 0, 7, LIST, "f16 x 3, 7 + 7"},
        {tess_f16, {4096, 4095, 3}, 0, 7, LIST, "f16 x 3, 7 + 7, odd"},      {tess_f32, {4096, 4096, 3}, 0, 7, LIST, "f32 x 3, 7 + 7"},
        {tess_f32, {4096, 4095, 3}, 0, 7, LIST, "f32 x 3, 7 + 7, odd"},      {tess_f32, {256, 256, 512}, 0, 7, LIST, "f32 x 512, 7 + 7"},
        {tess_f32, {256, 256, 511}, 0, 7, LIST, "f32 x 511, 7 + 7, odd"},    {tess_u8, {256, 256, 64}, 0, 7, LIST, "u8 x 64, 7 + 7"},
        {tess_f32, {256, 256, 64}, 0, 7, LIST, "f32 x 64, 7 + 7"},           {tess_u8, {4096, 4096, 3}, 0, 5, ONE, "u8 x 3, 5 x 5 by i8"},
        {tess_u8, {4096, 4096, 3}, 0, 7, ONE, "u8 x 3, 7 x 7 by i8"},        {tess_f32, {1, 9999, 1000}, 2, 101, LINE, "f32 rows of 1000, 101"},
        {tess_f32, {1, 9999, 300}, 2, 33, LINE, "f32 rows of 300, 33"},      {tess_u8, {1, 9999, 1000}, 2, 33, LINE, "u8 rows of 1000, 33"},
        {tess_f32, {1, 9999, 8192}, 1, 31, LINE, "f32 columns of 31"},       {tess_f32, {256, 256, 512}, 0, 13, LIST, "f32 x 512, 13 + 13"},
        {tess_f32, {256, 256, 511}, 0, 13, LIST, "f32 x 511, 13 + 13, odd"}, {tess_u8, {4096, 4096, 3}, 0, 3, LIST, "u8 x 3, 3 + 3"},
        {tess_f16, {4096, 4096, 3}, 0, 3, LIST, "f16 x 3, 3 + 3"},           {tess_u8, {4096, 4096, 4}, 0, 9, LIST, "u8 x 4, 9 + 9"},
        {tess_u8, {4096, 4095, 3}, 0, 3, LIST, "u8 x 3, 3 + 3, odd"},        {tess_f16, {4096, 4095, 3}, 0, 3, LIST, "f16 x 3, 3 + 3, odd"},
        {tess_f32, {1, 400000, 12}, 1, 7, ONE, "f32 rows of 12, 7 x 7"},     {tess_f32, {1, 7, 400000}, 1, 7, ONE, "f32 7 rows, 7 x 7"},
        {tess_u8, {8192, 28, 28}, 1, 5, LIST, "u8 28 x 28, 5 + 5"},          {tess_u8, {65536, 8, 8}, 1, 3, ONE, "u8 8 x 8, 3 x 3"},
        {tess_f32, {1024, 96, 96}, 1, 5, LIST, "f32 96 x 96, 5 + 5"},        {tess_f32, {1024, 96, 96}, 1, 5, ONE, "f32 96 x 96, 5 x 5"}};
    static float weights[101] = {1};
    tess_plan *plan;
    for (int i = 0; i < TESS_COUNT(all); i++) {
        int64_t shape[3], width[] = {all[i].width, all[i].width};
        memcpy(shape, all[i].shape, sizeof shape);
        const tess_type type = strstr(all[i].words, "by i8") ? tess_i8 : tess_f32;
        DLTensor in = view(all[i].type, 3, shape), out = in, mask = tess_view(weights, type, all[i].form == ONE ? 2 : 1, width, NULL);
        const int axes[] = {all[i].axis, all[i].axis + 1};
        const tess_correlate_options options = {.struct_size = sizeof options, .axes = axes, .naxes = all[i].form == LINE ? 1 : 2};
        const DLTensor *masks[] = {&mask, &mask};
        problem(tess_plan_correlate(&plan, context, &in, masks, all[i].form == LIST ? 2 : 1, &out, &options), &plan, all[i].words);
    }
}

#endif
