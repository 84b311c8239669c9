/* SPDX-License-Identifier: Apache-2.0
 * points.c - _points(): what an array has at coordinates between its elements, for tessera.ndimage.map_coordinates.
 *
 * By calls of NumPy and take() ten points took as long as a thousand, and both ten times as long as in SciPy. One loop over the points needs no arrays but the
 * caller's. A point from the first to the last element along every axis has all its neighbours there; others are brought to such a place by the mode, or, where it has
 * neighbours that no such place has, each neighbour is asked for by itself. Sums are of doubles, corner by corner in the order of the axes, and a weight of 0 is no product. */
#include <math.h>
#include <string.h>

#include "module.h"

enum {
    ALONE = 1024,   /* points from which on other threads of Python may run meanwhile */
    BLOCK = 128,    /* points whose places are found together, */
    MOST_AXES = 3,  /* along so many axes */
    NEAR = 1 << 20, /* bytes of elements that are near without being asked for */
};
/* Functions whose types, axes and order are known where they are called: what is known goes nowhere if they are called after all. */
#define ALONG static inline __attribute__((always_inline))
#define LEAST_SHARE 1e-100 /* three of these make no 0 */

/* As _ndcoordinates.MODES has them. */
typedef enum points_mode { CONSTANT, GRID_CONSTANT, NEAREST, REFLECT, GRID_MIRROR, MIRROR, WRAP, GRID_WRAP } points_mode;

typedef struct points {
    tess_type type;
    int ndim, order, parts; /* parts: 2 of complex numbers, one beside the other */
    bool far;               /* elements are asked for */
    points_mode mode;
    const char *elements;
    const char *at; /* coordinates of the first axis, then of the second .. */
    char *total;
    int64_t count, shape[TESS_MAX_NDIM], step[TESS_MAX_NDIM]; /* elements from one position of an axis to the next */
    double fill[2], last[TESS_MAX_NDIM];                      /* shape - 1 */
} points;

static double coordinate(const points *p, int axis, int64_t i) {
    double x;
    memcpy(&x, p->at + (axis * p->count + i) * (int64_t)sizeof x, sizeof x); /* arrays may begin anywhere */
    return x;
}

static void put_total(const points *p, int64_t i, int part, double total) {
    memcpy(p->total + (i * p->parts + part) * (int64_t)sizeof total, &total, sizeof total);
}

/* A neighbour along an axis: its index, its weight, whether it is an element. */
typedef struct neighbour {
    int64_t index;
    double weight;
    bool element;
} neighbour;

ALONG double part_of(tess_type type, const char *elements, int64_t i) {
#define READ(name, c_type)                                      \
    case name: {                                                \
        c_type x;                                               \
        memcpy(&x, elements + i * (int64_t)sizeof x, sizeof x); \
        return (double)x;                                       \
    }
    switch (type) {
        READ(tess_i8, int8_t)
        READ(tess_i16, int16_t)
        READ(tess_u16, uint16_t)
        READ(tess_i32, int32_t)
        READ(tess_u32, uint32_t)
        READ(tess_i64, int64_t)
        READ(tess_u64, uint64_t)
        READ(tess_f32, float)
        READ(tess_c64, float)
        READ(tess_f64, double)
        READ(tess_c128, double)
    default: return (double)(unsigned char)elements[i]; /* bool, u8 */
    }
#undef READ
}

/* The remainder that has the sign of the divisor, which is positive. */
static double modulo(double x, double by) {
    const double r = fmod(x, by);
    return r < 0 ? r + by : r;
}

/* A coordinate beside the array brought to it by the mode, as SciPy does; false: it counts as outside. */
static bool bring(const points *p, double x, double n, double *place) {
    *place = 0;
    if (n <= 1 && p->mode > GRID_CONSTANT)
        return true;
    switch (p->mode) {
    case CONSTANT:
        if (!(x >= 0 && x <= n - 1))
            return false;
        break;
    case GRID_CONSTANT:
        if (!(x > -1 && x < n))
            return false;
        break;
    case NEAREST: x = x < 0 ? 0 : x > n - 1 ? n - 1 : x; break;
    case MIRROR: {
        const double last = x > 0 ? n : n - 1; /* up to n from above: SciPy's nearest neighbour of n - 1/2 is n, which is n - 2 */
        x = modulo(x, 2 * (n - 1));
        x = x >= last ? 2 * (n - 1) - x : x;
        break;
    }
    case WRAP: /* both ends are one place: from below it is the last element, from above the first */
        if (!(x >= 0 && x <= n - 1)) {
            const double turned = modulo(x, n - 1);
            x = x < 0 && turned == 0 ? n - 1 : turned;
        }
        break;
    case GRID_WRAP: x = modulo(x, n); break;
    default: x = modulo(x + 0.5, 2 * n) - 0.5; x = x > n - 0.5 ? 2 * n - 1 - x : x;
    }
    if (isnan(x))
        return false;
    *place = x;
    return true;
}

