/* SPDX-License-Identifier: Apache-2.0
 * overlap.c - whether two views share memory, and whether one view has two elements in one place.
 *
 * Both are one question: does c_1 x_1 + ... + c_n x_n = target have an integer solution with 0 <= x_k <= u_k? Every axis gives a term (coefficient:
 * the stride), the bytes inside an element give one with coefficient 1. The problem is NP-hard in general, so the search has a budget; what it cannot
 * decide counts as overlapping. Two things keep real layouts far below the budget: terms that together take all multiples of the smaller coefficient
 * in a range are joined (compact axes vanish this way), and at each level only those x are tried which the remainder's range and its divisibility by
 * the greatest common divisor of the later coefficients allow. Ramanujam and Sadayappan bounded dependences between array references in the same way.
 */
#include <stdlib.h>

#include "core/overlap.h"

enum { BUDGET = 100000, MAX_TERMS = 2 * TESS_MAX_NDIM + 1 };

typedef struct term {
    int64_t c, u; /* c > 0, u > 0 */
} term;

typedef struct equation {
    int count;
    int64_t target;
    term terms[MAX_TERMS];
    int64_t divisor[MAX_TERMS + 1]; /* of all coefficients from k on; 0 after the last */
    int64_t reach[MAX_TERMS + 1];   /* largest sum of the terms from k on */
    int64_t budget;
    bool beyond; /* a number left the range in which sums are safe */
} equation;

typedef enum answer { NO, YES, OPEN } answer;

static const int64_t safe = INT64_MAX / 4;

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); } /* b > 0 */

/* Inverse of a modulo m by Euclid's algorithm; gcd(a, m) = 1, m > 1. */
static int64_t inverse(int64_t a, int64_t m) {
    int64_t r0 = m, r1 = a % m, s0 = 0, s1 = 1;
    while (r1 != 0) {
        int64_t q = r0 / r1, r = r0 - q * r1, s = s0 - q * s1;
        r0 = r1;
        r1 = r;
        s0 = s1;
        s1 = s;
    }
    return s0 < 0 ? s0 + m : s0;
}

/* a * b mod m without overflow, 0 <= a, b < m. */
static int64_t multiply_mod(int64_t a, int64_t b, int64_t m) {
    int64_t product, result = 0;
    if (!TESS_MUL_OVERFLOWS(a, b, &product))
        return product % m;
    for (; b > 0; b >>= 1) {
        if (b & 1)
            result = (int64_t)(((uint64_t)result + (uint64_t)a) % (uint64_t)m);
        a = (int64_t)(((uint64_t)a + (uint64_t)a) % (uint64_t)m);
    }
    return result;
}

/* Adds coefficient * x for low <= x <= high to the left side; x is shifted and mirrored so that it starts at 0 with a positive coefficient. */
static void add_term(equation *e, int64_t coefficient, int64_t low, int64_t high) {
    int64_t least, span, reach;
    if (coefficient == 0 || (low == 0 && high == 0))
        return;
    e->beyond |= coefficient < -safe || TESS_MUL_OVERFLOWS(coefficient, coefficient > 0 ? low : high, &least) ||
                 TESS_ADD_OVERFLOWS(e->target, -least, &e->target) || e->target > safe || e->target < -safe;
    int64_t c = coefficient < 0 ? -coefficient : coefficient;
    span = high - low;
    e->beyond |= TESS_MUL_OVERFLOWS(c, span, &reach) || TESS_ADD_OVERFLOWS(e->reach[0], reach, &e->reach[0]) || e->reach[0] > safe;
    if (e->beyond || span == 0)
        return;
    int k = e->count++; /* largest coefficient first */
    for (; k > 0 && e->terms[k - 1].c < c; k--)
        e->terms[k] = e->terms[k - 1];
    e->terms[k] = (term){c, span};
}

/* Joins c x with m c y: when x runs over at least m - 1 the sum takes every multiple of c up to its largest. */
static void join_terms(equation *e) {
    for (int small = e->count - 1; small > 0; small--)
        for (int large = small - 1; large >= 0; large--) {
            term *s = &e->terms[small], *l = &e->terms[large];
            if (l->c % s->c != 0 || s->u < l->c / s->c - 1)
                continue;
            s->u += l->c / s->c * l->u;
            for (int k = large; k < e->count - 1; k++)
                e->terms[k] = e->terms[k + 1];
            e->count--;
            small = e->count; /* the grown term may now take others in */
            break;
        }
}

