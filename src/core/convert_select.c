/* SPDX-License-Identifier: Apache-2.0
 * convert_select.c - picks the build of convert.c for an instruction set. */
#include "core/convert.h"

#define DECLARE(slot, suffix)                                                \
    tess_row_loader tess_loader_##suffix(tess_type from, tess_type compute); \
    tess_row_storer tess_storer_##suffix(tess_type compute, tess_type to);
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
