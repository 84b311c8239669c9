/* SPDX-License-Identifier: Apache-2.0
 * convert_select.c - picks the build of convert.c, and of cpu_straight.c, for an instruction set. */
#include "core/convert.h"
#include "core/straight.h"

#define DECLARE(slot, suffix)                                                \
    tess_row_loader tess_loader_##suffix(tess_type from, tess_type compute); \
    tess_row_storer tess_storer_##suffix(tess_type compute, tess_type to);   \
    tess_straightener tess_straightener_##suffix(int64_t size);
TESS_BUILDS(DECLARE)

tess_row_loader tess_loader(tess_isa_slot slot, tess_type from, tess_type compute) {
    switch (slot) {
#define LOADER(s, suffix) \
    case s: return tess_loader_##suffix(from, compute);
        TESS_BUILDS(LOADER)
    default: return NULL;
    }
}

tess_row_storer tess_storer(tess_isa_slot slot, tess_type compute, tess_type to) {
    switch (slot) {
#define STORER(s, suffix) \
    case s: return tess_storer_##suffix(compute, to);
        TESS_BUILDS(STORER)
    default: return NULL;
    }
}

tess_straightener tess_straightener_for(tess_isa_slot slot, int64_t size) {
    switch (slot) {
#define STRAIGHTENER(s, suffix) \
    case s: return tess_straightener_##suffix(size);
        TESS_BUILDS(STRAIGHTENER)
    default: return NULL;
    }
}
