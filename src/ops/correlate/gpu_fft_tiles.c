/* SPDX-License-Identifier: Apache-2.0
 * gpu_fft_tiles.c - where the tiles of a correlation by Fourier transforms meet the arrays on a GPU: what their loads and stores will count. Tiles that lie
 * alike, to a sector, count alike, and are walked once. */
#include "ops/correlate/boundary.h"
#include "ops/correlate/gpu_fft_predict.h"

static double sectors_of(const int64_t *byte) {
    int64_t seen[32];
    int count = 0;
    for (int i = 0; i < 32; i++) {
        const int64_t sector = byte[i] >> 5;
        int k = count;
        while (byte[i] >= 0 && k > 0 && seen[k - 1] != sector)
            k--;
        if (byte[i] >= 0 && k == 0)
            seen[count++] = sector;
    }
    return count;
}

void tess_correlate_fft_count_global(fft_walk *w, const int64_t *byte, bool store) {
    const double sectors = sectors_of(byte);
    *(store ? &w->sum->global_st_requests : &w->sum->global_ld_requests) += (sectors > 0) * w->times;
    *(store ? &w->sum->global_st_sectors : &w->sum->global_ld_sectors) += sectors * w->times;
}

/* find_tile of gpu_fft.cuh. */
typedef struct tile {
    int64_t in, out, x, y, columns, rows, across, down; /* in, out: bytes */
    bool ghost;
} tile;

static tile find_tile(const fft_walk *w, int64_t number, int64_t piece) {
    const tess_correlate_problem *p = w->p;
    const tess_correlate_fft *fft = w->fft;
    const tess_correlate_mask *mask = &p->masks[0];
    int64_t first[TESS_MAX_NDIM], along = number / fft->outer, outer = number % fft->outer;
    tile t = {0};
    if (number >= fft->tiles)
        return t;
    tess_correlate_fft_piece(fft, mask, piece, first);
    for (int k = fft->outer_ndim - 1; k >= 0; k--) {
        const int d = fft->outer_axis[k], own = fft->outer_mask[k];
        int64_t i = outer % p->out.shape[d];
        outer /= p->out.shape[d];
        t.out += i * p->out.stride[d];
        if (own >= 0)
            i = tess_boundary_index(p->boundary, p->in.shape[d], i - mask->before[own] + first[own]);
        t.ghost = t.ghost || i < 0;
        t.in += i * p->in.stride[d];
    }
    const int64_t x = along % fft->tiles_x * fft->outputs_x, y = along / fft->tiles_x * fft->outputs_y;
    const int64_t kx = fft->mask_x, taps_x = tess_min64(mask->shape[kx] - first[kx], fft->piece_step[kx]);
    t.columns = tess_min64(p->out.shape[fft->x] - x, fft->outputs_x);
    t.out += x * p->out.stride[fft->x];
    t.x = x - mask->before[kx] + first[kx];
    t.across = t.columns + taps_x - 1;
    t.rows = t.down = 1;
    if (fft->plane) {
        const int64_t ky = fft->mask_y;
        t.rows = tess_min64(p->out.shape[fft->y] - y, fft->outputs_y);
        t.out += y * p->out.stride[fft->y];
        t.y = y - mask->before[ky] + first[ky];
        t.down = t.rows + tess_min64(mask->shape[ky] - first[ky], fft->piece_step[ky]) - 1;
    }
    return t;
}

/* Requests and sectors of a pass that takes a tile's points from the input (else puts its outputs): stripes of `across` columns, butterflies of `each` points. */
static void arrays(fft_walk *w, const tile *t, bool load, int64_t across, int64_t each) {
    const tess_correlate_problem *p = w->p;
    const tess_correlate_fft *fft = w->fft;
    const tess_array *array = load ? &p->in : &p->out;
    const int64_t step_x = array->stride[fft->x], step_y = fft->plane ? array->stride[fft->y] : 0, apart = fft->a / each;
    const int64_t wide = load ? t->across : t->columns, high = load ? t->down : t->rows;
    if (load && t->ghost)
        return;
    for (int64_t left = 0; left < fft->b && left < wide; left += across)
        for (int64_t item = 0; item < across * apart; item += 32)
            for (int64_t i = 0; i < each; i++) {
                int64_t byte[32];
                for (int k = 0; k < 32; k++) {
                    const int64_t c = left + (item + k) % across, r = (item + k) / across + i * apart;
                    int64_t x = fft->plane ? c : r * fft->b + c, y = fft->plane ? r : 0;
                    byte[k] = -1;
                    if (item + k >= across * apart || x >= wide || y >= high)
                        continue;
                    if (load) {
                        x = tess_boundary_index(p->boundary, p->in.shape[fft->x], t->x + x);
                        y = fft->plane ? tess_boundary_index(p->boundary, p->in.shape[fft->y], t->y + y) : 0;
                    }
                    if (x >= 0 && y >= 0)
                        byte[k] = (load ? t->in : t->out) + x * step_x + y * step_y;
                }
                tess_correlate_fft_count_global(w, byte, !load);
            }
}

