// SPDX-License-Identifier: Apache-2.0
// gpu_dots.cuh - a row of bytes in a lane's window under masks of small integers, four taps in one instruction, whatever number of bytes a pixel has. After gpu_bytes.cuh.
//
// Taps come as bytes, each row of them filled with zeros to GROUPS words: what stands beside a window there may be anything. Taps of pixels stand GROUP bytes apart. The four
// bytes at the first GROUP columns are put side by side by permutations; from there on four bytes are those GROUP columns before, moved by one, and one more: a permutation each.
//
// The instruction of four products goes at half the rate of others, so it binds, and one for a single tap that is left over (of 5, 9) is a waste. The column of such taps is met
// four rows at once: a lane keeps the bytes of the last four rows there, moved by one with each row. Of rows that are left over a byte is met where it stands in its word, and the
// weight comes at each of the four places.
//
// -DKY, -DGROUPS; V, WORDS and FIRST: columns of a lane, words of its window, and the first byte's place in them.
const bool SINGLE = KX % 4 == 1 && (GROUP > 1 || KY >= 4);                  // the last word of a row of taps is one tap
const int FOURS = SINGLE ? GROUPS - 1 : GROUPS;                             // words of a row of taps that are met by themselves
const int STAND = FOURS ? V + 4 * GROUP * (FOURS - 1) : 0;                  // columns at which four bytes stand side by side
const int LAST = FIRST + 4 * GROUP * FOURS;                                 // of a window: the byte under the single tap of the first output
const int DOWN_TAPS = SINGLE ? KY / 4 : 0, LEFT_OVER = SINGLE ? KY % 4 : 0; // words of the column of single taps; rows before them
typedef tap_list<KY * FOURS + DOWN_TAPS + 4 * LEFT_OVER> byte_taps;

// The word that has byte i of a window; beyond them only zeros are met.
__device__ __forceinline__ unsigned word_of(const unsigned (&word)[WORDS], int i) { return word[i / 4 < WORDS ? i / 4 : WORDS - 1]; }

// The bytes at i, i + GROUP, i + 2 * GROUP and i + 3 * GROUP side by side.
__device__ __forceinline__ unsigned bytes_apart(const unsigned (&word)[WORDS], int i) {
    const unsigned low = __byte_perm(word_of(word, i), word_of(word, i + GROUP), i % 4 | (4 + (i + GROUP) % 4) << 4);
    const unsigned high =
        __byte_perm(word_of(word, i + 2 * GROUP), word_of(word, i + 3 * GROUP), (i + 2 * GROUP) % 4 | (4 + (i + 3 * GROUP) % 4) << 4);
    return __byte_perm(low, high, 0x5410);
}
// The last three bytes of four, and byte i of a window behind them.
__device__ __forceinline__ unsigned moved(unsigned four, const unsigned (&word)[WORDS], int i) {
    return __byte_perm(four, word_of(word, i), 0x0321 | (4 + i % 4) << 12);
}

struct dots_window {
    unsigned bytes[STAND + 1], word[WORDS], rows[V]; // rows: of the last four, under the single tap
    __device__ __forceinline__ dots_window() {
#pragma unroll
        for (int i = 0; i < V; i++)
            rows[i] = 0;
    }
    // The next row.
    __device__ __forceinline__ void take(const unsigned (&given)[WORDS]) {
#pragma unroll
        for (int i = 0; i < WORDS; i++)
            word[i] = given[i];
#pragma unroll
        for (int i = 0; i < STAND; i++) {
            const int at = FIRST + i;
            if (GROUP == 1)
                bytes[i] = at < 4 * WORDS ? four_bytes(word, at) : 0;
            else
                bytes[i] = i < GROUP ? bytes_apart(word, at) : moved(bytes[i < GROUP ? 0 : i - GROUP], word, at + 3 * GROUP);
        }
#pragma unroll
        for (int i = 0; i < (DOWN_TAPS ? V : 0); i++)
            rows[i] = moved(rows[i], word, LAST + i);
    }
    // What row ky of the mask makes of it; sums begin with the first.
    __device__ __forceinline__ void add(work (&sum)[V], int ky, const byte_taps &taps) const {
        if (ky == 0) {
#pragma unroll
            for (int i = 0; i < V; i++)
                sum[i] = 0;
        }
#pragma unroll
        for (int g = 0; g < FOURS; g++)
#pragma unroll
            for (int i = 0; i < V; i++)
                sum[i] = dot(bytes[i + 4 * GROUP * g], taps.w[ky * FOURS + g], sum[i]);
        if (ky >= LEFT_OVER && (ky - LEFT_OVER) % 4 == 3) { // the four rows up to this one
#pragma unroll
            for (int i = 0; i < (DOWN_TAPS ? V : 0); i++)
                sum[i] = dot(rows[i], taps.w[KY * FOURS + (ky - LEFT_OVER) / 4], sum[i]);
        }
        if (ky < LEFT_OVER) {
#pragma unroll
            for (int i = 0; i < V; i++)
                sum[i] = dot(word_of(word, LAST + i), taps.w[KY * FOURS + DOWN_TAPS + 4 * ky + (LAST + i) % 4], sum[i]);
        }
    }
};
