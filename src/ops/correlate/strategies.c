/* SPDX-License-Identifier: Apache-2.0
 * strategies.c - the table: one row a strategy. */
#include "core/overlap.h"
#include "ops/correlate/fft.h"
#include "ops/correlate/gpu_correlate.h"
#include "ops/correlate/packed.h"
#include "ops/correlate/packed_passes.h"
#include "ops/correlate/padded.h"
#include "ops/correlate/slab.h"
#include "ops/correlate/slabs.h"
#include "ops/correlate/volume.h"

TESS_DECLARE_RUN(tess_correlate_fft);
TESS_DECLARE_RUN(tess_correlate_in_packed_passes);
TESS_DECLARE_RUN(tess_correlate_in_padded);
TESS_DECLARE_RUN(tess_correlate_in_window);
TESS_DECLARE_RUN(tess_correlate_packed_in_window);
TESS_DECLARE_RUN(tess_correlate_rows);
TESS_DECLARE_RUN(tess_correlate_separably);

static const tess_correlate_problem *of(const tess_problem *problem) { return (const tess_correlate_problem *)problem; }

static bool always(const tess_problem *problem, const char **why) {
    (void)problem, (void)why;
    return true;
}

static bool transforms(const tess_problem *problem, const char **why) {
    *why = "takes large masks of f32 or f64 whose caller asked for accuracy fast or fft";
    return of(problem)->fft != NULL;
}

static bool one_mask(const tess_problem *problem, const char **why) {
    *why = "these sums go through Fourier transforms, as the accuracy asked for says";
    if (of(problem)->fft)
        return false;
    *why = "takes one mask, and this is a list of 1-D masks, each rounded";
    return of(problem)->direct != NULL;
}

static bool window_fits(const tess_problem *problem, const char **why) {
    tess_correlate_window window;
    return one_mask(problem, why) && tess_correlate_window_of(&window, of(problem), of(problem)->direct, why);
}

static bool pads(const tess_problem *problem, const char **why) {
    tess_correlate_padded padded;
    if (of(problem)->box)
        return tess_correlate_padded_of(&padded, of(problem), of(problem)->box, why);
    return one_mask(problem, why) && tess_correlate_padded_of(&padded, of(problem), of(problem)->direct, why);
}

static bool packs(const tess_problem *problem, const char **why) {
    const tess_correlate_packed *packed = of(problem)->packed;
    *why = "needs elements and weights of 8 or 16 bits, sums below 2^31, pixels of at most 4 colours, taps along a row that follow each other";
    if (packed && packed->too_large)
        *why = packed->too_large;
    return packed && !packed->too_large;
}

static bool packs_passes(const tess_problem *problem, const char **why) {
    *why = "needs a row and a column of integers over a compact image of bytes, the row's sums within 16 bits and all below 2^31";
    return of(problem)->packed_passes != NULL;
}

static bool several_passes(const tess_problem *problem, const char **why) {
    *why = "needs a list of 1-D masks, or a mask of rank 1 whose factors give the same bits";
    return of(problem)->passes != NULL;
}

/* A pass costs a trip through memory or the caches, worth about eight taps. */
static bool fewer_taps(const tess_problem *problem, const char **why) {
    const tess_correlate_problem *p = of(problem);
    *why = "the mask has too few taps to pay for passes";
    return !p->direct || p->separable_flops + 16.0 * (double)p->out.count * p->passes_count < p->base.flops;
}

/* Whether rows of integers are packed from where they lie; i8 and u16 are copied as 16 signed bits first. */
static bool packs_as_they_lie(const tess_correlate_problem *p) {
    return p->packed && !p->packed->too_large && (p->packed->bytes || p->in.type == tess_i16);
}

/* A row and a column of integers with AVX-512: packed sums of the whole mask roll down (packed_roll.h), and while it has so few products they are quicker than
 * passes (measured: notes-cpu.md). Without fused multiply-adds they are quicker than any passes of f32. */