/* The element that a neighbour one beyond an end is. */
static bool neighbour_of(points_mode mode, int64_t n, int64_t *k) {
    const bool inside = *k >= 0 && *k < n;
    if (inside || mode == CONSTANT || mode == GRID_CONSTANT)
        return inside;
    if (mode == GRID_WRAP)
        *k = (*k % n + n) % n;
    else if (mode == MIRROR)
        *k = *k > n - 1 ? (n > 2 ? n - 2 : 0) : -*k;
    else
        *k = *k < 0 ? 0 : n - 1;
    return true;
}

/* ---- points within the array: all neighbours are elements, at known distances ---- */

/* The sum over the neighbours of a place, the last axis fastest. share: the weights of the second neighbours, `apart` numbers from axis to axis. sure: no weight is 0;
 * else there may be no such element, and it is no product. */
ALONG double between(const points *p, tess_type type, int ndim, bool sure, int64_t flat, const double *share, int64_t apart, int part) {
    double total = 0;
    for (int corner = 0; corner < 1 << ndim; corner++) { /* the last axis is the lowest bit */
        int64_t at = flat;
        double weight = 1;
        for (int k = 0; k < ndim; k++) {
            const int second = corner >> (ndim - 1 - k) & 1;
            at += second ? p->step[k] : 0;
            weight *= second ? share[k * apart] : 1 - share[k * apart];
        }
        if (sure || weight != 0)
            total += weight * part_of(type, p->elements, at * p->parts + part);
    }
    return total;
}

/* A point. ndim, at most MOST_AXES, and order: known when this is compiled. false: it is not from the first to the last element of every axis. */
ALONG bool point_within(const points *p, tess_type type, int ndim, int order, int64_t i) {
    double share[MOST_AXES];
    int64_t flat = 0;
    for (int k = 0; k < ndim; k++) {
        const double x = coordinate(p, k, i);
        if (!(x >= 0 && x <= p->last[k]))
            return false;
        const int64_t below = (int64_t)(order == 0 ? x + 0.5 : x);
        share[k] = x - (double)below;
        flat += below * p->step[k];
    }
    for (int part = 0; part < p->parts; part++)
        put_total(p, i, part, order == 0 ? part_of(type, p->elements, flat * p->parts + part) : between(p, type, ndim, false, flat, share, 1, part));
    return true;
}

/* Points i and on, a block of them, whose places are found together, by vectors, and whose elements are asked for before any is read. false: one of the points is not
 * from the first to the last element of every axis, or an axis has more of them than 32 bits count. */
ALONG bool block_within(const points *p, tess_type type, int ndim, int order, int64_t i) {
    double share[MOST_AXES * BLOCK], x[BLOCK], place[BLOCK] = {0};
    int64_t good = 0;
    for (int k = 0; k < ndim; k++) {
        memcpy(x, p->at + (k * p->count + i) * (int64_t)sizeof *x, sizeof x);
        const double last = p->last[k], n = last + 1;
        for (int j = 0; j < BLOCK; j++)
            good += (x[j] >= 0) & (x[j] <= last);
        if (good != (k + 1) * BLOCK || last >= INT32_MAX)
            return false;
        for (int j = 0; j < BLOCK; j++) {
            const double below = (double)(int32_t)(order == 0 ? x[j] + 0.5 : x[j]);
            if (order == 1)
                share[k * BLOCK + j] = x[j] - below;
            place[j] = place[j] * n + below;
        }
    }
    int64_t sure = 0;
    for (int j = 0; order == 1 && j < ndim * BLOCK; j++)
        sure += (share[j] > LEAST_SHARE) & (share[j] < 1);
    const int64_t size = (int64_t)tess_type_size(type);
    for (int j = 0; p->far && j < BLOCK; j++)
        for (int corner = 0; corner < (order == 0 ? 1 : 1 << (ndim - 1)); corner++) {
            int64_t at = (int64_t)place[j];
            for (int k = 0; k < ndim - 1; k++)
                at += corner >> k & 1 ? p->step[k] : 0;
            __builtin_prefetch(p->elements + at * size);
        }
    for (int j = 0; j < BLOCK; j++)
        for (int part = 0; part < p->parts; part++) {
            const int64_t flat = (int64_t)place[j];
            put_total(p, i + j, part,
                      order == 0             ? part_of(type, p->elements, flat * p->parts + part)
                      : sure == ndim * BLOCK ? between(p, type, ndim, true, flat, share + j, BLOCK, part)
                                             : between(p, type, ndim, false, flat, share + j, BLOCK, part));
        }
    return true;
}

