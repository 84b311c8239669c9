/* SPDX-License-Identifier: Apache-2.0
 * relay.h - large transposes by way of two buffers in the second-level cache (cpu_relay.c): which they are, and what a block is. */
#ifndef TESS_OPS_TRANSPOSE_RELAY_H
#define TESS_OPS_TRANSPOSE_RELAY_H

#include "ops/transpose/transpose.h"

/* A block: rows of in, bytes of each, and bytes between them in a buffer. Each thread has two buffers. */
enum { RELAY_ROWS = 64, RELAY_ACROSS = 4096, RELAY_APART = RELAY_ACROSS + 256, RELAY_BUFFER = RELAY_ROWS * RELAY_APART };

/* Bytes of an array, more than a Zen 5's third-level cache holds: what lies there is quicker straight from the source, and so are shorter rows of in. */
enum { RELAY_LEAST = 40 << 20, RELAY_ROW = 4 * RELAY_ACROSS };

/* Whether the matrices, which are large, are quicker so. Of elements of 4 and 8 bytes two threads are not: straight from the source they reach what memory gives two. */
bool tess_transpose_relays(const transpose_problem *problem, const transpose_plane *plane, int threads);

/* Of the tiles, which take this way. */
size_t tess_transpose_relay_workspace(const tess_problem *base, int threads);

#ifdef TESS_ISA_SUFFIX
tess_status TESS_ISA_NAME(tess_transpose_relay)(const transpose_problem *problem, const tess_run *run, const transpose_plane *plane);
#endif

#endif
