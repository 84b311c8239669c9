/* SPDX-License-Identifier: Apache-2.0
 * gpu_fast_mask.h - what the production rows of one mask share: the problem as a frame, what fits a multiprocessor, how a row is written. Each row stands
 * twice in the table: for rows of the array that begin at multiples of 16 bytes, and (_odd) for any. */
#ifndef TESS_OPS_CORRELATE_GPU_FAST_MASK_H
#define TESS_OPS_CORRELATE_GPU_FAST_MASK_H

#include <string.h>

#include "ops/correlate/gpu_fast.h"
#include "ops/correlate/gpu_raise.h"

enum { BODY = 2048 }; /* multiply-adds of an unrolled turn that the instruction cache holds */
enum { GRID = 65535, PARAMETERS = 4096, REGISTERS = 65536, SHARED = 228 << 10, BLOCK_SHARED = 1 << 10 /* of each block for the system */ };

TESS_INLINE bool frame_of(tess_correlate_frame *f, const tess_problem *base, int others, bool whole, const char **why) {
    return tess_correlate_gpu_direct(base, why) &&
           tess_correlate_frame_of(f, tess_correlate_gpu_of(base), tess_correlate_gpu_of(base)->direct, others, why) &&
           (!whole || tess_correlate_frame_whole(f, why));
}

/* The same whichever axis the mask's last is. */
TESS_INLINE bool any_frame_of(tess_correlate_frame *f, const tess_problem *base, int others, bool whole, const char **why) {
    return tess_correlate_gpu_direct(base, why) &&
           tess_correlate_frame_of_any(f, tess_correlate_gpu_of(base), tess_correlate_gpu_of(base)->direct, others, why) &&
           (!whole || tess_correlate_frame_whole(f, why));
}

TESS_INLINE tess_correlate_frame known_frame(const tess_problem *base, int others) {
    tess_correlate_frame f;
    const char *why;
    any_frame_of(&f, base, others, false, &why); /* true, because `fits` was */
    return f;
}

TESS_INLINE int64_t before(const tess_correlate_frame *f) { return f->x.before * f->pass->group; }
TESS_INLINE int64_t after(const tess_correlate_frame *f) { return (f->x.width - 1 - f->x.before) * f->pass->group; }

/* Blocks of so many threads and registers each that an SM holds. */
TESS_INLINE int64_t resident(int64_t threads, int64_t registers) {
    return tess_max64(1, tess_min64(REGISTERS / (threads * tess_ceil_div(registers, 8) * 8), 2048 / threads));
}

TESS_INLINE bool raise_mask(const tess_correlate_frame *f, float *raised) {
    return raise_weights(f->pass->weights, f->pass->taps, f->pass->from, raised);
}

/* Integer weights as bytes, each row of the mask filled with zeros to so many whole words; false when they are not bytes. */
TESS_INLINE int64_t groups_of(const tess_correlate_frame *f) { return tess_ceil_div(f->x.width, 4); }
TESS_INLINE bool bytes_of(const tess_correlate_problem *p, const tess_correlate_frame *f, uint32_t *taps) {
    const int64_t *weights = p->masks[0].weights, groups = groups_of(f);
    memset(taps, 0, sizeof *taps * (size_t)(f->y.width * groups));
    for (int64_t t = 0; t < f->pass->taps; t++) {
        const int64_t y = t / f->x.width, x = t % f->x.width;
        if (weights[t] < INT8_MIN || weights[t] > INT8_MAX)
            return false;
        taps[y * groups + x / 4] |= ((uint32_t)weights[t] & 255) << x % 4 * 8;
    }
    return true;
}

/* More of the row, such as its predictions, may follow. */
#define ROW(name, takes, whole, ...)                                                                                  \
    bool tess_correlate_##name##_fits(const tess_problem *base, const char **why) { return takes(base, whole, why); } \
    const tess_gpu_row tess_correlate_##name = {                                                                      \
        .headers = tess_correlate_frame_headers, .production = true, .least_arch = 80, .lay_out = lay_##name, __VA_ARGS__}

/* What predictions are about where no device is named. */
TESS_INLINE const tess_gpu_device *device_meant(const tess_gpu_prediction *prediction) {
    static const tess_gpu_device h200 = {.sms = 132, .shared_block_optin = 227 << 10, .shared_sm = 228 << 10, .major = 9};
    return prediction->device ? prediction->device : &h200;
}

/* gpu_flat_rows.c: V, LANES, TILE, DOWN, THREADS, BLOCKS, MENDED of gpu_flat.cu; blocks below each other, steps of their lanes, bytes of shared memory. */
enum { FLAT_WIDEST = 7 };
typedef struct flat_shape {
    bool bytes, raised;
    int64_t outputs, lanes, tile, down, threads, blocks, mended, bands, steps, room;
    union {
        uint32_t words[FLAT_WIDEST * 2];
        float weights[FLAT_WIDEST * FLAT_WIDEST];
    } taps;
} flat_shape;
bool tess_correlate_flat_of(flat_shape *s, tess_correlate_frame *f, const tess_problem *base, const char **why);

/* gpu_fast_rows.c: V, R, WX, WY, BLOCKS of gpu_patch.cuh. */
typedef struct patch_shape {
    int64_t columns, rows, across, down, blocks;
    bool direct, raised; /* weights times 2^24 */
} patch_shape;
patch_shape tess_correlate_patch_of(const tess_problem *base, const tess_correlate_frame *f, bool whole);
patch_shape tess_correlate_patch_bytes_of(const tess_correlate_frame *f, bool whole);