static bool whole_is_quicker(const tess_correlate_problem *p) {
    const tess_correlate_packed *packed = p->packed;
    if (!packed || packed->too_large || p->passes_count != 2)
        return false;
    if (p->base.context->slot == TESS_SLOT_BASELINE)
        return !p->packed_passes;
    if (p->base.context->slot != TESS_SLOT_AVX512 || tess_type_size(p->out.type) > 2)
        return false;
    const tess_correlate_pass *pass = packed->bytes ? &packed->dot4 : &packed->dot2;
    const tess_correlate_axis *row = &pass->axis[pass->row];
    const int64_t products = pass->taps / (packed->bytes ? 4 : 2), rows = pass->taps / row->width;
    const int64_t length = row->m * pass->group;
    return rows <= 7 && products <= (tess_correlate_goes_past(p, p->out.itemsize) || length > 2048 ? 10 : 15) &&
           length >= (packs_as_they_lie(p) ? 40 : 64);
}

/* The same of lists: beside passes over rows one by one, and beside the passes of cpu_fused.c, which are quickest where rows of an image are whole vectors
 * (measured: notes-cpu.md). */
static bool short_lists(const tess_correlate_problem *p, const char **why) {
    const tess_correlate_pass *box = p->box;
    const double size = (double)tess_type_size(p->work) / 4;
    const int64_t elements = box->axis[box->ndim - 1].m * box->group;
    tess_correlate_padded padded;
    if (!tess_correlate_padded_of(&padded, p, box, why))
        return false;
    *why = "packed integers are quicker";
    if (whole_is_quicker(p) || (p->packed_passes && p->base.context->slot == TESS_SLOT_BASELINE))
        return false;
    *why = "rows are long enough for one pass after the other";
    if (tess_is_complex(p->work))
        return true;
    const double length = (double)elements * size, useful = padded.useful * (double)padded.band / (double)padded.met[padded.first],
                 cost = length * (double)box->taps / useful;
    if (box->ndim == 2 && box->order[0] == 1)
        return cost < 2500; /* a row and then a column */
    if (box->ndim == 2 && box->group == 1 && elements % 64 == 0)
        return elements < 128 ? cost < 3000 : length <= 128 && cost < 2000;
    return elements <= (size < 2 ? 250 : 170) && cost < (p->packed_passes ? 3000 : 4700);
}

/* Elements of a row from which on tiles of 64 columns over bytes or 16 bits are quicker than padded blocks with AVX-512: packed integers over elements as they lie, or sums
 * of f32; 0: there are none (measured: notes-cpu.md). */
static int64_t narrow_tiles_from(const tess_correlate_problem *p) {
    const tess_correlate_pass *pass = p->direct;
    const int64_t rows = pass->taps / pass->axis[pass->row].width;
    const bool line = pass->masked == 1, raw = p->in.type == tess_u8 || rows <= 3 || rows % 2 == 1;
    if (p->base.context->slot != TESS_SLOT_AVX512 || p->in.itemsize > 2 || pass->group > 1 || pass->masked > 2 || rows > 7)
        return 0;
    if (packs_as_they_lie(p))
        return tess_type_size(p->out.type) > 2 ? 0 : line ? 48 : 24;
    return p->out.type != p->in.type || p->work != tess_f32 || !raw ? 0 : line ? 64 : pass->taps < 25 ? 48 : 36;
}

/* In multiply-adds of a vector of f32 each: what a row of outputs costs by itself where rows are computed one by one, more for longer masks, and what each of its
 * elements costs more where rows are padded, of which some are thrown away and for each tap all are loaded (measured: notes-cpu.md). */
