/* SPDX-License-Identifier: Apache-2.0
 * gpu_lookup.h - the GPU's part of the table, and what its files share: gpu_rows.c has the gathers, gpu_real.c the interpolations,
 * gpu_positions.c those among positions, gpu_paths.c the ladder. */
#ifndef TESS_OPS_LOOKUP_GPU_H
#define TESS_OPS_LOOKUP_GPU_H

#include "gpu/row.h"
#include "ops/lookup/lookup.h"

enum { LOOKUP_GPU_ROWS = 15 + 4, LOOKUP_GPU_THREADS = 256, LOOKUP_GPU_LINE_THREADS = 128 };
extern const tess_strategy tess_lookup_gpu_rows[LOOKUP_GPU_ROWS];

#define LOOKUP_KERNEL_TEXT(file)                        \
    extern const char tess_kernel_lookup_##file##_cu[]; \
    static const tess_gpu_text file = {"lookup/" #file ".cu", tess_kernel_lookup_##file##_cu}
/* What kernels may include, and those among positions. */
extern const tess_gpu_text *const tess_lookup_gpu_headers[], *const tess_lookup_gpu_among_headers[];

/* Begins a unit with the -D of gpu_index.cuh. */
void tess_lookup_gpu_begin(tess_gpu_layout *layout, const lookup_problem *p, const tess_gpu_text *text);
/* The first bad index is noted in a mark. */
void tess_lookup_gpu_verdict(tess_gpu_layout *layout, const lookup_problem *p);
tess_status tess_lookup_gpu_finish(const tess_problem *problem, const void *result, const tess_gpu_peek *peek);

/* Compact lines (gpu_lines.cuh): whether the problem is some, how many lookups make a vector, the argument. */
bool tess_lookup_gpu_compact(const lookup_problem *p, const char **why);
int64_t tess_lookup_gpu_vector(const lookup_problem *p);
/* step: bytes between entries; line: elements between lines of the table. */
typedef struct lookup_gpu_table {
    tess_gpu_place place;
    int64_t offset, step, line;
} lookup_gpu_table;
/* gpu_beside.c. v: lookups of a vector; groups: vectors of a thread; served: lines of a block; skew: lines of out may begin between vectors. */
typedef struct lookup_gpu_shape {
    int64_t groups, v, served;
    int threads;
    bool skew;
} lookup_gpu_shape;
/* One line a block; several by the same indices (one is served yet), and those of as many as the first-level cache holds, of `line` bytes each, or `alone` where there is but one; vectors of at
 * most `most` lookups. */
lookup_gpu_shape tess_lookup_gpu_alone(const lookup_problem *p, int64_t groups, int threads);
lookup_gpu_shape tess_lookup_gpu_beside(const lookup_problem *p, int threads, int64_t most);
lookup_gpu_shape tess_lookup_gpu_cached(const lookup_problem *p, lookup_gpu_shape alone, int64_t line, int64_t most);
/* How often a block of such threads has to take vectors until a line's are done; how many lines at most `most` a block serves, where the indices are cut in `parts` and `fill` blocks are
 * enough; what the vectors want. */
int64_t tess_lookup_gpu_turns(const lookup_problem *p, const lookup_gpu_shape *s);
int64_t tess_lookup_gpu_share(const lookup_problem *p, int64_t most, int64_t parts, int64_t fill);
int64_t tess_lookup_gpu_alignment(const lookup_problem *p, const lookup_gpu_shape *s);
/* -DV, -DGROUPS, -DTHREADS, -DBLOCKS, -DLINES, -DSKEW; then the launch. full: as few registers as a full multiprocessor allows. */
void tess_lookup_gpu_lines(tess_gpu_layout *layout, const lookup_problem *p, const lookup_gpu_shape *s, bool full);
tess_gpu_step *tess_lookup_gpu_launch_lines(tess_gpu_layout *layout, const lookup_problem *p, const char *entry, lookup_gpu_table table,
                                            const lookup_gpu_shape *s);

/* The fastest that were measured. */
bool tess_lookup_gpu_vectors_fit(const tess_problem *base, const char **why);
void tess_lookup_gpu_lay_vectors(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout);
lookup_gpu_shape tess_lookup_gpu_vectors_shape(const lookup_problem *p);
lookup_gpu_shape tess_lookup_gpu_prepared_shape(const lookup_problem *p);
lookup_gpu_shape tess_lookup_gpu_search_shape(const lookup_problem *p);
int64_t tess_lookup_gpu_record_size(const lookup_problem *p);

/* gpu_resident.cu: entries in shared memory. */
typedef struct lookup_gpu_resident {
    int64_t groups, held, blocks;
    int threads;
} lookup_gpu_resident;
lookup_gpu_resident tess_lookup_gpu_resident_of(const lookup_problem *p, const tess_gpu_device *device);

/* gpu_shared_bytes.cu: bad indices are to be told, and there can be some. */
bool tess_lookup_gpu_checks_bytes(const lookup_problem *p);

/* gpu_slice_vectors.cu: whether the problem is slices without gaps, and bytes that are moved at once. */
bool tess_lookup_gpu_slices_fit(const tess_problem *base, const char **why);
int64_t tess_lookup_gpu_slice_vector(const lookup_problem *p);
/* What the gathering kernels take. */
void tess_lookup_gpu_pass_call(tess_gpu_layout *layout, tess_gpu_step *step, const lookup_problem *p, const void *block, size_t size);

/* gpu_shared_slices.c: slices of an odd number of bytes. */
extern const tess_gpu_row tess_lookup_gpu_shared_slices;
bool tess_lookup_gpu_shared_slices_fit(const tess_problem *base, const char **why);
bool tess_lookup_gpu_shared_slices_pay(const tess_problem *base, const char **why);

/* gpu_slice_pieces.c: slices that whole vectors do not fit. */
extern const tess_gpu_row tess_lookup_gpu_slice_pieces;
bool tess_lookup_gpu_slice_pieces_fit(const tess_problem *base, const char **why);
bool tess_lookup_gpu_slice_pieces_pay(const tess_problem *base, const char **why);

/* gpu_shared_lines.c: many lines by the same indices. */
extern const tess_gpu_row tess_lookup_gpu_shared_lines;
bool tess_lookup_gpu_shared_lines_fit(const tess_problem *base, const char **why);
bool tess_lookup_gpu_shared_lines_pay(const tess_problem *base, const char **why);

/* What gpu_bring.cuh counts of `times` blocks, each of which brings so many bytes, elements of `size`, that begin at byte `at`. */
void tess_lookup_gpu_count_copy(tess_gpu_prediction *sum, double times, int64_t at, int64_t bytes, int64_t size);

/* gpu_predict.c: what the production rows count. */
void tess_lookup_gpu_predict_shared_bytes(const tess_problem *base, tess_gpu_prediction *out);
void tess_lookup_gpu_predict_resident(const tess_problem *base, tess_gpu_prediction *out);
void tess_lookup_gpu_predict_vectors(const tess_problem *base, tess_gpu_prediction *out);
void tess_lookup_gpu_predict_slice_vectors(const tess_problem *base, tess_gpu_prediction *out);
void tess_lookup_gpu_predict_shared_slices(const tess_problem *base, tess_gpu_prediction *out);
void tess_lookup_gpu_predict_slice_pieces(const tess_problem *base, tess_gpu_prediction *out);
void tess_lookup_gpu_predict_shared_lines(const tess_problem *base, tess_gpu_prediction *out);
void tess_lookup_gpu_predict_elements(const tess_problem *base, tess_gpu_prediction *out);
void tess_lookup_gpu_predict_prepared(const tess_problem *base, tess_gpu_prediction *out);
void tess_lookup_gpu_predict_points(const tess_problem *base, tess_gpu_prediction *out);
void tess_lookup_gpu_predict_search(const tess_problem *base, tess_gpu_prediction *out);
void tess_lookup_gpu_predict_between(const tess_problem *base, tess_gpu_prediction *out);

/* Any layout (gpu_walk.cuh): the -D, then the launch, or that of `check` when there is nothing to write. */
tess_gpu_step *tess_lookup_gpu_walk(tess_gpu_layout *layout, const lookup_problem *p, const char *entry, int64_t pieces);

/* Interpolations: gpu_real.c. */
extern const tess_gpu_row tess_lookup_gpu_prepared, tess_lookup_gpu_points;
bool tess_lookup_gpu_prepared_fits(const tess_problem *base, const char **why);
bool tess_lookup_gpu_prepared_pays(const tess_problem *base, const char **why);
bool tess_lookup_gpu_points_fit(const tess_problem *base, const char **why);

/* The verdict, and a unit with the -D of gpu_place.cuh. */
void tess_lookup_gpu_begin_points(tess_gpu_layout *layout, const lookup_problem *p, const tess_gpu_text *text);

/* gpu_prepared_slices.c: slices of a few elements. */
extern const tess_gpu_row tess_lookup_gpu_prepared_slices;
bool tess_lookup_gpu_prepared_slices_fit(const tess_problem *base, const char **why);
bool tess_lookup_gpu_prepared_slices_pay(const tess_problem *base, const char **why);
void tess_lookup_gpu_predict_prepared_slices(const tess_problem *base, tess_gpu_prediction *out);

/* gpu_point_slices.c: longer ones. */
extern const tess_gpu_row tess_lookup_gpu_point_slices;
bool tess_lookup_gpu_point_slices_fit(const tess_problem *base, const char **why);
void tess_lookup_gpu_predict_point_slices(const tess_problem *base, tess_gpu_prediction *out);

/* gpu_line_points.c: many lines by the same coordinates. */
extern const tess_gpu_row tess_lookup_gpu_line_points;
bool tess_lookup_gpu_line_points_fit(const tess_problem *base, const char **why);
bool tess_lookup_gpu_line_points_pay(const tess_problem *base, const char **why);

/* Among positions: gpu_positions.c. */
int64_t tess_lookup_gpu_search_buckets(const lookup_problem *p);
extern const tess_gpu_row tess_lookup_gpu_search, tess_lookup_gpu_between;
bool tess_lookup_gpu_search_fits(const tess_problem *base, const char **why);
bool tess_lookup_gpu_search_pays(const tess_problem *base, const char **why);
bool tess_lookup_gpu_between_fits(const tess_problem *base, const char **why);

/* The ladder: gpu_paths.c. In the order of gpu_paths.cu. */
typedef enum lookup_path { LOOKUP_GLOBAL, LOOKUP_CONSTANT, LOOKUP_READ_ONLY, LOOKUP_SHARED } lookup_path;
extern const tess_gpu_row tess_lookup_gpu_path_global, tess_lookup_gpu_path_constant, tess_lookup_gpu_path_read_only, tess_lookup_gpu_path_shared;
bool tess_lookup_gpu_path_fits(const tess_problem *base, const char **why);
bool tess_lookup_gpu_constant_fits(const tess_problem *base, const char **why);
bool tess_lookup_gpu_shared_fits(const tess_problem *base, const char **why);
bool tess_lookup_gpu_by_name(const tess_problem *base, const char **why);
/* What a path counts when index i is i modulo n, so that lanes differ, or the warp's number modulo n, so that they agree. */
typedef enum lookup_pattern { LOOKUP_DIVERGENT, LOOKUP_BROADCAST } lookup_pattern;
void tess_lookup_gpu_pattern_counts(const tess_problem *base, lookup_path path, lookup_pattern pattern, tess_gpu_prediction *out);

#endif
