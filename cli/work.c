/* SPDX-License-Identifier: Apache-2.0
 * work.c - what the operations share: reading, result types, running or explaining a plan, writing and reporting. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

int cli_read(cli_session *session, const char *name, tess_io_array *array) {
    tess_io_message message;
    tess_io_status status = tess_io_read(array, name, &session->limits, &message);
    return status == TESS_IO_OK ? CLI_OK : cli_fail_io(status, &message);
}

int cli_result_type(const cli_session *session, tess_type type, tess_type *result) {
    const cli_options *o = &session->options;
    tess_io_format format = o->output ? tess_io_format_named(o->output) : TESS_IO_NPY;
    *result = o->type != tess_no_type ? o->type : type;
    if (!o->output)
        return CLI_OK;
    tess_type storable = tess_io_storable(format, *result);
    if (storable == tess_no_type || (o->type != tess_no_type && storable != *result))
        return cli_fail(CLI_OUTPUT, "%s: the format cannot hold elements of type %s", o->output, tess_type_name(*result));
    *result = storable;
    return CLI_OK;
}

typedef tess_status (*text_writer)(void *with, tess_format format, char *text, size_t capacity, size_t *length);

int cli_print_text(text_writer write, void *with, tess_format format) {
    size_t length;
    if (write(with, format, NULL, 0, &length) != TESS_OK)
        return cli_fail_library();
    char *text = malloc(length + 1);
    if (!text)
        return cli_fail(CLI_FAILED, "%zu bytes for a text could not be allocated", length + 1);
    if (write(with, format, text, length + 1, &length) != TESS_OK) {
        free(text);
        return cli_fail_library();
    }
    fputs(text, stdout);
    free(text);
    return cli_flush();
}

double cli_seconds(const cli_session *session) { return session->options.seconds > 0 ? session->options.seconds : 0.5; }

static tess_status write_explanation(void *plan, tess_format format, char *text, size_t capacity, size_t *length) {
    return tess_explain(plan, format, text, capacity, length);
}

int cli_save_wisdom(cli_session *session) {
    tess_status status = tess_wisdom_save(session->context, NULL);
    return status == TESS_OK ? CLI_OK : cli_fail(status == TESS_ERR_FILE ? CLI_OUTPUT : CLI_FAILED, "%s", tess_detail());
}

static tess_status write_wisdom(void *context, tess_format format, char *text, size_t capacity, size_t *length) {
    (void)format;
    return tess_wisdom_export(context, text, capacity, length);
}

int cli_print_wisdom(cli_session *session) { return cli_print_text(write_wisdom, session->context, TESS_TEXT); }

static void *first_element(const DLTensor *t) { return t && t->data ? (char *)t->data + t->byte_offset : NULL; }

static void touch(const DLTensor *in, const DLTensor *second, const DLTensor *out) {
    tess_io_touch(in, false);
    if (second)
        tess_io_touch(second, false);
    tess_io_touch(out, true);
}

int cli_run_plan(cli_session *session, tess_plan *plan, const DLTensor *in, const DLTensor *second, const DLTensor *out, tess_report *report,
                 bool *ran) {
    int code = CLI_OK;
    tess_report ignored = {.struct_size = sizeof ignored};
    tess_call call = {.report = report ? report : &ignored};
    *ran = false;
    if (report)
        report->struct_size = sizeof *report;
    if (session->mode == CLI_MODE_EXPLAIN) {
        code = cli_print_text(write_explanation, plan, session->options.json ? TESS_JSON : TESS_TEXT);
    } else if (session->mode == CLI_MODE_TUNE) {
        code = tess_tune(plan, cli_seconds(session)) == TESS_OK ? cli_save_wisdom(session) : cli_fail_library();
        if (code == CLI_OK && session->options.json)
            code = cli_print_wisdom(session);
    } else if (touch(in, second, out), tess_execute(plan, first_element(in), first_element(second), first_element(out), &call) != TESS_OK) {
        code = cli_fail_library();
    } else {
        *ran = true;
    }
    tess_plan_free(plan);
    cli_progress_end(); /* before anything is printed beside the bar */
    return code;
}

/* The library has no conversion of its own. For integers a mask of rank 0 with the weight 1 is one; floats would lose the sign of -0 there, which a sum
 * that begins with +0 does not keep, so they become maxima over no axis: every element is a group of its own. Complex arrays, which both sides are then,
 * are their parts. Both arrays are compact. */
