/* SPDX-License-Identifier: Apache-2.0
 * superaccumulator.c - carries, merging and the one rounding of exact sums. */
#include "ops/reduce/superaccumulator.h"

#include <math.h>

void tess_reduce_exact_start(exact_sum *sum) { memset(sum, 0, sizeof *sum); }

/* All limbs but the last become 0 .. 2^32 - 1; the last keeps the sign. */
void tess_reduce_exact_carry(exact_part *part) {
    for (int i = 0; i < EXACT_LIMBS - 1; i++) {
        part->limb[i + 1] += part->limb[i] >> 32;
        part->limb[i] &= 0xffffffff;
    }
    part->pending = 1;
}

void tess_reduce_exact_add_special(exact_part *part, double x) {
    if (x != x)
        part->nan = true;
    else
        part->infinity[x < 0] = true;
}

void tess_reduce_exact_add_value(exact_sum *sum, const reduce_problem *p, tess_value v, bool counts) {
    if (!counts)
        return;
    sum->count++;
    if (p->load == tess_u64 || p->load == tess_i64) { /* two halves that f64 holds */
        exact_add(&sum->part[0], (double)(uint32_t)v.u64);
        exact_add(&sum->part[0], p->load == tess_u64 ? (double)(v.u64 >> 32) * 0x1p32 : (double)(v.i64 >> 32) * 0x1p32);
    } else if (p->acc == tess_c128) {
        exact_add(&sum->part[0], v.c128[0]);
        exact_add(&sum->part[1], v.c128[1]);
    } else {
        exact_add(&sum->part[0], v.f64);
    }
}

void tess_reduce_exact_merge(exact_sum *sum, const exact_sum *other) {
    sum->count += other->count;
    for (int k = 0; k < 2; k++) {
        exact_part *a = &sum->part[k], b = other->part[k];
        tess_reduce_exact_carry(a);
        tess_reduce_exact_carry(&b);
        for (int i = 0; i < EXACT_LIMBS; i++)
            a->limb[i] += b.limb[i];
        a->pending = 2;
        a->infinity[0] |= b.infinity[0];
        a->infinity[1] |= b.infinity[1];
        a->nan |= b.nan;
    }
}

static bool bit(const exact_part *part, int i) { return part->limb[i / 32] >> (i % 32) & 1; }

static double round_part(exact_part *part, bool to_odd) {
    if (part->nan || (part->infinity[0] && part->infinity[1]))
        return NAN;
    if (part->infinity[0] || part->infinity[1])
        return part->infinity[1] ? -INFINITY : INFINITY;
    tess_reduce_exact_carry(part);
    bool negative = part->limb[EXACT_LIMBS - 1] < 0;
    if (negative) {
        for (int i = 0; i < EXACT_LIMBS; i++)
            part->limb[i] = -part->limb[i];
        tess_reduce_exact_carry(part);
    }
    int limb = EXACT_LIMBS - 1;
    while (limb > 0 && part->limb[limb] == 0)
        limb--;
    if (part->limb[limb] == 0)
        return 0;
    const int top = 32 * limb + 31 - TESS_LEADING_ZEROS((uint32_t)part->limb[limb]);
    const int last = top > 52 ? top - 52 : 0; /* the lowest bit that the result has room for */
    uint64_t mantissa = 0;
    for (int i = limb; i >= last / 32; i--) /* whole limbs; what is below `last` drops out */
        mantissa = i * 32 >= last ? mantissa << 32 | (uint64_t)part->limb[i] : mantissa << (32 - last % 32) | (uint64_t)part->limb[i] >> last % 32;
    bool half = last > 0 && bit(part, last - 1), rest = last > 1 && (part->limb[(last - 1) / 32] & (((int64_t)1 << (last - 1) % 32) - 1)) != 0;
    for (int i = (last - 1) / 32 - 1; i >= 0 && !rest; i--)
        rest = part->limb[i] != 0;
    if (to_odd)
        mantissa |= half || rest;
    else
        mantissa += half && (rest || (mantissa & 1));
    double x = ldexp((double)mantissa, last - 1074);
    return negative ? -x : x;
}

tess_value tess_reduce_exact_finish(exact_sum *sum, const reduce_problem *p) {
    tess_type out = p->out.type;
    bool mean = p->operation == TESS_MEAN, narrower = out == tess_f16 || out == tess_bf16 || out == tess_f32 || out == tess_c64;
    double n = mean ? (double)sum->count : 1;
    tess_value value = {0};
    for (int k = 0; k < (p->result == tess_c128 ? 2 : 1); k++)
        value.c128[k] = round_part(&sum->part[k], narrower && !mean) / n;
    return value;
}