/* gpu_patch_shared_rows.c: V, R, TURN, LANES, DOWN, ARRAYS, THREADS, BLOCKS of gpu_patch_shared.cu; false where another kernel takes the problem. */
typedef struct patch_shared_shape {
    int64_t columns, rows, turn, lanes, down, arrays, threads, blocks;
    bool full; /* rows of the input and of outputs are as wide as a block */
} patch_shared_shape;
bool tess_correlate_patch_shared_of(patch_shared_shape *shape, const tess_correlate_frame *f, const tess_gpu_device *device);
/* The same of patch_bytes; the launch, which lacks the taps, NULL where it goes by gpu_patch_bytes.cu. */
bool tess_correlate_patch_dots_of(patch_shared_shape *shape, const tess_correlate_frame *f, const tess_gpu_device *device);
tess_gpu_step *tess_correlate_patch_dots_lay(const tess_correlate_frame *f, int64_t groups, const tess_gpu_device *device, tess_gpu_layout *layout);

/* gpu_fast_rows.c: V, THREADS, STAGES, BLOCKS of gpu_strip2d.cu; rows of outputs of a block; bytes of shared memory. */
typedef struct strip2d_shape {
    int64_t columns, threads, stages, blocks, height, shared;
} strip2d_shape;
strip2d_shape tess_correlate_strip2d_of(const tess_correlate_frame *f, int64_t work, bool whole, const tess_gpu_device *device);

/* gpu_line_rows.c: integer weights over bytes go four at a time, sums of f32 over u8 by weights times 2^24 where those are numbers. */
enum { LINE_THREADS = 128, LINE_BESIDE = 8, LINE_WORDS = (2 * LINE_BESIDE + 1 + 3) / 4 };
typedef struct line_shape {
    bool bytes, raised;
    int64_t vectors, blocks; /* a thread's, a multiprocessor's */
    union {
        uint32_t words[LINE_WORDS];
        float weights[2 * LINE_BESIDE + 1];
    } taps;
} line_shape;
line_shape tess_correlate_line_of(const tess_problem *base, const tess_correlate_frame *f);

/* gpu_march_rows.c: V, R, ALONG, DOWN, THREADS, STAGES, BLOCKS of gpu_march3d.cu; planes of outputs of a block; bytes of shared memory. */
typedef struct march3d_shape {
    int64_t columns, rows, along, down, threads, stages, blocks, depth, shared;
} march3d_shape;
march3d_shape tess_correlate_march3d_of(const tess_correlate_frame *f, int64_t work, bool whole, const tess_gpu_device *device);

/* gpu_march_kept_rows.c: the same of gpu_march_kept.cu. */
march3d_shape tess_correlate_march_kept_of(const tess_correlate_frame *f, int64_t work, const tess_gpu_device *device);
/* The mask's order of axes. A launch of any of the three, all but its text and what else it asks for; step: a parameter more, if any. */
void tess_correlate_march_order(const tess_correlate_frame *f, tess_gpu_layout *layout);
void tess_correlate_march3d_lay(const tess_correlate_frame *f, const march3d_shape *s, tess_type work, bool whole, const char *entry,
                                const int64_t *step, tess_gpu_layout *layout);

/* gpu_march_rows.c: EACH, ALONG, ROWS, THREADS of gpu_tile1d.cu; bytes of shared memory. */
enum { TILE1D_EACH = 16 };
typedef struct tile1d_shape {
    int64_t along, rows, threads, shared;
} tile1d_shape;
tile1d_shape tess_correlate_tile1d_of(const tess_correlate_frame *f, bool whole);

/* gpu_flat_predict.c, gpu_patch_shared_predict.c, gpu_patch_predict.c, gpu_strip_predict.c, gpu_line_predict.c, gpu_march_predict.c, gpu_tile1d_predict.c */
void tess_correlate_predict_flat(const tess_problem *base, tess_gpu_prediction *out);
void tess_correlate_predict_patch_shared(const tess_problem *base, tess_gpu_prediction *out);
void tess_correlate_predict_patch_dots(const tess_correlate_frame *f, const patch_shared_shape *shape, tess_gpu_prediction *out);
void tess_correlate_predict_patch(const tess_problem *base, tess_gpu_prediction *out);
void tess_correlate_predict_patch_odd(const tess_problem *base, tess_gpu_prediction *out);
void tess_correlate_predict_patch_bytes(const tess_problem *base, tess_gpu_prediction *out);
void tess_correlate_predict_patch_bytes_odd(const tess_problem *base, tess_gpu_prediction *out);
void tess_correlate_predict_tile1d(const tess_problem *base, tess_gpu_prediction *out);
void tess_correlate_predict_tile1d_odd(const tess_problem *base, tess_gpu_prediction *out);
void tess_correlate_predict_march3d(const tess_problem *base, tess_gpu_prediction *out);
void tess_correlate_predict_march3d_odd(const tess_problem *base, tess_gpu_prediction *out);
void tess_correlate_predict_march_kept(const tess_problem *base, tess_gpu_prediction *out);
void tess_correlate_predict_march_across(const tess_problem *base, tess_gpu_prediction *out);
void tess_correlate_predict_line(const tess_problem *base, tess_gpu_prediction *out);
void tess_correlate_predict_strip2d(const tess_problem *base, tess_gpu_prediction *out);
void tess_correlate_predict_strip2d_odd(const tess_problem *base, tess_gpu_prediction *out);

#endif