/* What tiles that lie alike have counted: the last few kinds. */
enum { KINDS = 64 };
typedef struct kind {
    int64_t from, x, y, wide, high; /* from: bytes beyond a sector's start; x, y: 0 where that axis meets no boundary */
    double requests, sectors;
} kind;
typedef struct kinds {
    kind list[KINDS];
    int count;
} kinds;

static void arrays_of(fft_walk *w, kinds *known, const tile *t, bool load, int64_t across, int64_t each) {
    const tess_correlate_problem *p = w->p;
    const tess_correlate_fft *fft = w->fft;
    const bool inside_x = !load || (t->x >= 0 && t->x + t->across <= p->in.shape[fft->x]),
               inside_y = !load || !fft->plane || (t->y >= 0 && t->y + t->down <= p->in.shape[fft->y]);
    kind k = {.wide = load ? t->across : t->columns, .high = load ? t->down : t->rows};
    if (load && t->ghost)
        return;
    k.from = load ? t->in : t->out;
    if (load && inside_x)
        k.from += t->x * p->in.stride[fft->x];
    if (load && inside_y && fft->plane)
        k.from += t->y * p->in.stride[fft->y];
    k.from %= 32;
    k.x = inside_x ? 0 : t->x;
    k.y = inside_y ? 0 : t->y;
    double *requests = load ? &w->sum->global_ld_requests : &w->sum->global_st_requests,
           *sectors = load ? &w->sum->global_ld_sectors : &w->sum->global_st_sectors;
    for (int i = 0; i < known->count && i < KINDS; i++) {
        const kind *o = &known->list[i];
        if (o->from == k.from && o->x == k.x && o->y == k.y && o->wide == k.wide && o->high == k.high) {
            *requests += o->requests;
            *sectors += o->sectors;
            return;
        }
    }
    k.requests = *requests;
    k.sectors = *sectors;
    arrays(w, t, load, across, each);
    k.requests = *requests - k.requests;
    k.sectors = *sectors - k.sectors;
    known->list[known->count++ % KINDS] = k;
}

/* The compiler leaves the last sum of the first tile's first two outputs of a butterfly of 8 to where they are stored, an addition and a fused one. */
static double not_stored(const fft_walk *w, const tile *t, int64_t wanted) {
    const tess_correlate_fft *fft = w->fft;
    const int64_t m = w->columns.m;
    double flops = 0;
    for (int i = 0; i < 2 && w->columns.n != 16; i++)
        for (int64_t j = i * m; j < (i + 1) * m; j++) {
            const int64_t stored = fft->plane ? (j < t->rows ? t->columns : 0) : tess_max64(0, tess_min64(t->columns - j * fft->b, fft->b));
            flops += (double)(wanted - stored) * (i + 1);
        }
    return flops;
}

void tess_correlate_fft_each_pair(fft_walk *w, int64_t across, bool same, void (*pair)(fft_walk *, int64_t wanted)) {
    const tess_correlate_fft *fft = w->fft;
    const int64_t each = w->columns.head ? 8 : w->columns.last, most = fft->plane ? fft->outputs_x : fft->b;
    kinds loads = {.count = 0}, stores = {.count = 0};
    double whole = 0;
    for (int64_t number = 0; number < fft->tiles; number += 2) {
        int64_t wanted = same ? most : 0;
        tile even = {0};
        w->times = 1;
        for (int64_t n = number; n < number + 2 && n < fft->tiles; n++) {
            tile t = {0};
            for (int64_t piece = 0; piece < fft->pieces; piece++) {
                t = find_tile(w, n, piece);
                arrays_of(w, &loads, &t, true, across, each);
            }
            arrays_of(w, &stores, &t, false, across, each);
            even = n == number ? t : even;
            wanted = fft->plane ? tess_max64(wanted, t.columns) : most;
        }
        w->sum->flops -= not_stored(w, &even, wanted);
        if (wanted == most) {
            whole++;
        } else {
            w->times = 1;
            pair(w, wanted);
        }
    }
    w->times = whole;
    pair(w, most);
}
