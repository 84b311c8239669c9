/* SPDX-License-Identifier: Apache-2.0
 * cpu_volume.c - correlate/window for masks of three axes over short rows, and rows of other types.
 *
 * A band of rows of every input plane is copied once, with its ghost cells, into a ring of layers, and the output planes are made one after another from
 * the layers that they meet: a copied row serves all outputs of its band, and only the few rows that two bands meet are copied twice. The ring stays in
 * the second-level cache.
 *
 * Tiles for masks of 3 x 3 in planes know of the two ghost cells of a row, where they are a constant, and rows of whole tiles are then not copied at all
 * (volume_kernels.h). */
#include "core/parallel.h"
#include "ops/correlate/volume.h"
#include "ops/correlate/volume_kernels.h"
#include "simd/simd.h"

enum { LEAST_CHUNK = 16 }; /* planes of a piece: at its front it copies layers that its neighbour copies too */

const tess_window_kernels *TESS_ISA_NAME(tess_correlate_window_kernels)(bool f32);
const tess_volume_kernels *TESS_ISA_NAME(tess_correlate_volume_kernels)(bool f32, int64_t side);

typedef struct job {
    const tess_correlate_pass *pass;
    tess_correlate_volume volume;
    tess_correlate_source source;
    tess_correlate_outer outer;
    tess_row_storer store;
    const tess_window_kernels *kernels;
    const tess_volume_kernels *small; /* for this mask; NULL: tiles of any mask */
    int64_t tall;                     /* rows of a tile */
    bool in_place;                    /* rows are read where they lie, and none is copied */
    const char *in;
    char *out, *scratch;
    tess_window_put put;
    bool out_ready, narrows;                  /* tiles can be stored as they are: of the work type, of small integers */
    bool stream;                              /* past the caches, where they stand in lines */
    bool ask;                                 /* the input's rows are compact: what comes next is asked for */
    int64_t source_bytes, out_width;          /* of an element */
    int64_t length, out_stride;               /* of an output row: elements, bytes from element to element */
    int64_t rows, planes, y_stride, z_stride; /* of the output */
    int64_t bands;                            /* of a volume */
} job;

/* What a thread is at: a band of rows, through some planes of a volume. */
typedef struct walk {
    const char *in; /* the volume's */
    char *out, *scratch;
    int64_t y, rows, z; /* of the output; z: the first plane */
    int64_t made;       /* layers copied so far: those of the planes from z on */
} walk;

/* Where column `-before` of the copied row i of a layer stands. */
static char *copied_row(const job *j, const walk *w, int64_t layer, int64_t i) {
    const tess_correlate_volume *v = &j->volume;
    const int64_t before = j->pass->axis[j->pass->row].before * j->pass->group * j->source.width;
    return w->scratch + v->table_bytes + v->ahead_bytes + (layer % v->layers * v->met + i) * v->row_bytes + v->left - before;
}

/* Of the input, the plane that is layer `layer` of those that the walk meets; NULL: ghost cells. */
static const char *input_plane(const job *j, const walk *w, int64_t layer) {
    const tess_correlate_axis *z = &j->pass->axis[j->volume.window.z];
    const int64_t plane = tess_boundary_index(j->source.boundary, z->n, w->z + layer - z->before);
    return plane < 0 ? NULL : w->in + plane * z->in_stride;
}

static void copy_layer(const job *j, const walk *w, int64_t layer) {
    const tess_correlate_axis *row = &j->pass->axis[j->pass->row], *y = &j->pass->axis[j->volume.window.y];
    const int64_t before = row->before * j->pass->group, count = j->length + (row->width - 1) * j->pass->group;
    const char *plane = input_plane(j, w, layer);
    char *to = copied_row(j, w, layer, 0);
    for (int64_t i = 0; i < w->rows + y->width - 1; i++, to += j->volume.row_bytes) {
        const int64_t line = tess_boundary_index(j->source.boundary, y->n, w->y + i - y->before);
        tess_correlate_gather(&j->source, to, plane && line >= 0 ? plane + line * y->in_stride : NULL, -before, count);
    }
}

/* Pointers to `count` rows of the plane at `plane` from row `first` on, or to `other` where it has none; NULL: it has none at all. */
static void point(const char **to, int64_t count, const char *plane, int64_t first, const tess_correlate_axis *y, const char *other) {
    const int64_t from = plane ? tess_min64(tess_max64(-first, 0), count) : count, until = tess_max64(tess_min64(y->n - first, count), from);
    for (int64_t i = 0; i < from; i++)
        to[i] = other;
    for (int64_t i = from; i < until; i++)
        to[i] = plane + (first + i) * y->in_stride;
    for (int64_t i = until; i < count; i++)
        to[i] = other;
}

