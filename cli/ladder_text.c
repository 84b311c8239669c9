/* SPDX-License-Identifier: Apache-2.0
 * ladder_text.c - the climbs as text. What was timed on a card is printed in the form that ladder_measured.c reads. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ladder.h"

const char *cli_ladder_unmodelled(const cli_rung *r) {
    if (!(r->measured_seconds > 0 && r->model_seconds > 0))
        return NULL;
    double off = r->model_seconds / r->measured_seconds;
    if (off < 1.25 && off > 0.75)
        return NULL;
    bool memory = strcmp(r->limiter, "memory") == 0 || strcmp(r->limiter, "L2") == 0;
    if (off > 1)
        return memory                               ? "what L1 and L2 keep from one launch or block to the next"
               : strcmp(r->limiter, "latency") == 0 ? "loads that overlap further than those of one stretch of code"
                                                    : "index arithmetic of PTX that the assembler leaves out";
    return r->conflicts > 0 ? "bank conflicts that hold up more than shared memory's own part of the card"
                            : "waits that depend on one another: an address that is loaded first, values that come back from L2";
}

static void timed_here(const cli_rung *r) {
    printf("  %-24s %-10s %10.3f ms %8.2f GB/s %8.1f GFLOP/s %5.0f %%  %s, %d threads\n", r->row.name, r->same_bits ? "same bits" : "OTHER BITS",
           r->seconds * 1e3, r->bytes / r->seconds * 1e-9, r->flops / r->seconds * 1e-9, 100 * r->fraction, r->isa, r->threads);
}

static void timed_on_card(const cli_rung *r) {
    printf("%-32s | %-28s | %9.4f ms | %6.0f GB/s | %6.2f TFLOP/s | %5.1f %% | %s", r->work, r->row.name, r->seconds * 1e3,
           r->bytes / r->seconds * 1e-9, r->flops / r->seconds * 1e-12, 100 * r->fraction, r->same_bits ? "same bits" : "OTHER BITS");
    if (r->gain > 0)
        printf(" | x%.2f", r->gain);
    printf("\n");
}

static void milliseconds(char *text, size_t size, double seconds) {
    if (seconds > 0)
        snprintf(text, size, seconds < 1e-4 ? "%.4f" : "%.3f", seconds * 1e3);
    else
        snprintf(text, size, "-");
}

static void counted(const cli_rung *r) {
    char number[16] = "", model[24], measured[24], off[24] = "", limit[24] = "", gain[24] = "";
    if (r->row.rung > 0)
        snprintf(number, sizeof number, "%d", r->row.rung);
    milliseconds(model, sizeof model, r->model_seconds);
    milliseconds(measured, sizeof measured, r->measured_seconds);
    if (r->measured_seconds > 0) {
        snprintf(off, sizeof off, "%+.0f %%", 100 * (r->model_seconds / r->measured_seconds - 1));
        snprintf(limit, sizeof limit, "%.0f %%", 100 * r->measured_fraction);
    }
    if (r->gain > 0)
        snprintf(gain, sizeof gain, "x%.2f", r->gain);
    printf("  %2s %-28s %-10s %-12s %6.1f %6.1f %6.1f  %9s %9s %7s %7s %7s  %s\n", number, r->row.name, r->same_bits ? "same bits" : "OTHER BITS",
           !r->predicted             ? "-"
           : !r->holds || !r->agrees ? "NOT AS SAID"
                                     : "as predicted",
           r->load_sectors, r->store_sectors, r->wavefronts, model, measured, off, limit, gain, r->limiter);
}

void cli_ladder_text(const cli_climbs *climbs) {
    char measured_on[128];
    cli_ladder_measured_on(measured_on, sizeof measured_on);
    if (climbs->cpu)
        printf("On this machine: small problems, so that the reference can run; what stays in the caches passes 100 %% of the limit, which is "
               "memory's.\n");
    if (climbs->card)
        printf("On the card: 64 Mi elements, the median between events; the bits are those of a small odd problem. limits: copy %.0f GB/s, read %.0f "
               "GB/s, f32 fma %.1f TFLOP/s\n",
               climbs->card_limits.copy_bytes_per_s * 1e-9, climbs->card_limits.read_bytes_per_s * 1e-9, climbs->card_limits.f32_flops_per_s * 1e-12);
    if (climbs->counted)
        printf("For a GPU: on the virtual one. Bits and counts are those of a small odd problem under all checkers, the counts beside the strategy's "
               "formulas;\n"
               "ld, st: sectors of 32 bytes a load, a store of global memory; sh: wavefronts an access to shared memory; model: ms of an H200 for 64 "
               "Mi elements, extrapolated;\n"
               "measured: ms on %s; off: the model against it; limit: how much of the card's limit was reached; gain over the rung before; what "
               "limits, by the model.\n",
               measured_on);
    for (int c = 0; c < climbs->count; c++) {
        const cli_climb *climb = &climbs->at[c];
        bool heading = false;
        printf("\n%s\n", climb->name);
        for (int i = 0; i < climb->count; i++) {
            const cli_rung *r = &climb->rungs[i];
            if (r->state == CLI_RUNG_RAN && r->counted && !heading)
                heading = printf("  %2s %-28s %-10s %-12s %6s %6s %6s  %9s %9s %7s %7s %7s\n", "", "", "", "counts", "ld", "st", "sh", "model",
                                 "measured", "off", "limit", "gain") > 0;
            if (r->state != CLI_RUNG_RAN)
                printf("  %-24s %s\n", r->row.name, r->why);
            else if (r->counted)
                counted(r);
            else if (r->work)
                timed_on_card(r);
            else
                timed_here(r);
            if (!(r->state == CLI_RUNG_RAN && r->work && !r->counted))
                printf("  %2s %s\n", "", r->row.idea);
            if (cli_ladder_unmodelled(r))
                printf("  %2s not in the model: %s\n", "", cli_ladder_unmodelled(r));
        }
    }
}
