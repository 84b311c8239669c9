/* SPDX-License-Identifier: Apache-2.0
 * gpu_fast.h - the production rows of the GPU: their problem as arrays of at most three axes and a batch, and the rows themselves. */
#ifndef TESS_OPS_CORRELATE_GPU_FAST_H
#define TESS_OPS_CORRELATE_GPU_FAST_H

#include "ops/correlate/gpu_correlate.h"

/* struct frame of gpu_window.cuh, before it is cut to its batch. */
typedef struct tess_correlate_frame {
    const tess_correlate_pass *pass;
    tess_correlate_axis x, y, z; /* x the pass's row, in elements; y and z one element where there is no such axis */
    int order[3];                /* x, y, z as 0, 1, 2 in the mask's order; z, y, x but where `turned`: then z is the coarser of the two */
    bool turned;
    int batch, batch_axis[TESS_MAX_NDIM];
    int64_t arrays;     /* of the batch */
    int64_t in, out;    /* sizes of an element */
    uint64_t ghost;     /* the constant as an element */
    bool representable; /* it is one */
    tess_boundary boundary;
} tess_correlate_frame;

/* The pass with so many masked axes besides the row taken as y and z; false and why when it is not of that form. */
bool tess_correlate_frame_of(tess_correlate_frame *frame, const tess_correlate_problem *problem, const tess_correlate_pass *pass, int others,
                             const char **why);
/* The same whichever axis the mask's last is. */
bool tess_correlate_frame_of_any(tess_correlate_frame *frame, const tess_correlate_problem *problem, const tess_correlate_pass *pass, int others,
                                 const char **why);
/* Every step a whole vector of 16 bytes, on both sides. */
bool tess_correlate_frame_whole(const tess_correlate_frame *frame, const char **why);
/* Columns that a warp writes of rows that begin anywhere, so many a lane (OWN of gpu_patch.cuh, not LAPPED). */
int64_t tess_correlate_frame_shifted(const tess_correlate_frame *frame, int64_t columns);
/* Planes of so few elements that a kernel may count by 32 bits in them. */
bool tess_correlate_frame_planes(const tess_correlate_frame *frame, bool whole, const char **why);
/* Elements of a row in shared memory (ROW of gpu_ring.cuh) of a tile of so many, `columns` of them a thread's, which reach `before` and `after` beside it; the tile
 * begins `away` elements behind a whole sector. */
int64_t tess_correlate_frame_ring(const tess_correlate_frame *frame, bool whole, int64_t tile, int64_t columns, int64_t before, int64_t after,
                                  int64_t away);
/* A thread of so many, so many of them along x, keeps a bit for each copy, loose element and row of its part in copying so many rows of so many elements
 * (tile_feed of gpu_ring.cuh): whether one word holds them. */
bool tess_correlate_frame_copies(const tess_correlate_frame *frame, bool whole, int64_t row, int64_t rows, int64_t threads, int64_t along);
/* The multiple of `step` from n on; bytes of the type that sums are made in. */
TESS_INLINE int64_t up_to(int64_t n, int64_t step) { return tess_ceil_div(n, step) * step; }
TESS_INLINE int64_t work_size(const tess_problem *base) { return (int64_t)tess_type_size(tess_correlate_gpu_of(base)->work); }
/* Whether there are enough elements for strips, whose blocks are few and stay; with fewer only patches fill a card. */
enum { TESS_CORRELATE_MANY = 8 << 20 };
bool tess_correlate_frame_many(const tess_correlate_frame *frame);
/* What all of gpu_window.cuh's kernels want: -D of types, boundary, batch, taps along x. */
void tess_correlate_frame_options(tess_gpu_layout *layout, tess_type work, const tess_correlate_frame *frame, bool whole);
void tess_correlate_frame_pass(tess_gpu_layout *layout, tess_gpu_step *step, const tess_correlate_frame *frame);
/* Bytes of parameters of a kernel that takes the frame and so many weights. */
int64_t tess_correlate_frame_parameters(const tess_correlate_frame *frame, int64_t weights);
extern const tess_gpu_text *const tess_correlate_frame_headers[];

/* A thread's columns are whole words of 4 bytes on their way in (the tiles of gpu_ring.cuh): at least so many. Strips have whole words on their way out, too. */
static inline int64_t tess_correlate_columns_least(const tess_correlate_frame *frame) { return 4 / tess_min64(4, frame->in); }
static inline int64_t tess_correlate_columns_full(const tess_correlate_frame *frame) { return 4 / tess_min64(4, tess_min64(frame->in, frame->out)); }

/* Where a launch that may be one of several reads and writes. */
typedef struct tess_correlate_ends {
    tess_gpu_place from, to;
    int64_t from_at, to_at;
} tess_correlate_ends;

/* Launches that rows of several passes share: strip2d and tile1d of a frame of its own, separable2d of two masks of a list. `carries`: whether they can. */
bool tess_correlate_strip2d_carries(const tess_correlate_frame *frame, int64_t work, const char **why);
void tess_correlate_strip2d_lay(const tess_correlate_frame *frame, tess_type work, bool whole, const tess_gpu_device *device, tess_gpu_layout *layout,
                                const tess_correlate_ends *ends);
bool tess_correlate_tile1d_carries(const tess_correlate_frame *frame, const char **why);
void tess_correlate_tile1d_lay(const tess_correlate_frame *frame, tess_type work, bool whole, tess_gpu_layout *layout,
                               const tess_correlate_ends *ends);
bool tess_correlate_separable2d_carries(const tess_correlate_problem *problem, int first, const tess_array *in, const tess_array *out, bool whole,
                                        const char **why);
