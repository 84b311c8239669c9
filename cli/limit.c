/* SPDX-License-Identifier: Apache-2.0
 * limit.c - what the machine's limits allow for a work: by limits that were measured before, or measured in turns with the work.
 *
 * A limit here is a few amounts, each of one kind: bytes that are copied and bytes that go one way (one after the other), flops, random reads (each beside the rest). */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "workload.h"

/* TOGETHER amounts of memory are added, each later one stands alone; the largest of the three sums binds. */
enum { COPIED, ONE_WAY, TOGETHER, FLOPS = TOGETHER, READS, AMOUNTS };

typedef struct cost {
    tess_limit what;
    double amount;
} cost;

/* Of the plain method: one fused multiply-add a tap. */
static double flops(const cli_workload *w) {
    double taps = w->separable ? 0 : 1, elements = 1;
    if (strcmp(w->operation, "correlate") != 0)
        return 0;
    for (int k = 0; k < w->mask_ndim; k++)
        taps = w->separable ? taps + (double)w->mask[k] : taps * (double)w->mask[k];
    for (int d = 0; d < w->ndim; d++)
        elements *= (double)w->shape[d];
    return 2 * taps * elements;
}

static double rate(const tess_limits *l, tess_limit what) {
    switch (what) {
    case TESS_LIMIT_WRITE: return l->write_bytes_per_s;
    case TESS_LIMIT_READ: return l->read_bytes_per_s;
    case TESS_LIMIT_COPY: return l->copy_bytes_per_s;
    case TESS_LIMIT_PLAIN_WRITE: return l->plain_write_bytes_per_s;
    case TESS_LIMIT_PLAIN_COPY: return l->plain_copy_bytes_per_s;
    case TESS_LIMIT_CACHED_READ: return l->cached_read_bytes_per_s;
    case TESS_LIMIT_CACHED_COPY: return l->cached_copy_bytes_per_s;
    case TESS_LIMIT_RANDOM_READS: return l->random_reads_per_s;
    case TESS_LIMIT_F32_FLOPS: return l->f32_flops_per_s;
    default: return l->f64_flops_per_s;
    }
}

static tess_limit faster(const tess_limits *l, tess_limit a, tess_limit b) { return rate(l, a) >= rate(l, b) ? a : b; }

static void costs_of(const cli_trial *trial, const tess_limits *l, cost costs[AMOUNTS]) {
    enum { OUT_OF_CACHE = 32 << 20 }; /* a table that no core's own cache holds */
    const cli_workload *w = trial->workload;
    const tess_io_array *out = &trial->out;
    double read = (double)trial->in.block_size + (double)trial->second.block_size, write = (double)out->block_size;
    double both = read < write ? read : write; /* is copied; what is left goes one way */
    bool table = w->table > 0 && trial->in.block_size >= OUT_OF_CACHE;
    costs[COPIED] = (cost){w->cached ? TESS_LIMIT_CACHED_COPY : faster(l, TESS_LIMIT_COPY, TESS_LIMIT_PLAIN_COPY), 2 * both};
    costs[ONE_WAY] = (cost){w->cached      ? TESS_LIMIT_CACHED_READ
                            : write > read ? faster(l, TESS_LIMIT_WRITE, TESS_LIMIT_PLAIN_WRITE)
                                           : TESS_LIMIT_READ,
                            read + write - 2 * both};
    costs[FLOPS] = (cost){w->type == tess_f64 ? TESS_LIMIT_F64_FLOPS : TESS_LIMIT_F32_FLOPS, flops(w)};
    costs[READS] = (cost){TESS_LIMIT_RANDOM_READS, table ? (double)tess_io_count(&trial->second.tensor) : 0};
}

/* The sum that binds, with its name. */
static double binding(const double seconds[AMOUNTS], const cli_workload *w, const char **name) {
    double most = seconds[COPIED] + seconds[ONE_WAY];
    *name = w->cached ? "cache" : "memory";
    if (seconds[FLOPS] > most) {
        most = seconds[FLOPS];
        *name = "fma";
    }
    if (seconds[READS] > most) {
        most = seconds[READS];
        *name = "random reads";
    }
    return most;
}

/* Seconds by limits that were measured before. */
static void estimate(const tess_limits *limits, const cost costs[AMOUNTS], double seconds[AMOUNTS]) {
    for (int k = 0; k < AMOUNTS; k++)
        seconds[k] = costs[k].amount > 0 ? costs[k].amount / rate(limits, costs[k].what) : 0;
}

cli_bound cli_trial_bound(const cli_trial *trial, const tess_limits *limits) {
    cost costs[AMOUNTS];
    double seconds[AMOUNTS];
    costs_of(trial, limits, costs);
    estimate(limits, costs, seconds);
    cli_bound b = {.bytes = (double)trial->in.block_size + (double)trial->second.block_size + (double)trial->out.block_size,
                   .flops = costs[FLOPS].amount};
    b.seconds = binding(seconds, trial->workload, &b.name);
    return b;
}

/* A pass goes through one of WINDOWS parts of the arrays, each pass through the next one: short beside most works, and what it reads has left the caches. */
enum { WINDOWS = 4 };

struct cli_meter {
    tess_context *context;
    tess_limits limits;
    size_t size; /* of each array */
    char *from, *to;
    unsigned turn;
};

cli_meter *cli_meter_make(const cli_session *session, const tess_limits *limits) {
    cli_meter *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    *m = (cli_meter){.context = session->context, .limits = *limits, .size = limits->array_bytes};
    char *block = mmap(NULL, 2 * m->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) {
        free(m);
        return NULL;
    }
    madvise(block, 2 * m->size, session->options.pages == CLI_PAGES_ORDINARY ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
    memset(block, 1, 2 * m->size); /* not zeros: lines of zeros can be copied faster */
    m->from = block;
    m->to = block + m->size;
    return m;
}

void cli_meter_free(cli_meter *m) {
    if (m)
        munmap(m->from, 2 * m->size);
    free(m);
}

tess_status cli_meter_read(cli_meter *m, const cli_trial *trial, double *seconds) {
    cost costs[AMOUNTS];
    double before[AMOUNTS], now[AMOUNTS] = {0};
    const char *name;
    costs_of(trial, &m->limits, costs);
    estimate(&m->limits, costs, before);
    const double longest = binding(before, trial->workload, &name);
    for (int k = 0; k < AMOUNTS; k++) {
        const double sum = k < TOGETHER ? before[COPIED] + before[ONE_WAY] : before[k];
        if (costs[k].amount == 0 || sum < longest / 2) /* cannot bind */
            continue;
        bool random = costs[k].what == TESS_LIMIT_RANDOM_READS;
        size_t window = random ? m->size : m->size / WINDOWS, at = random ? 0 : m->turn++ % WINDOWS * window;
        double per_second;
        tess_status status = tess_time_limit(m->context, costs[k].what, m->to + at, m->from + at, window, &per_second);
        if (status != TESS_OK)
            return status;
        now[k] = costs[k].amount / per_second;
    }
    *seconds = binding(now, trial->workload, &name);
    return TESS_OK;
}
