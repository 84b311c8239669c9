/* SPDX-License-Identifier: Apache-2.0
 * gpu_rows.c - the GPU's part of the table: gathers. Compact ones take vectors, whole slices vectors of slices, everything else one thread a piece.
 */
#include "ops/lookup/gpu_lookup.h"

LOOKUP_KERNEL_TEXT(gpu_shared_bytes);
LOOKUP_KERNEL_TEXT(gpu_vectors);
LOOKUP_KERNEL_TEXT(gpu_resident);
LOOKUP_KERNEL_TEXT(gpu_slice_vectors);
LOOKUP_KERNEL_TEXT(gpu_elements);

static const lookup_problem *of(const tess_problem *problem) { return (const lookup_problem *)problem; }

static bool gathers(const lookup_problem *p, const char **why) {
    *why = "looks up by integers, without interpolation";
    return p->interpolation == TESS_INTERPOLATE_NONE;
}

/* ---- lookup/vectors ---- */

bool tess_lookup_gpu_compact(const lookup_problem *p, const char **why) {
    const lookup_axes *at = &p->at;
    if (!tess_lookup_something_to_do(p, why))
        return false;
    *why = "needs single elements, indices and elements of out without gaps, and at most one axis before the table's";
    return p->inner.count == 1 && p->outer.ndim <= 1 &&
           (at->ndim == 0 || (at->ndim == 1 && at->stride[LOOKUP_FROM][0] == p->index.itemsize && at->stride[LOOKUP_OUT][0] == p->size));
}

/* As many lookups as make 16 bytes of index or of out, and fewer where lines of out begin in between. */
int64_t tess_lookup_gpu_vector(const lookup_problem *p) {
    int64_t vector = 16 / tess_max64(p->size, p->index.itemsize);
    while (vector > 1 && tess_lookup_stride(&p->outer, LOOKUP_OUT) % (vector * p->size) != 0)
        vector /= 2;
    return vector;
}

/* Steps of the table, and from line to line of out, in elements of `size` bytes: one that stands for a run of the caller's may not divide them. */
static bool whole_steps(const lookup_problem *p, int64_t size) {
    return (p->step | tess_lookup_stride(&p->outer, LOOKUP_FROM) | tess_lookup_stride(&p->outer, LOOKUP_OUT)) % size == 0;
}

bool tess_lookup_gpu_vectors_fit(const tess_problem *base, const char **why) {
    const lookup_problem *p = of(base);
    if (!gathers(p, why) || !tess_lookup_gpu_compact(p, why))
        return false;
    *why = "needs steps of the table and lines of out that are whole elements";
    return whole_steps(p, p->size);
}

static bool vectors_pay(const tess_problem *base, const char **why) {
    *why = "lines of fewer than 512 indices leave most of a block idle";
    return of(base)->outer.count == 1 || of(base)->at.count >= 512;
}

static void pass_fill(tess_gpu_layout *layout, tess_gpu_step *step, const lookup_problem *p) { tess_gpu_pass(layout, step, p->fill, sizeof p->fill); }

void tess_lookup_gpu_pass_call(tess_gpu_layout *layout, tess_gpu_step *step, const lookup_problem *p, const void *block, size_t size) {
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_SECOND, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_MARK, 0);
    tess_gpu_pass(layout, step, block, size);
    pass_fill(layout, step, p);
}

/* No index of this type lies outside: nothing to check, to note or to wait for. */
static bool never_outside(const lookup_problem *p) {
    return (p->index.type == tess_u8 && p->n >= 1 << 8) || (p->index.type == tess_u16 && p->n >= 1 << 16) ||
           (p->index.type == tess_u32 && p->n >= (int64_t)1 << 32);
}