static bool short_rows(const tess_problem *problem, const char **why) {
    const tess_correlate_problem *p = of(problem);
    if (p->box)
        return short_lists(p, why);
    const tess_correlate_axis *last = &p->direct->axis[p->direct->ndim - 1];
    const double taps = (double)p->direct->taps, wide = (double)last->width, size = (double)tess_type_size(p->work) / 4;
    tess_correlate_padded padded;
    const bool fits = tess_correlate_padded_of(&padded, p, p->direct, why);
    *why = "rows are long enough to be computed one by one";
    if (!fits || last->width == 1)
        return false;
    const int64_t narrow = narrow_tiles_from(p);
    if (narrow > 0)
        return last->m < narrow;
    const double length = (double)(last->m * p->direct->group) * size, row = p->direct->masked == 2 && p->base.context->slot != TESS_SLOT_BASELINE
                                                                                 ? 100 + 50 * wide + 8 * (taps - wide)
                                                                                 : 250 + 60 * wide + 16 * (taps - wide);
    if (tess_is_complex(p->work))
        return length < 512;
    double other = 1;
    *why = "without fused multiply-adds packed integers are quicker";
    if (p->packed && p->base.context->slot == TESS_SLOT_BASELINE)
        return false;
    *why = "rows are long enough to be computed one by one";
    if (p->packed) { /* its rows of whole vectors of bytes have no tails */
        const tess_isa_slot slot = p->base.context->slot;
        const int64_t elements = last->m * p->direct->group;
        const bool image = taps > wide && p->direct->masked == 2 && p->direct->group == 1, put = tess_type_size(p->out.type) <= 2;
        other = slot == TESS_SLOT_AVX512 && (image || (put && p->direct->masked <= 2)) ? elements < 64
                : elements % 64 == 0                                                   ? 0.7
                : image && slot == TESS_SLOT_AVX2                                      ? 1.3
                                                                                       : 1.6;
    }
    return length * (taps * (1 / padded.useful - 0.5) + 0.2) < other * row;
}

/* Where sums of f32, which `window` makes from bytes and 16 bits as they lie, were measured to be quicker than packed integers (notes-cpu.md): without rolling tiles of
 * these (packed_roll.h) masks of one row or one column, whose taps have no other rows to share what is packed; columns of 16 bits; rows shorter than a tile; and
 * results that are not put together in the registers. */
static bool floats_are_quicker(const tess_correlate_problem *p) {
    const tess_correlate_pass *pass = p->direct;
    const tess_correlate_axis *row = &pass->axis[pass->row];
    const tess_isa_slot slot = p->base.context->slot;
    const tess_type to = p->out.type;
    const bool bytes = p->in.itemsize == 1, column = pass->masked == 1 && row->width == 1, line = row->width == pass->taps;
    if ((slot != TESS_SLOT_AVX2 && slot != TESS_SLOT_AVX512) || p->work != tess_f32) /* others were not measured */
        return false;
    if (to == tess_f32)
        return pass->taps <= 49;
    const bool image = pass->masked == 2 && row->width > 1 && pass->group == 1 && to == p->in.type;
    if (slot == TESS_SLOT_AVX2)
        return column || (line && pass->taps <= 13) || (to == tess_i32 && pass->taps <= 49) ||
               (image && pass->taps <= (p->packed->bytes && p->packed->pairs_fit ? 25 : 49));
    if (image && row->m < 64 && !packs_as_they_lie(p))
        return pass->taps <= 49;
    if (line || (to != p->in.type && to != tess_i32))
        return false;
    if (column) /* of 4 and 6 taps only u8 has tiles (window_raw.h) */
        return pass->taps <= 7 && (p->in.type == tess_u8 ? to == tess_i32 || !p->packed->bytes : pass->taps < 4 || pass->taps % 2 == 1);
    return to == tess_i32 && bytes && pass->taps <= 25;
}

/* Tiles, lines and the ends of rows are looked up for longer than a stretch or less of outputs by few taps takes (measured: notes-cpu.md). */
static bool pays_tiles(const tess_problem *problem, const char **why) {
    const tess_correlate_pass *pass = of(problem)->direct;
    *why = "so few outputs by so few taps are one stretch of correlate/rows";
    return pass->taps > 9 || pass->outputs > TESS_CORRELATE_STRETCH * (int64_t)sizeof(float) / (int64_t)tess_type_size(of(problem)->work);
}

