/* SPDX-License-Identifier: Apache-2.0
 * cmd_lookup.c - lookup: tables from files, tone maps from words. */
#include <string.h>

#include "cli.h"
#include "tonemap.h"

/* Plans and runs one lookup into out. */
static int look(cli_session *session, const DLTensor *table, const DLTensor *index, const DLTensor *out, tess_report *report) {
    const cli_options *o = &session->options;
    tess_plan *plan;
    bool ran;
    tess_lookup_options options = {.struct_size = sizeof options,
                                   .axis = o->axes_given ? o->axes[0] : 0,
                                   .outside = (tess_outside)o->outside,
                                   .fill = o->fill,
                                   .interpolation = (tess_interpolation)o->interpolate,
                                   .call.strategy = o->strategy};
    if (tess_plan_lookup(&plan, session->context, table, index, out, &options) != TESS_OK)
        return cli_fail_library();
    return cli_run_plan(session, plan, table, index, out, report, &ran);
}

/* The last channel of an image as a view of it. */
static DLTensor channels(const DLTensor *image, int64_t *shape, int64_t first, int64_t count) {
    DLTensor view = *image;
    memcpy(shape, image->shape, (size_t)image->ndim * sizeof *shape);
    shape[image->ndim - 1] = count;
    view.shape = shape;
    view.byte_offset += (uint64_t)(first * image->strides[image->ndim - 1]) * tess_type_size(tess_type_of(image->dtype));
    return view;
}

/* A tone map leaves the alpha channel of an image with two or four as it is. */
static int apply_tonemap(cli_session *session, const tess_io_array *table, const tess_io_array *index, tess_io_array *out, tess_report *report) {
    int n = index->tensor.ndim;
    int64_t colours = n == 3 ? index->shape[2] : 1, a[TESS_MAX_NDIM], b[TESS_MAX_NDIM];
    if (index->work_axes != 2 || (colours != 2 && colours != 4))
        return look(session, &table->tensor, &index->tensor, &out->tensor, report);
    DLTensor from = channels(&index->tensor, a, 0, colours - 1), to = channels(&out->tensor, b, 0, colours - 1);
    int code = look(session, &table->tensor, &from, &to, report);
    if (code != CLI_OK || session->mode != CLI_RUN)
        return code;
    from = channels(&index->tensor, a, colours - 1, 1);
    to = channels(&out->tensor, b, colours - 1, 1);
    int same[3] = {0, 1, 2};
    tess_transpose_options copy = {.struct_size = sizeof copy, .perm = same, .nperm = 3};
    return tess_transpose(session->context, &from, &to, &copy) == TESS_OK ? CLI_OK : cli_fail_library();
}

static int run(cli_session *session, const tess_io_array *table, const tess_io_array *index, bool tonemap) {
    const cli_options *o = &session->options;
    tess_io_message message;
    tess_io_array out;
    tess_report report = {0};
    int64_t shape[TESS_MAX_NDIM];
    int at = o->axes_given ? o->axes[0] : 0, n = 0, ranks = table->tensor.ndim + index->tensor.ndim - 1;
    tess_type type, kept = tess_io_type(table);
    bool real = tess_io_type(index) >= tess_f16;
    at += at < 0 ? table->tensor.ndim : 0;
    if (table->tensor.ndim == 0 || at < 0 || at >= table->tensor.ndim)
        return cli_fail(CLI_FAILED, "axis %d is none of the table's, which has %d axes", o->axes_given ? o->axes[0] : 0, table->tensor.ndim);
    if (ranks > TESS_MAX_NDIM)
        return cli_fail(CLI_FAILED, "the result would have %d axes, the limit is %d", ranks, TESS_MAX_NDIM);
    int code = cli_result_type(session, kept, &type);
    if (code != CLI_OK)
        return code;
    for (int d = 0; d < at; d++)
        shape[n++] = table->shape[d];
    for (int d = 0; d < index->tensor.ndim; d++)
        shape[n++] = index->shape[d];
    for (int d = at + 1; d < table->tensor.ndim; d++)
        shape[n++] = table->shape[d];
    tess_io_status status =
        tess_io_make(&out, real ? type : kept, n, shape, "the result", &message); /* interpolation converts, gathering keeps bits */
    if (status != TESS_IO_OK)
        return cli_fail_io(status, &message);
    code = tonemap ? apply_tonemap(session, table, index, &out, &report) : look(session, &table->tensor, &index->tensor, &out.tensor, &report);
    if (code == CLI_OK && session->mode == CLI_RUN) {
        code = cli_convert(session, &out, type);
        if (code == CLI_OK)
            code = cli_finish(session, &out, index, &report);
    }
    tess_io_free(&out);
    return code;
}

int cli_run_lookup(cli_session *session) {
    const cli_options *o = &session->options;
    const char *name = session->operands[0];
    tess_io_array table, index;
    tess_io_message message;
    bool tonemap = cli_is_tonemap(name);
    if (!o->output && session->mode == CLI_RUN)
        return cli_fail(CLI_USAGE, "lookup: --output is needed, the file for the result");
    if (o->axes_given && o->naxes != 1)
        return cli_fail(CLI_USAGE, "lookup: --axis names %d axes, it must be one", o->naxes);
    if (strcmp(name, "-") == 0 && strcmp(session->operands[1], "-") == 0)
        return cli_fail(CLI_USAGE, "lookup: table and index cannot both come from standard input");
    int code = cli_read(session, session->operands[1], &index);
    if (code != CLI_OK)
        return code;
    if (!tonemap)
        code = cli_read(session, name, &table);
    else if (!cli_tonemap(&table, name, tess_io_type(&index), &message))
        code = cli_fail(CLI_USAGE, "%s", message.text);
    if (code == CLI_OK) {
        code = run(session, &table, &index, tonemap);
        tess_io_free(&table);
    }
    tess_io_free(&index);
    return code;
}
