/* SPDX-License-Identifier: Apache-2.0
 * cmd_profile.c - a kernel on the virtual GPU: reads the source and the arrays, runs, saves and compares outputs, prints the report. */
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

enum { SOURCE_LIMIT = 1 << 26 };

/* The bytes of a text file with a 0 behind them; "-" is standard input. */
static int read_bytes(const char *name, char **text, size_t *length) {
    FILE *f = strcmp(name, "-") == 0 ? stdin : fopen(name, "rb");
    struct stat about;
    size_t size = 0, room = 1 << 16;
    *text = NULL;
    if (!f)
        return cli_fail(CLI_INPUT, "%s cannot be opened: %s", name, strerror(errno));
    if (fstat(fileno(f), &about) == 0 && S_ISDIR(about.st_mode)) {
        fclose(f);
        return cli_fail(CLI_INPUT, "%s is a folder", name);
    }
    char *bytes = malloc(room);
    while (bytes && size < SOURCE_LIMIT) {
        size += fread(bytes + size, 1, room - size - 1, f);
        if (size < room - 1)
            break;
        char *grown = realloc(bytes, room *= 2);
        if (!grown)
            free(bytes);
        bytes = grown;
    }
    bool failed = ferror(f);
    if (f != stdin)
        fclose(f);
    if (!bytes)
        return cli_fail(CLI_FAILED, "no memory for %s", name);
    bytes[size] = 0;
    *text = bytes;
    *length = size;
    if (failed || size >= SOURCE_LIMIT) {
        free(bytes);
        *text = NULL;
        return cli_fail(CLI_INPUT, failed ? "%s cannot be read" : "%s has more than 64 MiB", name);
    }
    return CLI_OK;
}

static int read_text(const char *name, char **text) {
    size_t size;
    int code = read_bytes(name, text, &size);
    if (code != CLI_OK || strlen(*text) == size)
        return code;
    free(*text);
    *text = NULL;
    return cli_fail(CLI_INPUT, "%s is no text: it has a byte 0", name);
}

/* ---- arrays from files ---- */

typedef struct reader {
    cli_session *session;
    int code; /* of the failure that has been printed */
} reader;

static void copy_out(const DLTensor *t, int axis, const char *from, char **to, size_t size) {
    if (axis == t->ndim) {
        memcpy(*to, from, size);
        *to += size;
        return;
    }
    for (int64_t i = 0; i < t->shape[axis]; i++)
        copy_out(t, axis + 1, from + i * t->strides[axis] * (int64_t)size, to, size);
}

/* bf16 has no .npy type of its own: its bits are kept as u16. */
static bool same_bits(tess_type file, tess_type wanted) { return file == wanted || (wanted == tess_bf16 && file == tess_u16); }

/* Reads the file into data; the message has been printed when the code is not CLI_OK. */
static int read_elements(cli_session *session, const char *name, void *data, tess_type type, int64_t count) {
    tess_io_array array;
    int code = cli_read(session, name, &array);
    if (code != CLI_OK)
        return code;
    tess_type file = tess_io_type(&array);
    if (!same_bits(file, type))
        code = cli_fail(CLI_INPUT, "%s has elements of type %s, %s is needed", name, tess_type_name(file), tess_type_name(type));
    else if (tess_io_count(&array.tensor) != count)
        code = cli_fail(CLI_INPUT, "%s has %lld elements, %lld are needed", name, (long long)tess_io_count(&array.tensor), (long long)count);
    else {
        char *to = data;
        copy_out(&array.tensor, 0, (const char *)array.tensor.data + array.tensor.byte_offset, &to, tess_type_size(type));
    }
    tess_io_free(&array);
    return code;
}

static tess_status read_file(void *user, const char *name, void *data, tess_type type, int64_t count) {
    reader *r = user;
    r->code = read_elements(r->session, name, data, type, count);
    return r->code == CLI_OK ? TESS_OK : TESS_ERR_FILE;
}

/* ---- outputs ---- */

/* INDEX=FILE: the output of that number, else the one at that place among the arguments. */
static int find_output(const tess_profile *profile, const char *option, const char *text, tess_profile_output *output, const char **file) {
    char *end;
    long index = strtol(text, &end, 10);
    if (end == text || *end != '=' || !end[1] || index < 0 || index > 4096)
        return cli_fail(CLI_USAGE, "--%s is \"%s\", it must be INDEX=FILE.npy", option, text);
    *file = end + 1;
    if (!profile || tess_profile_output_get(profile, (int)index, output))
        return CLI_OK;
    int count = 0;
    for (; tess_profile_output_get(profile, count, output); count++)
        if (output->argument == index)
            return CLI_OK;
    return cli_fail(CLI_USAGE, "--%s is \"%s\": the launch has %d output%s and no output at argument %ld", option, text, count, count == 1 ? "" : "s",
                    index);
}

