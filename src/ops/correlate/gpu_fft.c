/* SPDX-License-Identifier: Apache-2.0
 * gpu_fft.c - the rows for correlations by Fourier transforms. Tiles and pieces are those of the definition (fft.c); whether a pair of tiles fits the
 * shared memory of the device decides between one launch and three. Their outputs are real; of a complex one they write the real parts, and one more
 * launch, the transposition's that moves anything, the imaginary ones: zeros. */
#include "ops/correlate/gpu_fft.h"

#include <string.h>

KERNEL_TEXT(gpu_fft_tile);
KERNEL_TEXT(gpu_fft_passes);
extern const char tess_kernel_gpu_types_cuh[], tess_kernel_correlate_gpu_boundary_cuh[], tess_kernel_correlate_gpu_fft_cuh[];
extern const char tess_kernel_transpose_gpu_elements_cu[], tess_kernel_transpose_gpu_piece_cuh[];
static const tess_gpu_text types_header = {"gpu/types.cuh", tess_kernel_gpu_types_cuh},
                           boundary_header = {"ops/correlate/gpu_boundary.cuh", tess_kernel_correlate_gpu_boundary_cuh},
                           fft_header = {"ops/correlate/gpu_fft.cuh", tess_kernel_correlate_gpu_fft_cuh},
                           piece_header = {"ops/transpose/gpu_piece.cuh", tess_kernel_transpose_gpu_piece_cuh},
                           elements = {"transpose/gpu_elements.cu", tess_kernel_transpose_gpu_elements_cu};
static const tess_gpu_text *const headers[] = {&types_header, &boundary_header, &fft_header, &piece_header, NULL};

/* SHARED: of an H200's block, less what a block keeps beside the grid. SHARE: the workspace in caches of the second level; more pairs of
 * tiles than fit take turns. */
enum { SHARED = 226 << 10, BESIDE = 1 << 10, PARAMETERS = 4000, LEAST = 32, SHARE = 8, SPLIT = 1 };
enum { STRIPE = 16, BUNDLE = 16, PASS_THREADS = 256, PASS_BLOCKS = 4, ROOM = 3, SECTOR = 32 }; /* gpu_fft_passes.cu: most columns, rows, blocks */

/* ---- what is taken ---- */

static int64_t number_of(const tess_correlate_problem *p) { return 2 * (int64_t)tess_type_size(p->compute); }

/* What the kernels write for one output. */
static int64_t part_size(const tess_correlate_problem *p) { return tess_is_complex(p->out.type) ? p->out.itemsize / 2 : p->out.itemsize; }
static tess_type part_type(const tess_correlate_problem *p) {
    return p->out.type == tess_c64 ? tess_f32 : p->out.type == tess_c128 ? tess_f64 : p->out.type;
}

static int64_t tile_shared(const tess_correlate_problem *p) { return p->fft->a * (p->fft->b + 1) * number_of(p) * (p->fft->pieces > 1 ? 2 : 1); }

static size_t parameters(const tess_correlate_problem *p) {
    return 8 * 9 + 40 * (size_t)(p->fft->outer_ndim + 3) + 32 * (size_t)(p->masks[0].ndim + 1);
}

static bool transforms(const tess_problem *base, const char **why) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    *why = "takes large masks of f32 or f64 whose caller asked for accuracy fast or fft";
    if (!p->fft)
        return false;
    *why = "takes arrays of few axes";
    return parameters(p) <= PARAMETERS;
}

bool tess_correlate_fft_tile_fits(const tess_problem *base, const char **why) {
    if (!transforms(base, why))
        return false;
    *why = "a pair of tiles does not fit shared memory";
    return tile_shared(tess_correlate_gpu_of(base)) <= SHARED;
}

bool tess_correlate_fft_passes_fits(const tess_problem *base, const char **why) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    if (!transforms(base, why))
        return false;
    *why = "takes tiles of at least 32 rows and columns";
    return p->fft->a >= LEAST && p->fft->b >= LEAST;
}

double tess_correlate_fft_work(const tess_problem *base) { return tess_correlate_fft_flops(tess_correlate_gpu_of(base)->fft); }

/* ---- the launches ---- */

