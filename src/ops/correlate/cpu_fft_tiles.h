/* SPDX-License-Identifier: Apache-2.0
 * cpu_fft_tiles.h - where a tile's points come from and its outputs go: rows of a batch's tiles, points of a single pair's. Included by cpu_fft.c. */

/* A tile of the batch. */
typedef struct tile {
    const char *from;            /* the input's rows; NULL: ghost cells only */
    char *to;                    /* first output */
    int64_t x, y, columns, rows; /* first output, and how many; no columns: there is no such tile */
} tile;

typedef struct job {
    const tess_correlate_problem *problem;
    const tess_correlate_fft *fft;
    const tess_run *run;
    tess_correlate_source source; /* along x */
    tess_row_storer store;
    int64_t out_stride; /* bytes between outputs along x */
    int width, tiles;   /* bytes of an element; tiles of a batch */
    bool ready, stream; /* outputs may be stored as they are; past the caches */
    size_t scratch_each;
} job;

/* A thread's scratch. */
typedef struct room {
    char *grid, *sum, *buffer; /* of points; a column */
    char *rows, *nothing;      /* a row of the grid from each tile, gathered or to be stored; a row of zeros */
} scratch;

/* ---- which tiles, and where their rows are ---- */

static tile find_tile(const job *j, int64_t number, int64_t *index) {
    const tess_correlate_fft *fft = j->fft;
    const tess_array *out = &j->problem->out;
    tile t = {0};
    if (number >= fft->tiles)
        return t;
    int64_t outer = number % fft->outer;
    number /= fft->outer;
    t.to = j->run->out;
    for (int k = fft->outer_ndim - 1; k >= 0; k--) {
        index[k] = outer % fft->outer_shape[k];
        outer /= fft->outer_shape[k];
        t.to += index[k] * out->stride[fft->outer_axis[k]];
    }
    t.x = number % fft->tiles_x * fft->outputs_x;
    t.columns = tess_min64(out->shape[fft->x] - t.x, fft->outputs_x);
    t.to += t.x * out->stride[fft->x];
    t.rows = 1;
    if (fft->plane) {
        t.y = number / fft->tiles_x * fft->outputs_y;
        t.rows = tess_min64(out->shape[fft->y] - t.y, fft->outputs_y);
        t.to += t.y * out->stride[fft->y];
    }
    return t;
}

/* The input that a tile meets on the axes that the transform leaves out, at the tap where the piece begins. */
static const char *find_input(const job *j, const int64_t *index, const int64_t *first) {
    const tess_correlate_fft *fft = j->fft;
    const char *from = tess_correlate_input(j->problem, j->run);
    for (int k = 0; k < fft->outer_ndim; k++) {
        const int d = fft->outer_axis[k], m = fft->outer_mask[k];
        int64_t i = index[k];
        if (m >= 0)
            i = tess_boundary_index(j->problem->boundary, j->problem->in.shape[d], i - j->problem->masks[0].before[m] + first[m]);
        if (i < 0)
            return NULL;
        from += i * j->problem->in.stride[d];
    }
    return from;
}

/* Row a of a tile's part of the grid: where it lies, or gathered into `to`. left, up: taps before an output. */
static const char *input_row(const job *j, const tile *t, int64_t a, int64_t left, int64_t up, int64_t taps_x, int64_t taps_y, char *to,
                             const char *nothing) {
    const tess_correlate_fft *fft = j->fft;
    const char *row = t->from;
    const int64_t skip = fft->plane ? 0 : a * fft->b;
    const int64_t count = tess_min64(t->columns + taps_x - 1 - skip, fft->b), first = t->x - left + skip;
    if (t->columns == 0 || count <= 0 || (fft->plane && a >= t->rows + taps_y - 1))
        return nothing;
    if (fft->plane && row) {
        const int64_t i = tess_boundary_index(j->source.boundary, j->problem->in.shape[fft->y], t->y - up + a);
        row = i < 0 ? NULL : row + i * j->problem->in.stride[fft->y];
    }
    if (j->source.in_place && row && count == fft->b && first >= 0 && first + count <= j->source.n)
        return row + first * j->width;
    tess_correlate_gather(&j->source, to, row, first, count);
    memset(to + count * j->width, 0, (size_t)((fft->b - count) * j->width));
    return to;
}

