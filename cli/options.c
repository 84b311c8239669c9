/* SPDX-License-Identifier: Apache-2.0
 * options.c - the one table of options, and its reading by getopt_long.
 *
 * The table makes the parser, the help and the JSON that the test of the man page and the completions reads: an option is one row. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define ALL_WORK (CLI_CORRELATE | CLI_CONVOLVE | CLI_REDUCE | CLI_TRANSPOSE | CLI_LOOKUP)
#define STENCIL (CLI_CORRELATE | CLI_CONVOLVE)
#define MACHINE (CLI_PROFILE | CLI_DEVICES | CLI_LADDER | CLI_BENCH | CLI_TUNE)
#define EVERY ((unsigned)-1)
#define AT(field) offsetof(cli_options, field)

static const char *const pages[] = {"huge", "ordinary", NULL};
static const char *const truths[] = {"true", "false", NULL};
static const char *const engines[] = {"auto", "cpu", "cuda", "virtual", NULL};
static const char *const isas[] = {"auto", "baseline", "avx2", "avx512", "neon", NULL};
static const char *const boundaries[] = {"zero", "constant", "nearest", "reflect", "mirror", "wrap", NULL};
static const char *const extents[] = {"same", "valid", "full", NULL};
static const char *const accuracies[] = {"direct", "fast", "fft", NULL};
static const char *const nans[] = {"propagate", "omit", NULL};
static const char *const outsides[] = {"error", "clip", "wrap", "fill", NULL};
static const char *const interpolations[] = {"none", "nearest", "linear", "cubic", NULL};

const cli_option cli_option_table[] = {
    {"output", 'o', "FILE", CLI_TEXT, AT(output), NULL, 0, 0, ALL_WORK,
     "where the result goes; the extension says how: .npy .png .tif .tiff .wav .flac; - is standard output, as .npy"},
    {"output", 'o', "INDEX=FILE", CLI_APPEND, AT(outputs), NULL, 0, 0, CLI_PROFILE,
     "saves an array that the kernel wrote as .npy; INDEX counts the outputs from 0, or else the arguments; may be given several times"},
    {"expect", 0, "INDEX=FILE", CLI_APPEND, AT(expected), NULL, 0, 0, CLI_PROFILE,
     "compares an output with an .npy bit for bit; exit status 5 when they differ; may be given several times"},
    {"define", 'D', "NAME[=VALUE]", CLI_APPEND, AT(defines), NULL, 0, 0, CLI_PROFILE, "defines a macro for the compiler"},
    {"include", 'I', "FOLDER", CLI_APPEND, AT(includes), NULL, 0, 0, CLI_PROFILE, "looks for headers there too, after the folder of the source"},
    {"fmad", 0, "B", CLI_WORD, AT(fmad), truths, 0, 0, CLI_PROFILE, "products and sums are contracted: true (default, as nvcc), false"},
    {"fast-math", 0, NULL, CLI_FLAG, AT(fast_math), NULL, 0, 0, CLI_PROFILE,
     "fast functions, divisions and roots, numbers that flush to 0: nvcc's -use_fast_math"},
    {"check", 0, NULL, CLI_FLAG, AT(check), NULL, 0, 0, CLI_PROFILE, "looks for undefined reads, races in shared memory and leaks (default)"},
    {"no-check", 0, NULL, CLI_FLAG, AT(no_check), NULL, 0, 0, CLI_PROFILE, "does not, and is faster"},
    {"check-global", 0, NULL, CLI_FLAG, AT(check_global), NULL, 0, 0, CLI_PROFILE,
     "looks for races in global memory too; takes more memory, and one thread"},
    {"step-limit", 0, "N", CLI_INTEGER, AT(step_limit), NULL, 1, INT_MAX, CLI_PROFILE,
     "ends a kernel of which a warp takes more than N backward branches and calls, as a fault (default: no limit)"},
    {"card", 0, "CARD", CLI_TEXT, AT(card), NULL, 0, 0, CLI_PROFILE,
     "whose time is predicted: H200 (default), A100, RTX4090, T4, or a file with a card's data"},
    {"cubin", 0, "FILE", CLI_TEXT, AT(cubin), NULL, 0, 0, CLI_PROFILE,
     "machine code that ptxas -lineinfo made of the PTX for sm_90: its accesses are counted too"},
    {"seed", 0, "N", CLI_INTEGER, AT(seed), NULL, 0, INT_MAX, CLI_PROFILE, "warps take turns in an order shuffled by N, to bring races out"},
    {"html", 0, "FILE", CLI_TEXT, AT(page), NULL, 0, 0, CLI_PROFILE,
     "writes a self-contained page: annotated source, pictures of the worst accesses, roofline"},
    {"mask", 'm', "SPEC", CLI_TEXT, AT(mask), NULL, 0, 0, STENCIL, "the weights; see MASKS"},
    {"boundary", 'b', "B", CLI_WORD, AT(boundary), boundaries, 0, 0, STENCIL,
     "what lies beyond the edges: zero (default), constant, nearest, reflect (edge repeated), mirror (edge not repeated), wrap"},
    {"constant", 0, "V", CLI_REAL, AT(constant), NULL, 0, 0, STENCIL, "the value beyond the edges; implies --boundary constant"},
    {"extent", 0, "E", CLI_WORD, AT(extent), extents, 0, 0, STENCIL, "how much comes out: same (default), valid, full"},
    {"origin", 0, "N,..", CLI_ORIGIN, AT(origin), NULL, 0, 0, STENCIL, "shifts the mask, one number for each of its axes, as in scipy.ndimage"},
    {"accuracy", 0, "A", CLI_WORD, AT(accuracy), accuracies, 0, 0, STENCIL,
     "the method: direct (default), fast, which takes Fourier transforms or factors for large masks, or fft, which always transforms"},
    {"compute", 0, "T", CLI_TYPE, AT(compute), NULL, 0, 0, STENCIL, "computes in this type, one at least as wide as the rule's: f64"},
    {"axes", 'a', "N,..", CLI_AXES, AT(axes), NULL, 0, 0, STENCIL | CLI_TRANSPOSE,
     "axes that the mask runs along, or the order of the axes of a transposed array; negative ones count from the end"},
    {"axis", 0, "N,..", CLI_AXES, AT(axes), NULL, 0, 0, CLI_REDUCE | CLI_LOOKUP,
     "axes to reduce (default: all), or the axis of the table (default: 0)"},
    {"keepdims", 'k', NULL, CLI_FLAG, AT(keepdims), NULL, 0, 0, CLI_REDUCE, "keeps reduced axes with size 1"},
    {"ddof", 0, "D", CLI_REAL, AT(ddof), NULL, 0, 0, CLI_REDUCE, "var and std divide by the count less D (default 0)"},
    {"nan", 0, "P", CLI_WORD, AT(nan), nans, 0, 0, CLI_REDUCE, "NaN elements: propagate (default), or omit, which does not count them"},
    {"exact", 0, NULL, CLI_FLAG, AT(exact), NULL, 0, 0, CLI_REDUCE, "sum, mean and norm1 of floats are correctly rounded"},
    {"offsets", 0, "FILE", CLI_TEXT, AT(offsets), NULL, 0, 0, CLI_REDUCE,
     "reduces segments of the one axis: an .npy of n + 1 ascending i64 or i32 offsets"},
    {"outside", 0, "P", CLI_WORD, AT(outside), outsides, 0, 0, CLI_LOOKUP, "indices outside the table: error (default), clip, wrap, fill"},
    {"fill", 0, "V", CLI_REAL, AT(fill), NULL, 0, 0, CLI_LOOKUP, "the value for --outside fill (default 0)"},
    {"interpolate", 'i', "M", CLI_WORD, AT(interpolate), interpolations, 0, 0, CLI_LOOKUP,
     "for real indices: nearest, linear (default), cubic; none for integers"},
    {"type", 't', "T", CLI_TYPE, AT(type), NULL, 0, 0, ALL_WORK,
     "the result's type: bool u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64 c64 c128; values round half to even and saturate"},
    {"rate", 0, "HZ", CLI_INTEGER, AT(rate), NULL, 1, INT_MAX, ALL_WORK, "sample rate of a WAV or FLAC output whose input has none"},
    {"max-pixels", 0, "N", CLI_INTEGER, AT(max_pixels), NULL, 1, INT64_MAX, ALL_WORK,
     "refuses larger input images (default 268435456) and FLAC recordings of more frames (default 4294967296)"},
    {"engine", 0, "E", CLI_WORD, AT(engine), engines, 0, 0, ALL_WORK | CLI_LADDER | CLI_TUNE,
     "where it runs: auto (default), cpu, cuda, or virtual: a GPU in software"},
    {"strategy", 's', "NAME", CLI_TEXT, AT(strategy), NULL, 0, 0, ALL_WORK,
     "runs this strategy or fails saying why it cannot; `tessera list` names them"},
    {"threads", 'j', "N", CLI_INTEGER, AT(threads), NULL, 1, 1024, ALL_WORK | MACHINE, "uses at most N threads (default: all processors)"},
    {"isa", 0, "I", CLI_WORD, AT(isa), isas, 0, 0, ALL_WORK | MACHINE, "highest instruction set: auto (default), baseline, avx2, avx512, neon"},
    {"seconds", 0, "S", CLI_REAL, AT(seconds), NULL, 0, 0, CLI_BENCH | CLI_LADDER | CLI_TUNE,
     "about how long each measurement may take (default 0.5)"},
    {"all", 0, NULL, CLI_FLAG, AT(all), NULL, 0, 0, CLI_BENCH | CLI_TUNE,
     "takes every workload, not the quick ones only; `tessera list workloads` names them"},
    {"only", 0, "TEXT", CLI_TEXT, AT(only), NULL, 0, 0, CLI_BENCH | CLI_TUNE, "takes the workloads that have this text in their names"},
    {"rows", 0, NULL, CLI_FLAG, AT(rows), NULL, 0, 0, CLI_BENCH,
     "times every strategy that can run, the reference left out, not the chosen one alone"},
    {"rounds", 0, "N", CLI_INTEGER, AT(rounds), NULL, 1, 1000, CLI_BENCH, "at least N timed runs of each (default 5)"},
    {"pages", 0, "P", CLI_WORD, AT(pages), pages, 0, 0, CLI_BENCH, "memory pages of the arrays: huge (default), ordinary"},
    {"html", 0, NULL, CLI_FLAG, AT(html), NULL, 0, 0, CLI_LADDER, "prints one self-contained HTML page"},
    {"json", 0, NULL, CLI_FLAG, AT(json), NULL, 0, 0, ALL_WORK | MACHINE | CLI_LIST | CLI_HELP, "prints JSON: results, and what ran at which speed"},
    {"quiet", 'q', NULL, CLI_FLAG, AT(quiet), NULL, 0, 0, ALL_WORK | CLI_LADDER | CLI_BENCH | CLI_TUNE, "draws no progress bar"},
    {"help", 'h', NULL, CLI_FLAG, AT(help), NULL, 0, 0, EVERY, "prints this text"},
};
const int cli_option_count = (int)(sizeof cli_option_table / sizeof cli_option_table[0]);

static int bad(const cli_option *option, const char *text, const char *what) {
    return cli_fail(CLI_USAGE, "--%s is \"%s\", %s", option->name, text, what);
}

static int set_word(cli_session *session, const cli_option *option, const char *text) {
    char list[160] = "";
    for (int v = 0; option->words[v]; v++) {
        if (strcmp(text, option->words[v]) == 0) {
            *(int *)((char *)&session->options + option->at) = v;
            session->options.boundary_given |= option->at == AT(boundary);
            return CLI_OK;
        }
        strcat(strcat(list, v ? ", " : ""), option->words[v]);
    }
    return cli_fail(CLI_USAGE, "--%s is \"%s\", it must be one of %s", option->name, text, list);
}

static int set_integer(cli_session *session, const cli_option *option, const char *text) {
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end || errno || value < option->low || value > option->high)
        return cli_fail(CLI_USAGE, "--%s is \"%s\", it must be a whole number from %lld to %lld", option->name, text, (long long)option->low,
                        (long long)option->high);
    if (option->at == AT(max_pixels))
        session->options.max_pixels = value;
    else
        *(int *)((char *)&session->options + option->at) = (int)value;
    return CLI_OK;
}

static int set_real(cli_session *session, const cli_option *option, const char *text) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end)
        return bad(option, text, "it must be a number");
    if (option->at == AT(seconds) && !(value > 0 && value <= 3600))
        return bad(option, text, "it must be above 0 and at most 3600");
    *(double *)((char *)&session->options + option->at) = value;
    session->options.constant_given |= option->at == AT(constant);
    return CLI_OK;
}

/* "0,1", "-1": axes or origins. */
static int set_list(cli_session *session, const cli_option *option, const char *text) {
    cli_options *o = &session->options;
    int count = 0;
    for (const char *at = text;; at++) {
        char *end;
        errno = 0;
        long value = strtol(at, &end, 10);
        if (end == at || (*end && *end != ','))
            return bad(option, text, "it must be whole numbers with commas between them");
        if (errno || value < INT_MIN || value > INT_MAX)
            return bad(option, text, "its numbers must lie from -2147483648 to 2147483647");
        if (count == TESS_MAX_NDIM)
            return bad(option, text, "it has more numbers than the limit of 64");
        if (option->kind == CLI_AXES)
            o->axes[count] = (int)value;
        else
            o->origin[count] = value;
        count++;
        at = end;
        if (!*at)
            break;
    }
    if (option->kind == CLI_AXES) {
        o->naxes = count;
        o->axes_given = true;
    } else {
        o->norigin = count;
    }
    return CLI_OK;
}

