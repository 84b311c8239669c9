/* SPDX-License-Identifier: Apache-2.0
 * profile.h - what the files of this folder share.
 *
 *   launch text --launch_text.c--> tess_launch --arguments.c--> parameters and arrays on the machine
 *   CUDA C++ --translate.c--> PTX --vgpu--> counters, samples, faults --model.c--> prediction --report_*.c--> text, JSON, HTML */
#ifndef TESS_PROFILE_PROFILE_H
#define TESS_PROFILE_PROFILE_H

#include "core/context.h"
#include "core/strategy.h"
#include "profile/model.h"

/* ---- the launch language (launch_text.c); tessera.h section 13 is its manual ---- */

typedef enum tess_launch_kind {
    TESS_LAUNCH_ARRAY,     /* in:T[N]=SOURCE, inout:..., out:T[N] */
    TESS_LAUNCH_CALLER,    /* $N, in:$N, inout:$N, out:$N */
    TESS_LAUNCH_WHOLE,     /* 4096, -1, 0x10, true: value in bits, two's complement */
    TESS_LAUNCH_REAL,      /* 0.5f, 1e-3 */
    TESS_LAUNCH_STRUCTURE, /* { ... }: the members follow, up to `end` */
} tess_launch_kind;

typedef enum tess_launch_source {
    TESS_SOURCE_NONE,
    TESS_SOURCE_RAMP,
    TESS_SOURCE_ZEROS,
    TESS_SOURCE_ONES,
    TESS_SOURCE_RANDOM,
    TESS_SOURCE_FILE
} tess_launch_source;

typedef struct tess_launch_value {
    tess_launch_kind kind;
    int at;         /* place in the text, from 0 */
    tess_type type; /* of an array's elements; of a number when the text says it: 0.5f, 7ull, u8:7; else tess_no_type */
    /* arrays */
    bool in, out, bare; /* bare: $N without a word before it */
    int64_t count;
    tess_launch_source source;
    uint64_t seed;
    const char *file; /* in the text */
    int file_length;
    int number; /* of $N */
    /* numbers */
    bool negative;
    uint64_t bits; /* whole: as stored */
    double real;   /* of either kind */
    float single;  /* of a real: rounded once from its digits */
    /* structures */
    int end;
} tess_launch_value;

typedef struct tess_launch {
    char kernel[512];
    bool templated; /* the name has template arguments */
    uint32_t grid[3], block[3];
    int64_t shared;
    bool no_list; /* no (arguments) at all */
    tess_launch_value *values;
    int count, room;
} tess_launch;

tess_status tess_launch_parse(tess_context *context, const char *text, tess_launch *launch);
void tess_launch_free(tess_context *context, tess_launch *launch);

/* ---- a profile ---- */

typedef struct profile_array {
    uint64_t address;
    int64_t bytes, count;
    tess_type type;
    bool out;
    int argument;           /* place among the arguments */
    const DLTensor *caller; /* to be written back, or NULL */
    char *data;             /* what the kernel left, for outputs */
    uint64_t hash;
} profile_array;

typedef struct profile_line {
    const char *file;
    int file_length, line;
    tess_vgpu_counters counters, audited;
    tess_vgpu_verdict verdict; /* the last in their order of what its accesses met with */
} profile_line;

struct tess_profile {
    tess_context *context;
    tess_vgpu_machine *machine;
    tess_vgpu_module *module;
    tess_vgpu_run *run;
    tess_launch launch;
    char *launch_text, *name, *source; /* copies; source as given */
    size_t launch_size, name_size, source_size;
    bool source_is_ptx, fmad;
    char kernel[512]; /* as the PTX spells it */
    int kernel_number;
    char *params;
    int64_t param_bytes;
    profile_array *arrays;
    int array_count, array_room, output_count;
    tess_vgpu_counters total, audited;
    bool is_audited;
    profile_line *lines; /* by file and line */
    int line_count, line_room;
    tess_card card;
    int64_t static_shared;
    tess_prediction prediction;
    tess_finding findings[TESS_FINDINGS];
    int finding_count;
};

/* translate.c: PTX and machine code of a CUDA source, the caller's; the PTX ends with a 0. No machine code (NULL) from a compiler that gives none.
 * lowered: the mangled name of a template's instance, or "". */
typedef struct profile_code {
    char *ptx, *cubin;
    size_t ptx_size, cubin_size;
    char lowered[512];
} profile_code;
/* host_code.c: a copy of a program's text, the caller's, in which blanks are where functions of the host were; NULL: no memory. */
char *tess_profile_device_code(tess_context *context, const char *source, size_t *size);
/* The declarations outside device code that lie on one of the lines become blanks, functions of the host too; how many did by their lines. */
int tess_profile_leave_out(char *text, const int *line, int lines);
/* host_headers.c: stand-ins for headers, of a program's host too; how many. */
enum { TESS_PROFILE_HEADERS = 160 };
int tess_profile_headers(bool program, const char **name, const char **text);
tess_status tess_profile_translate(tess_context *context, const char *source, const char *name, const tess_launch *launch,
                                   const tess_profile_options *options, profile_code *code);
void tess_profile_code_free(tess_context *context, profile_code *code);
/* Whether a mangled or plain symbol is the function that the user calls `name`. */
bool tess_profile_names(const char *symbol, int length, const char *name);

/* How the user calls a file of the line table. */
const char *tess_profile_file(const tess_profile *profile, const char *file, int length, int *shown);

/* arguments.c: makes and fills the arrays, lays out the parameters. */
tess_status tess_profile_bind(tess_profile *profile, const DLTensor *const *arrays, int count, const tess_profile_options *options);
/* Fetches and hashes the outputs; writes the caller's arrays. */
tess_status tess_profile_collect(tess_profile *profile);

/* fill.c: `count` elements of a source. */
tess_status tess_profile_fill(tess_context *context, void *data, tess_type type, int64_t count, tess_launch_source source, uint64_t seed);

/* The text of a line of the source, without its end; NULL when the profile does not have it. */
const char *tess_profile_source_line(const tess_profile *profile, const char *file, int file_length, int line, int *length);

/* report_*.c */
void tess_profile_json(const tess_profile *profile, tess_text *text);
void tess_profile_plain(const tess_profile *profile, tess_text *text);
void tess_profile_html(const tess_profile *profile, tess_text *text);
/* picture.c: a sample as an SVG: lanes by banks, or lanes by sectors. */
void tess_profile_picture(const tess_vgpu_sample *sample, tess_text *text);
void tess_profile_roofline(const tess_prediction *prediction, tess_text *text);

#endif