/* Pointers to the rows that plane z of the walk meets, and to those of the input that the plane behind it will meet first. */
static void find_rows(const job *j, const walk *w, int64_t z) {
    const tess_correlate_volume *v = &j->volume;
    const tess_correlate_axis *y = &j->pass->axis[v->window.y];
    const char **table = (const char **)(void *)w->scratch, **ahead = (const char **)(void *)(w->scratch + v->table_bytes);
    const int64_t first = w->y - y->before; /* of the input, where the layers begin */
    for (int64_t p = 0; p < v->layers; p++) {
        const char *lies = j->in_place ? input_plane(j, w, z + p) : NULL, *row = copied_row(j, w, z + p, 0), **to = table + p * v->lines;
        for (int64_t i = 0; i < v->met && !j->in_place; i++, row += v->row_bytes)
            to[i] = row;
        if (j->in_place) /* row 0 of layer 0 is made of ghost cells */
            point(to, v->met, lies ? lies - j->source.width : NULL, first, y, copied_row(j, w, 0, 0));
    }
    point(ahead, v->lines, j->ask ? input_plane(j, w, z + v->layers) : NULL, first, y, table[0]);
}

/* Plane z of the walk. */
static void one_plane(const job *j, const walk *w, int64_t z) {
    const tess_correlate_volume *v = &j->volume;
    const tess_window_kernels *k = j->kernels;
    const char *const *table = (const char *const *)(const void *)w->scratch, *const *ahead = table + v->table_bytes / (int64_t)sizeof(char *);
    char *sums = w->scratch + v->sums;
    const int64_t tall = j->tall, wide = k->wide * k->lanes;
    const int64_t ahead_bytes = j->length * j->source_bytes;
    /* A tile goes on to as many rows as it has at most, and two that it begins and ends in. */
    tess_volume_ask ask = {ahead[0], ahead[0] + ahead_bytes, ahead + 1, ahead + v->lines - TESS_WINDOW_SUMS, ahead_bytes};
    tess_volume_call small = {.window = {.lines = v->lines,
                                         .planes = v->layers,
                                         .wy = v->window.wy,
                                         .wx = v->window.wx,
                                         .step = j->pass->group * j->source.width,
                                         .columns = j->pass->columns,
                                         .put = j->put},
                              .ask = &ask,
                              .constant = copied_row(j, w, 0, 0)};
    tess_window_call *call = &small.window;
    for (int64_t r = 0; r < w->rows; r += tall) {
        r = tess_min64(r, w->rows - tall); /* the last tiles of a band may begin earlier */
        call->rows = table + r;
        call->ahead = ahead + r;
        for (int64_t x = 0, columns; x < j->length; x += (call->more + 1) * columns) {
            const int64_t rest = j->length - x;
            const bool whole = rest > 2 * k->lanes;
            columns = whole ? wide : k->lanes;
            const bool direct = columns <= rest && (j->out_ready || (whole && j->narrows));
            char *to = w->out + z * j->z_stride + r * j->y_stride + x * j->out_stride;
            call->at = x * j->source.width;
            call->ahead_at = x * j->source_bytes;
            call->ahead_bytes = tess_min64(columns, rest) * j->source_bytes;
            call->out = direct ? to : sums;
            call->out_stride = direct ? j->y_stride : TESS_WINDOW_TILE_BYTES;
            call->stream = direct && j->stream && (uintptr_t)to % 64 == 0 && columns * j->out_width % 64 == 0;
            call->between = !direct;
            call->more = 0;
            if (j->small) {
                call->more = whole && direct ? rest / columns - 1 : 0;
                call->out_step = columns * j->out_stride;
                small.lines = tess_ceil_div((w->rows + v->window.wy - 1) * tall * call->ahead_bytes, 64 * w->rows);
                small.begins = j->in_place && x == 0;
                small.ends = j->in_place && (call->more + 1) * columns == rest;
                (whole ? j->small->tile : j->small->narrow)(&small);
            } else {
                (whole ? k->tile : k->narrow)(call);
            }
            for (int64_t i = 0; !direct && i < tall; i++)
                j->store(to + i * j->y_stride, j->out_stride, sums + i * TESS_WINDOW_TILE_BYTES, tess_min64(columns, rest));
        }
    }
}

/* The first row of a band. The last band has as many rows as the tallest tile at least, of which the band before it has the fewer. */
static int64_t band_start(const job *j, int64_t band) {
    const int64_t start = band * j->volume.band;
    return band == 0 ? 0 : band == j->bands ? j->rows : band == j->bands - 1 ? tess_min64(start, j->rows - TESS_WINDOW_SUMS) : start;
}

