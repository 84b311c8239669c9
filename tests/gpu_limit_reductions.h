/* SPDX-License-Identifier: Apache-2.0
 * gpu_limit_reductions.h - the reductions for which test_gpu_limits.c compiles the GPU's rows; included there, where problem, view and context are. */
#ifndef TESS_TESTS_GPU_LIMIT_REDUCTIONS_H
#define TESS_TESTS_GPU_LIMIT_REDUCTIONS_H

static void reductions(void) {
    static const struct {
        tess_reduction operation;
        tess_type in, out;
        int axis; /* -1: one dimension of 1 Gi; -2: of 64 Ki; else of 4096 x 4096 */
        bool exact;
        const char *words;
    } all[] = {{TESS_SUM, tess_f32, tess_f32, -1, false, "sum f32"},
               {TESS_SUM, tess_f32, tess_f32, -2, false, "sum f32 of 64 Ki"},
               {TESS_SUM, tess_f32, tess_f32, 0, false, "sum f32 axis 0"},
               {TESS_SUM, tess_f32, tess_f32, 1, false, "sum f32 axis 1"},
               {TESS_SUM, tess_i32, tess_i32, -1, false, "sum i32"},
               {TESS_SUM, tess_u8, tess_u64, -1, false, "sum u8"},
               {TESS_SUM, tess_f16, tess_f32, -1, false, "sum f16"},
               {TESS_SUM, tess_f64, tess_f64, -1, false, "sum f64"},
               {TESS_ARGMAX, tess_f32, tess_i64, -1, false, "argmax f32"},
               {TESS_MAX, tess_u8, tess_u8, -1, false, "max u8"},
               {TESS_VAR, tess_f32, tess_f32, 1, false, "var f32 axis 1"},
               {TESS_SUM, tess_c64, tess_c64, -1, false, "sum c64"},
               {TESS_SUM, tess_c64, tess_c64, 0, false, "sum c64 axis 0"},
               {TESS_SUM, tess_c64, tess_c64, 1, false, "sum c64 axis 1"},
               {TESS_SUM, tess_f32, tess_f32, -1, true, "exact sum f32"},
               {TESS_SUM, tess_f32, tess_f32, 0, true, "exact sum f32 axis 0"},
               {TESS_SUM, tess_f64, tess_f64, 0, true, "exact sum f64 axis 0"},
               {TESS_SUM, tess_f16, tess_f16, 0, true, "exact sum f16 axis 0"},
               {TESS_SUM, tess_f32, tess_f32, 1, true, "exact sum f32 axis 1"},
               {TESS_ARGMAX, tess_u8, tess_i64, 0, false, "argmax u8 axis 0"}};
    tess_plan *plan;
    for (int i = 0; i < TESS_COUNT(all); i++) {
        DLTensor in = all[i].axis < 0 ? view(all[i].in, 1, (int64_t[]){all[i].axis == -1 ? 1 << 30 : 1 << 16})
                                      : view(all[i].in, 2, (int64_t[]){4096, 4096}),
                 out = all[i].axis < 0 ? view(all[i].out, 0, NULL) : view(all[i].out, 1, (int64_t[]){4096});
        const tess_reduce_options options = {
            .struct_size = sizeof options, .axes = all[i].axis < 0 ? NULL : &all[i].axis, .naxes = all[i].axis >= 0, .exact = all[i].exact};
        problem(tess_plan_reduce(&plan, context, all[i].operation, &in, &out, &options), &plan, all[i].words);
    }
}