/* ---- others ---- */

/* The two neighbours of a place along one axis, or its nearest one; how many have a weight. */
static int find_neighbours(const points *p, double x, int axis, neighbour *of) {
    const int64_t n = p->shape[axis], below = (int64_t)floor(p->order == 0 ? x + 0.5 : x);
    const int count = p->order == 0 || x == (double)below ? 1 : 2; /* arrays may have many axes of one element */
    of[0] = (neighbour){below, p->order == 0 ? 1 : 1 - (x - (double)below), true};
    of[1] = (neighbour){below + 1, x - (double)below, true};
    for (int i = 0; i < count; i++)
        of[i].element = neighbour_of(p->mode, n, &of[i].index);
    return count;
}

/* The sum over all combinations of neighbours, the last axis fastest. */
static double sum_of(const points *p, neighbour (*of)[2], const int *choices, int part) {
    int chosen[TESS_MAX_NDIM];
    double total = 0;
    for (int k = 0; k < p->ndim; k++)
        chosen[k] = 0;
    for (int d = 0; d >= 0;) {
        int64_t flat = 0;
        double weight = 1;
        bool element = true;
        for (int k = 0; k < p->ndim; k++) {
            const neighbour *one = &of[k][chosen[k]];
            flat += one->index * p->step[k];
            weight *= one->weight;
            element &= one->element;
        }
        if (weight != 0) {
            const double got = element ? part_of(p->type, p->elements, flat * p->parts + part) : p->fill[part];
            total = p->order == 0 ? got : total + weight * got;
        }
        for (d = p->ndim - 1; d >= 0 && ++chosen[d] == choices[d]; d--)
            chosen[d] = 0;
    }
    return total;
}

static void point_beside(const points *p, int64_t i) {
    const bool apart = p->mode == GRID_CONSTANT || p->mode == GRID_WRAP || (p->mode == MIRROR && p->order == 0);
    neighbour of[TESS_MAX_NDIM][2];
    int choices[TESS_MAX_NDIM];
    bool lost = false;
    for (int k = 0; k < p->ndim; k++) {
        double x = coordinate(p, k, i);
        if (apart || !(x >= 0 && x <= p->last[k])) {
            lost |= !bring(p, x, (double)p->shape[k], &x);
            if (!apart && p->mode == MIRROR)
                x = x > p->last[k] ? 2 * p->last[k] - x : x;
            if (!apart)
                x = x < 0 ? 0 : x > p->last[k] ? p->last[k] : x;
        }
        choices[k] = find_neighbours(p, x, k, of[k]);
    }
    for (int part = 0; part < p->parts; part++)
        put_total(p, i, part, lost ? p->fill[part] : sum_of(p, of, choices, part));
}

ALONG void all_points(const points *p, tess_type type, int ndim, int order) {
    points own; /* of which nobody else knows, so that sums that are stored change none of it */
    own.elements = p->elements, own.at = p->at, own.total = p->total, own.count = p->count, own.far = p->far;
    own.parts = type == tess_u8 || type == tess_f32 || type == tess_f64 ? 1 : p->parts;
    for (int k = 0; k < ndim; k++)
        own.last[k] = p->last[k], own.step[k] = p->step[k];
    for (int64_t i = 0; i < own.count;) {
        if (i + BLOCK <= own.count && block_within(&own, type, ndim, order, i)) {
            i += BLOCK;
            continue;
        }
        for (const int64_t end = i + BLOCK < own.count ? i + BLOCK : own.count; i < end; i++)
            if (!point_within(&own, type, ndim, order, i))
                point_beside(p, i);
    }
}