static int set(cli_session *session, const cli_option *option, const char *text) {
    char *field = (char *)&session->options + option->at;
    switch (option->kind) {
    case CLI_FLAG: *(bool *)field = true; return CLI_OK;
    case CLI_TEXT: *(const char **)field = text; return *text ? CLI_OK : bad(option, text, "it must not be empty");
    case CLI_WORD:
        if (option->at == AT(boundary) && strncmp(text, "constant:", 9) == 0) {
            static const cli_option value = {.name = "boundary constant", .kind = CLI_REAL, .at = AT(constant)};
            session->options.boundary = TESS_BOUNDARY_CONSTANT;
            return set_real(session, &value, text + 9);
        }
        return set_word(session, option, text);
    case CLI_APPEND: {
        cli_texts *texts = (cli_texts *)(void *)field;
        if (texts->count == CLI_TEXTS)
            return bad(option, text, "it may be given 64 times at most");
        texts->at[texts->count++] = text;
        return *text ? CLI_OK : bad(option, text, "it must not be empty");
    }
    case CLI_INTEGER: return set_integer(session, option, text);
    case CLI_REAL: return set_real(session, option, text);
    case CLI_TYPE:
        *(tess_type *)field = tess_type_named(text);
        return *(tess_type *)field != tess_no_type
                   ? CLI_OK
                   : bad(option, text, "an unknown type; the types are bool u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64 c64 c128");
    default: return set_list(session, option, text);
    }
}