static answer search(equation *e, int k, int64_t rest) {
    if (rest < 0 || rest > e->reach[k])
        return NO;
    if (k == e->count)
        return rest == 0 ? YES : NO;
    if (rest % e->divisor[k] != 0)
        return NO;
    if (--e->budget < 0)
        return OPEN;
    int64_t c = e->terms[k].c, later = e->divisor[k + 1], step = 1, x;
    int64_t low = tess_max64(0, -floor_div(e->reach[k + 1] - rest, c)), high = tess_min64(e->terms[k].u, rest / c);
    if (later == 0) /* the last term: divisible, and in reach */
        return YES;
    step = later / e->divisor[k]; /* c x = rest modulo `later` holds for one x in every `step` */
    if (step > 1) {
        int64_t wanted = rest / e->divisor[k] % step, by = inverse(c / e->divisor[k] % step, step);
        x = multiply_mod(wanted, by, step);
        low += (x - low % step + step) % step;
    }
    for (x = low; x <= high; x += step) {
        answer found = search(e, k + 1, rest - c * x);
        if (found != NO)
            return found;
    }
    return NO;
}

static answer solve(equation *e) {
    if (e->beyond)
        return OPEN;
    join_terms(e);
    /* The bytes of the elements go first when divisibility leaves few of them, as it does in aligned layouts. */
    if (e->count > 1 && e->terms[e->count - 1].c == 1) {
        int64_t others = 0;
        for (int k = 0; k < e->count - 1; k++)
            others = tess_gcd(others, e->terms[k].c);
        if (e->terms[e->count - 1].u / others < 4) {
            term bytes = e->terms[e->count - 1];
            for (int k = e->count - 1; k > 0; k--)
                e->terms[k] = e->terms[k - 1];
            e->terms[0] = bytes;
        }
    }
    e->divisor[e->count] = e->reach[e->count] = 0;
    for (int k = e->count - 1; k >= 0; k--) {
        e->divisor[k] = tess_gcd(e->terms[k].c, e->divisor[k + 1]);
        e->reach[k] = e->reach[k + 1] + e->terms[k].c * e->terms[k].u;
    }
    return search(e, 0, e->target);
}

bool tess_arrays_overlap(const tess_array *a, const tess_array *b) { return tess_overlap_at(a, a->data, b, b->data); }

bool tess_overlap_at(const tess_array *a, const char *a_first, const tess_array *b, const char *b_first) {
    int64_t alow, ahigh, blow, bhigh;
    if (a->count == 0 || b->count == 0)
        return false;
    tess_array_extent(a, &alow, &ahigh);
    tess_array_extent(b, &blow, &bhigh);
    int64_t distance = (int64_t)((uintptr_t)b_first - (uintptr_t)a_first);
    if (!TESS_ADD_OVERFLOWS(distance, blow, &blow) && !TESS_ADD_OVERFLOWS(distance, bhigh, &bhigh) && (blow >= ahigh || alow >= bhigh))
        return false;
    /* a's offset - b's offset + (byte in a's element - byte in b's element) = distance */
    equation e = {.target = distance, .budget = BUDGET};
    for (int d = 0; d < a->ndim; d++)
        add_term(&e, a->stride[d], 0, a->shape[d] - 1);
    for (int d = 0; d < b->ndim; d++)
        add_term(&e, b->stride[d], -(b->shape[d] - 1), 0);
    add_term(&e, 1, -(b->itemsize - 1), a->itemsize - 1);
    return solve(&e) != NO;
}

bool tess_array_self_overlaps(const tess_array *array) {
    int order[TESS_MAX_NDIM], axes = 0;
    if (array->count == 0)
        return false;
    for (int d = 0; d < array->ndim; d++) { /* axes by growing stride */
        if (array->shape[d] == 1)
            continue;
        if (array->stride[d] == 0)
            return true;
        int k = axes++;
        for (; k > 0 && llabs(array->stride[order[k - 1]]) > llabs(array->stride[d]); k--)
            order[k] = order[k - 1];
        order[k] = d;
    }
    int64_t reach = array->itemsize; /* of the axes so far; import has proven that it fits */
    bool nested = true;
    for (int k = 0; k < axes && nested; k++) {
        int64_t stride = llabs(array->stride[order[k]]);
        nested = stride >= reach;
        reach += stride * (array->shape[order[k]] - 1);
    }
    if (nested)
        return false;
    /* Two elements differ by d_k steps along the axes. By symmetry the first d_k that is not 0 is positive: one equation for each k. */
    int64_t budget = BUDGET;
    for (int first = 0; first < axes; first++) {
        equation e = {.budget = budget};
        for (int k = first; k < axes; k++) {
            int64_t last = array->shape[order[k]] - 1;
            add_term(&e, array->stride[order[k]], k == first ? 1 : -last, last);
        }
        add_term(&e, 1, -(array->itemsize - 1), array->itemsize - 1);
        if (solve(&e) != NO)
            return true;
        budget = tess_max64(e.budget, 0);
    }
    return false;
}
