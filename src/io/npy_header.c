/* SPDX-License-Identifier: Apache-2.0
 * npy_header.c - the header of an .npy file, read strictly.
 *
 * The format (NumPy enhancement proposal 1; numpy.lib.format) is a magic string, a version, a length, and a Python dictionary as text. Debian has no
 * well-kept C library for it, and NumPy hands the text to Python's parser; this one knows the few forms that NumPy writes - three keys, each once;
 * strings without escapes; True and False; a tuple of sizes - and refuses all else, so there is nothing to attack. */
#include <string.h>

#include "io/io.h"

typedef struct parser {
    const unsigned char *at, *begin, *end;
    const char *name;
    tess_io_message *message;
} parser;

static tess_io_status wrong(const parser *p, const char *what) {
    return tess_io_fail(p->message, TESS_IO_ERR_INPUT, "%s: bad .npy header at its character %lld: %s", p->name, (long long)(p->at - p->begin), what);
}

static void skip_blanks(parser *p) {
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' || *p->at == '\t' || *p->at == '\r'))
        p->at++;
}

static bool take(parser *p, char c) {
    skip_blanks(p);
    if (p->at >= p->end || *p->at != (unsigned char)c)
        return false;
    p->at++;
    return true;
}

static bool take_word(parser *p, const char *word) {
    size_t length = strlen(word);
    skip_blanks(p);
    if ((size_t)(p->end - p->at) < length || memcmp(p->at, word, length) != 0)
        return false;
    p->at += length;
    return true;
}

/* A quoted string of printable characters without backslashes. */
static tess_io_status parse_string(parser *p, char *text, size_t capacity) {
    skip_blanks(p);
    if (p->at >= p->end || (*p->at != '\'' && *p->at != '"'))
        return wrong(p, "a quoted string is expected");
    unsigned char quote = *p->at++;
    for (size_t n = 0; p->at < p->end; n++, p->at++) {
        if (*p->at == quote) {
            text[n] = 0;
            p->at++;
            return TESS_IO_OK;
        }
        if (*p->at < 32 || *p->at > 126 || *p->at == '\\' || n + 1 >= capacity)
            return wrong(p, "the string is too long or has an escape");
        text[n] = (char)*p->at;
    }
    return wrong(p, "the string does not end");
}

static tess_io_status parse_descr(parser *p, tess_io_npy_header *header) {
    static const struct {
        const char *code;
        tess_type type;
    } known[] = {{"b1", tess_bool}, {"u1", tess_u8},  {"i1", tess_i8},  {"u2", tess_u16}, {"i2", tess_i16}, {"u4", tess_u32}, {"i4", tess_i32},
                 {"u8", tess_u64},  {"i8", tess_i64}, {"f2", tess_f16}, {"f4", tess_f32}, {"f8", tess_f64}, {"c8", tess_c64}, {"c16", tess_c128}};
    char text[64];
    skip_blanks(p);
    if (p->at < p->end && (*p->at == '[' || *p->at == '('))
        return wrong(p, "the elements are records (a structured dtype), Tessera takes plain numbers");
    tess_io_status status = parse_string(p, text, sizeof text);
    if (status != TESS_IO_OK)
        return status;
    char order = text[0];
    const char *code = text + (order == '<' || order == '>' || order == '=' || order == '|');
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(code, known[i].code) == 0)
            header->type = known[i].type;
    const char *why = "no numbers of a type that Tessera has";
    if (code[0] == 'O')
        why = "Python objects, stored as a pickle, which is never loaded";
    else if (strcmp(code, "V2") == 0)
        why = "two raw bytes, which is also how NumPy stores bfloat16: save them as float32";
    else if (strcmp(code, "f16") == 0 || strcmp(code, "c32") == 0 || code[0] == 'g')
        why = "long doubles, whose size and meaning differ by machine: save them as float64";
    if (header->type == tess_no_type)
        return tess_io_fail(p->message, TESS_IO_ERR_INPUT, "%s: unknown type '%s': %s", p->name, text, why);
    bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    header->swapped = tess_type_size(header->type) > 1 && ((order == '>' && little) || (order == '<' && !little));
    if (order == '|' && tess_type_size(header->type) > 1)
        return tess_io_fail(p->message, TESS_IO_ERR_INPUT, "%s: type '%s' has several bytes and no byte order", p->name, text);
    return TESS_IO_OK;
}

static tess_io_status parse_size(parser *p, int64_t *size) {
    const unsigned char *first = p->at;
    for (*size = 0; p->at < p->end && *p->at >= '0' && *p->at <= '9'; p->at++)
        if (__builtin_mul_overflow(*size, 10, size) || __builtin_add_overflow(*size, *p->at - '0', size))
            return wrong(p, "a size is above the limit of 2^63 - 1");
    if (p->at == first)
        return wrong(p, p->at < p->end && *p->at == '-' ? "a size is negative" : "a size is expected");
    if (p->at < p->end && *p->at == 'L') /* as Python 2 wrote long integers */
        p->at++;
    return TESS_IO_OK;
}

