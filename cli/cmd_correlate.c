/* SPDX-License-Identifier: Apache-2.0
 * cmd_correlate.c - correlate and convolve. */
#include <string.h>

#include "cli.h"
#include "mask.h"

/* The axes that are worked on: --axes, else those of the image or recording, else all. */
static int work_axes(const cli_session *session, const tess_io_array *in, int *axes) {
    const cli_options *o = &session->options;
    int count = o->axes_given ? o->naxes : in->work_axes >= 0 ? in->work_axes : in->tensor.ndim;
    for (int k = 0; k < count; k++)
        axes[k] = o->axes_given ? o->axes[k] : k;
    return count;
}

static int read_mask(cli_session *session, cli_mask *mask, int axes, const tess_io_array *in) {
    tess_io_message message;
    if (cli_mask_is_file(session->options.mask)) {
        memset(mask, 0, sizeof *mask);
        mask->count = 1;
        mask->list[0] = &mask->arrays[0].tensor;
        return cli_read(session, session->options.mask, &mask->arrays[0]);
    }
    return cli_mask_parse(mask, session->options.mask, axes, tess_io_type(in), &message) ? CLI_OK : cli_fail(CLI_USAGE, "%s", message.text);
}

/* The result's sizes, as tessera.h gives them for each extent. */
static void result_shape(const cli_session *session, const tess_io_array *in, const cli_mask *mask, const int *axes, int count, int64_t *shape) {
    memcpy(shape, in->shape, sizeof in->shape);
    for (int k = 0; k < count; k++) {
        int axis = axes[k] < 0 ? axes[k] + in->tensor.ndim : axes[k];
        if (axis < 0 || axis >= in->tensor.ndim)
            continue; /* the library has a sentence for it */
        int64_t width = mask->separable ? mask->list[k]->shape[0] : mask->list[0]->shape[k];
        if (width < 1)
            continue; /* for this too */
        if (session->options.extent == TESS_EXTENT_VALID)
            shape[axis] = shape[axis] >= width ? shape[axis] - width + 1 : 0;
        else if (session->options.extent == TESS_EXTENT_FULL && __builtin_add_overflow(shape[axis], width - 1, &shape[axis]))
            shape[axis] = INT64_MAX; /* sizes of empty arrays can be any */
    }
}

static int run(cli_session *session, const tess_io_array *in, const cli_mask *mask, const int *axes, int count) {
    const cli_options *o = &session->options;
    tess_io_message message;
    tess_io_array out;
    tess_report report = {0};
    tess_plan *plan;
    tess_type type = tess_io_type(in);
    int64_t shape[TESS_MAX_NDIM];
    bool ran;
    int code = cli_result_type(session, type == tess_bool ? tess_f32 : type, &type);
    if (code != CLI_OK)
        return code;
    if (o->norigin > 0 && o->norigin != count)
        return cli_fail(CLI_USAGE, "--origin has %d numbers, the mask runs along %d axes", o->norigin, count);
    result_shape(session, in, mask, axes, count, shape);
    tess_io_status status = tess_io_make(&out, type, in->tensor.ndim, shape, "the result", &message);
    if (status != TESS_IO_OK)
        return cli_fail_io(status, &message);
    tess_correlate_options options = {.struct_size = sizeof options,
                                      .axes = axes,
                                      .naxes = count,
                                      .origin = o->norigin > 0 ? o->origin : NULL,
                                      .boundary = (tess_boundary)o->boundary,
                                      .constant = o->constant,
                                      .extent = (tess_extent)o->extent,
                                      .accuracy = (tess_accuracy)o->accuracy,
                                      .compute = o->compute,
                                      .flip = session->command->bit == CLI_CONVOLVE,
                                      .call.strategy = o->strategy};
    if (tess_plan_correlate(&plan, session->context, &in->tensor, mask->list, mask->count, &out.tensor, &options) != TESS_OK)
        code = cli_fail_library();
    else
        code = cli_run_plan(session, plan, &in->tensor, NULL, &out.tensor, &report, &ran);
    if (code == CLI_OK && session->mode == CLI_RUN)
        code = cli_finish(session, &out, in, &report);
    tess_io_free(&out);
    return code;
}

int cli_run_correlate(cli_session *session) {
    const cli_options *o = &session->options;
    int axes[TESS_MAX_NDIM];
    tess_io_array in;
    cli_mask mask;
    if (!o->mask)
        return cli_fail(CLI_USAGE, "%s: --mask is needed; `tessera help %s` has the masks", session->command->name, session->command->name);
    if (!o->output && session->mode == CLI_RUN)
        return cli_fail(CLI_USAGE, "%s: --output is needed, the file for the result", session->command->name);
    if (strcmp(o->mask, "-") == 0 && strcmp(session->operands[0], "-") == 0)
        return cli_fail(CLI_USAGE, "%s: array and mask cannot both come from standard input", session->command->name);
    int code = cli_read(session, session->operands[0], &in);
    if (code != CLI_OK)
        return code;
    int count = work_axes(session, &in, axes);
    code = read_mask(session, &mask, count, &in);
    if (code != CLI_OK) {
        tess_io_free(&in);
        return code;
    }
    int rank = mask.separable ? mask.count : mask.list[0]->ndim;
    if (rank > count)
        code = cli_fail(CLI_FAILED, "the mask has %d axes, %s has %d to work on", rank, session->operands[0], count);
    else if (rank < count && o->axes_given)
        code = cli_fail(CLI_USAGE, "--axes names %d axes, the mask has %d", count, rank);
    else /* a mask of fewer axes runs along the last ones */
        code = run(session, &in, &mask, axes + (count - rank), rank);
    cli_mask_free(&mask);
    tess_io_free(&in);
    return code;
}