#define OF_TYPE(type)                                            \
    switch (p->ndim > MOST_AXES ? 0 : 10 * p->order + p->ndim) { \
    case 1: all_points(p, type, 1, 0); break;                    \
    case 2: all_points(p, type, 2, 0); break;                    \
    case 3: all_points(p, type, 3, 0); break;                    \
    case 11: all_points(p, type, 1, 1); break;                   \
    case 12: all_points(p, type, 2, 1); break;                   \
    case 13: all_points(p, type, 3, 1); break;                   \
    default:                                                     \
        for (int64_t i = 0; i < p->count; i++)                   \
            point_beside(p, i);                                  \
    }
static void run(const points *p) {
    switch (p->type) {
    case tess_u8: OF_TYPE(tess_u8) break;
    case tess_f32: OF_TYPE(tess_f32) break;
    case tess_f64: OF_TYPE(tess_f64) break;
    default: OF_TYPE(p->type)
    }
}

/* Whether the arrays are what _ndcoordinates makes: all compact, coordinates of doubles, as many as sums, which are doubles too. */
static bool fit(points *p, const tess_py_array *x, const tess_py_array *at, const tess_py_array *total) {
    const bool complex = x->type == tess_c64 || x->type == tess_c128;
    if (x->type == tess_no_type || x->type == tess_f16 || x->type == tess_bf16 || at->type != tess_f64 || at->tensor.ndim != 2 ||
        at->tensor.shape[0] != x->tensor.ndim || x->tensor.ndim < 1 || total->type != (complex ? tess_c128 : tess_f64) || total->tensor.ndim != 1 ||
        total->tensor.shape[0] != at->tensor.shape[1] || tess_py_count(&x->tensor) == 0 || !tess_py_is_compact(&x->tensor) ||
        !tess_py_is_compact(&at->tensor) || !tess_py_is_compact(&total->tensor)) {
        PyErr_SetString(PyExc_TypeError, "_points takes compact arrays: elements, coordinates of float64 axis by axis, sums");
        return false;
    }
    p->type = x->type;
    p->parts = complex ? 2 : 1;
    p->ndim = x->tensor.ndim;
    int64_t step = 1;
    for (int k = p->ndim - 1; k >= 0; k--) {
        p->shape[k] = x->tensor.shape[k];
        p->last[k] = (double)(p->shape[k] - 1);
        p->step[k] = step;
        step *= p->shape[k];
    }
    p->count = at->tensor.shape[1];
    p->elements = tess_py_first(&x->tensor);
    p->far = step * (int64_t)tess_type_size(x->type) > NEAR;
    p->at = tess_py_first(&at->tensor);
    p->total = tess_py_first(&total->tensor);
    return true;
}

PyObject *tess_py_points(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    tess_py_state *state = tess_py_state_of(module);
    tess_py_array x, at, total;
    PyObject *answer = NULL;
    points p;
    if (nargs != 7) {
        PyErr_SetString(PyExc_TypeError, "_points takes elements, coordinates, sums, order, mode and both parts of what stands outside");
        return NULL;
    }
    p.order = (int)PyLong_AsLong(args[3]);
    p.mode = (points_mode)PyLong_AsLong(args[4]);
    p.fill[0] = PyFloat_AsDouble(args[5]);
    p.fill[1] = PyFloat_AsDouble(args[6]);
    if (PyErr_Occurred() || !tess_py_acquire(state, &x, args[0], "elements"))
        return NULL;
    if (tess_py_acquire(state, &at, args[1], "coordinates")) {
        if (tess_py_acquire_out(state, &total, args[2], "sums")) {
            if (fit(&p, &x, &at, &total)) {
                if (p.count < ALONE) {
                    run(&p);
                } else {
                    Py_BEGIN_ALLOW_THREADS run(&p);
                    Py_END_ALLOW_THREADS
                }
                answer = Py_NewRef(Py_None);
            }
            tess_py_release(&total);
        }
        tess_py_release(&at);
    }
    tess_py_release(&x);
    return answer;
}