/* Many rows of a few elements, or with `columns` a few columns of them. */
static void short_rows(void) {
    static const struct {
        tess_reduction operation;
        tess_type in, out;
        bool exact;
        int64_t length, columns;
        const char *words;
    } all[] = {{TESS_SUM, tess_f32, tess_f32, false, 16, 0, "sum f32 rows of 16"},
               {TESS_SUM, tess_f32, tess_f32, false, 31, 0, "sum f32 rows of 31"},
               {TESS_SUM, tess_f32, tess_f32, false, 200, 0, "sum f32 rows of 200"},
               {TESS_SUM, tess_f64, tess_f64, false, 100, 0, "sum f64 rows of 100"},
               {TESS_SUM, tess_f16, tess_f16, false, 31, 0, "sum f16 rows of 31"},
               {TESS_SUM, tess_u8, tess_u64, false, 16, 0, "sum u8 rows of 16"},
               {TESS_MAX, tess_u8, tess_u8, false, 1000, 0, "max u8 rows of 1000"},
               {TESS_ARGMAX, tess_f32, tess_i64, false, 100, 0, "argmax f32 rows of 100"},
               {TESS_VAR, tess_f32, tess_f32, false, 16, 0, "var f32 rows of 16"},
               {TESS_VAR, tess_f32, tess_f32, false, 1000, 0, "var f32 rows of 1000"},
               {TESS_PROD, tess_c64, tess_c64, false, 100, 0, "prod c64 rows of 100"},
               {TESS_SUM, tess_c128, tess_c128, false, 31, 0, "sum c128 rows of 31"},
               {TESS_SUM, tess_f32, tess_f32, true, 16, 0, "exact sum f32 rows of 16"},
               {TESS_SUM, tess_f64, tess_f64, true, 500, 0, "exact sum f64 rows of 500"},
               {TESS_SUM, tess_c64, tess_c64, true, 16, 0, "exact sum c64 rows of 16"},
               {TESS_SUM, tess_f32, tess_f32, true, 100, 33, "exact sum f32 rows of 100, 33 columns"},
               {TESS_SUM, tess_f64, tess_f64, true, 100, 33, "exact sum f64 rows of 100, 33 columns"},
               {TESS_SUM, tess_f32, tess_f32, false, 16, 3, "sum f32 rows of 16, 3 columns"},
               {TESS_VAR, tess_f32, tess_f32, false, 100, 3, "var f32 rows of 100, 3 columns"},
               {TESS_ARGMAX, tess_u8, tess_i64, false, 100, 0, "argmax u8 rows of 100"},
               {TESS_SUM, tess_f32, tess_f32, false, 200, 33, "sum f32 rows of 200, 33 columns"},
               {TESS_SUM, tess_f32, tess_f32, false, 100, 256, "sum f32 rows of 100, 256 columns"},
               {TESS_ARGMAX, tess_f32, tess_i64, false, 200, 33, "argmax f32 rows of 200, 33 columns"},
               {TESS_SUM, tess_c64, tess_c64, false, 50, 33, "sum c64 rows of 50, 33 columns"},
               {TESS_SUM, tess_f32, tess_f32, false, 300, 3, "sum f32 rows of 300, 3 columns"},
               {TESS_SUM, tess_f32, tess_f32, false, 1000, 33, "sum f32 rows of 1000, 33 columns"},
               {TESS_SUM, tess_f32, tess_f32, false, 1000, 256, "sum f32 rows of 1000, 256 columns"},
               {TESS_SUM, tess_f32, tess_f32, false, 20000, 3, "sum f32 rows of 20000, 3 columns"},
               {TESS_SUM, tess_f64, tess_f64, false, 300, 33, "sum f64 rows of 300, 33 columns"},
               {TESS_SUM, tess_f64, tess_f64, false, 1000, 3, "sum f64 rows of 1000, 3 columns"},
               {TESS_SUM, tess_f16, tess_f32, false, 300, 3, "sum f16 rows of 300, 3 columns"},
               {TESS_SUM, tess_f16, tess_f32, false, 1000, 100, "sum f16 rows of 1000, 100 columns"},
               {TESS_SUM, tess_c64, tess_c64, false, 1000, 33, "sum c64 rows of 1000, 33 columns"},
               {TESS_NORM2, tess_f32, tess_f32, false, 1000, 33, "norm2 f32 rows of 1000, 33 columns"},
               {TESS_ARGMAX, tess_f32, tess_i64, false, 1000, 33, "argmax f32 rows of 1000, 33 columns"},
               {TESS_SUM, tess_u8, tess_u64, false, 1000, 33, "sum u8 rows of 1000, 33 columns"},
               {TESS_MAX, tess_u8, tess_u8, false, 300, 3, "max u8 rows of 300, 3 columns"},
               {TESS_ARGMAX, tess_u8, tess_i64, false, 1000, 33, "argmax u8 rows of 1000, 33 columns"}};
    const int axis = 1;
    tess_plan *plan;
    for (int i = 0; i < TESS_COUNT(all); i++) {
        int64_t shape[] = {1 << 20, all[i].length, all[i].columns}, outputs[] = {1 << 20, all[i].columns};
        const int ndim = all[i].columns ? 3 : 2;
        DLTensor in = view(all[i].in, ndim, shape), out = view(all[i].out, ndim - 1, outputs);
        const tess_reduce_options options = {.struct_size = sizeof options, .axes = &axis, .naxes = 1, .exact = all[i].exact};
        problem(tess_plan_reduce(&plan, context, all[i].operation, &in, &out, &options), &plan, all[i].words);
    }
    static const struct {
        tess_reduction operation;
        tess_type in, out;
        int64_t width;
        const char *words;
    } tall[] = {{TESS_SUM, tess_f32, tess_f32, 3, "sum f32 of 1 Mi x 3"},
                {TESS_SUM, tess_f32, tess_f32, 16, "sum f32 of 1 Mi x 16"},
                {TESS_SUM, tess_f64, tess_f64, 33, "sum f64 of 1 Mi x 33"},
                {TESS_ARGMAX, tess_u8, tess_i64, 3, "argmax u8 of 1 Mi x 3"}};
    for (int i = 0; i < TESS_COUNT(tall); i++) {
        DLTensor in = view(tall[i].in, 2, (int64_t[]){1 << 20, tall[i].width}), out = view(tall[i].out, 1, (int64_t[]){tall[i].width});
        const tess_reduce_options options = {.struct_size = sizeof options, .axes = &(int){0}, .naxes = 1};
        problem(tess_plan_reduce(&plan, context, tall[i].operation, &in, &out, &options), &plan, tall[i].words);
    }
}

