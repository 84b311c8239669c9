/* SPDX-License-Identifier: Apache-2.0
 * wisdom.c - which strategy was fastest for which problem. */
#include "core/strategy.h"
const tess_strategy *tess_wisdom_find(tess_context *context, const tess_problem *problem, int threads, double *seconds) {
    (void)context, (void)problem, (void)threads, (void)seconds;
    return NULL;
}
void tess_wisdom_free(tess_context *context) { (void)context; }
