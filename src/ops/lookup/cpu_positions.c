/* SPDX-License-Identifier: Apache-2.0
 * cpu_positions.c - interpolation among positions of the caller's own: the entry before each point is found by bisection without branches, for a block
 * of points side by side.
 *
 * Every step is one loop over the block, so that the loads of all its points are under way together and nothing is guessed. Where there are points
 * enough, what lies between the ends is divided into twice as many buckets of equal width as there are entries, and a point is searched for in its own
 * bucket: one step for even positions, three or four for random ones. A bucket's number is a rounded product, which is harmless: it never falls while the
 * point rises, so positions in buckets before a point's lie before the point, and those in buckets after it behind.
 *
 * A NaN and what lies outside go along: their searches end somewhere inside the table, and their shares (SHARE_*) say what becomes of them. */
#include "core/parallel.h"
#include "ops/lookup/lookup.h"
#include "simd/gather.h"

tess_status TESS_ISA_NAME(tess_lookup_positions)(const tess_problem *base, const tess_run *run);
size_t TESS_ISA_NAME(tess_lookup_positions_workspace)(const tess_problem *base, int threads);

enum {
    BLOCK = 256,          /* points that go together: what is kept of them stays in the first-level cache */
    PART = 64,            /* of them: in order, they are searched for between the first and the last */
    GRAIN = 64 * BLOCK,   /* of a thread's piece */
    FEW = 16,             /* so many positions are compared one by one */
    BUCKETS_OF_ENTRY = 2, /* buckets an entry */
    ENTRIES_OF_POINT = 8, /* up to so many entries a point buckets are made */
    LEAST = 64            /* and from so many points on */
};

typedef struct job {
    const lookup_problem *problem;
    const tess_run *run;
    _Atomic int64_t first_bad;
    tess_row_loader load_index, load_table;
    tess_row_storer store;
    const uint32_t *before; /* how many positions lie in buckets before this one; NULL: there are none */
    double low, scale, top; /* the first position, buckets a unit of length, the last bucket's number */
    uint32_t half;          /* first step of the bisection: the power of two in the number of positions of the fullest bucket */
} job;

/* What is known of a block's points. */
typedef struct block {
    _Alignas(64) double share[BLOCK]; /* of the second entry, 0 .. 1; or: */
    uint32_t entry[BLOCK];            /* the first of the two */
    bool outside;                     /* of some point */
} block;
#define SHARE_SECOND 2.0 /* the second entry itself: 1 still has a product and a sum, which round */

/* ---- Buckets --------------------------------------------------------------------------------------------------- */

static int64_t bucket_count(const lookup_problem *problem) {
    const int64_t points = problem->outer.count * problem->at.count, n = problem->n;
    return n > FEW && points >= LEAST && points >= n / ENTRIES_OF_POINT ? BUCKETS_OF_ENTRY * n : 0;
}

size_t TESS_ISA_NAME(tess_lookup_positions_workspace)(const tess_problem *base, int threads) {
    const int64_t buckets = bucket_count((const lookup_problem *)base);
    (void)threads;
    return buckets > 0 ? (size_t)(buckets + 1) * sizeof(uint32_t) : 0;
}

/* NaN: the last one. */
TESS_INLINE uint32_t bucket_of(double x, double low, double scale, double top) {
    double number = (x - low) * scale;
    number = number < top ? number : top;
    number = number > 0 ? number : 0;
    return (uint32_t)(int32_t)number;
}

/* Also of positions that decrease: numbers up to n that do not. */
static void make_buckets(job *j, uint32_t *before, int64_t buckets) {
    const int64_t n = j->problem->n;
    const double *position = j->problem->positions, low = j->low, scale = j->scale, top = j->top;
    uint32_t number[BLOCK], seen = 0, most = 0;
    memset(before, 0, (size_t)(buckets + 1) * sizeof *before);
    for (int64_t at = 0; at < n; at += BLOCK) {
        const int64_t count = tess_min64(BLOCK, n - at);
        for (int64_t i = 0; i < count; i++)
            number[i] = bucket_of(position[at + i], low, scale, top);
        for (int64_t i = 0; i < count; i++)
            before[number[i] + 1] = (uint32_t)(at + i + 1); /* the last of a bucket stays */
    }
    for (int64_t b = 1; b <= buckets; b++) {
        const uint32_t now = seen > before[b] ? seen : before[b], own = now - seen;
        most = most > own ? most : own;
        before[b] = seen = now;
    }
    j->before = before;
    j->half = most;
}