void tess_lookup_gpu_begin(tess_gpu_layout *layout, const lookup_problem *p, const tess_gpu_text *text) {
    tess_gpu_unit(layout, text);
    tess_gpu_option(layout, "-DINDEX=%d", (int)p->index.type);
    tess_gpu_option(layout, "-DOUTSIDE=%d", (int)(never_outside(p) ? TESS_OUTSIDE_CLIP : p->outside));
    tess_gpu_option(layout, "-DWIDE=%d", p->n > INT32_MAX || p->step > INT32_MAX || p->step < -INT32_MAX);
}

void tess_lookup_gpu_verdict(tess_gpu_layout *layout, const lookup_problem *p) {
    if (p->outside != TESS_OUTSIDE_ERROR || never_outside(p))
        return;
    tess_gpu_want_mark(layout);
}

tess_status tess_lookup_gpu_finish(const tess_problem *base, const void *result, const tess_gpu_peek *peek) {
    const lookup_problem *p = of(base);
    uint64_t word;
    char value[16];
    memcpy(&word, result, sizeof word);
    if (!word)
        return TESS_OK;
    int64_t position = (int64_t)~word;
    TESS_TRY(tess_gpu_read(peek, TESS_GPU_SECOND, tess_lookup_index_offset(p, position), value, (size_t)p->index.itemsize));
    return tess_lookup_refuse_value(p, value, position);
}

/* Measured on an H200 (notes-gpu.md), in tables of 1 to 64 KiB. */
lookup_gpu_shape tess_lookup_gpu_vectors_shape(const lookup_problem *p) {
    const int64_t table = p->n * p->size, index = p->index.itemsize;
    const int64_t groups = table > 32768 ? (index == 4 && table <= 131072 ? 2 : 4) : index == 4 || (index == 2 && p->size <= 2) ? 1 : 2;
    const int threads = index == 2 && p->size == 4 ? LOOKUP_GPU_LINE_THREADS / 2 : LOOKUP_GPU_LINE_THREADS;
    return tess_lookup_gpu_cached(p, tess_lookup_gpu_alone(p, groups, threads), table, 16);
}

void tess_lookup_gpu_lay_vectors(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const lookup_problem *p = of(base);
    const lookup_gpu_shape s = tess_lookup_gpu_vectors_shape(p);
    (void)device;
    tess_lookup_gpu_verdict(layout, p);
    tess_lookup_gpu_begin(layout, p, &gpu_vectors);
    tess_gpu_option(layout, "-DSIZE=%d", (int)p->size);
    tess_gpu_option(layout, "-DSTEP=%d", p->step == p->size ? (int)p->size : 0);
    tess_gpu_option(layout, "-DPAST=%d", p->index.itemsize == 1);
    tess_lookup_gpu_lines(layout, p, &s, p->size <= 4);
    tess_lookup_gpu_launch_lines(
        layout, p, "vectors", (lookup_gpu_table){.place = TESS_GPU_IN, .step = p->step, .line = tess_lookup_stride(&p->outer, LOOKUP_FROM) / p->size},
        &s);
}

/* ---- lookup/resident ---- */

enum { RESIDENT_THREADS = 1024, SHARED_OF_H200 = 227 << 10 };

static bool resident_fits(const tess_problem *base, const char **why) {
    const lookup_problem *p = of(base);
    if (!tess_lookup_gpu_vectors_fit(base, why))
        return false;
    *why = "needs one line of a table without gaps, of fewer than 2^31 elements of at most 8 bytes";
    return p->outer.ndim == 0 && p->step == p->size && p->size <= 8 && p->n < INT32_MAX;
}

/* Each multiprocessor copies its part of the table first: some 10 us in all. Measured: elements of 1 and 2 bytes, whose lookups the first-level cache
 * answers more slowly than memory asks for them, pay earlier; beyond 768 KiB too few of the entries are in shared memory. */
static bool resident_pays(const tess_problem *base, const char **why) {
    const lookup_problem *p = of(base);
    int64_t bytes = p->n * p->size;
    *why = "tables of 64 KiB (elements of 1 or 2 bytes) or 160 KiB to 768 KiB, looked up 2^25 times or more";
    return bytes >= (p->size <= 2 ? 64 : 160) << 10 && bytes <= 768 << 10 && p->at.count >= 1 << 25;
}

