/* SPDX-License-Identifier: Apache-2.0
 * correlate.h - the contract of the operation. */
#ifndef TESS_OPS_CORRELATE_H
#define TESS_OPS_CORRELATE_H
#include "core/strategy.h"
extern const tess_op tess_correlate_op;
#endif