static tess_status convert(cli_session *session, const DLTensor *from, const DLTensor *to) {
    static const tess_type part[] = {[tess_c64] = tess_f32, [tess_c128] = tess_f64};
    tess_type of = tess_type_of(from->dtype), in = tess_type_of(to->dtype);
    int64_t count = 1;
    for (int d = 0; d < from->ndim; d++)
        count *= from->shape[d];
    if ((of == tess_c64 || of == tess_c128) && (in == tess_c64 || in == tess_c128)) {
        of = part[of];
        in = part[in];
        count *= 2;
    }
    DLTensor source = tess_view(from->data, of, 1, &count, NULL), result = tess_view(to->data, in, 1, &count, NULL);
    if (of >= tess_f16) {
        int no_axes[1] = {0};
        tess_reduce_options options = {.struct_size = sizeof options, .axes = no_axes};
        bool fails = of >= tess_c64; /* into real elements: a sum says why it cannot */
        return tess_reduce(session->context, fails ? TESS_SUM : TESS_MAX, &source, &result, &options);
    }
    uint8_t whole = 1;
    DLTensor mask = tess_view(&whole, tess_u8, 0, NULL, NULL);
    return tess_correlate(session->context, &source, &mask, &result, NULL);
}

int cli_convert(cli_session *session, tess_io_array *array, tess_type type) {
    tess_io_message message;
    tess_io_array converted;
    if (tess_io_type(array) == type)
        return CLI_OK;
    tess_io_status status = tess_io_make(&converted, type, array->tensor.ndim, array->shape, "the converted result", &message);
    if (status != TESS_IO_OK)
        return cli_fail_io(status, &message);
    if (convert(session, &array->tensor, &converted.tensor) != TESS_OK) {
        tess_io_free(&converted);
        return cli_fail_library();
    }
    converted.format = array->format;
    converted.work_axes = array->work_axes;
    converted.rate = array->rate;
    converted.subtype = array->subtype;
    void *block = array->block;
    size_t size = array->block_size;
    array->tensor.data = converted.block; /* same shape, both compact */
    array->tensor.byte_offset = 0;
    array->tensor.dtype = converted.tensor.dtype;
    memcpy(array->strides, converted.strides, sizeof array->strides);
    array->block = converted.block;
    array->block_size = converted.block_size;
    converted.block = block;
    converted.block_size = size;
    tess_io_free(&converted);
    return CLI_OK;
}

static void print_report(const cli_session *session, const tess_io_array *array, const tess_report *report) {
    json_t *shape = json_array();
    for (int d = 0; d < array->tensor.ndim; d++)
        json_array_append_new(shape, json_integer(array->shape[d]));
    json_t *name = json_string(session->options.output); /* NULL when it is no UTF-8, which JSON must be */
    json_t *object = json_pack("{s:s, s:o, s:o, s:s}", "command", session->command->name, "output", name ? name : json_null(), "shape", shape, "type",
                               tess_type_name(tess_io_type(array)));
    if (object && report->strategy[0]) {
        json_object_set_new(object, "strategy", json_string(report->strategy));
        json_object_set_new(object, "isa", json_string(report->isa));
        json_object_set_new(object, "threads", json_integer(report->threads));
        json_object_set_new(object, "seconds", json_real(report->seconds));
        json_object_set_new(object, "bytes", json_integer((json_int_t)report->bytes));
        json_object_set_new(object, "flops", json_integer((json_int_t)report->flops));
        json_object_set_new(object, "workspace", json_integer((json_int_t)report->workspace));
        json_object_set_new(object, "gb_per_s", json_real(report->seconds > 0 ? report->bytes / report->seconds * 1e-9 : 0));
    }
    json_dumpf(object, stdout, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9));
    printf("\n");
    json_decref(object);
}

int cli_finish(cli_session *session, tess_io_array *array, const tess_io_array *from, const tess_report *report) {
    tess_io_message message;
    const char *name = session->options.output;
    array->rate = session->options.rate > 0 ? session->options.rate : from->rate;
    array->subtype = from->subtype;
    cli_progress_end(); /* a conversion may have drawn it again */
    tess_io_status status = tess_io_write(array, name, &message);
    if (status != TESS_IO_OK)
        return cli_fail_io(status, &message);
    if (session->options.json)
        print_report(session, array, report);
    return cli_flush();
}