static int64_t *put_axis(int64_t *at, const tess_correlate_problem *p, int d, int64_t before) {
    *at++ = p->out.shape[d];
    *at++ = p->in.stride[d] / p->in.itemsize;
    *at++ = p->out.stride[d] / part_size(p);
    *at++ = p->in.shape[d];
    *at++ = before;
    return at;
}

/* struct transform of gpu_fft.cuh. pairs: of a launch. */
static void pass_transform(tess_gpu_layout *layout, tess_gpu_step *step, const tess_correlate_problem *p, int64_t pairs) {
    const tess_correlate_fft *fft = p->fft;
    const tess_correlate_mask *mask = &p->masks[0];
    static const int64_t none[5] = {1, 0, 0, 1, 0};
    int64_t block[PARAMETERS / 8] = {0}, *at = block;
    memcpy(at++, &p->constant, tess_type_size(p->compute));
    const int64_t counts[] = {p->boundary, fft->tiles, pairs, fft->tiles_x, fft->outer, fft->outputs_x, fft->outputs_y, fft->pieces};
    memcpy(at, counts, sizeof counts);
    at = put_axis(at + TESS_COUNT(counts), p, fft->x, mask->before[fft->mask_x]);
    if (fft->plane)
        at = put_axis(at, p, fft->y, mask->before[fft->mask_y]);
    else
        at = (int64_t *)memcpy(at, none, sizeof none) + TESS_COUNT(none);
    for (int k = 0; k < fft->outer_ndim; k++)
        at = put_axis(at, p, fft->outer_axis[k], fft->outer_mask[k] >= 0 ? mask->before[fft->outer_mask[k]] : -1);
    at += TESS_COUNT(none);
    for (int k = 0; k < mask->ndim; k++) {
        int64_t axis = k == fft->mask_x ? 0 : 1;
        for (int d = 0; d < fft->outer_ndim; d++)
            axis = fft->outer_mask[d] == k ? 2 + d : axis;
        *at++ = fft->piece_count[k];
        *at++ = fft->piece_step[k];
        *at++ = mask->shape[k];
        *at++ = axis;
    }
    tess_gpu_pass(layout, step, block, parameters(p));
}

static void begin(tess_gpu_layout *layout, const tess_correlate_problem *p, const tess_gpu_text *text) {
    const tess_correlate_fft *fft = p->fft;
    tess_gpu_unit(layout, text);
    tess_gpu_option(layout, "-DIN=%d", (int)p->in.type);
    tess_gpu_option(layout, "-DOUT=%d", (int)part_type(p));
    tess_gpu_option(layout, "-DWORK=%d", (int)p->compute);
    tess_gpu_option(layout, "-DHIGH=%d", (int)fft->a);
    tess_gpu_option(layout, "-DWIDE=%d", (int)fft->b);
    tess_gpu_option(layout, "-DPLANE=%d", fft->plane);
    tess_gpu_option(layout, "-DOUTER=%d", fft->outer_ndim);
    tess_gpu_option(layout, "-DMASKED=%d", p->masks[0].ndim);
    tess_gpu_option(layout, "-DUNIT=%d", p->in.stride[fft->x] == p->in.itemsize && p->out.stride[fft->x] == part_size(p));
    tess_gpu_option(layout, "-DSEVERAL=%d", fft->pieces > 1);
    tess_gpu_option(layout, "-DSPLIT=%d", SPLIT);
}

/* A last launch, for complex outputs: the imaginary parts, from one zero that all of them read. */
static void lay_imaginary(tess_gpu_layout *layout, const tess_correlate_problem *p) {
    static const double zero;
    const int n = p->out.ndim;
    int64_t block[2 + 3 * (TESS_MAX_NDIM + 1)] = {p->out.count, 1}; /* struct walk of gpu_elements.cu */
    if (!tess_is_complex(p->out.type))
        return;
    tess_gpu_unit(layout, &elements);
    tess_gpu_option(layout, "-DUNIT=%d", (int)part_size(p));
    tess_gpu_option(layout, "-DAXES=%d", n);
    tess_gpu_option(layout, "-DNUMBER=%s", p->out.count <= UINT32_MAX - 256 ? "unsigned" : "i64");
    for (int d = 0; d < n; d++) {
        block[2 + d] = p->out.shape[d];
        block[2 + 2 * (n + 1) + d] = p->out.stride[d];
    }
    tess_gpu_step *step = tess_gpu_launch_of(layout, "elements", tess_ceil_div(p->out.count, 256), 1, 1, 256, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_DATA, tess_gpu_data(layout, &zero, sizeof zero));
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, part_size(p));
    tess_gpu_pass(layout, step, block, (size_t)(2 + 3 * (n + 1)) * sizeof *block);
}

