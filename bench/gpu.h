/* SPDX-License-Identifier: Apache-2.0
 * gpu.h - between gpu.c, which times, and gpu_*.c, which say what: one function an operation. */
#ifndef TESS_BENCH_GPU_H
#define TESS_BENCH_GPU_H

#include "tessera.h"

typedef struct gpu_bench gpu_bench;

/* Whether the words on the command line ask for the work. */
bool gpu_bench_wants(const gpu_bench *bench, const char *work);
/* Device memory with random content that all works share: [0] and [1] are read, [2] is written; at least `bytes`. */
void *gpu_bench_memory(gpu_bench *bench, int which, int64_t bytes);
/* Device memory with content of the host's, for small tables and indices; freed at the end. */
void *gpu_bench_upload(gpu_bench *bench, const void *content, int64_t bytes);
/* Shared memory number `which` with content of the host's again and again, until it is filled with other things. */
void *gpu_bench_repeat(gpu_bench *bench, int which, const void *content, int64_t content_bytes, int64_t bytes);
/* Shared memory number `which` was written to: the next work that asks for it gets random content again. */
void gpu_bench_spoiled(gpu_bench *bench, int which);
tess_context *gpu_bench_context(const gpu_bench *bench);
DLTensor gpu_bench_view(void *data, tess_type type, int ndim, int64_t *shape);
/* What a call needs to be planned for the card; row NULL = the planner's choice. */
tess_call gpu_bench_call(const gpu_bench *bench, const char *row);
/* Times a plan (median of 15 between events after 3 that are not counted) and prints a line; bytes and flops of the problem. Frees the plan. status: what
 * planning returned; a row that cannot run is passed over. */
void gpu_bench_time(gpu_bench *bench, tess_status status, tess_plan *plan, const char *work, const void *in, const void *second, void *out,
                    double bytes, double flops);
/* The rows to try for an operation: the planner's (NULL) first, then with --rows every GPU row's name. */
const char *gpu_bench_row(const gpu_bench *bench, const char *operation, int number, bool *more);
/* A reduction on the card by each row to try, timed; `options` but for their call. */
void gpu_bench_reduce(gpu_bench *bench, const char *work, tess_reduction operation, const DLTensor *in, const DLTensor *out,
                      const tess_reduce_options *options, double bytes);
/* Single launches: between events (median of 201 after 32 that are not counted), back to back, in a graph of 100. */
void gpu_bench_latency(gpu_bench *bench, tess_status status, tess_plan *plan, const char *work, const void *in, void *out);

/* What a whole call costs the caller, plan and all: the median of 15 times 100 calls, each hundred waited for. */
void gpu_bench_calls(gpu_bench *bench, const char *work, tess_status (*call)(void *argument), void *argument);

/* gpu_compile.c: the plan's kernels compiled into an empty cache, and found in it again. */
void gpu_bench_compile(const tess_plan *plan, const char *work);

void gpu_works_transpose(gpu_bench *bench);
void gpu_works_reduce(gpu_bench *bench);
void gpu_works_segments(gpu_bench *bench);
void gpu_works_rows(gpu_bench *bench);
void gpu_works_exact(gpu_bench *bench);
void gpu_works_correlate(gpu_bench *bench);
void gpu_works_lookup(gpu_bench *bench);
void gpu_works_positions(gpu_bench *bench);

#endif
