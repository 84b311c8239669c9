/* SPDX-License-Identifier: Apache-2.0
 * tree.h - the summation tree, a pure function of the number of elements k (docs/numerics.md has it with a worked example).
 *
 * The elements are cut into leaves of REDUCE_LEAF. In a leaf, lane j of REDUCE_LANES adds elements j, j + 256, j + 512, ... in this order, from +0;
 * then the upper half of the lanes is added to the lower one until lane 0 holds the leaf's sum. Leaves are added in neighbouring pairs, left + right,
 * level by level; an odd last one passes up unchanged. It bounds the error by O(log k) (Higham, "The accuracy of floating point summation",
 * SIAM J. Sci. Comput. 14, 1993), fills vector registers whatever their width, and its subtrees of 2^p leaves can be summed by different threads.
 *
 * A lane without elements holds the identity, which changes no lane: a sum that started from +0 is never -0. So kernels skip them. */
#ifndef TESS_OPS_REDUCE_TREE_H
#define TESS_OPS_REDUCE_TREE_H

#include "core/base.h"

enum { REDUCE_LANES = 256, REDUCE_TERMS = 32, REDUCE_LEAF = REDUCE_LANES * REDUCE_TERMS, REDUCE_LEVELS = 64 };

/* The pairing of leaves as they come, in the way of a binary counter: leaf number i (from 0) is pushed; then as many pairs are merged as i has low
 * bits set. This is that count. */
TESS_INLINE int reduce_merges_after(int64_t i) {
    int merges = 0;
    for (; i & 1; i >>= 1)
        merges++;
    return merges;
}

/* Lane number of place i when lanes are visited in bit-reversed order: the halving tree over lanes then is the same pairing of neighbours. */
TESS_INLINE int reduce_reversed_lane(int i) {
    i = (i & 0xf0) >> 4 | (i & 0x0f) << 4;
    i = (i & 0xcc) >> 2 | (i & 0x33) << 2;
    return (i & 0xaa) >> 1 | (i & 0x55) << 1;
}

#endif