lookup_gpu_resident tess_lookup_gpu_resident_of(const lookup_problem *p, const tess_gpu_device *device) {
    const int64_t vector = tess_lookup_gpu_vector(p), groups = vector > 8 ? 1 : 2, turn = RESIDENT_THREADS * vector * groups, per = 16 / p->size;
    return (lookup_gpu_resident){.groups = groups,
                                 .held = tess_min64(p->n, (device ? device->shared_block_optin : SHARED_OF_H200) / p->size) / per * per,
                                 .blocks = tess_min64(device ? device->sms : 132, tess_ceil_div(p->at.count, turn)),
                                 .threads = RESIDENT_THREADS};
}

static void lay_resident(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const lookup_problem *p = of(base);
    const lookup_gpu_resident r = tess_lookup_gpu_resident_of(p, device);
    const int64_t block[] = {p->n, p->at.count, r.held};
    tess_lookup_gpu_verdict(layout, p);
    tess_lookup_gpu_begin(layout, p, &gpu_resident);
    tess_gpu_option(layout, "-DSIZE=%d", (int)p->size);
    tess_gpu_option(layout, "-DSTEP=%d", (int)p->size);
    tess_gpu_option(layout, "-DV=%d", (int)tess_lookup_gpu_vector(p));
    tess_gpu_option(layout, "-DGROUPS=%d", (int)r.groups);
    tess_gpu_option(layout, "-DTHREADS=%d", r.threads);
    tess_gpu_step *step = tess_gpu_launch_of(layout, "resident", r.blocks, 1, 1, r.threads, r.held * p->size);
    tess_lookup_gpu_pass_call(layout, step, p, block, sizeof block);
    layout->alignment = 16;
}

/* ---- lookup/shared_bytes ---- */

static bool shared_bytes_fit(const tess_problem *base, const char **why) {
    const lookup_problem *p = of(base);
    if (!tess_lookup_gpu_vectors_fit(base, why))
        return false;
    *why = "needs an index of 8 bits, elements of 1 byte and one line of the table";
    return p->index.itemsize == 1 && p->size == 1 && p->outer.ndim == 0 && p->n <= INT32_MAX;
}

bool tess_lookup_gpu_checks_bytes(const lookup_problem *p) { return p->outside == TESS_OUTSIDE_ERROR && (p->n < 256 || p->index.type == tess_i8); }

static void lay_shared_bytes(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const lookup_problem *p = of(base);
    (void)device;
    tess_lookup_gpu_verdict(layout, p);
    tess_lookup_gpu_begin(layout, p, &gpu_shared_bytes);
    tess_gpu_option(layout, "-DTHREADS=%d", LOOKUP_GPU_LINE_THREADS);
    tess_gpu_option(layout, "-DCHECK=%d", tess_lookup_gpu_checks_bytes(p));
    const lookup_gpu_shape s = tess_lookup_gpu_alone(p, 1, LOOKUP_GPU_LINE_THREADS);
    tess_lookup_gpu_launch_lines(layout, p, "shared_bytes", (lookup_gpu_table){.place = TESS_GPU_IN, .step = p->step}, &s);
}

/* ---- lookup/slice_vectors ---- */

bool tess_lookup_gpu_slices_fit(const tess_problem *base, const char **why) {
    const lookup_problem *p = of(base);
    const lookup_axes *outer = &p->outer, *at = &p->at, *inner = &p->inner;
    int64_t slice = inner->count * p->size;
    if (!gathers(p, why) || !tess_lookup_something_to_do(p, why))
        return false;
    *why = "needs slices, indices and an out without gaps, and at most one axis before the table's";
    return (inner->ndim == 0 || (inner->ndim == 1 && inner->stride[LOOKUP_FROM][0] == p->size && inner->stride[LOOKUP_OUT][0] == p->size)) &&
           (at->ndim == 0 || (at->ndim == 1 && at->stride[LOOKUP_FROM][0] == p->index.itemsize && at->stride[LOOKUP_OUT][0] == slice)) &&
           (outer->ndim == 0 || (outer->ndim == 1 && outer->stride[LOOKUP_OUT][0] == at->count * slice));
}

