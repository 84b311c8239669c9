/* SPDX-License-Identifier: Apache-2.0
 * node.c - what a subtree comes to: how two neighbours are merged and how the root becomes the result. */
#include <math.h>
#include <string.h>

#include "ops/reduce/reduce.h"

tess_value tess_reduce_value_add(tess_type acc, tess_value a, tess_value b) {
    switch (acc) {
    case tess_f32: a.f32 += b.f32; break;
    case tess_f64: a.f64 += b.f64; break;
    case tess_c64:
        a.c64[0] += b.c64[0];
        a.c64[1] += b.c64[1];
        break;
    case tess_c128:
        a.c128[0] += b.c128[0];
        a.c128[1] += b.c128[1];
        break;
    default: a.u64 += b.u64; break;
    }
    return a;
}

/* 1 + 0i changes nothing, not even an infinity, whose product with 0 would be NaN: so that it is an identity as 1 is for reals. */
#define COMPLEX_MULTIPLY(part, type)                             \
    do {                                                         \
        type re = a.part[0] * b.part[0] - a.part[1] * b.part[1]; \
        type im = a.part[0] * b.part[1] + a.part[1] * b.part[0]; \
        if (b.part[0] == 1 && b.part[1] == 0)                    \
            break;                                               \
        if (a.part[0] == 1 && a.part[1] == 0)                    \
            return b;                                            \
        a.part[0] = re;                                          \
        a.part[1] = im;                                          \
    } while (0)

tess_value tess_reduce_value_multiply(tess_type acc, tess_value a, tess_value b) {
    switch (acc) {
    case tess_f32: a.f32 *= b.f32; break;
    case tess_f64: a.f64 *= b.f64; break;
    case tess_c64: COMPLEX_MULTIPLY(c64, float); break;
    case tess_c128: COMPLEX_MULTIPLY(c128, double); break;
    default: a.u64 *= b.u64; break;
    }
    return a;
}

void tess_reduce_node_empty(const reduce_problem *p, reduce_node *node) {
    memset(node, 0, sizeof *node);
    node->key = INT64_MIN;
    node->index = -1;
    if (p->kind == REDUCE_PROD)
        switch (p->acc) {
        case tess_f32: node->value.f32 = 1; break;
        case tess_f64: node->value.f64 = 1; break;
        case tess_c64: node->value.c64[0] = 1; break;
        case tess_c128: node->value.c128[0] = 1; break;
        default: node->value.u64 = 1; break;
        }
}

/* Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances" (1979), each operation rounded, in this order.
 */
static void merge_moments(reduce_node *a, const reduce_node *b) {
    if (b->count == 0)
        return;
    if (a->count == 0) {
        a->mean = b->mean;
        a->m2 = b->m2;
        return;
    }
    double na = (double)a->count, nb = (double)b->count, share = nb / (double)(a->count + b->count), delta = b->mean - a->mean;
    a->mean = a->mean + delta * share;
    a->m2 = (a->m2 + b->m2) + (delta * delta) * (na * share);
}

void tess_reduce_node_merge(const reduce_problem *p, reduce_node *left, const reduce_node *right) {
    switch (p->kind) {
    case REDUCE_SUM: left->value = tess_reduce_value_add(p->acc, left->value, right->value); break;
    case REDUCE_PROD: left->value = tess_reduce_value_multiply(p->acc, left->value, right->value); break;
    case REDUCE_COUNT: left->value.u64 += right->value.u64; break;
    case REDUCE_EXTREME: left->key = tess_max64(left->key, right->key); break;
    case REDUCE_ARG:
        if (left->index < 0 || (right->index >= 0 && right->key > left->key)) {
            left->key = right->key;
            left->index = right->index;
        }
        break;
    case REDUCE_VAR: merge_moments(left, right); break;
    }
    left->count += right->count;
}

/* ---- the result ---- */

/* The key that every NaN of the type gets. */
static int64_t nan_key(const reduce_problem *p, tess_type type) {
    int64_t low = (int64_t)(((uint64_t)1 << (8 * tess_type_size(type) - 1)) - 1);
    return p->order.omit ? -low - 1 : low;
}

