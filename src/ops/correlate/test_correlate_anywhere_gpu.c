/* SPDX-License-Identifier: Apache-2.0
 * test_correlate_anywhere_gpu.c - proves: rows that begin anywhere, of elements of every size, with gaps between them, under every boundary, have the reference's bits in the kernels that load
 * and store them in vectors as they lie; nothing beside the rows is met or written. Most rows are longer than two warps' columns, so that there are warps inside. */
#include "gpu_rows.h"

static tess_context *context;
static tess_engine engine;

typedef struct anywhere_case {
    tess_type in, mask, out;
    int64_t rows, columns, gap_in, gap_out, offset_in, offset_out; /* elements */
    int64_t down, along;                                           /* of the mask; a list has two of `along` */
    int list;                                                      /* 0: one mask; 1: along columns first; 2: along rows first */
    int64_t origin;
    const char *row;
} anywhere_case;

/* Rows of so many, with a gap behind each, at an offset. */
static void make(hostile_array *a, uint64_t *random, tess_type type, int64_t rows, int64_t columns, int64_t gap, int64_t offset) {
    const int64_t shape[] = {rows + 2, columns + gap};
    hostile_make(a, random, type, 2, shape, HOSTILE_COMPACT);
    hostile_fill(a, random, 1);
    a->shape[0] = rows;
    a->shape[1] = columns;
    a->tensor.byte_offset += (uint64_t)(offset * a->itemsize);
    if (offset % 2) { /* upside down: so the first row begins anywhere in what is copied to the device, too */
        a->tensor.byte_offset += (uint64_t)((rows - 1) * (columns + gap) * a->itemsize);
        a->strides[0] = -(columns + gap);
    }
}

static void compare(const anywhere_case *c, tess_boundary boundary, bool full, uint64_t *random) {
    hostile_array in, mask, second, expected, out;
    const int64_t widths[] = {c->down, c->along}, rows = c->rows + full * (c->down - 1), columns = c->columns + full * (c->along - 1);
    make(&in, random, c->in, c->rows, c->columns, c->gap_in, c->offset_in);
    hostile_make(&mask, random, c->mask, c->list ? 1 : 2, c->list ? &widths[c->list == 2] : widths, HOSTILE_COMPACT);
    hostile_make(&second, random, c->mask, 1, &widths[c->list != 2], HOSTILE_COMPACT);
    hostile_fill(&mask, random, 0);
    hostile_fill(&second, random, 0);
    uint64_t same = *random;
    make(&expected, &same, c->out, rows, columns, c->gap_out, c->offset_out);
    make(&out, random, c->out, rows, columns, c->gap_out, c->offset_out);
    const DLTensor *masks[2] = {&mask.tensor, &second.tensor};
    const int axes[2] = {c->list == 2, c->list != 2};
    const int64_t origins[2] = {0, c->origin};
    tess_report report = {.struct_size = sizeof report};
    tess_correlate_options options = {.struct_size = sizeof options,
                                      .boundary = boundary,
                                      .constant = boundary == TESS_BOUNDARY_CONSTANT ? 1 : 0,
                                      .origin = c->list || full ? NULL : origins,
                                      .extent = full ? TESS_EXTENT_FULL : TESS_EXTENT_SAME,
                                      .axes = c->list ? axes : NULL,
                                      .naxes = c->list ? 2 : 0,
                                      .call.report = &report};
    for (int e = 0; e < 2; e++) {
        options.call.engine = e ? engine : TESS_ENGINE_CPU;
        options.call.strategy = e ? c->row : "correlate/reference";
        const DLTensor *to = e ? &out.tensor : &expected.tensor;
        tess_status status = c->list ? tess_correlate_separable(context, &in.tensor, masks, 2, to, &options)
                                     : tess_correlate(context, &in.tensor, &mask.tensor, to, &options);
        if (status != TESS_OK)
            fail_msg("%s by %s to %s: %s", tess_type_name(c->in), tess_type_name(c->mask), tess_type_name(c->out), tess_detail());
    }
    if (memcmp(out.block, expected.block, out.block_size))
        fail_msg("%s: %s by %s to %s, %d x %d of %d x %d, boundary %d: other bits than the reference's", report.strategy, tess_type_name(c->in),
                 tess_type_name(c->mask), tess_type_name(c->out), (int)c->down, (int)c->along, (int)c->rows, (int)c->columns, (int)boundary);
    hostile_free(&in);
    hostile_free(&mask);
    hostile_free(&second);
    hostile_free(&expected);
    hostile_free(&out);
}