static int save(const tess_profile *profile, const char *text) {
    tess_profile_output output;
    tess_io_message message;
    tess_io_array array;
    const char *file = NULL;
    int code = find_output(profile, "output", text, &output, &file);
    if (code != CLI_OK)
        return code;
    tess_type type = output.type == tess_bf16 ? tess_u16 : output.type;
    tess_io_status status = tess_io_make(&array, type, 1, &output.count, "an output", &message);
    if (status == TESS_IO_OK) {
        if (output.count > 0)
            memcpy(array.tensor.data, output.data, (size_t)output.count * tess_type_size(type));
        status = tess_io_write(&array, file, &message);
        tess_io_free(&array);
    }
    return status == TESS_IO_OK ? CLI_OK : cli_fail_io(status, &message);
}

/* CLI_FAULTS, with the line printed, when a bit differs. */
static int compare(cli_session *session, const tess_profile *profile, const char *text) {
    tess_profile_output output;
    const char *file = NULL;
    int code = find_output(profile, "expect", text, &output, &file);
    if (code != CLI_OK)
        return code;
    size_t size = tess_type_size(output.type);
    char *expected = malloc((size_t)output.count * size + 1);
    if (!expected)
        return cli_fail(CLI_FAILED, "no memory for %s", file);
    code = read_elements(session, file, expected, output.type, output.count);
    const char *is = output.data;
    int64_t first = -1, differ = 0;
    for (int64_t i = 0; code == CLI_OK && i < output.count; i++)
        if (memcmp(expected + (size_t)i * size, is + (size_t)i * size, size) != 0) {
            first = first < 0 ? i : first;
            differ++;
        }
    free(expected);
    if (first >= 0)
        code = cli_fail(CLI_FAULTS, "%lld of %lld elements differ from %s, the first is element %lld", (long long)differ, (long long)output.count,
                        file, (long long)first);
    return code;
}

/* ---- the report ---- */

static int report_text(const tess_profile *profile, tess_format format, char **text, size_t *length) {
    if (tess_profile_text(profile, format, NULL, 0, length) != TESS_OK)
        return cli_fail_library();
    if (!(*text = malloc(*length + 1)))
        return cli_fail(CLI_FAILED, "%zu bytes for a text could not be allocated", *length + 1);
    if (tess_profile_text(profile, format, *text, *length + 1, length) != TESS_OK) {
        free(*text);
        return cli_fail_library();
    }
    return CLI_OK;
}

static int write_page(const tess_profile *profile, const char *name) {
    char *text;
    size_t length;
    int code = report_text(profile, TESS_HTML, &text, &length);
    if (code != CLI_OK)
        return code;
    FILE *f = strcmp(name, "-") == 0 ? stdout : fopen(name, "wb");
    if (!f)
        code = cli_fail(CLI_OUTPUT, "%s cannot be written: %s", name, strerror(errno));
    else if (fwrite(text, 1, length, f) != length || (f == stdout ? fflush(f) : fclose(f)) != 0)
        code = cli_fail(CLI_OUTPUT, "%s cannot be written: %s", name, strerror(errno));
    free(text);
    return code;
}

static int print_report(const cli_session *session, const tess_profile *profile) {
    char *text;
    size_t length;
    int code = report_text(profile, session->options.json ? TESS_JSON : TESS_TEXT, &text, &length);
    if (code != CLI_OK)
        return code;
    fputs(text, stdout);
    free(text);
    return cli_flush();
}

static int finish(cli_session *session, const tess_profile *profile) {
    const cli_options *o = &session->options;
    int code = CLI_OK, verdict = CLI_OK;
    for (int i = 0; i < o->outputs.count && code == CLI_OK; i++)
        code = save(profile, o->outputs.at[i]);
    if (code == CLI_OK && o->page)
        code = write_page(profile, o->page);
    if (code == CLI_OK && !(o->page && strcmp(o->page, "-") == 0))
        code = print_report(session, profile);
    for (int i = 0; i < o->expected.count && code == CLI_OK; i++) {
        int one = compare(session, profile, o->expected.at[i]);
        code = one == CLI_FAULTS ? CLI_OK : one;
        verdict = one == CLI_FAULTS ? one : verdict;
    }
    if (code == CLI_OK && tess_profile_faults(profile) > 0)
        verdict = cli_fail(CLI_FAULTS, "%d fault%s, the first: %s", tess_profile_faults(profile), tess_profile_faults(profile) == 1 ? "" : "s",
                           tess_profile_fault(profile, 0));
    return code == CLI_OK ? verdict : code;
}

