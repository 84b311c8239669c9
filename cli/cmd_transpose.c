/* SPDX-License-Identifier: Apache-2.0
 * cmd_transpose.c - transpose: an image's rows and columns by default, else the axes reversed. */
#include "cli.h"

static int run(cli_session *session, const tess_io_array *in, const int *perm) {
    tess_io_message message;
    tess_io_array out;
    tess_report report = {0};
    tess_plan *plan;
    tess_type type;
    int64_t shape[TESS_MAX_NDIM];
    int n = in->tensor.ndim;
    bool ran;
    int code = cli_result_type(session, tess_io_type(in), &type);
    if (code != CLI_OK)
        return code;
    for (int d = 0; d < n; d++) {
        int axis = perm[d] < 0 ? perm[d] + n : perm[d];
        shape[d] = axis >= 0 && axis < n ? in->shape[axis] : 0; /* a wrong axis: the library has a sentence for it */
    }
    tess_io_status status = tess_io_make(&out, tess_io_type(in), n, shape, "the result", &message);
    if (status != TESS_IO_OK)
        return cli_fail_io(status, &message);
    tess_transpose_options options = {
        .struct_size = sizeof options, .perm = n > 0 ? perm : NULL, .nperm = n, .call.strategy = session->options.strategy};
    if (tess_plan_transpose(&plan, session->context, &in->tensor, &out.tensor, &options) != TESS_OK)
        code = cli_fail_library();
    else
        code = cli_run_plan(session, plan, &in->tensor, NULL, &out.tensor, &report, &ran);
    if (code == CLI_OK && session->mode == CLI_RUN) {
        code = cli_convert(session, &out, type);
        if (code == CLI_OK)
            code = cli_finish(session, &out, in, &report);
    }
    tess_io_free(&out);
    return code;
}

int cli_run_transpose(cli_session *session) {
    const cli_options *o = &session->options;
    tess_io_array in;
    int perm[TESS_MAX_NDIM];
    if (!o->output && session->mode == CLI_RUN)
        return cli_fail(CLI_USAGE, "transpose: --output is needed, the file for the result");
    int code = cli_read(session, session->operands[0], &in);
    if (code != CLI_OK)
        return code;
    int n = in.tensor.ndim;
    for (int d = 0; d < n; d++)
        perm[d] = o->axes_given ? o->axes[d] : in.work_axes == 2 && d >= 2 ? d : in.work_axes == 2 ? 1 - d : n - 1 - d;
    if (o->axes_given && o->naxes != n)
        code = cli_fail(CLI_FAILED, "--axes names %d axes, %s has %d", o->naxes, session->operands[0], n);
    else
        code = run(session, &in, perm);
    tess_io_free(&in);
    return code;
}