/* Four taps of a row cost what one costs in f32. */
static bool few_lanes(const tess_problem *problem, const char **why) {
    const tess_correlate_problem *p = of(problem);
    *why = "sums of f32 are quicker for such a mask";
    if (p->direct && floats_are_quicker(p))
        return false;
    *why = "passes take fewer multiplications";
    return !p->passes || whole_is_quicker(p) || (p->direct && p->separable_flops * 3 > p->base.flops);
}

/* Products of a block of 64 outputs in passes and with the whole mask; what passes cost besides is worth some ten. */
static bool enough_taps(const tess_problem *problem, const char **why) {
    const tess_correlate_problem *p = of(problem);
    const tess_correlate_packed_passes *passes = p->packed_passes;
    const tess_isa_slot slot = p->base.context->slot;
    const int64_t floats = slot == TESS_SLOT_AVX512 ? 3 : slot == TESS_SLOT_AVX2 && passes->group == 1 ? 5 : 0;
    *why = "passes of f32 are quicker for so few taps";
    if (p->count > 1 && p->work == tess_f32 && p->in.type == tess_u8 && p->out.type == tess_u8 && passes->across.width <= floats &&
        passes->down.width <= floats)
        return false;
    *why = "the mask has too few taps to pay for passes";
    if (whole_is_quicker(p))
        return false;
    return !p->packed || !p->direct || passes->fours + passes->pairs + 3 < passes->fours * passes->down.width;
}

static size_t rows_workspace(const tess_problem *problem, int threads) {
    return tess_correlate_rows_scratch(of(problem), of(problem)->direct, threads);
}

static size_t window_workspace(const tess_problem *problem, int threads) {
    tess_correlate_volume volume;
    if (tess_correlate_volume_of(&volume, of(problem), of(problem)->direct))
        return (size_t)threads * volume.scratch;
    return (size_t)threads * tess_correlate_window_scratch(of(problem), of(problem)->direct);
}

static size_t padded_workspace(const tess_problem *problem, int threads) {
    tess_correlate_padded padded;
    const char *why;
    const tess_correlate_problem *p = of(problem);
    return tess_correlate_padded_of(&padded, p, p->direct ? p->direct : p->box, &why) ? (size_t)threads * padded.scratch : 0;
}

static size_t packed_workspace(const tess_problem *problem, int threads) {
    const tess_correlate_window *window = of(problem)->packed->window;
    return (size_t)threads * (window[0].scratch > window[1].scratch ? window[0].scratch : window[1].scratch);
}

static size_t packed_passes_workspace(const tess_problem *problem, int threads) { return (size_t)threads * of(problem)->packed_passes->scratch; }

static size_t separable_workspace(const tess_problem *problem, int threads) { return tess_correlate_slabs_workspace(of(problem), threads); }

static double separable_flops(const tess_problem *problem) { return of(problem)->separable_flops; }

static size_t fft_workspace(const tess_problem *problem, int threads) { return (size_t)threads * tess_correlate_fft_scratch(of(problem)->fft); }

static double fft_flops(const tess_problem *problem) { return tess_correlate_fft_flops(of(problem)->fft); }

static size_t reference_workspace(const tess_problem *problem, int threads) {
    (void)threads;
    if (of(problem)->fft)
        return tess_correlate_fft_reference_scratch(of(problem)->fft);
    return of(problem)->count > 1 ? (size_t)(of(problem)->between[0] + of(problem)->between[1]) : 0;
}