#define U8 tess_u8, tess_f32, tess_u8
#define F16 tess_f16, tess_f32, tess_f16
#define F32 tess_f32, tess_f32, tess_f32
#define F64 tess_f64, tess_f64, tess_f64

static void run(const anywhere_case *cases, int count, uint64_t random) {
    for (int i = 0; i < count; i += TESS_SANITIZED ? 4 : 1) /* what sanitizers look into does not depend on the case */
        for (int k = 0; k < 2; k++)                         /* all boundaries in turns */
            compare(&cases[i], (tess_boundary)(TESS_BOUNDARY_ZERO + (2 * i + k + i / 3) % 6), i % 3 == 2 && k == 1 && cases[i].along <= 5, &random);
}

static void one_mask(void **state) {
    (void)state;
    static const char row[] = "correlate/patch_odd";
    static const anywhere_case cases[] = {
        {U8, 33, 583, 0, 0, 0, 0, 3, 3, 0, 0, row},
        {U8, 30, 2083, 0, 0, 0, 0, 3, 3, 0, 0, row},
        {U8, 9, 1100, 5, 0, 3, 1, 3, 3, 0, 1, row},
        {U8, 33, 651, 0, 7, 1, 5, 5, 5, 0, 0, row},
        {U8, 25, 2051, 0, 7, 1, 5, 5, 5, 0, 0, row},
        {tess_i8, tess_f32, tess_i8, 30, 1049, 1, 2, 0, 9, 3, 3, 0, 0, row},
        {tess_u8, tess_f32, tess_f32, 30, 2051, 0, 0, 0, 1, 3, 3, 0, 0, row},
        {tess_u8, tess_f32, tess_i16, 20, 1051, 0, 1, 0, 1, 3, 2, 0, 0, row},
        {tess_bool, tess_f32, tess_u8, 12, 1027, 0, 0, 2, 3, 2, 3, 0, 0, row},
        {F16, 33, 397, 0, 0, 0, 0, 3, 3, 0, 0, row},
        {F16, 18, 2049, 3, 0, 0, 2, 3, 3, 0, 0, row},
        {F16, 26, 2053, 3, 5, 7, 1, 5, 5, 0, 0, row},
        {tess_bf16, tess_f32, tess_bf16, 25, 701, 1, 0, 3, 2, 3, 3, 0, -1, row},
        {tess_i16, tess_f32, tess_u8, 25, 701, 1, 0, 3, 2, 3, 5, 0, 0, row},
        {tess_u16, tess_f32, tess_u16, 13, 399, 1, 0, 3, 2, 1, 9, 0, 0, row},
        {tess_u8, tess_f32, tess_u8, 17, 2099, 1, 0, 3, 2, 1, 9, 0, 0, row},
        {tess_u8, tess_f32, tess_i8, 17, 299, 1, 0, 3, 2, 1, 17, 0, 0, row},
        {tess_bf16, tess_f32, tess_f32, 17, 2099, 1, 0, 3, 2, 1, 15, 0, 1, row},
        {F32, 33, 401, 0, 0, 0, 0, 3, 3, 0, 0, row},
        {F32, 21, 399, 2, 3, 1, 2, 5, 5, 0, 0, row},
        {F32, 19, 397, 1, 0, 3, 0, 1, 9, 0, 0, row},
        {tess_f32, tess_f32, tess_u8, 23, 399, 0, 0, 1, 2, 3, 3, 0, 0, row},
        {tess_f32, tess_f32, tess_f16, 23, 399, 0, 0, 1, 2, 4, 4, 0, 0, row},
        {F64, 23, 201, 0, 0, 0, 0, 3, 3, 0, 0, row},
        {F64, 15, 199, 0, 2, 0, 1, 5, 5, 0, 0, row},
        {tess_f64, tess_f64, tess_u8, 15, 199, 0, 2, 0, 1, 3, 3, 0, 0, row},
        {U8, 4, 37, 0, 0, 0, 0, 3, 3, 0, 0, row},
        {F32, 1, 1001, 0, 0, 3, 1, 1, 3, 0, 0, row},
    };
    run(cases, TESS_COUNT(cases), 81);
}