/* Whether the points of a part do not decrease, and none is a NaN. */
static bool in_order(const double *x, int64_t points) {
    int64_t wrong = !(x[0] <= x[points / 2] && x[points / 2] <= x[points - 1]); /* nearly always tells of points in no order */
    if (wrong)
        return false;
    for (int64_t i = 1; i < points; i++)
        wrong |= !(x[i - 1] <= x[i]);
    return wrong == 0;
}

/* Whether all points seem to be in order, by three parts of them: then none needs a bucket, and making them would be most of the work for as many points as
 * entries. */
static bool seem_in_order(const job *j) {
    const lookup_problem *problem = j->problem;
    const lookup_axes *at = &problem->at;
    const int64_t step = at->ndim == 1 ? at->stride[LOOKUP_FROM][0] : 0, rest = at->count - PART;
    double x[PART], before = -INFINITY;
    if (problem->outer.count != 1 || at->ndim != 1 || rest < 2 * PART)
        return false;
    for (int64_t k = 0; k < 3; k++, before = x[PART - 1]) {
        j->load_index(x, j->run->second + rest * k / 2 * step, step, PART);
        if (!in_order(x, PART) || x[0] < before)
            return false;
    }
    return true;
}

static void prepare(job *j) {
    const lookup_problem *problem = j->problem;
    const int64_t n = problem->n, buckets = bucket_count(problem);
    const double *position = problem->positions;
    j->low = position[0];
    j->scale = (double)buckets / (position[n - 1] - position[0]);
    j->top = (double)(buckets - 1);
    j->half = (uint32_t)n;
    if (buckets > 0 && !seem_in_order(j) && j->scale > 0 &&
        j->scale <= 0x1.fffffffffffffp1023) /* not between infinite ends, nor in no space at all */
        make_buckets(j, j->run->workspace, buckets);
    while (j->half & (j->half - 1)) /* the highest bit alone */
        j->half &= j->half - 1;
}

/* ---- The search ------------------------------------------------------------------------------------------------ */

/* Steps of a bisection: count[] positions are known to be x or less, and of the next 2 half - 1 some more may be. */
TESS_INLINE void bisect(const double *position, uint32_t last, const double *x, uint32_t *count, uint32_t half, int64_t points) {
    for (; half > 0; half /= 2)
        for (int64_t i = 0; i < points; i++) {
            const uint32_t next = count[i] + half, at = next - 1 < last ? next - 1 : last;
            count[i] = position[at] <= x[i] ? next : count[i];
        }
}

/* `known` positions are x or less; the next `few` are compared one by one. There is room for whole vectors of points. */
TESS_INLINE void compare(const double *position, uint32_t known, uint32_t few, const double *x, uint32_t *count, int64_t points) {
    for (int64_t i = 0; i < points; i += TESS_F64_LANES) {
        const v_f64 at = v_f64_load(x + i);
        v_i64 found = (v_i64){0} + known;
        for (uint32_t k = known; k < known + few; k++)
            found -= (v_i64)(v_f64_all(position[k]) <= at);
        const h_i32 narrow = __builtin_convertvector(found, h_i32);
        memcpy(count + i, &narrow, sizeof narrow);
    }
}

/* A power of two: of the positions behind the `known` first ones fewer than that are `greatest` or less. */
static uint32_t span(const double *position, uint32_t n, uint32_t known, double greatest) {
    uint32_t reach = 1;
    while (known + reach <= n && position[known + reach - 1] <= greatest)
        reach *= 2;
    return reach;
}

/* How many positions are x or less, for points between the ends. */
static void count_each(const job *j, const double *x, uint32_t *count, int64_t points) {
    const double *position = j->problem->positions, low = j->low, scale = j->scale, top = j->top;
    const uint32_t *before = j->before;
    for (int64_t i = 0; i < points; i++)
        count[i] = before ? bucket_of(x[i], low, scale, top) : 0;
    for (int64_t i = 0; before && i < points; i++)
        count[i] = before[count[i]];
    bisect(position, (uint32_t)(j->problem->n - 1), x, count, j->half, points);
}

