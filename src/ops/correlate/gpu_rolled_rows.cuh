// SPDX-License-Identifier: Apache-2.0
// gpu_rolled_rows.cuh - a column of V sums that rolls down rows in shared memory, KY rows a turn, so that each sum stays in the registers where it began.
//
// STEP elements from row to row, R rows of outputs, R + 1 a multiple of KY. `rule` says what rows FROM .. TO of the mask make of a row (rule.add<FROM, TO, J>(),
// the row's number is J modulo KY: KY outputs are under way), `out` what becomes of a finished row of sums (out.put()).

// Element i of the words: of u8 in sums of f32 its 2^24th part.
__device__ __forceinline__ work part(const unsigned *word, int i) {
#if WORK == T_F32 && IN == T_U8
    return part_of_byte(word, i);
#else
    return cell(word, i);
#endif
}

// The first rows, which the last rows of the mask do not meet yet; and KY rows of which each finishes a row of outputs, or (BEHIND) the last ones.
template <int STEP, int J, typename RULE> __device__ __forceinline__ void begin(work (&sum)[KY][V], const element *at, const RULE &rule) {
    if constexpr (J < KY - 1) {
        rule.template add<0, J, J>(sum, at);
        begin<STEP, J + 1>(sum, at + STEP, rule);
    }
}
template <int STEP, int J, bool BEHIND, typename RULE, typename LINES>
__device__ __forceinline__ void turn(work (&sum)[KY][V], const element *at, const RULE &rule, LINES &out) {
    if constexpr (J < KY - BEHIND) {
        rule.template add<BEHIND ? J + 1 : 0, KY - 1, KY - 1 + J>(sum, at);
        out.put(sum[J]);
        turn<STEP, J + 1, BEHIND>(sum, at + STEP, rule, out);
    }
}

template <int STEP, typename RULE, typename LINES> __device__ __forceinline__ void roll(const element *at, const RULE &rule, LINES out) {
    work sum[KY][V];
    begin<STEP, 0>(sum, at, rule);
    at += (KY - 1) * STEP;
#pragma unroll 1
    for (int i = 0; i < (R + 1) / KY - 1; i++) {
        turn<STEP, 0, false>(sum, at, rule, out);
        at += KY * STEP;
    }
    turn<STEP, 0, true>(sum, at, rule, out);
}
