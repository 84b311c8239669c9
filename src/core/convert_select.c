/* SPDX-License-Identifier: Apache-2.0
 * convert_select.c - picks the build of convert.c for an instruction set. */
#include "core/convert.h"

#if defined(__x86_64__)
#define BUILDS(X) X(TESS_SLOT_BASELINE, baseline) X(TESS_SLOT_AVX2, avx2) X(TESS_SLOT_AVX512, avx512)
#elif defined(__aarch64__)
#define BUILDS(X) X(TESS_SLOT_BASELINE, baseline) X(TESS_SLOT_NEON, neon)
#else
#define BUILDS(X) X(TESS_SLOT_BASELINE, baseline)
#endif

#define DECLARE(slot, suffix)                                                \
    tess_row_loader tess_loader_##suffix(tess_type from, tess_type compute); \
    tess_row_storer tess_storer_##suffix(tess_type compute, tess_type to);
BUILDS(DECLARE)

tess_row_loader tess_loader(tess_isa_slot slot, tess_type from, tess_type compute) {
    switch (slot) {
#define LOADER(s, suffix) \
    case s: return tess_loader_##suffix(from, compute);
        BUILDS(LOADER)
    default: return NULL;
    }
}

tess_row_storer tess_storer(tess_isa_slot slot, tess_type compute, tess_type to) {
    switch (slot) {
#define STORER(s, suffix) \
    case s: return tess_storer_##suffix(compute, to);
        BUILDS(STORER)
    default: return NULL;
    }
}