static void task(void *argument, int64_t begin, int64_t end, int worker) {
    const job *j = argument;
    const tess_correlate_volume *v = &j->volume;
    walk w = {.scratch = j->scratch + (size_t)worker * v->scratch};
    memset(w.scratch, 0, v->scratch); /* tiles may read a row to the end of their last vector, and denormal numbers are slow */
    if (j->in_place)
        tess_correlate_gather(&j->source, copied_row(j, &w, 0, 0), NULL, 0, j->length + j->pass->axis[j->pass->row].width - 1);
    for (int64_t t = begin, planes; t < end; t += planes) { /* planes of one band after another */
        const int64_t band = t / j->planes % j->bands;
        int64_t in = 0, out = 0, volume = t / (j->bands * j->planes);
        for (int d = j->outer.ndim - 1; d >= 0; volume /= j->outer.m[d--]) {
            in += volume % j->outer.m[d] * j->pass->axis[j->outer.axis[d]].in_stride;
            out += volume % j->outer.m[d] * j->outer.out_stride[0][d];
        }
        w.y = band_start(j, band);
        w.rows = band_start(j, band + 1) - w.y;
        w.z = t % j->planes;
        w.in = j->in + in;
        w.out = j->out + out + w.z * j->z_stride + w.y * j->y_stride;
        w.made = 0;
        planes = tess_min64(j->planes - w.z, end - t);
        for (int64_t z = 0; z < planes; z++) {
            for (; w.made < z + v->layers && !j->in_place; w.made++)
                copy_layer(j, &w, w.made);
            find_rows(j, &w, z);
            one_plane(j, &w, z);
        }
    }
}

tess_status TESS_ISA_NAME(tess_correlate_in_volume)(const tess_correlate_problem *problem, const tess_correlate_volume *volume, const tess_run *run);
tess_status TESS_ISA_NAME(tess_correlate_in_volume)(const tess_correlate_problem *problem, const tess_correlate_volume *volume, const tess_run *run) {
    const tess_correlate_pass *pass = problem->direct;
    const tess_correlate_axis *row = &pass->axis[pass->row], *y = &pass->axis[volume->window.y], *z = &pass->axis[volume->window.z];
    job j = {.pass = pass,
             .volume = *volume,
             .store = tess_storer(run->slot, problem->work, pass->to),
             .kernels = TESS_ISA_NAME(tess_correlate_window_kernels)(problem->work == tess_f32),
             .in = tess_correlate_input(problem, run),
             .out = run->out,
             .scratch = run->workspace,
             .put = tess_window_put_real(pass->to),
             .source_bytes = (int64_t)tess_type_size(pass->from),
             .out_width = (int64_t)tess_type_size(pass->to),
             .length = row->m * pass->group,
             .rows = y->m,
             .planes = z->m,
             .y_stride = y->out_stride,
             .z_stride = z->out_stride};
    if (pass->outputs == 0)
        return TESS_OK;
    tess_correlate_source_of(&j.source, problem, pass, run->slot);
    tess_correlate_outer_of(&j.outer, pass, volume->window.y, volume->window.z);
    j.out_stride = pass->group > 1 ? j.out_width : row->out_stride;
    j.out_ready = pass->to == problem->work && j.out_stride == j.source.width;
    j.narrows = j.kernels->narrows && j.put != TESS_WINDOW_PUT_WORK && j.out_stride == j.out_width;
    j.stream = y->out_stride % 64 == 0 && tess_correlate_goes_past(problem, j.out_width);
    j.ask = j.source.stride == j.source_bytes;
    if (volume->window.wy == volume->window.wx && pass->group == 1 && !j.narrows)
        j.small = TESS_ISA_NAME(tess_correlate_volume_kernels)(problem->work == tess_f32, volume->window.wx);
    j.tall = j.small ? j.small->tall : j.kernels->tall;
    j.in_place = j.small && j.small->side == 3 && j.source.in_place && problem->boundary == TESS_BOUNDARY_CONSTANT && row->before == 1 &&
                 row->m == row->n && j.length % (j.kernels->wide * j.kernels->lanes) == 0;
    j.bands = tess_ceil_div(j.rows, volume->band);
    const int64_t count = j.outer.rows * j.bands * j.planes;
    if (run->threads == 1) /* whole bands: a piece that begins within one fills its ring of layers anew */
        return tess_parallel(run->context, 1, count, j.planes, task, &j);
    return tess_parallel_guided(run->context, run->threads, count, j.planes < 2 * LEAST_CHUNK ? j.planes : LEAST_CHUNK, task, &j);
}
