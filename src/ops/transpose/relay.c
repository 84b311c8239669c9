/* SPDX-License-Identifier: Apache-2.0
 * relay.c - which transposes go by way of buffers in the second-level cache. */
#include "ops/transpose/relay.h"

#include "core/context.h"
#include "core/maker.h"

enum { LINE = 64 };

bool tess_transpose_relays(const transpose_problem *problem, const transpose_plane *plane, int threads) {
    const int64_t size = problem->size, row = plane->p_size * size;
    return problem->base.context->slot == TESS_SLOT_AVX512 && tess_cpu_is_zen5() && (size == 16 || (threads == 1 && (size == 4 || size == 8))) &&
           problem->base.bytes / 2 >= RELAY_LEAST && plane->p_out % LINE == 0 && row >= RELAY_ROW && plane->q_size >= RELAY_ROWS;
}

size_t tess_transpose_relay_workspace(const tess_problem *base, int threads) {
    const transpose_problem *problem = (const transpose_problem *)base;
    transpose_plane plane;
    if (problem->place != TRANSPOSE_ELSEWHERE)
        return 0;
    tess_transpose_plane_of(&plane, problem, false);
    return tess_transpose_relays(problem, &plane, threads) ? (size_t)(2 * RELAY_BUFFER * threads) : 0;
}
