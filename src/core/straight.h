/* SPDX-License-Identifier: Apache-2.0
 * straight.h - elements that lie apart, or backwards, put one after the other as they are: what is then read at the speed of vectors. */
#ifndef TESS_CORE_STRAIGHT_H
#define TESS_CORE_STRAIGHT_H

#include "core/base.h"

/* n elements, `stride` bytes apart and at any address, to a row of them. They must not overlap. */
typedef void (*tess_straightener)(void *row, const void *from, int64_t stride, int64_t n);

/* The build for an instruction set, by the elements' size: 1, 2, 4, 8 or 16 bytes. */
tess_straightener tess_straightener_for(tess_isa_slot slot, int64_t size);

#ifdef TESS_ISA_SUFFIX
tess_straightener TESS_ISA_NAME(tess_straightener)(int64_t size); /* of the build that asks */
#endif

#endif
