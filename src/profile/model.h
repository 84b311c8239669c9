/* SPDX-License-Identifier: Apache-2.0
 * model.h - from counters to a time: what a card can do, what a run asks of each of its parts, which lines waste most. */
#ifndef TESS_PROFILE_MODEL_H
#define TESS_PROFILE_MODEL_H

#include "core/strategy.h"
#include "vgpu/vgpu.h"

/* All doubles, in the card list by these names; docs/json.md says what each is. */
#define TESS_CARD_KEYS(X) \
    X(sms)                \
    X(clock_ghz)          \
    X(read_gb_s)          \
    X(write_gb_s)         \
    X(l2_gb_s)            \
    X(l2_scattered_gb_s)  \
    X(latency_ns)         \
    X(launch_us)          \
    X(warps)              \
    X(blocks)             \
    X(shared_kib)         \
    X(fp32)               \
    X(fp64)               \
    X(integer)            \
    X(special)

typedef struct tess_card {
    char name[32], title[80];
#define FIELD(key) double key;
    TESS_CARD_KEYS(FIELD)
#undef FIELD
} tess_card;

/* list NULL: the built-in one; name NULL: H200, or the first of a given list. */
tess_status tess_profile_card(const char *list, const char *name, tess_card *card);

/* The parts of a card that a kernel can wait for; name, what the amount counts. */
#define TESS_TERM_LIST(X)                                             \
    X(MEMORY, "memory", "bytes from and to memory")                   \
    X(L2, "L2", "bytes between L2 and the processors")                \
    X(L1, "shared memory and L1", "wavefronts")                       \
    X(CONSTANT, "constant cache", "distinct addresses a warp")        \
    X(ISSUE, "instruction issue", "warp instructions")                \
    X(FP32, "f32 units", "warp instructions, integer products twice") \
    X(FP64, "f64 units", "warp instructions")                         \
    X(INTEGER, "integer units", "warp instructions")                  \
    X(SPECIAL, "special function units", "warp instructions")         \
    X(LATENCY, "latency", "waits of a warp for memory or at barriers, one after the other")

typedef enum tess_term_name {
#define X(id, name, unit) TESS_TERM_##id,
    TESS_TERM_LIST(X)
#undef X
        TESS_TERMS
} tess_term_name;

typedef struct tess_term {
    double seconds, amount;
} tess_term;

typedef struct tess_prediction {
    tess_card card;
    tess_term term[TESS_TERMS];
    tess_term_name limiter;
    double seconds, launch_seconds; /* all terms, most of it the limiter's, and the launch's; the latter */
    int blocks_a_processor;         /* that fit at once by warps, blocks and shared memory; registers are not known */
    double busy;                    /* fraction of the processors' time that the blocks fill: 1 but for the last wave */
    double flops, bytes;            /* bytes: the memory term's */
    double intensity;               /* flops a byte from and to memory */
    double flops_per_load;          /* flops for each element loaded from global memory by a lane, the textbooks' ratio */
    double flops_roof;              /* the card's f32, or f64 where that is most of the flops */
} tess_prediction;

const char *tess_term_title(tess_term_name name);
const char *tess_term_unit(tess_term_name name);

/* What a run asks of a card's parts; model.c has how each is made. Amounts of runs that do the same work on more data grow in proportion. */
#define TESS_AMOUNT_LIST(X) \
    X(issue)                \
    X(fp32)                 \
    X(fp64)                 \
    X(integer)              \
    X(special)              \
    X(wavefronts)           \
    X(constants)            \
    X(l2_sectors)           \
    X(scattered)            \
    X(asked_sectors)        \
    X(read_sectors)         \
    X(block_read_sectors)   \
    X(written_sectors)      \
    X(waits)                \
    X(barriers)             \
    X(load_lanes)           \
    X(flops)                \
    X(flops_f64)
typedef struct tess_amounts {
#define FIELD(name) double name;
    TESS_AMOUNT_LIST(FIELD)
#undef FIELD
} tess_amounts;
void tess_profile_amounts(const tess_vgpu_run *run, tess_amounts *amounts);
void tess_profile_time(const tess_amounts *amounts, const tess_card *card, int64_t threads_a_block, int64_t blocks, int64_t shared_bytes,
                       tess_prediction *prediction);

/* Both in one; shared_bytes: static and dynamic. */
void tess_profile_predict(const tess_vgpu_run *run, const tess_card *card, int64_t threads_a_block, int64_t blocks, int64_t shared_bytes,
                          tess_prediction *prediction);

/* ---- the worst lines (advice.c) ---- */

typedef struct tess_finding {
    const char *file; /* as in the line table, not terminated */
    int file_length, line;
    const char *kind; /* "bank conflict", ... */
    double seconds;   /* that the card loses by it, if nothing else limited */
    char what[240], advice[200];
    int sample; /* number for tess_vgpu_sample_at, or -1 */
} tess_finding;

enum { TESS_FINDINGS = 12 };
/* The costliest first; how many. ptx_name: file of lines that have none, or NULL. */
int tess_profile_findings(const tess_vgpu_run *run, const tess_prediction *prediction, const char *ptx_name, tess_finding *findings);

/* ---- numbers in words (words.c): none of them depends on the locale ---- */

void tess_text_real(tess_text *text, double value);                   /* nine digits, for JSON: 1.5e-06 */
void tess_text_fixed(tess_text *text, double value, int decimals);    /* 12.50 */
void tess_text_count(tess_text *text, double value);                  /* 1,234,567 */
void tess_text_time(tess_text *text, double seconds);                 /* 12.5 us */
void tess_text_html(tess_text *text, const char *string, int length); /* escaped */

#endif
