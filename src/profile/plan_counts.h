/* SPDX-License-Identifier: Apache-2.0
 * plan_counts.h - what plan_counts.c and plan_larger.c share: a strategy's formulas beside counts. */
#ifndef TESS_PROFILE_PLAN_COUNTS_H
#define TESS_PROFILE_PLAN_COUNTS_H

#include "gpu/row.h"
#include "profile/model.h"

/* The counters that formulas are about. */
tess_gpu_prediction tess_profile_counted(const tess_vgpu_counters *counters);
/* "predicted": {...}, "NAME": whether they hold, or null where nothing is predicted. */
void tess_profile_write_formulas(const tess_gpu_prediction *formulas, bool holds, const char *name, tess_text *text);
/* Checks the arguments that both functions of the header have. */
tess_status tess_profile_plan_arguments(const tess_plan *plan, char *at, size_t capacity, size_t *length);

#endif