/* Where the tables are on the device; -1: there was no memory for them. */
static int64_t put_tables(tess_gpu_layout *layout, const tess_correlate_problem *p, tess_correlate_gpu_fft *tables) {
    if (tess_correlate_gpu_fft_tables(p, tables))
        return tess_gpu_data(layout, tables->content, tables->size);
    layout->full = true;
    return 0;
}

/* Where two blocks or more fit a multiprocessor, smaller ones meet fewer threads at a barrier; where one does, it has all the threads that registers allow. */
tess_correlate_fft_block tess_correlate_fft_tile_block(const tess_correlate_problem *p) {
    const int64_t shared = tile_shared(p), room = (SHARED + BESIDE) / (shared + BESIDE), most = p->compute == tess_f64 ? 512 : 1024;
    const int64_t threads = room > 1 ? tess_max64(32, tess_min64(p->fft->a * p->fft->b / 16, 256)) : most;
    const int64_t blocks = tess_max64(1, tess_min64(most / threads, room));
    return (tess_correlate_fft_block){.threads = threads, .blocks = tess_min64(blocks, 16), .shared = shared};
}

static void lay_tile(tess_gpu_layout *layout, const tess_correlate_problem *p) {
    const tess_correlate_fft_block block = tess_correlate_fft_tile_block(p);
    tess_correlate_gpu_fft tables;
    begin(layout, p, &gpu_fft_tile);
    tess_gpu_option(layout, "-DTHREADS=%d", (int)block.threads);
    tess_gpu_option(layout, "-DBLOCKS=%d", (int)block.blocks);
    const int64_t data = put_tables(layout, p, &tables);
    tess_gpu_step *step =
        tess_gpu_launch_of(layout, "transform_tiles", p->out.count > 0 ? tess_ceil_div(p->fft->tiles, 2) : 0, 1, 1, (int)block.threads, block.shared);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_DATA, data);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_DATA, data + tables.rows);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_DATA, data + tables.spectrum);
    pass_transform(layout, step, p, 0);
    lay_imaginary(layout, p);
}

/* gpu_fft_passes.cu: shared memory of a stripe of `across` columns of fft->a points, of a bundle of `across` rows of fft->b. */
static int64_t gaps(int64_t points) { return points / (points > 128 ? points / 64 : points / 8); }
static int64_t stripe_shared(const tess_correlate_problem *p, int64_t across) {
    const int64_t number = number_of(p);
    return (p->fft->a + (across * number < 128 ? gaps(p->fft->a) : 0)) * across * number;
}
static int64_t bundle_shared(const tess_correlate_problem *p, int64_t across) {
    const int64_t number = number_of(p), narrow = across * number < 128;
    return (p->fft->b + (narrow ? gaps(p->fft->b) + 128 / number / across : 1)) * across * number * (p->fft->pieces > 1 ? 2 : 1);
}
/* How many a block takes. In f64 fewer, so that ROOM blocks fit a multiprocessor; in f32 lines of 128 bytes are worth more than a second block. */
static int64_t that_fit(const tess_gpu_device *device, const tess_correlate_problem *p, int64_t most,
                        int64_t (*shared)(const tess_correlate_problem *, int64_t)) {
    while (p->compute == tess_f64 && most * number_of(p) > SECTOR && ROOM * (shared(p, most) + BESIDE) > device->shared_sm)
        most /= 2;
    while (most > 1 && shared(p, most) + BESIDE > device->shared_block_optin)
        most /= 2;
    return most;
}