/* ---- options ---- */

typedef struct words {
    const char *at[2 * CLI_TEXTS + 2];
    char *made[2 * CLI_TEXTS + 2];
    int count;
} words;

static bool add_word(words *w, const char *letter, const char *text) {
    size_t size = strlen(letter) + strlen(text) + 1;
    char *word = malloc(size);
    if (!word)
        return false;
    snprintf(word, size, "%s%s", letter, text);
    w->made[w->count] = word;
    w->at[w->count++] = word;
    return true;
}

/* -I of the source's folder comes first: #include "..." looks beside the file. */
static int compiler_words(const cli_options *o, const char *source, words *w) {
    bool there = true;
    char *copy = strdup(source);
    if (copy && strcmp(source, "-") != 0)
        there = add_word(w, "-I", dirname(copy));
    for (int i = 0; i < o->includes.count && there; i++)
        there = add_word(w, "-I", o->includes.at[i]);
    for (int i = 0; i < o->defines.count && there; i++)
        there = add_word(w, "-D", o->defines.at[i]);
    there = there && (!o->fast_math || add_word(w, "--use_fast_math", "")) && copy;
    free(copy);
    return there ? CLI_OK : cli_fail(CLI_FAILED, "no memory for the compiler's options");
}

/* A card's name goes to the library; what names a file is a list of cards, whose first is meant. */
static int card(const char *given, tess_profile_options *options, char **list) {
    *list = NULL;
    options->card = given;
    if (!given || !strpbrk(given, "./"))
        return CLI_OK;
    int code = read_text(given, list);
    options->cards = *list;
    options->card = NULL;
    return code;
}

static int check_words(const cli_options *o) {
    const char *file = NULL;
    if (o->check_global && o->no_check)
        return cli_fail(CLI_USAGE, "--check-global and --no-check exclude each other");
    if (o->check && o->no_check)
        return cli_fail(CLI_USAGE, "--check and --no-check exclude each other");
    for (int i = 0; i < o->outputs.count + o->expected.count; i++) {
        bool output = i < o->outputs.count;
        int code = find_output(NULL, output ? "output" : "expect", output ? o->outputs.at[i] : o->expected.at[i - o->outputs.count], NULL, &file);
        if (code != CLI_OK)
            return code;
        if (output && tess_io_format_named(file) != TESS_IO_NPY)
            return cli_fail(CLI_USAGE, "--output is \"%s\", the file must be an .npy", o->outputs.at[i]);
    }
    return CLI_OK;
}

int cli_run_profile(cli_session *session) {
    const cli_options *o = &session->options;
    const char *name = session->operands[0];
    reader files = {.session = session};
    words w = {.count = 0};
    char *source = NULL, *list = NULL, *cubin = NULL;
    tess_profile *profile = NULL;
    tess_profile_options options = {.struct_size = sizeof options,
                                    .name = strcmp(name, "-") == 0 ? NULL : name,
                                    .compiler_options = w.at,
                                    .no_fmad = o->fmad == 1,
                                    .no_check = o->no_check,
                                    .check_global = o->check_global,
                                    .step_limit = (uint64_t)o->step_limit,
                                    .threads = o->threads,
                                    .seed = (uint64_t)o->seed,
                                    .read = read_file,
                                    .read_user = &files};
    int code = check_words(o);
    if (code == CLI_OK)
        code = read_text(name, &source);
    if (code == CLI_OK)
        code = compiler_words(o, name, &w);
    if (code == CLI_OK)
        code = card(o->card, &options, &list);
    if (code == CLI_OK && o->cubin)
        code = read_bytes(o->cubin, &cubin, &options.cubin_size);
    options.cubin = cubin;
    options.compiler_option_count = w.count;
    if (code == CLI_OK && tess_profile_kernel(&profile, session->context, source, session->operands[1], NULL, 0, &options) != TESS_OK)
        code = files.code != CLI_OK ? files.code : cli_fail_library();
    if (code == CLI_OK)
        code = finish(session, profile);
    tess_profile_free(profile);
    for (int i = 0; i < w.count; i++)
        free(w.made[i]);
    free(source);
    free(list);
    free(cubin);
    return code;
}
