/* SPDX-License-Identifier: Apache-2.0
 * overlap.h - the question of overlap.c for executions of a plan: arrays that begin elsewhere than they say. An array is a kilobyte with its axes, too
 * much to be copied each time only to say where it begins. */
#ifndef TESS_CORE_OVERLAP_H
#define TESS_CORE_OVERLAP_H

#include "core/tensor.h"

/* As tess_arrays_overlap and tess_refuse_overlap, with these first elements. */
bool tess_overlap_at(const tess_array *a, const char *a_first, const tess_array *b, const char *b_first);
tess_status tess_refuse_overlap_at(const tess_array *out, const char *out_first, const char *out_name, const tess_array *in, const char *in_first,
                                   const char *in_name);

#endif