/* Variances of outputs side by side by the rows that make only those. */
static void column_moments(void) {
    static const struct {
        tess_type type;
        int64_t length, columns;
        bool twice; /* by reduce/tree_twice, else reduce/tree_moments */
    } all[] = {{tess_f32, 300, 3, false},     {tess_f32, 300, 256, false},  {tess_f32, 1000, 33, false},   {tess_f32, 4096, 8, false},
               {tess_f32, 100000, 3, false},  {tess_f64, 300, 33, false},   {tess_f16, 1000, 401, false},  {tess_u8, 300, 100, false},
               {tess_f32, 8192, 1024, false}, {tess_u8, 8192, 1024, false}, {tess_f64, 8192, 1024, false}, {tess_f32, 8192, 33, false},
               {tess_f64, 8192, 33, false},   {tess_f16, 8192, 34, false},  {tess_f32, 10000, 33, true},   {tess_f64, 10000, 33, true},
               {tess_f16, 10000, 33, true},   {tess_f32, 5001, 101, true}};
    const int axis = 1;
    tess_plan *plan;
    for (int i = 0; i < TESS_COUNT(all); i++) {
        DLTensor in = view(all[i].type, 3, (int64_t[]){1 << 10, all[i].length, all[i].columns}),
                 out = view(tess_f64, 2, (int64_t[]){1 << 10, all[i].columns});
        const tess_reduce_options options = {.struct_size = sizeof options, .axes = &axis, .naxes = 1};
        char words[64];
        snprintf(words, sizeof words, "var %s rows of %d, %d columns", tess_type_name(all[i].type), (int)all[i].length, (int)all[i].columns);
        assert_tess_ok(tess_plan_reduce(&plan, context, TESS_VAR, &in, &out, &options));
        const tess_op *op = plan->problem->op;
        for (int r = 0; r < op->gpu_count; r++)
            if (strcmp(op->gpu_rows[r].name, all[i].twice ? "reduce/tree_twice" : "reduce/tree_moments") == 0)
                look_at(&op->gpu_rows[r], plan->problem, words);
        tess_plan_free(plan);
    }
}