static const tess_strategy rows[] = {
    {
        .name = "correlate/fft",
        .idea = "overlap and save: tiles in the lanes of vectors are transformed, multiplied with the mask's spectrum, transformed back",
        .source = "Stockham: High-speed convolution and correlation, AFIPS Spring Joint Computer Conference 28, 1966 (sectioning)",
        .run = TESS_RUNS(tess_correlate_fft),
        .applicable = transforms,
        .workspace = fft_workspace,
        .flops = fft_flops,
    },
    {
        .name = "correlate/padded",
        .idea = "short rows, copied with their ghost cells one after another, are one long row",
        .source = "-",
        .run = TESS_RUNS(tess_correlate_in_padded),
        .applicable = pads,
        .sensible = short_rows,
        .workspace = padded_workspace,
    },
    {
        .name = "correlate/packed_passes",
        .idea = "a row and a column of integers over bytes: both passes in packed integers, 16 bits between them",
        .source = "-",
        .run = TESS_RUNS(tess_correlate_in_packed_passes),
        .applicable = packs_passes,
        .sensible = enough_taps,
        .workspace = packed_passes_workspace,
        .flops = separable_flops,
    },
    {
        .name = "correlate/packed",
        .idea = "integer masks over small integers: two or four taps in every 32-bit lane, where the sums are proven to fit",
        .source = "-",
        .run = TESS_RUNS(tess_correlate_packed_in_window),
        .applicable = packs,
        .sensible = few_lanes,
        .workspace = packed_workspace,
    },
    {
        .name = "correlate/separable",
        .idea = "1-D passes, all of them over one slab of the output while it is in cache",
        .source = "-",
        .run = TESS_RUNS(tess_correlate_separably),
        .applicable = several_passes,
        .sensible = fewer_taps,
        .workspace = separable_workspace,
        .flops = separable_flops,
    },
    {
        .name = "correlate/window",
        .idea = "tiles of several rows by several vectors of sums in registers; a loaded vector serves every row of the tile",
        .source = "Goto, van de Geijn: Anatomy of High-Performance Matrix Multiplication, ACM TOMS 34(3), 2008 (register blocking)",
        .run = TESS_RUNS(tess_correlate_in_window),
        .applicable = window_fits,
        .sensible = pays_tiles,
        .workspace = window_workspace,
    },
    {
        .name = "correlate/rows",
        .idea = "stretches of output rows in L1; every tap is one fused multiply-add along the stretch",
        .source = "-",
        .run = TESS_RUNS(tess_correlate_rows),
        .applicable = one_mask,
        .workspace = rows_workspace,
    },
    {
        .name = "correlate/reference",
        .idea = "one output element after another, straight from the definition",
        .source = "-",
        .run = TESS_REFERENCE_RUN(tess_correlate_reference),
        .applicable = always,
        .workspace = reference_workspace,
    },
};

static tess_status check(const tess_problem *problem, const char *in, const char *second, const char *out) {
    const tess_array *from = &of(problem)->in, *to = &of(problem)->out;
    if (second)
        return tess_fail(TESS_ERR_ARGUMENT, "second is %p, a correlation has no second input: NULL is expected", (const void *)second);
    if (!in && from->count > 0)
        return tess_fail(TESS_ERR_ARGUMENT, "in is NULL and has %lld elements", (long long)from->count);
    if (!out && to->count > 0)
        return tess_fail(TESS_ERR_ARGUMENT, "out is NULL and has %lld elements", (long long)to->count);
    return tess_refuse_overlap_at(to, out, "out", from, in, "in");
}

static const tess_array *array(const tess_problem *problem, tess_operand operand) {
    return operand == TESS_ARRAY_IN ? &of(problem)->in : operand == TESS_ARRAY_OUT ? &of(problem)->out : NULL;
}

const tess_op tess_correlate_op = {
    .name = "correlate",
    .operand = {"in", "mask", "out"},
    .rows = rows,
    .count = TESS_COUNT(rows),
    .gpu_rows = tess_correlate_gpu_rows,
    .gpu_count = CORRELATE_GPU_ROWS,
    .release = tess_correlate_release,
    .describe = tess_correlate_describe,
    .array = array,
    .cut = tess_correlate_cut,
    .slab = tess_correlate_slab,
    .piece = tess_correlate_piece,
    .sample = tess_correlate_sample,
    .check = check,
};