/* ---- a single pair of large tiles ---- */

/* A tile's input for one piece. */
typedef struct field {
    const tile *t;
    const char **rows;    /* of a plane: where each of the grid's rows begins in the input; NULL: a row of ghost cells */
    int64_t x;            /* input index of the first point */
    int64_t across, down; /* points that outputs meet; the others are 0 */
} field;

static field find_field(const job *j, const tile *t, const int64_t *first, const char **rows) {
    const tess_correlate_fft *fft = j->fft;
    const tess_correlate_mask *mask = &j->problem->masks[0];
    const int64_t left = mask->before[fft->mask_x] - first[fft->mask_x];
    field f = {.t = t, .rows = rows, .x = t->x - left};
    if (t->columns == 0)
        return f;
    f.across = t->columns + tess_min64(fft->taps_x, mask->shape[fft->mask_x] - first[fft->mask_x]) - 1;
    f.down = 1;
    if (fft->plane) {
        const int64_t up = mask->before[fft->mask_y] - first[fft->mask_y];
        f.down = t->rows + tess_min64(fft->taps_y, mask->shape[fft->mask_y] - first[fft->mask_y]) - 1;
        for (int64_t a = 0; a < f.down; a++) {
            const int64_t i = tess_boundary_index(j->source.boundary, j->problem->in.shape[fft->y], t->y - up + a);
            rows[a] = i < 0 || !t->from ? NULL : t->from + i * j->problem->in.stride[fft->y];
        }
    }
    return f;
}

/* Points c .. c + lanes - 1 of row a where they lie; NULL: they have to be gathered. */
TESS_INLINE const char *points_in_place(const job *j, const field *f, int64_t a, int64_t c, int lanes) {
    const int64_t skip = j->fft->plane ? c : a * j->fft->b + c, first = f->x + skip;
    if (!j->source.in_place || skip + lanes > f->across || first < 0 || first + lanes > j->source.n || (j->fft->plane && a >= f->down))
        return NULL;
    const char *row = j->fft->plane ? f->rows[a] : f->t->from;
    return row ? row + first * j->width : NULL;
}

/* The same, gathered into `room` if need be. */
TESS_INLINE const char *some_points(const job *j, const field *f, int64_t a, int64_t c, int lanes, char *room) {
    const int64_t skip = j->fft->plane ? c : a * j->fft->b + c, count = tess_min64(f->across - skip, lanes);
    const char *there = points_in_place(j, f, a, c, lanes);
    if (there)
        return there;
    memset(room, 0, TESS_FFT_LINE);
    if (count > 0 && (a < f->down || !j->fft->plane))
        tess_correlate_gather(&j->source, room, j->fft->plane ? f->rows[a] : f->t->from, f->x + skip, count);
    return room;
}

static void store_points(const job *j, const tile *t, int64_t a, int64_t c, int lanes, const char *from) {
    const int64_t skip = j->fft->plane ? c : a * j->fft->b + c, count = tess_min64(t->columns - skip, lanes);
    if (count > 0 && (a < t->rows || !j->fft->plane))
        j->store(t->to + (j->fft->plane ? a * j->problem->out.stride[j->fft->y] : 0) + skip * j->out_stride, j->out_stride, from, count);
}

/* Where outputs c .. c + lanes - 1 of row a may be stored as they are; else NULL. */
TESS_INLINE char *ready_points(const job *j, const tile *t, int64_t a, int64_t c, int lanes) {
    const int64_t skip = j->fft->plane ? c : a * j->fft->b + c;
    if (!j->ready || skip + lanes > t->columns || (j->fft->plane && a >= t->rows))
        return NULL;
    return t->to + (j->fft->plane ? a * j->problem->out.stride[j->fft->y] : 0) + skip * j->out_stride;
}