/* A whole command that is tuned takes its own options and the one that says how long. */
static bool is_taken(const cli_session *session, const cli_option *row) {
    return (row->commands & session->command->bit) || (session->mode == CLI_MODE_TUNE && row->at == AT(seconds));
}

int cli_options_parse(cli_session *session, int argc, char **argv) {
    enum { ROWS = sizeof cli_option_table / sizeof cli_option_table[0], FIRST = 256 };
    struct option longs[ROWS + 1];
    char letters[2 * ROWS + 2] = ":";
    const char *command = session->command->name;
    int n = 0;
    for (int r = 0; r < ROWS; r++) {
        const cli_option *row = &cli_option_table[r];
        if (!is_taken(session, row))
            continue;
        longs[n++] = (struct option){row->name, row->argument ? required_argument : no_argument, NULL, FIRST + r};
        char letter[3] = {row->letter, row->argument ? ':' : 0, 0};
        strcat(letters, row->letter ? letter : "");
    }
    longs[n] = (struct option){NULL, 0, NULL, 0};
    optind = 0; /* glibc: start anew */
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, letters, longs, NULL)) != -1;) {
        int r = c - FIRST;
        if (c == ':' || c == '?') {
            const char *given = argv[optind - 1];
            if (c == ':')
                return cli_fail(CLI_USAGE, "%s: option %s needs a value; `tessera help %s`", command, given, command);
            if (optopt > 0 && optopt < FIRST)
                return cli_fail(CLI_USAGE, "%s: unknown option -%c; `tessera help %s` lists the options", command, optopt, command);
            return cli_fail(CLI_USAGE, "%s: option %s is unknown, ambiguous or has a value it does not take; `tessera help %s` lists the options",
                            command, given, command);
        }
        if (c < FIRST)
            for (r = 0; cli_option_table[r].letter != c || !is_taken(session, &cli_option_table[r]);)
                r++;
        int code = set(session, &cli_option_table[r], optarg);
        if (code != CLI_OK)
            return code;
    }
    if (session->options.constant_given) {
        if (session->options.boundary_given && session->options.boundary != TESS_BOUNDARY_CONSTANT)
            return cli_fail(CLI_USAGE, "--constant and --boundary %s exclude each other", boundaries[session->options.boundary]);
        session->options.boundary = TESS_BOUNDARY_CONSTANT;
    }
    session->operands = argv + optind;
    session->count = argc - optind;
    session->limits.pixels = session->options.max_pixels;
    if (session->options.help)
        return CLI_OK;
    if (session->count < session->command->least || (session->command->most >= 0 && session->count > session->command->most))
        return cli_fail(CLI_USAGE, "%s: %d argument%s; usage: tessera %s%s%s", command, session->count, session->count == 1 ? "" : "s", command,
                        session->command->operands[0] ? " " : "", session->command->operands);
    return CLI_OK;
}