static bool slices_pay(const tess_problem *base, const char **why) {
    *why = "single elements need no slices";
    return of(base)->inner.count > 1 || of(base)->outer.count > 1;
}

/* struct divisor of gpu_slice_vectors.cu as one word: the magic number, then the shift. */
static int64_t divisor(int64_t d) {
    int shift = 0;
    while (shift < 31 && (int64_t)1 << shift < d)
        shift++;
    return (int64_t)((uint64_t)shift << 32 | (uint32_t)(((uint64_t)1 << (31 + shift)) / (uint64_t)d + 1));
}

int64_t tess_lookup_gpu_slice_vector(const lookup_problem *p) {
    int64_t size = 16;
    while (p->inner.count * p->size % size != 0 || !whole_steps(p, size))
        size /= 2;
    return size;
}

static void lay_slice_vectors(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const lookup_problem *p = of(base);
    const int64_t size = tess_lookup_gpu_slice_vector(p), per = p->inner.count * p->size / size;
    (void)device;
    int64_t vectors = p->outer.count * p->at.count * per;
    int64_t slices[] = {p->n,        p->step, tess_lookup_stride(&p->outer, LOOKUP_FROM) / size, p->at.count, per, vectors, divisor(p->at.count),
                        divisor(per)};
    tess_lookup_gpu_verdict(layout, p);
    tess_lookup_gpu_begin(layout, p, &gpu_slice_vectors);
    tess_gpu_option(layout, "-DSIZE=%d", (int)size);
    tess_gpu_option(layout, "-DLINES=%d", p->outer.ndim);
    tess_gpu_option(layout, "-DNARROW=%d", vectors <= INT32_MAX);
    tess_gpu_step *step = tess_gpu_launch_of(layout, "slice_vectors", tess_ceil_div(vectors, 1024), 1, 1, 256, 0);
    tess_lookup_gpu_pass_call(layout, step, p, slices, sizeof slices);
    layout->alignment = tess_max64(size, p->index.itemsize);
}

/* ---- lookup/elements ---- */

static int64_t *put_axes(int64_t *at, const lookup_axes *axes, int64_t pieces, int64_t piece) {
    int ndim = axes->ndim + (pieces > 1);
    for (int d = 0; d <= ndim; d++)
        *at++ = d < axes->ndim ? axes->shape[d] : d < ndim ? pieces : 0;
    for (int side = LOOKUP_FROM; side <= LOOKUP_OUT; side++)
        for (int d = 0; d <= ndim; d++)
            *at++ = d < axes->ndim ? axes->stride[side][d] : d < ndim ? piece : 0;
    return at;
}

tess_gpu_step *tess_lookup_gpu_walk(tess_gpu_layout *layout, const lookup_problem *p, const char *entry, int64_t pieces) {
    int64_t items = p->outer.count * p->at.count * p->inner.count * pieces;
    int64_t block[4 + 9 * (TESS_MAX_NDIM + 2)], *at = block;
    tess_gpu_option(layout, "-DOUTER=%d", p->outer.ndim);
    tess_gpu_option(layout, "-DAT=%d", p->at.ndim);
    tess_gpu_option(layout, "-DINNER=%d", p->inner.ndim + (pieces > 1));
    tess_gpu_option(layout, "-DNARROW=%d", items <= INT32_MAX && p->at.count <= INT32_MAX);
    *at++ = p->n;
    *at++ = p->step;
    *at++ = p->at.count;
    *at++ = items;
    at = put_axes(at, &p->outer, 1, 0);
    at = put_axes(at, &p->at, 1, 0);
    at = put_axes(at, &p->inner, pieces, p->size / pieces);
    size_t bytes = (size_t)(at - block) * sizeof *block;
    tess_gpu_step *step;
    if (items == 0) {
        step = tess_gpu_launch_of(layout, "check", p->outside == TESS_OUTSIDE_ERROR ? tess_ceil_div(p->at.count, 256) : 0, 1, 1, 256, 0);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_SECOND, 0);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_MARK, 0);
        tess_gpu_pass(layout, step, block, bytes);
        return step;
    }
    step = tess_gpu_launch_of(layout, entry, tess_ceil_div(items, 1024), 1, 1, 256, 0);
    tess_lookup_gpu_pass_call(layout, step, p, block, bytes);
    return step;
}

