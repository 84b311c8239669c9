/* SPDX-License-Identifier: Apache-2.0
 * predict.c - the card's rules for sectors and shared wavefronts as functions, with which rows predict their counts.
 *
 * The rules were measured on an H200: a request touches the distinct 32-byte sectors of its active lanes; shared memory has 32 banks of 4 bytes and is
 * served in phases of 32, 16 or 8 lanes for accesses of up to 4, 8 and 16 bytes. docs/counters.md has them in words. */
#include <string.h>

#include "gpu/row.h"

double tess_gpu_run_sectors(int64_t runs, int64_t first, int64_t step, int64_t bytes) {
    if (runs <= 0 || bytes <= 0)
        return 0;
    int64_t period = 32 / tess_gcd(32, step < 0 ? -step : step), sectors = 0, rest = 0;
    for (int64_t i = 0; i < period && i < runs; i++) {
        int64_t at = ((first + i * step) % 32 + 32) % 32, n = (at + bytes - 1) / 32 + 1;
        sectors += n;
        rest += i < runs % period ? n : 0;
    }
    return runs < period ? (double)sectors : (double)sectors * (double)(runs / period) + (double)rest;
}

/* The most distinct words that the lanes from..to - 1 want of one bank; 0 when none is active. */
static int group_cost(const int32_t *address, int width, int from, int to) {
    int32_t seen[32][32]; /* by bank */
    int count[32] = {0}, most = 0;
    for (int lane = from; lane < to; lane++)
        for (int b = 0; address[lane] >= 0 && b < (width < 4 ? 1 : width / 4); b++) {
            int32_t word = address[lane] / 4 + b;
            int bank = word % 32, k = 0;
            while (k < count[bank] && seen[bank][k] != word)
                k++;
            if (k == count[bank] && k < 32) {
                seen[bank][count[bank]++] = word;
                most = count[bank] > most ? count[bank] : most;
            }
        }
    return most;
}

/* Whether each active lane's partner is inactive or wants the same: such loads are served two phases at a time. */
static bool pairs(const int32_t *address, int distance) {
    for (int lane = 0; lane < 32; lane++) {
        int32_t mine = address[lane], other = address[lane ^ distance];
        if (mine >= 0 && other >= 0 && mine != other)
            return false;
    }
    return true;
}

void tess_gpu_shared_request(tess_gpu_shared_cost *cost, const int32_t *address, int width, bool store) {
    int lanes = width <= 4 ? 32 : width == 8 ? 16 : 8, wavefronts = 0, least = 0;
    if (!store && width > 4 && (pairs(address, 1) || pairs(address, 2)))
        lanes *= 2;
    for (int from = 0; from < 32; from += lanes) {
        int w = group_cost(address, width, from, from + lanes);
        wavefronts += w;
        least += w > 0;
    }
    cost->requests += least > 0;
    cost->wavefronts += wavefronts;
    cost->conflicts += wavefronts - least;
}

/* ---- walks ---- */

void tess_gpu_count_from_zero(tess_gpu_prediction *sum) {
#define X(name) sum->name = 0;
    TESS_GPU_PREDICTION_LIST(X)
#undef X
}

/* `n` numbers and one more, if it is none of them; most lanes' is the last or a new one. */
static int with(int64_t *seen, int n, int64_t number) {
    for (int i = n - 1; i >= 0; i--)
        if (seen[i] == number)
            return n;
    seen[n] = number;
    return n + 1;
}

static void add_global(tess_gpu_prediction *sum, double times, int sectors, bool store) {
    *(store ? &sum->global_st_requests : &sum->global_ld_requests) += (sectors > 0) * times;
    *(store ? &sum->global_st_sectors : &sum->global_ld_sectors) += sectors * times;
}

void tess_gpu_count_global(tess_gpu_prediction *sum, double times, const int64_t *address, int64_t width, bool store) {
    int64_t seen[64];
    int sectors = 0;
    for (int lane = 0; lane < 32; lane++)
        if (address[lane] >= 0) {
            sectors = with(seen, sectors, address[lane] / 32);
            sectors = with(seen, sectors, (address[lane] + width - 1) / 32);
        }
    add_global(sum, times, sectors, store);
}

void tess_gpu_count_shared(tess_gpu_prediction *sum, double times, const int64_t *address, int64_t width, bool store) {
    tess_gpu_shared_cost cost = {0, 0, 0};
    int32_t at[32];
    for (int lane = 0; lane < 32; lane++)
        at[lane] = (int32_t)address[lane];
    tess_gpu_shared_request(&cost, at, (int)width, store);
    *(store ? &sum->shared_st_requests : &sum->shared_ld_requests) += cost.requests * times;
    *(store ? &sum->shared_st_wavefronts : &sum->shared_ld_wavefronts) += cost.wavefronts * times;
    *(store ? &sum->shared_st_conflicts : &sum->shared_ld_conflicts) += cost.conflicts * times;
}

void tess_gpu_count_copies(tess_gpu_prediction *sum, double times, const int64_t *from, const int64_t *to) {
    int64_t seen[32];
    int sectors = 0;
    for (int lane = 0; lane < 32; lane++)
        if (from[lane] >= 0) /* a pair of a line of the source and a sector of the destination */
            sectors = with(seen, sectors, from[lane] / 128 << 20 | to[lane] / 32);
    add_global(sum, times, sectors, false);
}

bool tess_gpu_next_kind(tess_gpu_kind *kind, int64_t n, int64_t head, int64_t tail, int64_t period) {
    const int64_t end = n - tail;
    int64_t i = kind->next;
    if (i >= head + period && i < end)
        i = end;
    kind->at = i;
    kind->next = i + 1;
    kind->times = i >= head && i < end ? (double)((end - i + period - 1) / period) : 1;
    return i < n;
}

int64_t tess_gpu_turn_of(int64_t turns, int64_t at_a_time, bool before, bool left, int64_t j) {
    const int64_t over = turns % at_a_time;
    if (left)
        return j < over ? (before ? 0 : turns - over) + j : -1;
    return j < turns - over ? (before ? over : 0) + j : -1;
}
