/* SPDX-License-Identifier: Apache-2.0
 * lookup_positions.h - positions of any distribution, and places among them, that the tests of interpolation share. */
#ifndef TESS_TESTS_LOOKUP_POSITIONS_H
#define TESS_TESTS_LOOKUP_POSITIONS_H

#include <math.h>

#include "lookup_cases.h"

enum { EVEN, RANDOM, STEEP, EQUAL, CLUSTERS, ENDLESS, KINDS }; /* CLUSTERS: up to 16 in one bucket */

/* Positions that do not decrease. */
static inline void make_positions(uint64_t *random, double *at, int64_t n, int kind) {
    double here = (double)hostile_between(random, -50, 50);
    int64_t left = 0; /* of a cluster */
    for (int64_t i = 0; i < n; i++) {
        left = left > 0 ? left - 1 : hostile_between(random, 0, 15);
        const double share = (double)(hostile_random(random) >> 11) * 0x1p-53;
        at[i] = here;
        here += kind == EVEN       ? 0.1
                : kind == EQUAL    ? (double)hostile_between(random, 0, 1)
                : kind == CLUSTERS ? (left > 0 ? 1e-4 : 1)
                : kind == STEEP    ? share * fmin(ldexp(1, (int)tess_min64(i, 900) - 300), 1e200)
                                   : share;
    }
    if (kind == ENDLESS) { /* infinite ends, some of them more than once */
        const int64_t below = hostile_between(random, 0, 2), above = hostile_between(random, 0, 2);
        for (int64_t i = 0; i < below && i < n; i++)
            at[i] = -INFINITY;
        for (int64_t i = n - 1; i >= n - above && i >= 0; i--)
            at[i] = INFINITY;
    }
}

/* On a position, between two, beside one, at an end, and unless it is to be good now and then outside. */
static inline double make_point(uint64_t *random, const double *at, int64_t n, bool good) {
    static const double odd[] = {NAN, INFINITY, -INFINITY, -0.0, 1e300, -1e300};
    const int64_t k = hostile_between(random, 0, n - 1), next = tess_min64(k + 1, n - 1);
    double x = at[k];
    switch (hostile_between(random, 0, 6)) {
    case 0: break;
    case 1: x = nextafter(x, INFINITY); break;
    case 2: x = nextafter(x, -INFINITY); break;
    case 3: x = good ? x : hostile_between(random, 0, 1) ? odd[hostile_between(random, 0, TESS_COUNT(odd) - 1)] : x - 1000; break;
    case 4: x = hostile_between(random, 0, 1) ? at[0] : at[n - 1]; break;
    default: x += (double)(hostile_random(random) >> 11) * 0x1p-53 * (at[next] - x); break;
    }
    return good ? fmin(fmax(x, at[0]), at[n - 1]) : x;
}

static inline void set_places(uint64_t *random, hostile_array *index, const double *at, int64_t n, bool good) {
    for (int64_t i = 0, count = hostile_count(index); i < count; i++)
        set_real(index, i, make_point(random, at, n, good));
}

#endif