/* The value that has a key: cpu_order.c backwards. f16 and bf16 become f32. */
static tess_value value_of_key(const reduce_problem *p, tess_type type, int64_t key) {
    tess_value value = {0};
    int width = 8 * (int)tess_type_size(type);
    uint64_t top = (uint64_t)1 << (width - 1), low = top - 1, bits;
    if (tess_is_float(type) && key == nan_key(p, type)) {
        if (type == tess_f64)
            value.f64 = NAN;
        else
            value.f32 = NAN;
        return value;
    }
    if (p->order.smallest)
        key = ~key;
    if (type == tess_bool) {
        value.u64 = (uint64_t)key;
    } else if (!tess_is_float(type)) {
        value.i64 = key;
        if (tess_is_unsigned(type) || p->order.magnitude)
            value.u64 = ((uint64_t)key ^ top) & (top | low);
    } else {
        bits = (uint64_t)(key < 0 ? key ^ (int64_t)low : key) & (top | low);
        if (type == tess_f64) {
            memcpy(&value.f64, &bits, 8);
        } else if (type == tess_f32) {
            uint32_t word = (uint32_t)bits;
            memcpy(&value.f32, &word, 4);
        } else {
            uint16_t half = (uint16_t)bits;
            tess_loader(TESS_SLOT_BASELINE, type, tess_f32)(&value.f32, &half, 2, 1);
        }
    }
    return value;
}

bool tess_reduce_finish_keys(const reduce_problem *p, const reduce_kernels *kernels, const int64_t *keys, void *row, int64_t n) {
    if ((p->operation != TESS_MIN && p->operation != TESS_MAX) || !kernels->map->values[p->in.type])
        return false;
    kernels->map->values[p->in.type](row, keys, n, p->order);
    return true;
}

/* S / n in f64; f32 sums are then rounded back to f32. */
static tess_value mean_of(const reduce_problem *p, const reduce_node *node) {
    tess_value v = node->value;
    double n = (double)node->count;
    switch (p->acc) {
    case tess_f32: v.f32 = (float)((double)v.f32 / n); break;
    case tess_f64: v.f64 = v.f64 / n; break;
    case tess_c64:
        v.c64[0] = (float)((double)v.c64[0] / n);
        v.c64[1] = (float)((double)v.c64[1] / n);
        break;
    case tess_c128:
        v.c128[0] = v.c128[0] / n;
        v.c128[1] = v.c128[1] / n;
        break;
    case tess_i64: v.f64 = (double)v.i64 / n; break;
    default: v.f64 = (double)v.u64 / n; break;
    }
    return v;
}

tess_value tess_reduce_node_finish(const reduce_problem *p, const reduce_node *node) {
    tess_value value = node->value;
    uint64_t zeros = node->value.u64;
    double divisor;
    tess_type type;
    switch (p->operation) {
    case TESS_SUM:
    case TESS_PROD:
    case TESS_NORM1: break;
    case TESS_NORM2: value.f64 = sqrt(value.f64); break;
    case TESS_MEAN: value = mean_of(p, node); break;
    case TESS_VAR:
    case TESS_STD:
        divisor = (double)node->count - p->ddof;
        value.f64 = node->count == 0 ? NAN : node->m2 / (divisor > 0 ? divisor : 0);
        if (p->operation == TESS_STD)
            value.f64 = sqrt(value.f64);
        break;
    case TESS_ANY: value.u64 = (uint64_t)node->count > zeros; break;
    case TESS_ALL: value.u64 = zeros == 0; break;
    case TESS_COUNT_NONZERO: value.i64 = node->count - (int64_t)zeros; break;
    case TESS_ARGMIN:
    case TESS_ARGMAX: value.i64 = node->index; break;
    case TESS_MIN:
    case TESS_MAX: value = value_of_key(p, p->in.type, node->key); break;
    case TESS_NORM_INF:
        type = tess_is_complex(p->in.type) ? tess_f64 : p->in.type;
        memset(&value, 0, sizeof value);
        if (node->count > 0 && !(p->omit && node->key == nan_key(p, type)))
            value = value_of_key(p, type, node->key);
        break;
    }
    return value;
}

bool tess_reduce_finish_row(const reduce_problem *p, void *row, int64_t k, const int64_t *nans, int64_t n) {
    float *f32 = row;
    double *f64 = row;
    if (k == 0)
        return false;
    if (p->operation == TESS_SUM || p->operation == TESS_PROD || p->operation == TESS_NORM1)
        return true;
    if (p->operation == TESS_NORM2) {
        for (int64_t i = 0; i < n; i++)
            f64[i] = sqrt(f64[i]);
        return true;
    }
    if (p->operation != TESS_MEAN || p->exact || tess_is_complex(p->acc))
        return false;
    for (int64_t i = 0; reduce_is_integer(p->acc) && i < n; i++) {
        int64_t sum;
        memcpy(&sum, f64 + i, sizeof sum);
        f64[i] = p->acc == tess_u64 ? (double)(uint64_t)sum : (double)sum;
    }
    if (p->acc == tess_f32)
        for (int64_t i = 0; i < n; i++)
            f32[i] = (float)((double)f32[i] / (double)(nans ? k - nans[i] : k));
    else
        for (int64_t i = 0; i < n; i++)
            f64[i] = f64[i] / (double)(nans ? k - nans[i] : k);
    return true;
}
