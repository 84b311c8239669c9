/* SPDX-License-Identifier: Apache-2.0
 * model.c - a time from counters: each part of the card gets its work divided by its rate. The slowest part is the limiter; the parts overlap, though not
 * perfectly: the time is the cube root of the sum of their times' cubes, which the rungs of the ladder fit better than the slowest alone.
 *
 *   memory    sectors that the launch touches at all, read and written once: an L2 that keeps what is used again (in the end nobody does better)
 *   L2        sectors that a block reads at all, each block for itself, as an L1 that lasts for a block would let through; all stores; atomics twice.
 *             Stores that leave sectors partly written go at a rate of their own
 *   L1        wavefronts of shared memory, one a clock and processor; global and local requests at 128 bytes or four lines a clock
 *   constant  distinct addresses of a warp's load, one after the other, from the first-level constant cache
 *   issue     warp instructions, four a clock and processor; those of PTX that become nothing (moves, parameters) left out
 *   units     warp instructions of a kind over the lanes that the card has for it; integer products are made by the f32 units, at half rate
 *   latency   warps that are there at once wait for their loads; those between two branches, barriers or calls wait together, as the assembler brings
 *             them forward, up to 16, and what a block reads again comes from L1; or warps wait for each other at barriers: what a small grid is bound by
 *
 * The form is the roofline's (Williams, Waterman and Patterson 2009) with more roofs; the wavefront and sector rules are measured (docs/counters.md). Not
 * modelled: hit rates (of the constant cache too, which has 2 KiB), register pressure, what ptxas changes, several atomics on one address from many warps, power. */
#include <math.h>
#include <string.h>

#include "profile/model.h"

enum { LOADS_AT_ONCE = 16, SCHEDULERS = 4 };
/* Found by strategies on an H200: an address of a constant by lookup/constant with 36 entries, a round between barriers by reduce/shared. */
static const double OVERLAP = 3; /* infinite: parts of the card overlap as if they were alone; 1: not at all */
static const double CLOCKS_A_CONSTANT = 2.2, BARRIER_NS = 140, CACHED_NS = 20;

const char *tess_term_title(tess_term_name name) {
    static const char *const titles[] = {
#define X(id, title, unit) title,
        TESS_TERM_LIST(X)
#undef X
    };
    return titles[name];
}

const char *tess_term_unit(tess_term_name name) {
    static const char *const units[] = {
#define X(id, title, unit) unit,
        TESS_TERM_LIST(X)
#undef X
    };
    return units[name];
}

typedef tess_amounts work;

static bool starts(const char *text, int length, const char *word) {
    int n = (int)strlen(word);
    return length >= n && memcmp(text, word, (size_t)n) == 0 && (length == n || text[n] == '.');
}
static bool ends(const char *text, int length, const char *word) {
    int n = (int)strlen(word);
    return length >= n && memcmp(text + length - n, word, (size_t)n) == 0;
}
static bool among(const char *text, int length, const char *const *words, int count) {
    for (int i = 0; i < count; i++)
        if (starts(text, length, words[i]))
            return true;
    return false;
}

/* What a warp instruction of this opcode asks of the units. Divisions and roots are short programs on the card: the numbers are their lengths in
 * machine code as CUDA 13 makes them for sm_90, rounded. */
static void classify(const char *op, int n, double count, work *w) {
    static const char *const nothing[] = {"mov", "cvta", "ret", "exit", "ld.param", "bra.uni", "cvta.to"};
    static const char *const special[] = {"rcp", "rsqrt", "sqrt", "ex2", "lg2", "sin", "cos", "tanh"};
    static const char *const memory[] = {"ld",  "st",   "atom",   "red",   "cp",   "bar",  "barrier",
                                         "bra", "call", "membar", "fence", "shfl", "vote", "match"};
    if (among(op, n, nothing, TESS_COUNT(nothing)))
        return;
    w->issue += count;
    if (among(op, n, memory, TESS_COUNT(memory)))
        return;
    bool f64 = ends(op, n, ".f64"),
         f32 = ends(op, n, ".f32") || ends(op, n, ".f16x2") || ends(op, n, ".bf16x2") || ends(op, n, ".f16") || ends(op, n, ".bf16");
    bool program = starts(op, n, "div") || (starts(op, n, "sqrt") || starts(op, n, "rcp"));
    program = program && memmem(op, (size_t)n, ".rn", 3) != NULL;
    if (program || (starts(op, n, "rem") || (starts(op, n, "div") && !f32 && !f64))) {
        w->issue += count * (f64 ? 15 : f32 ? 9 : 20);
        *(f64 ? &w->fp64 : f32 ? &w->fp32 : &w->integer) += count * (f64 ? 10 : f32 ? 8 : 16);
        w->special += count;
    } else if (among(op, n, special, TESS_COUNT(special))) {
        w->special += count;
    } else if (starts(op, n, "cvt")) {
        bool real = memmem(op, (size_t)n, ".f", 2) != NULL;
        *(f64 ? &w->special : &w->integer) += real ? count : 0; /* between integers it is a move or nothing */
        w->issue -= real ? 0 : count;
    } else if (!f64 && !f32 && (starts(op, n, "mul") || starts(op, n, "mad"))) {
        w->fp32 += 2 * count * (ends(op, n, "64") ? 4 : 1); /* the multipliers of the f32 units, at half their rate */
        w->issue += ends(op, n, "64") ? 3 * count : 0;
    } else if (f64) {
        w->fp64 += count;
    } else if (f32) {
        w->fp32 += count;
    } else {
        bool wide = ends(op, n, "64") && !starts(op, n, "add"); /* two halves; sums of addresses are made with a product or a shift in one */
        w->integer += count * (wide ? 2 : 1);
        w->issue += wide ? count : 0;
    }
}