/* Elements along axes that do not follow one another, few elements of many columns, the shortest rows. */
static void axes_apart(void) {
    static const struct {
        tess_reduction operation;
        tess_type in, out;
        int64_t shape[4];
        int naxes, axes[2];
        const char *words;
    } all[] = {{TESS_SUM, tess_f32, tess_f32, {32, 64, 256, 512}, 2, {0, 2}, "sum f32 axes 0 and 2"},
               {TESS_MAX, tess_u8, tess_u8, {32, 64, 256, 512}, 2, {0, 2}, "max u8 axes 0 and 2"},
               {TESS_SUM, tess_f32, tess_f32, {32, 64, 256, 512}, 2, {1, 3}, "sum f32 axes 1 and 3"},
               {TESS_SUM, tess_f64, tess_f64, {32, 64, 256, 512}, 2, {1, 3}, "sum f64 axes 1 and 3"},
               {TESS_SUM, tess_f16, tess_f16, {32, 64, 256, 512}, 2, {1, 3}, "sum f16 axes 1 and 3"},
               {TESS_MAX, tess_u8, tess_u8, {32, 64, 256, 512}, 2, {1, 3}, "max u8 axes 1 and 3"},
               {TESS_SUM, tess_u8, tess_u64, {32, 64, 256, 1147}, 2, {1, 3}, "sum u8 axes 1 and 3, runs of 1147"},
               {TESS_VAR, tess_f16, tess_f32, {32, 64, 256, 512}, 2, {1, 3}, "var f16 axes 1 and 3"},
               {TESS_VAR, tess_f16, tess_f32, {32, 256, 256, 784}, 2, {1, 3}, "var f16 axes 1 and 3, runs of 784"},
               {TESS_VAR, tess_u8, tess_f32, {32, 256, 256, 784}, 2, {1, 3}, "var u8 axes 1 and 3, runs of 784"},
               {TESS_VAR, tess_f32, tess_f32, {32, 256, 256, 784}, 2, {1, 3}, "var f32 axes 1 and 3, runs of 784"},
               {TESS_VAR, tess_f32, tess_f32, {32, 16, 32, 8192}, 2, {1, 3}, "var f32 axes 1 and 3, runs of 8192"},
               {TESS_ARGMAX, tess_f32, tess_i64, {1, 4096, 19, 4096}, 1, {2}, "argmax f32 rows of 19, 4096 columns"},
               {TESS_ARGMAX, tess_u8, tess_i64, {1, 4096, 19, 4095}, 1, {2}, "argmax u8 rows of 19, 4095 columns"},
               {TESS_SUM, tess_f32, tess_f32, {1, 4096, 19, 4096}, 1, {2}, "sum f32 rows of 19, 4096 columns"},
               {TESS_SUM, tess_f32, tess_f32, {1, 4096, 100, 4095}, 1, {2}, "sum f32 rows of 100, 4095 columns"},
               {TESS_SUM, tess_f16, tess_f16, {1, 4096, 8, 4096}, 1, {2}, "sum f16 rows of 8, 4096 columns"},
               {TESS_VAR, tess_f32, tess_f32, {1, 4096, 48, 4095}, 1, {2}, "var f32 rows of 48, 4095 columns"},
               {TESS_VAR, tess_f16, tess_f32, {1, 4096, 19, 4096}, 1, {2}, "var f16 rows of 19, 4096 columns"},
               {TESS_PROD, tess_c64, tess_c64, {1, 4096, 19, 4095}, 1, {2}, "prod c64 rows of 19, 4095 columns"},
               {TESS_MAX, tess_f16, tess_f16, {1, 1 << 10, 1 << 10, 3}, 1, {3}, "max f16 rows of 3"},
               {TESS_ANY, tess_bool, tess_bool, {1, 1 << 10, 1 << 10, 4}, 1, {3}, "any bool rows of 4"},
               {TESS_MAX, tess_u8, tess_u8, {1, 1 << 10, 1 << 10, 3}, 1, {3}, "max u8 rows of 3"},
               {TESS_VAR, tess_u8, tess_f64, {1, 1 << 10, 1 << 10, 31}, 1, {3}, "var u8 rows of 31"},
               {TESS_VAR, tess_u8, tess_f64, {1, 1 << 10, 1 << 10, 200}, 1, {3}, "var u8 rows of 200"},
               {TESS_VAR, tess_f16, tess_f32, {1, 1 << 10, 1 << 10, 100}, 1, {3}, "var f16 rows of 100"},
               {TESS_VAR, tess_f16, tess_f32, {1, 1 << 10, 1 << 10, 1001}, 1, {3}, "var f16 rows of 1001"}};
    tess_plan *plan;
    for (int i = 0; i < TESS_COUNT(all); i++) {
        int64_t shape[4], outputs[4];
        int kept = 0;
        for (int d = 0; d < 4; d++) {
            shape[d] = all[i].shape[d];
            if (d != all[i].axes[0] && (all[i].naxes == 1 || d != all[i].axes[1]))
                outputs[kept++] = shape[d];
        }
        DLTensor in = view(all[i].in, 4, shape), out = view(all[i].out, kept, outputs);
        const tess_reduce_options options = {.struct_size = sizeof options, .axes = all[i].axes, .naxes = all[i].naxes};
        problem(tess_plan_reduce(&plan, context, all[i].operation, &in, &out, &options), &plan, all[i].words);
    }
    int64_t shape[] = {31477, 2048}, steps[] = {1, 31477};
    const DLTensor in = tess_view(NULL, tess_f32, 2, shape, steps), out = view(tess_f32, 0, NULL);
    problem(tess_plan_reduce(&plan, context, TESS_SUM, &in, &out, NULL), &plan, "sum f32 in Fortran's order");
}

