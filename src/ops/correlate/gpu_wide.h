/* SPDX-License-Identifier: Apache-2.0
 * gpu_wide.h - the rows for large masks and for everything, for the table. */
#ifndef TESS_OPS_CORRELATE_GPU_WIDE_H
#define TESS_OPS_CORRELATE_GPU_WIDE_H

#include "ops/correlate/gpu_correlate.h"

extern const tess_gpu_row tess_correlate_wide;
bool tess_correlate_wide_fits(const tess_problem *problem, const char **why);
bool tess_correlate_wide_pays(const tess_problem *problem, const char **why);

extern const tess_gpu_row tess_correlate_general;
bool tess_correlate_general_fits(const tess_problem *problem, const char **why);

#endif
