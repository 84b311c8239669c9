/* SPDX-License-Identifier: Apache-2.0
 * reduce.h - the contract of the operation. */
#ifndef TESS_OPS_REDUCE_H
#define TESS_OPS_REDUCE_H
#include "core/strategy.h"
extern const tess_op tess_reduce_op;
#endif