/* Segments of 16 elements, of 50, and of 16 Ki. */
static void segments(void) {
    static const struct {
        tess_reduction operation;
        tess_type in, out;
        bool exact;
        const char *words;
    } all[] = {{TESS_SUM, tess_f32, tess_f32, false, "sum f32"},       {TESS_SUM, tess_u8, tess_u64, false, "sum u8"},
               {TESS_ARGMAX, tess_f32, tess_i64, false, "argmax f32"}, {TESS_VAR, tess_f32, tess_f32, false, "var f32"},
               {TESS_MAX, tess_f32, tess_f32, false, "max f32"},       {TESS_ARGMAX, tess_u8, tess_i64, false, "argmax u8"},
               {TESS_PROD, tess_c64, tess_c64, false, "product c64"},  {TESS_SUM, tess_f64, tess_f64, false, "sum f64"},
               {TESS_SUM, tess_c64, tess_c64, false, "sum c64"},       {TESS_SUM, tess_c128, tess_c128, false, "sum c128"},
               {TESS_SUM, tess_f16, tess_f16, false, "sum f16"},       {TESS_NORM2, tess_f32, tess_f32, false, "norm2 f32"},
               {TESS_SUM, tess_f32, tess_f32, true, "exact sum f32"},  {TESS_SUM, tess_c64, tess_c64, true, "exact sum c64"},
               {TESS_SUM, tess_f64, tess_f64, true, "exact sum f64"}};
    static const int64_t lengths[] = {16, 50, 16384};
    enum { COUNT = 64 };
    int64_t offsets[COUNT + 1], size = COUNT + 1;
    const DLTensor list = tess_view(offsets, tess_i64, 1, &size, NULL);
    const int axis = 0;
    tess_plan *plan;
    for (int i = 0; i < TESS_COUNT(all); i++)
        for (int l = 0; l < TESS_COUNT(lengths); l++) {
            const int64_t length = lengths[l];
            char words[80];
            for (int k = 0; k <= COUNT; k++)
                offsets[k] = k * length - (k == 1); /* of one length they would be an axis */
            DLTensor in = view(all[i].in, 1, (int64_t[]){COUNT * length}), out = view(all[i].out, 1, (int64_t[]){COUNT});
            const tess_reduce_options options = {.struct_size = sizeof options, .axes = &axis, .naxes = 1, .offsets = &list, .exact = all[i].exact};
            snprintf(words, sizeof words, "%s, segments of %d", all[i].words, (int)length);
            problem(tess_plan_reduce(&plan, context, all[i].operation, &in, &out, &options), &plan, words);
        }
}

