/* SPDX-License-Identifier: Apache-2.0
 * gpu_joined.c - the row transpose/joined: permutations of odd sizes whose rows are short, as matrices with long ones; its launch (gpu_joined.cu).
 *
 * Rows of `out` are short where q is; but an axis that follows q in out without a gap makes longer ones together with it: rows of the matrix are then rows of
 * `in` in another order, and where one begins is a matter of two numbers. Likewise for rows of `in`. Where it is p that follows q, the end of a row of
 * `out` and the beginning of the next lie in one vector: it is written whole, with elements of both. */
#include "ops/transpose/gpu_predict.h"

extern const char tess_kernel_transpose_gpu_joined_cu[];
static const tess_gpu_text gpu_joined = {"transpose/gpu_joined.cu", tess_kernel_transpose_gpu_joined_cu};

enum {
    LANES = TRANSPOSE_GPU_LANES,
    LARGEST = 1 << 30,
    STRIP = 8 << 20 /* bytes that a strip's tiles read of in */
};

/* The batch's axis that steps by `step` bytes on that side; -1: none. */
static int axis_of(const transpose_plane *plane, int side, int64_t step) {
    for (int d = 0; d < plane->ndim; d++)
        if (plane->stride[side][d] == step)
            return d;
    return -1;
}

static void take_axis(transpose_plane *plane, int axis) {
    plane->count /= plane->shape[axis];
    plane->ndim--;
    for (int d = axis; d < plane->ndim; d++) {
        plane->shape[d] = plane->shape[d + 1];
        for (int side = TRANSPOSE_IN; side <= TRANSPOSE_OUT; side++)
            plane->stride[side][d] = plane->stride[side][d + 1];
    }
}

static void reach(transpose_gpu_joined *j, int64_t count, int64_t step) {
    j->low += tess_min64(0, (count - 1) * step);
    j->high += tess_max64(0, (count - 1) * step);
}

static transpose_gpu_joined join(const transpose_plane *plane, int64_t size) {
    transpose_gpu_joined j = {.plane = *plane, .p_inner = plane->p_size, .q_inner = plane->q_size};
    transpose_plane *m = &j.plane;
    int along_q = axis_of(m, TRANSPOSE_OUT, m->q_size * size), along_p = axis_of(m, TRANSPOSE_IN, m->p_size * size);
    if (along_q >= 0 && (along_q != along_p || m->q_size <= m->p_size)) { /* one axis for both: to the shorter one */
        j.q_outer = m->stride[TRANSPOSE_IN][along_q] / size;
        reach(&j, m->shape[along_q], j.q_outer);
        m->q_size *= m->shape[along_q];
        take_axis(m, along_q);
    }
    j.follow = m->p_out == m->q_size * size && m->q_size * size >= 32;
    along_p = axis_of(m, TRANSPOSE_IN, m->p_size * size);
    if (along_p >= 0 && !j.follow) {
        j.p_outer = m->stride[TRANSPOSE_OUT][along_p] / size;
        m->p_size *= m->shape[along_p];
        take_axis(m, along_p);
    }
    reach(&j, j.q_inner, m->q_in / size);
    j.high += m->p_size;
    return j;
}

bool tess_transpose_gpu_joined_of(const tess_problem *base, transpose_gpu_joined *j, const char **why) {
    const transpose_problem *p = (const transpose_problem *)base;
    transpose_plane plane;
    if (!tess_transpose_gpu_plane_of(base, &plane, why))
        return false;
    *why = "needs elements of 1, 2 or 4 bytes";
    if (p->size > 4)
        return false;
    *j = join(&plane, p->size);
    *why = "needs rows and columns of less than 2^30 elements";
    return j->plane.p_size < LARGEST && j->plane.q_size < LARGEST;
}

/* Groups of V rows in a tile, and blocks a multiprocessor: of those that were fast on an H200 (notes-gpu.md) the one that reads the fewest rows, margins
 * among them. */