static void integer_masks(void **state) {
    (void)state;
    static const char row[] = "correlate/patch_bytes_odd";
    static const anywhere_case cases[] = {
        {tess_u8, tess_i8, tess_u8, 25, 2083, 0, 0, 0, 0, 3, 3, 0, 0, row}, {tess_u8, tess_i8, tess_u8, 33, 283, 3, 0, 0, 1, 3, 3, 0, 0, row},
        {tess_u8, tess_i8, tess_i32, 33, 783, 1, 0, 5, 0, 5, 5, 0, 0, row}, {tess_i8, tess_i8, tess_i16, 19, 1283, 0, 3, 0, 1, 3, 9, 0, 0, row},
        {tess_u8, tess_i8, tess_u8, 9, 783, 0, 0, 0, 1, 7, 7, 0, 0, row},
    };
    run(cases, TESS_COUNT(cases), 82);
}

static void lists(void **state) {
    (void)state;
    static const char row[] = "correlate/patch_separable_odd";
    static const anywhere_case cases[] = {
        {U8, 43, 783, 0, 0, 0, 0, 3, 3, 1, 0, row},
        {U8, 43, 403, 1, 2, 3, 5, 7, 7, 1, 0, row},
        {tess_i8, tess_f32, tess_f32, 33, 403, 0, 0, 1, 0, 5, 5, 1, 0, row},
        {F16, 43, 801, 0, 0, 0, 0, 7, 7, 1, 0, row},
        {tess_bf16, tess_f32, tess_bf16, 31, 799, 1, 3, 0, 5, 9, 9, 1, 0, row},
        {U8, 173, 1501, 1, 0, 0, 0, 7, 7, 1, 0, row}, /* blocks that lie inside, and rows that warps have left over */
        {U8, 131, 1503, 2, 5, 1, 2, 9, 9, 1, 0, row},
        {U8, 131, 3799, 1, 0, 1, 3, 9, 9, 1, 0, row}, /* 8 columns a lane */
        {U8, 90, 1003, 1, 0, 3, 1, 5, 4, 1, 0, row},
        {tess_u8, tess_f32, tess_f32, 75, 1009, 0, 3, 1, 1, 6, 7, 1, 0, row},
        {tess_i8, tess_f32, tess_i16, 61, 507, 3, 1, 1, 3, 2, 2, 1, 0, row},
        {tess_bool, tess_f32, tess_u8, 19, 251, 0, 0, 1, 0, 7, 1, 1, 0, row},
        {F16, 131, 1001, 1, 0, 2, 1, 5, 5, 1, 0, row},
        {tess_i16, tess_f32, tess_u8, 70, 603, 0, 2, 3, 1, 4, 6, 1, 0, row},
        {tess_bf16, tess_f32, tess_f32, 67, 509, 2, 1, 0, 3, 7, 7, 1, 0, row},
        {U8, 61, 509, 1, 0, 1, 0, 7, 7, 1, 0, row},
        {F16, 45, 253, 0, 0, 0, 0, 7, 7, 1, 0, row},
        {U8, 70, 253, 0, 0, 3, 2, 5, 7, 1, 0, row},
        {F16, 35, 510, 0, 1, 0, 3, 3, 3, 1, 0, row},
        {U8, 9, 11, 0, 3, 1, 0, 3, 5, 1, 0, row},
        {U8, 4, 3, 0, 0, 0, 2, 3, 3, 1, 0, row},
        {F16, 3, 5, 2, 0, 1, 0, 3, 5, 1, 0, row},
        {F32, 27, 401, 0, 0, 0, 0, 7, 7, 1, 0, row},
        {F32, 27, 403, 1, 2, 3, 1, 3, 3, 2, 0, row},
        {F32, 27, 403, 1, 2, 3, 1, 7, 7, 2, 0, row},
        {F64, 27, 203, 0, 0, 0, 0, 3, 3, 1, 0, row},
        {tess_f32, tess_f32, tess_u8, 27, 401, 0, 0, 0, 0, 5, 3, 1, 0, row},
    };
    run(cases, TESS_COUNT(cases), 83);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_mask), cmocka_unit_test(integer_masks), cmocka_unit_test(lists)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}
