/* SPDX-License-Identifier: Apache-2.0
 * lookup.h - the contract of the operation. */
#ifndef TESS_OPS_LOOKUP_H
#define TESS_OPS_LOOKUP_H
#include "core/strategy.h"
extern const tess_op tess_lookup_op;
#endif
