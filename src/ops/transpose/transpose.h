/* SPDX-License-Identifier: Apache-2.0
 * transpose.h - the contract of the operation. */
#ifndef TESS_OPS_TRANSPOSE_H
#define TESS_OPS_TRANSPOSE_H
#include "core/strategy.h"
extern const tess_op tess_transpose_op;
#endif