static bool elements_fit(const tess_problem *base, const char **why) { return gathers(of(base), why); }

static void lay_elements(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const lookup_problem *p = of(base);
    int64_t piece = tess_min64(p->table.itemsize, p->size);
    (void)device;
    tess_lookup_gpu_verdict(layout, p);
    tess_lookup_gpu_begin(layout, p, &gpu_elements);
    tess_gpu_option(layout, "-DSIZE=%d", (int)piece);
    tess_lookup_gpu_walk(layout, p, "elements", p->size / piece);
}

/* ---- the table ---- */

extern const char tess_kernel_lookup_gpu_index_cuh[], tess_kernel_lookup_gpu_lines_cuh[], tess_kernel_lookup_gpu_beside_cuh[],
    tess_kernel_lookup_gpu_bring_cuh[], tess_kernel_lookup_gpu_walk_cuh[], tess_kernel_lookup_gpu_place_cuh[], tess_kernel_lookup_gpu_among_cuh[],
    tess_kernel_gpu_types_cuh[];
static const tess_gpu_text index_header = {"ops/lookup/gpu_index.cuh", tess_kernel_lookup_gpu_index_cuh},
                           lines_header = {"ops/lookup/gpu_lines.cuh", tess_kernel_lookup_gpu_lines_cuh},
                           bring_header = {"ops/lookup/gpu_bring.cuh", tess_kernel_lookup_gpu_bring_cuh},
                           beside_header = {"ops/lookup/gpu_beside.cuh", tess_kernel_lookup_gpu_beside_cuh},
                           walk_header = {"ops/lookup/gpu_walk.cuh", tess_kernel_lookup_gpu_walk_cuh},
                           place_header = {"ops/lookup/gpu_place.cuh", tess_kernel_lookup_gpu_place_cuh},
                           among_header = {"ops/lookup/gpu_among.cuh", tess_kernel_lookup_gpu_among_cuh},
                           types_header = {"gpu/types.cuh", tess_kernel_gpu_types_cuh};
const tess_gpu_text *const tess_lookup_gpu_headers[] = {&index_header, &lines_header, &beside_header, &bring_header,
                                                        &walk_header,  &place_header, &types_header,  NULL};
const tess_gpu_text *const tess_lookup_gpu_among_headers[] = {&index_header, &lines_header, &walk_header, &place_header,
                                                              &among_header, &types_header, NULL};

#define GATHER(name, lay)                                                              \
    static const tess_gpu_row row_##name = {.headers = tess_lookup_gpu_headers,        \
                                            .production = true,                        \
                                            .least_arch = 80,                          \
                                            .lay_out = lay,                            \
                                            .predict = tess_lookup_gpu_predict_##name, \
                                            .finish = tess_lookup_gpu_finish}
GATHER(shared_bytes, lay_shared_bytes);
GATHER(vectors, tess_lookup_gpu_lay_vectors);
GATHER(resident, lay_resident);
GATHER(slice_vectors, lay_slice_vectors);
GATHER(elements, lay_elements);

#define STRATEGY(the_name, words, fits, pays, row) \
    { .name = "lookup/" the_name, .idea = words, .source = "-", .target = TESS_TARGET_GPU, .applicable = fits, .sensible = pays, .gpu = &(row) }
