/* SPDX-License-Identifier: Apache-2.0
 * sample.h - what reduce.c and sample.c share. */
#ifndef TESS_REDUCE_SAMPLE_H
#define TESS_REDUCE_SAMPLE_H

#include "ops/reduce/reduce.h"

/* reduce.c: the rest of a problem, from its arrays and what is asked of them. */
tess_status tess_reduce_arrange(reduce_problem *problem);

#endif
