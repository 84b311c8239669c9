/* SPDX-License-Identifier: Apache-2.0
 * print.c - the values of an array as text: whole numbers in full, others in the fewest digits that give the value back, a line for each row; or JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* The double that a half is. */
static double from_half(uint16_t h) {
    int exponent = h >> 10 & 31;
    double fraction = h & 1023, value = exponent == 31  ? (fraction != 0 ? NAN : INFINITY)
                                        : exponent == 0 ? ldexp(fraction, -24)
                                                        : ldexp(1024 + fraction, exponent - 25);
    return h & 0x8000 ? -value : value;
}

/* The real (part 0) or imaginary (part 1) number at p. */
static double real_at(tess_type type, const char *p, int part) {
    float f;
    double d;
    uint16_t h;
    uint32_t u;
    switch (type) {
    case tess_f16: return memcpy(&h, p, 2), from_half(h);
    case tess_bf16:
        memcpy(&h, p, 2);
        u = (uint32_t)h << 16;
        return memcpy(&f, &u, 4), f;
    case tess_f32:
    case tess_c64: return memcpy(&f, p + part * 4, 4), f;
    default: return memcpy(&d, p + part * 8, 8), d;
    }
}

static int digits_of(tess_type type) { return type == tess_f16 ? 5 : type == tess_bf16 ? 4 : type == tess_f32 || type == tess_c64 ? 9 : 17; }

/* Whether `read` rounds to `value`, a finite number of the type. */
static bool gives_back(double read, double value, tess_type type) {
    int exponent, fraction_bits = type == tess_f16 ? 10 : 7, lowest = type == tess_f16 ? -14 : -126;
    if (read == value || type == tess_f64 || type == tess_c128)
        return read == value;
    if (type == tess_f32 || type == tess_c64)
        return (float)read == (float)value;
    bool narrower = fabs(frexp(value, &exponent)) == 0.5 && fabs(read) < fabs(value); /* the neighbours below a power of two lie closer */
    double gap = ldexp(1, (exponent - 1 > lowest ? exponent - 1 : lowest) - fraction_bits);
    return fabs(read - value) < (narrower ? gap / 4 : gap / 2);
}

/* Whole numbers in full; else the fewest digits after which reading gives the same value of the type again. */
static void format_real(char *text, size_t size, double value, tess_type type) {
    if (isnan(value) || isinf(value))
        snprintf(text, size, "%s", isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
    else if (value == rint(value) && fabs(value) < 0x1p53)
        snprintf(text, size, "%.0f", value);
    else
        for (int digits = 1; digits <= digits_of(type); digits++) {
            snprintf(text, size, "%.*g", digits, value);
            if (gives_back(strtod(text, NULL), value, type))
                break;
        }
}

static void format_value(char *text, size_t size, tess_type type, const char *p) {
    int64_t i = 0;
    uint64_t u = 0;
    char other[40];
    switch (type) {
    case tess_bool: snprintf(text, size, "%s", *p ? "true" : "false"); return;
    case tess_u8: u = (uint8_t)*p; break;
    case tess_u16: u = *(const uint16_t *)(const void *)p; break;
    case tess_u32: u = *(const uint32_t *)(const void *)p; break;
    case tess_u64: u = *(const uint64_t *)(const void *)p; break;
    case tess_i8: i = (int8_t)*p; break;
    case tess_i16: i = *(const int16_t *)(const void *)p; break;
    case tess_i32: i = *(const int32_t *)(const void *)p; break;
    case tess_i64: i = *(const int64_t *)(const void *)p; break;
    case tess_c64:
    case tess_c128:
        format_real(text, size, real_at(type, p, 0), type);
        format_real(other, sizeof other, real_at(type, p, 1), type);
        snprintf(text + strlen(text), size - strlen(text), "%s%sj", other[0] == '-' ? "" : "+", other);
        return;
    default: format_real(text, size, real_at(type, p, 0), type); return;
    }
    if (i != 0)
        snprintf(text, size, "%" PRId64, i);
    else
        snprintf(text, size, "%" PRIu64, u);
}

/* JSON has no nan, no infinity and no complex numbers: those become strings. Numbers keep the digits of the text, so they are written as they are. */
static void print_json(const cli_session *session, const tess_io_array *array, const tess_report *report, int64_t count) {
    tess_type type = tess_io_type(array);
    const char *p = array->tensor.data;
    char text[96];
    printf("{\"command\":\"reduce\",\"operation\":\"%s\",\"type\":\"%s\",\"shape\":[", session->operands[0], tess_type_name(type));
    for (int d = 0; d < array->tensor.ndim; d++)
        printf("%s%" PRId64, d ? "," : "", array->shape[d]);
    printf("],\"values\":[");
    for (int64_t i = 0; i < count; i++, p += tess_type_size(type)) {
        format_value(text, sizeof text, type, p);
        bool plain = type < tess_c64 && !strstr(text, "nan") && !strstr(text, "inf");
        printf("%s%s%s%s", i ? "," : "", plain ? "" : "\"", text, plain ? "" : "\"");
    }
    printf("],\"strategy\":\"%s\",\"isa\":\"%s\",\"threads\":%d,\"seconds\":%.9g,\"bytes\":%.17g,\"gb_per_s\":%.6g}\n", report->strategy, report->isa,
           report->threads, report->seconds, report->bytes, report->seconds > 0 ? report->bytes / report->seconds * 1e-9 : 0.0);
}

int cli_print_array(cli_session *session, const tess_io_array *array, const tess_report *report) {
    tess_type type = tess_io_type(array);
    int n = array->tensor.ndim;
    int64_t count = tess_io_count(&array->tensor), row = n > 0 ? array->shape[n - 1] : 1;
    const char *p = array->tensor.data;
    char text[96];
    if (session->options.json) {
        print_json(session, array, report, count);
        return cli_flush();
    }
    for (int64_t i = 0; i < count && !ferror(stdout); i++, p += tess_type_size(type)) {
        format_value(text, sizeof text, type, p);
        fputs(text, stdout);
        putchar((i + 1) % row == 0 ? '\n' : ' ');
    }
    return cli_flush();
}