void tess_correlate_fft_blocks(const tess_correlate_problem *p, const tess_gpu_device *device, tess_correlate_fft_block *stripe,
                               tess_correlate_fft_block *bundle) {
    const int64_t across = that_fit(device, p, STRIPE, stripe_shared), column = stripe_shared(p, across);
    const int64_t rows = that_fit(device, p, BUNDLE, bundle_shared), row = bundle_shared(p, rows);
    const int64_t most = p->compute == tess_f64 ? PASS_BLOCKS / 2 : PASS_BLOCKS;
    const int64_t stripe_blocks = tess_max64(1, tess_min64(most, device->shared_sm / (column + BESIDE)));
    const int64_t bundles = tess_max64(1, tess_min64(most, device->shared_sm / (row + BESIDE)));
    const bool fewer = p->compute == tess_f32 && bundles == ROOM; /* two blocks of 512 threads are faster than three of 256 */
    const int64_t bundle_blocks = fewer ? ROOM - 1 : bundles;
    const int alone = p->fft->plane && p->compute == tess_f32 ? 4 : 2; /* rows with the product would need more registers than that leaves */
    *stripe = (tess_correlate_fft_block){stripe_blocks > 1 ? PASS_THREADS : alone * PASS_THREADS, stripe_blocks, across, column};
    *bundle = (tess_correlate_fft_block){bundle_blocks > 1 && !fewer ? PASS_THREADS : 2 * PASS_THREADS, bundle_blocks, rows, row};
}

static void lay_passes(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    const tess_correlate_fft *fft = p->fft;
    const int64_t number = number_of(p), room = fft->a * fft->b * fft->pieces * number, all = tess_ceil_div(fft->tiles, 2);
    const int64_t pairs = tess_max64(1, tess_min64(all, (int64_t)device->l2 * SHARE / room));
    const int64_t wanted = fft->plane ? fft->outputs_x : fft->b, some = p->out.count > 0;
    tess_correlate_gpu_fft tables;
    tess_correlate_fft_block stripe, bundle;
    begin(layout, p, &gpu_fft_passes);
    tess_correlate_fft_blocks(p, device, &stripe, &bundle);
    tess_gpu_option(layout, "-DSTRIPE=%d", (int)stripe.across);
    tess_gpu_option(layout, "-DSTRIPE_THREADS=%d", (int)stripe.threads);
    tess_gpu_option(layout, "-DSTRIPE_BLOCKS=%d", (int)stripe.blocks);
    tess_gpu_option(layout, "-DBUNDLE=%d", (int)bundle.across);
    tess_gpu_option(layout, "-DBUNDLE_THREADS=%d", (int)bundle.threads);
    tess_gpu_option(layout, "-DBUNDLE_BLOCKS=%d", (int)bundle.blocks);
    const int64_t data = put_tables(layout, p, &tables), at = tess_gpu_reserve(layout, some ? pairs * room : 0);
    layout->turns = tess_ceil_div(all, pairs);

    tess_gpu_step *step = tess_gpu_launch_of(layout, "columns_forward", some * pairs * fft->pieces * (fft->b / stripe.across), 1, 1,
                                             (int)stripe.threads, stripe.shared);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, at);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_DATA, data);
    tess_gpu_pass_turn(layout, step);
    pass_transform(layout, step, p, pairs);

    step = tess_gpu_launch_of(layout, "rows_through", some * pairs * (fft->a / bundle.across), 1, 1, (int)bundle.threads, bundle.shared);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, at);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_DATA, data + tables.rows);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_DATA, data + tables.spectrum);
    tess_gpu_pass_turn(layout, step);
    pass_transform(layout, step, p, pairs);

    step = tess_gpu_launch_of(layout, "columns_back", some * pairs * tess_ceil_div(wanted, stripe.across), 1, 1, (int)stripe.threads, stripe.shared);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, at);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_DATA, data);
    tess_gpu_pass_turn(layout, step);
    pass_transform(layout, step, p, pairs);
    lay_imaginary(layout, p);
}

bool tess_correlate_fft_by_passes(const tess_problem *base, const tess_gpu_device *device) {
    const char *why;
    return tile_shared(tess_correlate_gpu_of(base)) + BESIDE > device->shared_block_optin && tess_correlate_fft_passes_fits(base, &why);
}

static void lay_best(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    if (tess_correlate_fft_by_passes(base, device))
        lay_passes(base, device, layout);
    else
        lay_tile(layout, tess_correlate_gpu_of(base));
}

const tess_gpu_row tess_correlate_fft_tile = {
    .headers = headers, .production = true, .least_arch = 80, .lay_out = lay_best, .predict = tess_correlate_predict_fft_tile};
const tess_gpu_row tess_correlate_fft_passes = {
    .headers = headers, .production = true, .least_arch = 80, .lay_out = lay_passes, .predict = tess_correlate_predict_fft_passes};