typedef struct tile {
    int groups, blocks;
} tile;
static tile tile_of(const transpose_gpu_joined *j, int64_t size) {
    static const tile each[][4] = {{{6, 5}, {8, 4}, {10, 3}}, {{12, 4}, {14, 4}, {18, 3}, {30, 2}}, {{14, 7}}};
    const int64_t v = 16 / size, margin = 32 / size;
    tile best = {0, 0};
    for (int64_t i = 0, fewest = INT64_MAX; i < 4; i++) {
        const tile one = each[size / 2][i];
        if (one.groups == 0)
            break;
        const int64_t rows = tess_ceil_div(j->plane.q_size + margin - 1, one.groups * v) * (one.groups + 2);
        if (rows < fewest) {
            best = one;
            fewest = rows;
        }
    }
    return best;
}

int64_t tess_transpose_gpu_joined_groups(const transpose_gpu_joined *j, int64_t size) { return tile_of(j, size).groups; }

bool tess_transpose_gpu_joined_fits(const tess_problem *base, const char **why) {
    transpose_gpu_joined j;
    return tess_transpose_gpu_joined_of(base, &j, why);
}

bool tess_transpose_gpu_joined_pays(const tess_problem *base, const char **why) {
    transpose_gpu_joined j;
    if (!tess_transpose_gpu_joined_of(base, &j, why))
        return false;
    const int64_t size = ((const transpose_problem *)base)->size, p_bytes = j.p_inner * size, q_bytes = j.q_inner * size;
    const bool p_joined = j.plane.p_size > j.p_inner, q_joined = j.plane.q_size > j.q_inner;
    *why = "needs 64 bytes of joined rows of in and 32 of out";
    if (j.plane.p_size * size < 64 || j.plane.q_size * size < 32)
        return false;
    *why = "where no rows are short, shifted is faster";
    /* bytes of a row; of u8 4099 were faster by joined and 60013 were not, and nothing in between was measured */
    const int64_t least = size == 1 ? 6144 : size == 2 ? 4096 : 1024;
    return (p_joined && p_bytes < least) || ((q_joined || (j.follow && size < 4)) && q_bytes < least);
}

static void lay_joined(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const char *why;
    transpose_gpu_joined j;
    (void)device;
    if (!tess_transpose_gpu_joined_of(base, &j, &why))
        return;
    const int64_t size = ((const transpose_problem *)base)->size, margin = 32 / size, v = 16 / size, most = (LANES - 1) * v;
    const tile use = tile_of(&j, size);
    const int64_t groups = use.groups;
    const int64_t more[] = {j.p_inner, j.q_inner, j.p_outer, j.q_outer, j.low, j.high, j.follow};
    transpose_gpu_matrices m = tess_transpose_gpu_matrices_of(base);
    m.plane = j.plane;
    tess_gpu_unit(layout, &gpu_joined);
    tess_gpu_option(layout, "-DLANES=%d", LANES);
    tess_gpu_option(layout, "-DNV=%d", (int)groups);
    tess_gpu_option(layout, "-DBLOCKS=%d", use.blocks);
    tess_gpu_option(layout, "-DSTRIP=%d", (int)(STRIP / (most * size * groups * v))); /* what its tiles read stays in L2 */
    tess_gpu_option(layout, "-DSIZE=%d", (int)size);
    tess_gpu_option(layout, "-DBATCH=%d", j.plane.ndim);
    const int64_t blocks = tess_ceil_div(j.plane.p_size, most) * tess_ceil_div(j.plane.q_size + margin - 1, groups * v) * j.plane.count;
    tess_gpu_step *step =
        tess_gpu_launch_of(layout, "joined_rows", blocks, 1, 1, (int)((groups + 2) * LANES), most * (groups + 2) * 16 + (LANES - 1) * 16);
    tess_transpose_gpu_pass(layout, step, &m, more, TESS_COUNT(more));
    layout->alignment = size;
}

const tess_gpu_row tess_transpose_gpu_joined = {
    .headers = tess_transpose_gpu_odd_headers, .production = true, .least_arch = 80, .lay_out = lay_joined, .predict = tess_transpose_predict_joined};
