/* SPDX-License-Identifier: Apache-2.0
 * cmd_reduce.c - reduce: the values printed, or written with -o. */
#include <string.h>

#include "cli.h"

/* The result's type when --type does not say: what NumPy users expect, with integer sums in 64 bits and statistics of integers in f64. */
static tess_type default_type(tess_reduction op, tess_type in) {
    bool is_complex = in == tess_c64 || in == tess_c128, whole = in >= tess_bool && in <= tess_i64;
    bool is_unsigned = in == tess_bool || in == tess_u8 || in == tess_u16 || in == tess_u32 || in == tess_u64;
    tess_type real = in == tess_f16 || in == tess_bf16 || in == tess_f32 || in == tess_c64 ? tess_f32 : tess_f64;
    switch (op) {
    case TESS_ARGMIN:
    case TESS_ARGMAX:
    case TESS_COUNT_NONZERO: return tess_i64;
    case TESS_ANY:
    case TESS_ALL: return tess_bool;
    case TESS_MIN:
    case TESS_MAX: return in;
    case TESS_MEAN: return is_complex ? in : real;
    case TESS_VAR:
    case TESS_STD:
    case TESS_NORM2: return real;
    case TESS_NORM1:
    case TESS_NORM_INF: return whole ? tess_u64 : real;
    default: return whole ? (is_unsigned ? tess_u64 : tess_i64) : is_complex ? in : real;
    }
}

/* Sizes of the result; what is wrong with an axis the library says. */
static void result_shape(const cli_session *session, const tess_io_array *in, const tess_io_array *offsets, int64_t *shape, int *ndim) {
    const cli_options *o = &session->options;
    bool reduced[TESS_MAX_NDIM];
    *ndim = 0;
    for (int d = 0; d < in->tensor.ndim; d++)
        reduced[d] = !o->axes_given;
    for (int k = 0; k < o->naxes; k++) {
        int axis = o->axes[k] < 0 ? o->axes[k] + in->tensor.ndim : o->axes[k];
        if (axis >= 0 && axis < in->tensor.ndim)
            reduced[axis] = true;
    }
    for (int d = 0; d < in->tensor.ndim; d++)
        if (!reduced[d])
            shape[(*ndim)++] = in->shape[d];
        else if (offsets)
            shape[(*ndim)++] = offsets->shape[0] - 1;
        else if (o->keepdims)
            shape[(*ndim)++] = 1;
}

static int run(cli_session *session, tess_reduction operation, const tess_io_array *in, const tess_io_array *offsets) {
    const cli_options *o = &session->options;
    tess_io_message message;
    tess_io_array out;
    tess_report report = {0};
    tess_plan *plan;
    tess_type type;
    int64_t shape[TESS_MAX_NDIM];
    int ndim;
    bool ran;
    int code = cli_result_type(session, default_type(operation, tess_io_type(in)), &type);
    if (code != CLI_OK)
        return code;
    result_shape(session, in, offsets, shape, &ndim);
    tess_io_status status = tess_io_make(&out, type, ndim, shape, "the result", &message);
    if (status != TESS_IO_OK)
        return cli_fail_io(status, &message);
    tess_reduce_options options = {.struct_size = sizeof options,
                                   .axes = o->axes_given ? o->axes : NULL,
                                   .naxes = o->naxes,
                                   .keepdims = o->keepdims,
                                   .nan = (tess_nan)o->nan,
                                   .ddof = o->ddof,
                                   .exact = o->exact,
                                   .offsets = offsets ? &offsets->tensor : NULL,
                                   .call.strategy = o->strategy};
    if (tess_plan_reduce(&plan, session->context, operation, &in->tensor, &out.tensor, &options) != TESS_OK)
        code = cli_fail_library();
    else
        code = cli_run_plan(session, plan, &in->tensor, NULL, &out.tensor, &report, &ran);
    if (code == CLI_OK && session->mode == CLI_RUN)
        code = o->output ? cli_finish(session, &out, in, &report) : cli_print_array(session, &out, &report);
    tess_io_free(&out);
    return code;
}

int cli_run_reduce(cli_session *session) {
    const cli_options *o = &session->options;
    tess_reduction operation;
    tess_io_array in, offsets = {0};
    if (!tess_reduction_named(session->operands[0], &operation))
        return cli_fail(
            CLI_USAGE,
            "reduce: there is no operation \"%s\"; they are sum prod min max mean var std argmin argmax any all count_nonzero norm1 norm2 norm_inf",
            session->operands[0]);
    if (o->offsets && strcmp(o->offsets, "-") == 0 && strcmp(session->operands[1], "-") == 0)
        return cli_fail(CLI_USAGE, "reduce: array and offsets cannot both come from standard input");
    int code = cli_read(session, session->operands[1], &in);
    if (code != CLI_OK)
        return code;
    if (o->offsets)
        code = cli_read(session, o->offsets, &offsets);
    if (code == CLI_OK && o->offsets && (offsets.tensor.ndim != 1 || offsets.shape[0] < 1))
        code = cli_fail(CLI_FAILED, "--offsets %s has %d axes; it must have one, of at least one element", o->offsets, offsets.tensor.ndim);
    if (code == CLI_OK)
        code = run(session, operation, &in, o->offsets ? &offsets : NULL);
    tess_io_free(&offsets);
    tess_io_free(&in);
    return code;
}