static double larger(double a, double b) { return a > b ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }

static void add_line(const tess_vgpu_line *line, work *w) {
    const tess_vgpu_counters *c = &line->audited;
    classify(line->ptx ? line->ptx : "", line->ptx ? line->ptx_length : 0, (double)c->warp_instructions, w);
    w->wavefronts += (double)(c->shared_ld_wavefronts + c->shared_st_wavefronts + c->shared_atom_wavefronts);
    w->wavefronts += larger((double)(c->global_ld_requests + c->global_st_requests),
                            larger((double)(c->global_ld_bytes + c->global_st_bytes) / 128, (double)(c->global_ld_tags + c->global_st_tags) / 4));
    w->wavefronts += (double)(c->local_ld_sectors + c->local_st_sectors) / 4 + (double)(c->global_atom_passes + c->global_red_passes);
    w->constants += (double)c->constant_requests;
    bool partly = 4 * c->global_st_sectors > 5 * c->global_st_sectors_ideal;
    *(partly ? &w->scattered : &w->l2_sectors) += (double)c->global_st_sectors;
    w->l2_sectors += (double)(2 * (c->global_atom_sectors + c->global_red_sectors)) + (double)c->local_st_sectors;
}

/* How often some warp waits for memory: loads of one stretch of code without branches count together. */
static double waits_of(const tess_vgpu_run *run) {
    static const char *const ends_a_stretch[] = {"bra", "bar", "barrier", "call", "ret", "exit", "brx"};
    tess_vgpu_line line;
    double waits = 0, loads = 0;
    int instructions = 0;
    for (int i = 0;; i++) {
        bool more = tess_vgpu_line_at(run, i, &line);
        if (more) {
            uint64_t requests = line.audited.global_ld_requests + line.audited.global_atom_requests;
            loads += (double)requests;
            instructions += requests > 0;
        }
        if (!more || (line.ptx && among(line.ptx, line.ptx_length, ends_a_stretch, TESS_COUNT(ends_a_stretch)))) {
            waits += instructions ? loads / (instructions < LOADS_AT_ONCE ? instructions : LOADS_AT_ONCE) : 0;
            loads = 0;
            instructions = 0;
        }
        if (!more)
            return waits;
    }
}

static void count_resident(const tess_card *card, int64_t warps_a_block, int64_t shared_bytes, tess_prediction *p) {
    double fit = smaller(card->blocks, (double)((int64_t)card->warps / warps_a_block));
    if (shared_bytes > 0)
        fit = smaller(fit, (double)(int64_t)(card->shared_kib * 1024 / (double)(shared_bytes + 1024))); /* 1 KiB of each block is the system's */
    p->blocks_a_processor = fit < 1 ? 1 : (int)fit;
}

void tess_profile_amounts(const tess_vgpu_run *run, tess_amounts *w) {
    tess_vgpu_line line;
    tess_vgpu_counters total;
    tess_vgpu_footprint f;
    *w = (tess_amounts){0};
    for (int i = 0; tess_vgpu_line_at(run, i, &line); i++) {
        add_line(&line, w);
        w->load_lanes += line.audited.global_ld_requests > 0 ? (double)line.counters.thread_instructions_on : 0;
    }
    tess_vgpu_total_audited(run, &total);
    tess_vgpu_footprint_of(run, &f);
    w->waits = waits_of(run);
    w->barriers = (double)total.barriers;
    w->asked_sectors = (double)(total.global_ld_sectors + total.global_atom_sectors + total.global_red_sectors);
    w->read_sectors = (double)f.read_sectors;
    w->block_read_sectors = (double)f.block_read_sectors;
    w->written_sectors = (double)f.written_sectors;
    if (!f.known) { /* arrays too large to follow: as if nothing were used twice */
        w->read_sectors = w->block_read_sectors = (double)total.global_ld_sectors;
        w->written_sectors = (double)total.global_st_sectors;
    }
    w->flops = (double)(total.flops_f16 + total.flops_f32 + total.flops_f64);
    w->flops_f64 = (double)total.flops_f64;
}

