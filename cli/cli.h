/* SPDX-License-Identifier: Apache-2.0
 * cli.h - what the files of the command share: exit codes, the option values, a session.
 *
 * The command sees the library through include/tessera.h alone, like any other program, and files through io/io.h. */
#ifndef TESS_CLI_CLI_H
#define TESS_CLI_CLI_H

#include "io/io.h"

/* Exit codes; docs/tessera.1 and `tessera help` list them. A signal ends the process as signals do (a shell sees 128 + its number). */
enum {
    CLI_OK = 0,
    CLI_FAILED = 1, /* the library refused or failed: sizes, types, axes, an index outside its table, memory */
    CLI_USAGE = 2,  /* the command line: an unknown command, option, word, a malformed number or mask */
    CLI_INPUT = 3,  /* an input file: not there, not readable, damaged, beyond a limit */
    CLI_OUTPUT = 4, /* the output: not writable, disk full, a format that cannot hold the result */
    CLI_FAULTS = 5  /* profile: the kernel has faults, or an output is not the expected one */
};

/* Prints the one line "tessera: ..." on stderr and gives the code back. Control characters of names are shown as '?'. */
int cli_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
int cli_fail_library(void); /* the library's sentence, CLI_FAILED */
int cli_fail_io(tess_io_status status, const tess_io_message *message);

/* Commands as bits, for the option table. */
enum {
    CLI_CORRELATE = 1 << 0,
    CLI_CONVOLVE = 1 << 1,
    CLI_REDUCE = 1 << 2,
    CLI_TRANSPOSE = 1 << 3,
    CLI_LOOKUP = 1 << 4,
    CLI_LIST = 1 << 5,
    CLI_EXPLAIN = 1 << 6,
    CLI_DEVICES = 1 << 7,
    CLI_LADDER = 1 << 8,
    CLI_BENCH = 1 << 9,
    CLI_TUNE = 1 << 10,
    CLI_HELP = 1 << 11,
    CLI_PROFILE = 1 << 12
};

/* The values of an option that may be given several times. */
enum { CLI_TEXTS = 64 };
typedef struct cli_texts {
    const char *at[CLI_TEXTS];
    int count;
} cli_texts;

/* What the options say; zero is every default. */
typedef struct cli_options {
    const char *output, *mask, *strategy, *offsets, *only;
    int engine, isa, threads, rounds, pages;
    int boundary, extent, accuracy, nan, outside, interpolate;
    double constant, ddof, fill, seconds;
    bool boundary_given, constant_given;
    tess_type type, compute;
    int axes[TESS_MAX_NDIM], naxes;
    bool axes_given;
    int64_t origin[TESS_MAX_NDIM];
    int norigin;
    int64_t max_pixels;
    int rate;
    bool json, html, quiet, keepdims, exact, all, rows, help;
    cli_texts outputs, expected, defines, includes; /* profile */
    const char *card, *page, *cubin;
    int fmad; /* 0: contract */
    int seed;
    bool fast_math, check, no_check, check_global;
    int step_limit;
} cli_options;

/* Of the arrays of bench; UNTOUCHED: inputs and outputs without values, for planning. */
typedef enum cli_pages { CLI_PAGES_HUGE = 0, CLI_PAGES_ORDINARY, CLI_PAGES_UNTOUCHED } cli_pages;

typedef enum cli_mode { CLI_RUN = 0, CLI_MODE_EXPLAIN, CLI_MODE_TUNE } cli_mode;

typedef struct cli_session cli_session;

typedef struct cli_command {
    const char *name, *operands; /* "reduce", "OP IN" */
    const char *summary;         /* one line */
    const char *about;           /* a paragraph for `tessera help NAME` */
    unsigned bit;
    int least, most; /* operands; most < 0: the command reads its own arguments */
    int (*run)(cli_session *session);
} cli_command;

struct cli_session {
    const cli_command *command;
    cli_mode mode;
    cli_options options;
    char **operands;
    int count;
    tess_context *context;
    tess_io_limits limits;
};

extern const cli_command cli_commands[]; /* ends with a NULL name */
const cli_command *cli_command_named(const char *name);
int cli_start(const cli_command *command, cli_mode mode, int argc, char **argv); /* argv[0]: the command's name */

/* options.c */
typedef enum cli_kind { CLI_FLAG, CLI_TEXT, CLI_WORD, CLI_INTEGER, CLI_REAL, CLI_TYPE, CLI_AXES, CLI_ORIGIN, CLI_APPEND } cli_kind;
typedef struct cli_option {
    const char *name;
    char letter; /* 0 = none */
    const char *argument;
    cli_kind kind;
    size_t at;                /* offset in cli_options */
    const char *const *words; /* CLI_WORD: by value, ends with NULL */
    int64_t low, high;        /* CLI_INTEGER */
    unsigned commands;
    const char *help;
} cli_option;
extern const cli_option cli_option_table[];
extern const int cli_option_count;
/* Fills session->options, operands and count. CLI_OK or CLI_USAGE with the line printed. */
int cli_options_parse(cli_session *session, int argc, char **argv);

/* help.c */
void cli_help_all(void);
void cli_help_command(const cli_command *command);
int cli_help_json(void); /* the option table, for completion and the tests */
int cli_flush(void);     /* ends standard output: CLI_OK or CLI_OUTPUT */

/* progress.c: the context's callback. */
void cli_progress_start(tess_context_options *options, const cli_options *given);
void cli_progress_end(void);

/* work.c: what the operations share. */
int cli_read(cli_session *session, const char *name, tess_io_array *array);
/* The type to compute a result in: --type, else what the output's format makes of `type`. */
int cli_result_type(const cli_session *session, tess_type type, tess_type *result);
/* Explains, tunes or executes the plan, and frees it. *ran tells whether there is a result. report may be NULL. */
int cli_run_plan(cli_session *session, tess_plan *plan, const DLTensor *in, const DLTensor *second, const DLTensor *out, tess_report *report,
                 bool *ran);
/* Into the user's file. */
int cli_save_wisdom(cli_session *session);
int cli_print_wisdom(cli_session *session); /* what tune --json prints */
/* --seconds, else the default. */
double cli_seconds(const cli_session *session);
/* Converts array into a new one of another type, in place of the old. */
int cli_convert(cli_session *session, tess_io_array *array, tess_type type);
/* Writes the array to -o and prints the report with --json. from: whose sample rate goes along. */
int cli_finish(cli_session *session, tess_io_array *array, const tess_io_array *from, const tess_report *report);
/* The text of a function such as tess_explain on standard output. */
int cli_print_text(tess_status (*write)(void *with, tess_format format, char *text, size_t capacity, size_t *length), void *with, tess_format format);

/* print.c: values on standard output. */
int cli_print_array(cli_session *session, const tess_io_array *array, const tess_report *report);

/* The operation named by the only operand, NULL when there is none. */
int cli_operation(const cli_session *session, const char **operation);

/* The commands. */
int cli_run_correlate(cli_session *session);
int cli_run_reduce(cli_session *session);
int cli_run_transpose(cli_session *session);
int cli_run_lookup(cli_session *session);
int cli_run_list(cli_session *session);
int cli_run_explain(cli_session *session);
int cli_run_devices(cli_session *session);
int cli_run_ladder(cli_session *session);
int cli_run_bench(cli_session *session);
int cli_run_tune(cli_session *session);
int cli_run_profile(cli_session *session);
int cli_run_help(cli_session *session);

#endif