/* The same for a part in order. guess: how many it is for an earlier point, 0 = not known; returns how many it is for the last. */
static uint32_t count_part(const job *j, const double *x, uint32_t *count, uint32_t guess) {
    const double *position = j->problem->positions;
    const uint32_t n = (uint32_t)j->problem->n;
    if (guess == 0 || !(position[guess - 1] <= x[0])) {
        count_each(j, x, count, 1);
        guess = *count < 1 ? 1 : *count > n ? n : *count;
    }
    const uint32_t reach = span(position, n, guess, x[PART - 1]);
    if (reach <= FEW) {
        compare(position, guess, n - guess < reach ? n - guess : reach - 1, x, count, PART);
    } else if (reach / 2 <= j->half) {
        for (int64_t i = 0; i < PART; i++)
            count[i] = guess;
        bisect(position, n - 1, x, count, reach / 2, PART);
    } else {
        count_each(j, x, count, PART);
    }
    return count[PART - 1] < 1 ? 1 : count[PART - 1] > n ? n : count[PART - 1];
}

static void count_before(const job *j, const double *x, uint32_t *count, uint32_t *guess, int64_t points) {
    const int64_t n = j->problem->n;
    int64_t i = 0;
    if (n <= FEW) {
        compare(j->problem->positions, 1, (uint32_t)(n - 2), x, count, points);
        return;
    }
    for (; i + PART <= points && in_order(x + i, PART); i += PART)
        *guess = count_part(j, x + i, count + i, *guess);
    count_each(j, x + i, count + i, points - i);
}

/* Entries and shares of a block. guess: as in count_part. near: the two positions of each point. */
static void locate(const job *j, const double *x, block *b, uint32_t *guess, int64_t points) {
    const lookup_problem *problem = j->problem;
    const double *position = problem->positions, low = position[0], last = position[problem->n - 1];
    const bool nearest = problem->interpolation == TESS_INTERPOLATE_NEAREST;
    const uint32_t most = (uint32_t)(problem->n - 2);
    double near[2 * BLOCK];
    unsigned outside = 0;
    if (problem->n == 1) {
        memset(b->entry, 0, sizeof b->entry);
        for (int64_t i = 0; i < points; i++)
            near[2 * i] = near[2 * i + 1] = low;
    } else {
        count_before(j, x, b->entry, guess, points);
        for (int64_t i = 0; i < points; i++) {
            const uint32_t count = b->entry[i], entry = count > 0 ? count - 1 : 0;
            b->entry[i] = entry < most ? entry : most;
        }
        for (int64_t i = 0; i < points; i++)
            memcpy(near + 2 * i, position + b->entry[i], 2 * sizeof *near);
    }
    for (int64_t i = 0; i < points; i++) {
        const double at = x[i], from = near[2 * i], part = (at - from) / (near[2 * i + 1] - from);
        double share = part < 1 ? part : 1;
        share = at == from ? 0 : share;
        share = nearest ? (share >= 0.5 ? SHARE_SECOND : 0) : share;
        share = at < low ? 0 : share;
        share = at >= last ? SHARE_SECOND : share;
        b->share[i] = at == at ? share : at;
        outside |= !(at >= low) | !(at <= last);
    }
    b->outside = outside;
}

/* ---- Values ---------------------------------------------------------------------------------------------------- */

/* Of a line of the table, in the compute type. */
#define VALUES(name, type, fused)                                                                              \
    static void values_##name(const job *j, const block *b, const char *table, type *result, int64_t points) { \
        const lookup_problem *problem = j->problem;                                                            \
        const int64_t step = problem->step;                                                                    \
        type pair[2 * BLOCK];                                                                                  \
        if (problem->n > 1 && problem->from == problem->compute && step == (int64_t)sizeof(type))              \
            for (int64_t i = 0; i < points; i++)                                                               \
                memcpy(pair + 2 * i, table + (int64_t)b->entry[i] * (int64_t)sizeof(type), 2 * sizeof(type));  \
        else if (problem->n > 1 && problem->from == problem->compute)                                          \
            for (int64_t i = 0; i < points; i++) {                                                             \
                memcpy(pair + 2 * i, table + b->entry[i] * step, sizeof(type));                                \
                memcpy(pair + 2 * i + 1, table + b->entry[i] * step + step, sizeof(type));                     \
            }                                                                                                  \
        else                                                                                                   \
            for (int64_t i = 0; i < points; i++) {                                                             \
                j->load_table(pair + 2 * i, table + b->entry[i] * step, step, tess_min64(problem->n, 2));      \
                pair[2 * i + 1] = problem->n > 1 ? pair[2 * i + 1] : pair[2 * i];                              \
            }                                                                                                  \
        for (int64_t i = 0; i < points; i++) {                                                                 \
            const type first = pair[2 * i], second = pair[2 * i + 1], t = (type)b->share[i];                   \
            type value = fused(t, second - first, first);                                                      \
            value = t == 0 ? first : value;                                                                    \
            value = t == (type)SHARE_SECOND ? second : value;                                                  \
            result[i] = value == value ? value : (type)NAN; /* the canonical one */                            \
        }                                                                                                      \
    }