static tess_io_status parse_shape(parser *p, tess_io_npy_header *header) {
    if (!take(p, '('))
        return wrong(p, "a tuple of sizes is expected");
    for (header->ndim = 0; !take(p, ')');) {
        if (p->at >= p->end)
            return wrong(p, "the tuple does not end");
        if (header->ndim == TESS_MAX_NDIM)
            return wrong(p, "more axes than the limit of 64");
        tess_io_status status = parse_size(p, &header->shape[header->ndim]);
        if (status != TESS_IO_OK)
            return status;
        header->ndim++;
        skip_blanks(p);
        if (p->at < p->end && *p->at == ')') {
            if (header->ndim == 1)
                return wrong(p, "a tuple of one size needs a comma");
        } else if (!take(p, ',')) {
            return wrong(p, "a comma or ) is expected after a size");
        }
    }
    return TESS_IO_OK;
}

static tess_io_status parse_dictionary(parser *p, tess_io_npy_header *header) {
    enum { DESCR = 1, ORDER = 2, SHAPE = 4 };
    int seen = 0;
    char key[32];
    if (!take(p, '{'))
        return wrong(p, "a dictionary is expected");
    while (!take(p, '}')) {
        parser start = *p;
        tess_io_status status = parse_string(p, key, sizeof key);
        if (status != TESS_IO_OK)
            return status;
        int which = strcmp(key, "descr") == 0 ? DESCR : strcmp(key, "fortran_order") == 0 ? ORDER : strcmp(key, "shape") == 0 ? SHAPE : 0;
        if (!which || (seen & which))
            return wrong(&start, "the keys are descr, fortran_order and shape, each once");
        seen |= which;
        if (!take(p, ':'))
            return wrong(p, "a colon is expected after a key");
        if (which == DESCR)
            status = parse_descr(p, header);
        else if (which == SHAPE)
            status = parse_shape(p, header);
        else if (take_word(p, "True"))
            header->fortran = true;
        else if (!take_word(p, "False"))
            status = wrong(p, "fortran_order is True or False");
        if (status != TESS_IO_OK)
            return status;
        skip_blanks(p);
        if (!take(p, ',') && (p->at >= p->end || *p->at != '}'))
            return wrong(p, "a comma or } is expected after a value");
    }
    if (seen != (DESCR | ORDER | SHAPE))
        return wrong(p, "one of the keys descr, fortran_order and shape is missing");
    skip_blanks(p);
    return p->at == p->end ? TESS_IO_OK : wrong(p, "text follows the dictionary");
}

tess_io_status tess_io_npy_header_size(const unsigned char *b, size_t size, size_t *header_size, const char *name, tess_io_message *message) {
    if (size < TESS_IO_NPY_PREFIX)
        return tess_io_fail(message, TESS_IO_ERR_INPUT, "%s is truncated: %zu bytes are too few for an .npy header", name, size);
    if (b[6] < 1 || b[6] > 3 || b[7] != 0)
        return tess_io_fail(message, TESS_IO_ERR_INPUT, "%s: .npy version %d.%d is unknown, 1.0, 2.0 and 3.0 are read", name, b[6], b[7]);
    size_t length = b[6] == 1 ? (size_t)b[8] | (size_t)b[9] << 8 : (size_t)b[8] | (size_t)b[9] << 8 | (size_t)b[10] << 16 | (size_t)b[11] << 24;
    *header_size = (b[6] == 1 ? 10 : 12) + length;
    if (*header_size > TESS_IO_NPY_HEADER_LIMIT)
        return tess_io_fail(message, TESS_IO_ERR_INPUT, "%s: its .npy header claims %zu bytes, the limit is %d", name, length,
                            TESS_IO_NPY_HEADER_LIMIT);
    if (*header_size < TESS_IO_NPY_PREFIX)
        return tess_io_fail(message, TESS_IO_ERR_INPUT, "%s: its .npy header claims %zu bytes, too few for any", name, length);
    return TESS_IO_OK;
}

tess_io_status tess_io_npy_header_parse(tess_io_npy_header *header, const unsigned char *bytes, size_t size, const char *name,
                                        tess_io_message *message) {
    memset(header, 0, sizeof *header);
    tess_io_status status = tess_io_npy_header_size(bytes, size, &header->data_at, name, message);
    if (status != TESS_IO_OK)
        return status;
    if (header->data_at > size)
        return tess_io_fail(message, TESS_IO_ERR_INPUT, "%s is truncated: its header takes %zu bytes, the file has %zu", name, header->data_at, size);
    const unsigned char *text = bytes + (bytes[6] == 1 ? 10 : 12);
    parser p = {text, text, bytes + header->data_at, name, message};
    status = parse_dictionary(&p, header);
    if (status != TESS_IO_OK)
        return status;
    /* The product without the zeros must fit too: strides are made of it. */
    int64_t product = (int64_t)tess_type_size(header->type);
    bool empty = false;
    for (int d = 0; d < header->ndim; d++)
        if (header->shape[d] == 0)
            empty = true;
        else if (__builtin_mul_overflow(product, header->shape[d], &product))
            return tess_io_fail(message, TESS_IO_ERR_INPUT, "%s: the shape in its header overflows: the data would be over 2^63 bytes", name);
    header->data_size = empty ? 0 : (size_t)product;
    return TESS_IO_OK;
}