void tess_profile_time(const tess_amounts *w, const tess_card *card, int64_t threads, int64_t blocks, int64_t shared_bytes, tess_prediction *p) {
    int64_t warps = (threads + 31) / 32;
    *p = (tess_prediction){.card = *card};
    count_resident(card, warps, shared_bytes, p);
    double sms = card->sms, clocks = card->clock_ghz * 1e9;
    double rounds = (double)((blocks + (int64_t)sms - 1) / (int64_t)sms);
    p->busy = (double)blocks / (rounds * sms); /* blocks go round the processors; with many, the last round weighs little */
    double machine = sms * clocks * p->busy;
    double read = 32 * w->read_sectors, written = 32 * w->written_sectors;
    double l2 = 32 * (w->l2_sectors + smaller(w->block_read_sectors, w->asked_sectors));
    p->bytes = read + written;
    p->term[TESS_TERM_MEMORY] = (tess_term){read / (card->read_gb_s * 1e9) + written / (card->write_gb_s * 1e9), p->bytes};
    double scattered = 32 * w->scattered;
    p->term[TESS_TERM_L2] =
        (tess_term){l2 / (card->l2_gb_s * 1e9 * smaller(1, p->busy * 2)) + scattered / (card->l2_scattered_gb_s * 1e9), l2 + scattered};
    p->term[TESS_TERM_L1] = (tess_term){w->wavefronts / machine, w->wavefronts};
    p->term[TESS_TERM_CONSTANT] = (tess_term){w->constants * CLOCKS_A_CONSTANT / machine, w->constants};
    p->term[TESS_TERM_ISSUE] = (tess_term){w->issue / (SCHEDULERS * machine), w->issue};
    p->term[TESS_TERM_FP32] = (tess_term){w->fp32 * 32 / (card->fp32 * machine), w->fp32};
    p->term[TESS_TERM_FP64] = (tess_term){w->fp64 * 32 / (card->fp64 * machine), w->fp64};
    p->term[TESS_TERM_INTEGER] = (tess_term){w->integer * 32 / (card->integer * machine), w->integer};
    p->term[TESS_TERM_SPECIAL] = (tess_term){w->special * 32 / (card->special * machine), w->special};
    double resident = smaller((double)(blocks * warps), sms * (double)(p->blocks_a_processor * warps));
    double a_warp = w->waits / (double)(blocks * warps);
    a_warp = w->waits > 0 ? larger(a_warp, 1) : 0; /* a warp that loads waits once at least */
    double waves = (double)(blocks * warps) / resident, far = w->asked_sectors > 0 ? smaller(1, w->block_read_sectors / w->asked_sectors) : 1;
    double loads = larger(1, a_warp * far) * card->latency_ns + (a_warp - a_warp * far) * CACHED_NS; /* what a block reads again is near */
    double barriers = w->barriers / (double)(blocks * warps);
    p->term[TESS_TERM_LATENCY] = (tess_term){waves * larger(a_warp > 0 ? loads : 0, barriers * BARRIER_NS) * 1e-9, waves * larger(a_warp, barriers)};
    for (int i = 0; i < TESS_TERMS; i++)
        if (p->term[i].seconds > p->term[p->limiter].seconds)
            p->limiter = (tess_term_name)i;
    p->launch_seconds = card->launch_us * 1e-6;
    double cubes = 0, most = p->term[p->limiter].seconds;
    for (int i = 0; i < TESS_TERMS && most > 0; i++)
        cubes += pow(p->term[i].seconds / most, OVERLAP);
    p->seconds = p->launch_seconds + most * pow(cubes, 1 / OVERLAP);
    p->flops = w->flops;
    p->intensity = p->bytes > 0 ? p->flops / p->bytes : 0;
    p->flops_per_load = w->load_lanes > 0 ? p->flops / w->load_lanes : 0;
    bool wide = w->flops_f64 > w->flops - w->flops_f64;
    p->flops_roof = 2 * (wide ? card->fp64 : card->fp32) * sms * clocks;
}

void tess_profile_predict(const tess_vgpu_run *run, const tess_card *card, int64_t threads, int64_t blocks, int64_t shared_bytes,
                          tess_prediction *p) {
    tess_amounts amounts;
    tess_profile_amounts(run, &amounts);
    tess_profile_time(&amounts, card, threads, blocks, shared_bytes, p);
}