const tess_strategy tess_lookup_gpu_rows[LOOKUP_GPU_ROWS] = {
    STRATEGY("shared_bytes", "bytes by bytes: the answers to all 256 indices in shared memory, 16 lookups a thread", shared_bytes_fit, NULL,
             row_shared_bytes),
    STRATEGY("resident", "blocks that stay, with as much of a large table as fits in shared memory", resident_fits, resident_pays, row_resident),
    STRATEGY("shared_lines", "many lines of a table by the same indices, columns at random: each line in shared memory while it is looked up",
             tess_lookup_gpu_shared_lines_fit, tess_lookup_gpu_shared_lines_pay, tess_lookup_gpu_shared_lines),
    STRATEGY("vectors", "a vector of indices in, a vector of elements out; the table through the first-level cache", tess_lookup_gpu_vectors_fit,
             vectors_pay, row_vectors),
    STRATEGY("shared_slices",
             "slices of an odd number of bytes, as colours: answers in shared memory or laid ready, put together to vectors in registers",
             tess_lookup_gpu_shared_slices_fit, tess_lookup_gpu_shared_slices_pay, tess_lookup_gpu_shared_slices),
    STRATEGY("slice_pieces",
             "slices that whole vectors do not fit: the vectors that hold them in shared memory, from where whole vectors of out are made",
             tess_lookup_gpu_slice_pieces_fit, tess_lookup_gpu_slice_pieces_pay, tess_lookup_gpu_slice_pieces),
    STRATEGY("slice_vectors", "each index copies a run of the table, a vector a thread", tess_lookup_gpu_slices_fit, slices_pay, row_slice_vectors),
    STRATEGY("elements", "any gather: one thread a piece of an element, in the order of out", elements_fit, NULL, row_elements),
    STRATEGY("line_points", "many lines by the same coordinates, as rows that are resampled: each line in shared memory, a point placed once for all",
             tess_lookup_gpu_line_points_fit, tess_lookup_gpu_line_points_pay, tess_lookup_gpu_line_points),
    STRATEGY("prepared", "compact coordinates: a record an entry prepared first, one place in memory a point", tess_lookup_gpu_prepared_fits,
             tess_lookup_gpu_prepared_pays, tess_lookup_gpu_prepared),
    STRATEGY("prepared_slices", "slices of a few elements at compact coordinates, as colours: a record an element prepared first, a thread a slice",
             tess_lookup_gpu_prepared_slices_fit, tess_lookup_gpu_prepared_slices_pay, tess_lookup_gpu_prepared_slices),
    STRATEGY("point_slices", "slices without gaps at coordinates, as images resized along an axis: a point placed once, lanes along its slice",
             tess_lookup_gpu_point_slices_fit, NULL, tess_lookup_gpu_point_slices),
    STRATEGY("points", "any interpolation: neighbours read where they lie", tess_lookup_gpu_points_fit, NULL, tess_lookup_gpu_points),
    STRATEGY("search", "compact places among positions: a bucket of equal width, then its entry's record of 32 bytes, or a few steps on",
             tess_lookup_gpu_search_fits, tess_lookup_gpu_search_pays, tess_lookup_gpu_search),
    STRATEGY("between", "any places among positions: a bisection without branches", tess_lookup_gpu_between_fits, NULL, tess_lookup_gpu_between),
    STRATEGY("global", "one lookup a thread, the table in global memory", tess_lookup_gpu_path_fits, tess_lookup_gpu_by_name,
             tess_lookup_gpu_path_global),
    STRATEGY("constant", "one lookup a thread, the table in constant memory: one address a turn", tess_lookup_gpu_constant_fits,
             tess_lookup_gpu_by_name, tess_lookup_gpu_path_constant),
    STRATEGY("read_only", "one lookup a thread, the table by read-only loads", tess_lookup_gpu_path_fits, tess_lookup_gpu_by_name,
             tess_lookup_gpu_path_read_only),
    STRATEGY("shared", "one lookup a thread, the table copied to shared memory by each block", tess_lookup_gpu_shared_fits, tess_lookup_gpu_by_name,
             tess_lookup_gpu_path_shared),
};