VALUES(f32, float, fmaf)
VALUES(f64, double, fma)
#undef VALUES

/* A run of at most BLOCK points for everything behind the axis; false: there is an error. */
static bool segment(job *j, const lookup_segment *s, int64_t in_step, int64_t out_step, uint32_t *guess) {
    const lookup_problem *problem = j->problem;
    const bool wide = problem->compute == tess_f64;
    const int64_t size = wide ? 8 : 4;
    _Alignas(64) double x[BLOCK], made[BLOCK]; /* made: of the compute type */
    int64_t filled[BLOCK], fills = 0;
    lookup_axes inner = problem->inner;
    tess_index k;
    block b;
    j->load_index(x, s->index, in_step, s->count);
    for (int64_t i = s->count; i % TESS_F64_LANES; i++)
        x[i] = 0;
    locate(j, x, &b, guess, s->count);
    if (b.outside && problem->outside != TESS_OUTSIDE_CLIP) {
        const double low = problem->positions[0], last = problem->positions[problem->n - 1];
        for (int64_t i = 0; i < s->count; i++)
            if (!(x[i] >= low && x[i] <= last))
                filled[fills++] = i;
        if (problem->outside == TESS_OUTSIDE_ERROR) {
            tess_lookup_note(&j->first_bad, s->position + filled[0]);
            return false;
        }
    }
    tess_index_start(&k, inner.ndim, inner.shape, 2, inner.stride, 0);
    for (int64_t number = 0; number < inner.count; number++, tess_index_next(&k)) {
        char *out = s->out + k.offset[LOOKUP_OUT];
        const char *table = s->table + k.offset[LOOKUP_FROM];
        const unsigned char *fill = problem->fill + (problem->parts == 2 ? number % 2 * problem->size : 0);
        const bool straight = problem->to == problem->compute && out_step == size && (uintptr_t)out % (uintptr_t)size == 0;
        void *result = straight ? (void *)out : made;
        if (wide)
            values_f64(j, &b, table, result, s->count);
        else
            values_f32(j, &b, table, result, s->count);
        if (!straight)
            j->store(out, out_step, made, s->count);
        for (int64_t f = 0; f < fills; f++)
            memcpy(out + filled[f] * out_step, fill, (size_t)problem->size);
    }
    return true;
}

static void task(void *argument, int64_t begin, int64_t end, int worker) {
    job *j = argument;
    lookup_walk walk;
    lookup_segment s;
    uint32_t guess = 0; /* from one block to the next one */
    (void)worker;
    tess_lookup_walk_start(&walk, j->problem, j->run, begin, end, BLOCK);
    while (tess_lookup_walk_next(&walk, &s))
        if (!segment(j, &s, walk.in_step, walk.out_step, &guess))
            return;
}

tess_status TESS_ISA_NAME(tess_lookup_positions)(const tess_problem *base, const tess_run *run) {
    const lookup_problem *problem = (const lookup_problem *)base;
    job j = {.problem = problem, .run = run, .first_bad = INT64_MAX};
    j.load_index = tess_loader(run->slot, problem->index.type, tess_f64);
    j.load_table = tess_loader(run->slot, problem->from, problem->compute);
    j.store = tess_storer(run->slot, problem->compute, problem->to);
    prepare(&j);
    TESS_TRY(
        tess_parallel(run->context, run->threads, problem->outer.count * problem->at.count, tess_max64(1, GRAIN / problem->inner.count), task, &j));
    const int64_t bad = atomic_load(&j.first_bad);
    return bad == INT64_MAX ? TESS_OK : tess_lookup_refuse(problem, run->second, bad);
}