void tess_correlate_separable2d_lay(const tess_correlate_problem *problem, int first, const tess_array *in, const tess_array *out, bool whole,
                                    const tess_gpu_device *device, tess_gpu_layout *layout, const tess_correlate_ends *ends);
/* What these launches will count; and what one more counts added: what is not predicted of one is not of both. */
void tess_correlate_tile1d_predict(const tess_correlate_frame *frame, tess_type work, bool whole, tess_gpu_prediction *out);
TESS_INLINE void tess_correlate_add_prediction(tess_gpu_prediction *sum, const tess_gpu_prediction *more) {
#define X(name) sum->name = sum->name < 0 || more->name < 0 ? -1 : sum->name + more->name;
    TESS_GPU_PREDICTION_LIST(X)
#undef X
}
void tess_correlate_strip2d_predict(const tess_correlate_frame *frame, tess_type work, bool whole, tess_gpu_prediction *out);
void tess_correlate_separable2d_predict(const tess_correlate_problem *problem, int first, const tess_array *in, const tess_array *out, bool whole,
                                        tess_gpu_prediction *sum);
/* Small masks of narrow elements in whole rows, through shared memory: whether they are taken so, and the launch, if they are. */
bool tess_correlate_patch_shared_takes(const tess_correlate_frame *frame);
/* Outputs that it computes, those of lanes and rows left over included, for each that there is. */
double tess_correlate_patch_shared_computed(const tess_correlate_frame *frame);
bool tess_correlate_patch_shared_lay(const tess_correlate_frame *frame, tess_type work, const tess_gpu_device *device, tess_gpu_layout *layout);
/* The axis along which elements follow each other on both sides; -1: none. */
int tess_correlate_gpu_finest(const tess_array *in, const tess_array *out);
/* The axis that rows of a list's masks run along: the finest, or the pixels of which the finest are the colours, where no mask runs along those (*colours: that axis, else -1). -1: none. */
int tess_correlate_gpu_row(const tess_correlate_mask *masks, int count, const tess_array *in, const tess_array *out, int *colours);
/* Axes without that of the colours, none of them masked yet, types and sizes; and the number of an axis among them. */
void tess_correlate_gpu_axes(tess_correlate_pass *pass, const tess_array *in, const tess_array *out, int row, int colours);
TESS_INLINE int tess_correlate_gpu_axis(int d, int colours) { return d - (colours >= 0 && d > colours); }

#define TESS_CORRELATE_FAST_ROWS(X) \
    X(flat)                         \
    X(patch_bytes)                  \
    X(patch_bytes_odd)              \
    X(patch)                        \
    X(patch_odd)                    \
    X(strip2d)                      \
    X(strip2d_odd)                  \
    X(march3d)                      \
    X(march3d_odd)                  \
    X(march_kept)                   \
    X(march_across)                 \
    X(line)                         \
    X(short_rows)                   \
    X(tile1d)                       \
    X(tile1d_odd)                   \
    X(patch_separable)              \
    X(patch_separable_odd)          \
    X(separable2d)                  \
    X(separable2d_odd)              \
    X(lanes3d)                      \
    X(shifted3d)                    \
    X(separable3d)                  \
    X(separable3d_odd)              \
    X(separable_split)              \
    X(separable_split_odd)          \
    X(separable_each)               \
    X(separable_each_odd)           \
    X(mixed)                        \
    X(turned)
#define X(name)                                      \
    extern const tess_gpu_row tess_correlate_##name; \
    bool tess_correlate_##name##_fits(const tess_problem *problem, const char **why);
TESS_CORRELATE_FAST_ROWS(X)
#undef X
bool tess_correlate_flat_pays(const tess_problem *problem, const char **why);
bool tess_correlate_line_pays(const tess_problem *problem, const char **why);
bool tess_correlate_short_rows_pays(const tess_problem *problem, const char **why);
bool tess_correlate_patch_pays(const tess_problem *problem, const char **why);
bool tess_correlate_patch_odd_pays(const tess_problem *problem, const char **why);
bool tess_correlate_patch_separable_pays(const tess_problem *problem, const char **why);
bool tess_correlate_patch_separable_odd_pays(const tess_problem *problem, const char **why);
bool tess_correlate_separable_each_pays(const tess_problem *problem, const char **why);
bool tess_correlate_separable_each_odd_pays(const tess_problem *problem, const char **why);
bool tess_correlate_mixed_pays(const tess_problem *problem, const char **why);
bool tess_correlate_turned_pays(const tess_problem *problem, const char **why);
bool tess_correlate_shifted3d_pays(const tess_problem *problem, const char **why);
bool tess_correlate_separable_split_pays(const tess_problem *problem, const char **why);
bool tess_correlate_separable_split_odd_pays(const tess_problem *problem, const char **why);
/* gpu_narrow.c */
bool tess_correlate_march3d_pays(const tess_problem *problem, const char **why);
bool tess_correlate_march3d_odd_pays(const tess_problem *problem, const char **why);
bool tess_correlate_separable2d_pays(const tess_problem *problem, const char **why);
bool tess_correlate_separable2d_odd_pays(const tess_problem *problem, const char **why);
/* Whether a list's masks are quickest each by the row that takes it, because output rows are short and many. */
bool tess_correlate_list_is_narrow(const tess_correlate_problem *problem);
/* Whether strips as wide as the frame's rows are better than what else takes the list. */
bool tess_correlate_strips_pay(const tess_correlate_frame *frame, const tess_problem *problem, bool whole, const char **why);
/* Whether rows of a mask along them alone are short enough for tile1d, of which several are a block; where patch takes them. */
bool tess_correlate_tile1d_is_quicker(const tess_correlate_frame *frame, int64_t work, bool whole);

#endif