/* Segments of rows: narrow ones, of a strip, of some. */
static void segments_of_rows(void) {
    static const struct {
        tess_reduction operation;
        tess_type in, out;
        int64_t columns, mean;
        const char *words;
    } all[] = {{TESS_SUM, tess_f32, tess_f32, 64, 2, "sum f32"},           {TESS_SUM, tess_f32, tess_f32, 64, 50, "sum f32"},
               {TESS_SUM, tess_f32, tess_f32, 384, 10000, "sum f32"},      {TESS_SUM, tess_f32, tess_f32, 3, 10000, "sum f32"},
               {TESS_SUM, tess_f64, tess_f64, 64, 50, "sum f64"},          {TESS_SUM, tess_f16, tess_f16, 384, 50, "sum f16"},
               {TESS_SUM, tess_c64, tess_c64, 32, 10000, "sum c64"},       {TESS_NORM2, tess_f32, tess_f32, 64, 50, "norm2 f32"},
               {TESS_VAR, tess_f32, tess_f32, 64, 50, "var f32"},          {TESS_VAR, tess_bf16, tess_bf16, 384, 10000, "var bf16"},
               {TESS_MAX, tess_f32, tess_f32, 64, 50, "max f32"},          {TESS_ARGMAX, tess_i8, tess_i64, 16, 10000, "argmax i8"},
               {TESS_ARGMAX, tess_f32, tess_i64, 64, 10000, "argmax f32"}, {TESS_ANY, tess_u8, tess_bool, 1586, 12, "any u8"},
               {TESS_NORM1, tess_u16, tess_u64, 34, 50, "norm1 u16"}};
    enum { COUNT = 64 };
    int64_t offsets[COUNT + 1], size = COUNT + 1;
    const DLTensor list = tess_view(offsets, tess_i64, 1, &size, NULL);
    const int axis = 0;
    tess_plan *plan;
    for (int i = 0; i < TESS_COUNT(all); i++) {
        char words[80];
        for (int k = 0; k <= COUNT; k++)
            offsets[k] = k * all[i].mean - (k == 1);
        DLTensor in = view(all[i].in, 2, (int64_t[]){COUNT * all[i].mean, all[i].columns}),
                 out = view(all[i].out, 2, (int64_t[]){COUNT, all[i].columns});
        const tess_reduce_options options = {.struct_size = sizeof options, .axes = &axis, .naxes = 1, .offsets = &list};
        snprintf(words, sizeof words, "%s, %d columns, segments of %d rows", all[i].words, (int)all[i].columns, (int)all[i].mean);
        problem(tess_plan_reduce(&plan, context, all[i].operation, &in, &out, &options), &plan, words);
    }
}

#endif
