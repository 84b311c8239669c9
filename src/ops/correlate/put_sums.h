/* SPDX-License-Identifier: Apache-2.0
 * put_sums.h - finished sums go from the registers to the output: NaNs that were computed get one bit pattern, as docs/numerics.md has it. For the
 * kernels, which include it. */
#ifndef TESS_OPS_CORRELATE_PUT_SUMS_H
#define TESS_OPS_CORRELATE_PUT_SUMS_H

#include "simd/simd.h"

/* Sums are looked at so often that the way through memory of v_flags_any shows. */
TESS_INLINE bool any_flag(v_flags flags) {
#if defined(__AVX2__) && !defined(__AVX512F__)
    return _mm256_movemask_ps((__m256)flags) != 0;
#else
    return v_flags_any(flags);
#endif
}

/* `count` vectors, a constant, to places `step` bytes apart; stream: past the caches, to which they are aligned; between: as they are, for a storer or a pass
 * that reads them. NaNs are rare: whether there is any takes half a comparison a vector, to replace them a comparison and a choice. Of many vectors, first
 * their sums are looked at, since a Zen 4 adds beside multiply-adds, but compares in their place; infinities of both signs show likewise, and replacing changes
 * none. */
#define PUT_SUMS(vec)                                                                                                         \
    TESS_INLINE void vec##_put_sums(char *to, int64_t step, const vec *sums, const int count, bool stream, bool between) {    \
        if (between) {                                                                                                        \
            TESS_UNROLL for (int k = 0; k < count; k++) vec##_store(to + k * step, sums[k]);                                  \
            return;                                                                                                           \
        }                                                                                                                     \
        v_flags nans = v_flags_none();                                                                                        \
        if (count >= 8) {                                                                                                     \
            vec all[2] = {sums[0], sums[1]};                                                                                  \
            TESS_UNROLL for (int k = 2; k < count; k++) all[k & 1] += sums[k];                                                \
            nans = vec##_nans(nans, all[0], all[1]);                                                                          \
        } else {                                                                                                              \
            TESS_UNROLL for (int k = 0; k < count; k += 2) nans = vec##_nans(nans, sums[k], sums[k + 1 < count ? k + 1 : k]); \
        }                                                                                                                     \
        const bool any = any_flag(nans);                                                                                      \
        TESS_UNROLL for (int k = 0; k < count; k++, to += step) {                                                             \
            const vec sum = __builtin_expect(any, 0) ? vec##_canonical(sums[k]) : sums[k];                                    \
            if (stream)                                                                                                       \
                vec##_stream(to, sum);                                                                                        \
            else                                                                                                              \
                vec##_store(to, sum);                                                                                         \
        }                                                                                                                     \
    }
PUT_SUMS(v_f32)
PUT_SUMS(v_f64)
#undef PUT_SUMS

#endif
