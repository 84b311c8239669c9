// SPDX-License-Identifier: Apache-2.0
// gpu_shifted_words.cuh - words of vectors that lie elsewhere in memory than in their lanes: moved by words and by bytes, all lanes of a warp by as many. After gpu_window.cuh.

// Words of the lane beside that may have to be moved in, of vectors of so many bytes.
__host__ __device__ constexpr int words_beside(int vector, int size) { return (vector - size + 3) / 4; }
template <int N> __device__ __forceinline__ unsigned behind(const void *at) { return (unsigned)(u64)at & (N - 1); }

// Words that begin `away` bytes behind the given ones' begin; and words that begin `away` bytes before those behind the first MORE of them.
template <int COUNT, int BYTES, int ELEMENT, int GIVEN>
__device__ __forceinline__ void move_down(unsigned *to, unsigned (&word)[GIVEN], unsigned away) {
#pragma unroll
    for (int i = 0; i < GIVEN && BYTES >= 16 && ELEMENT <= 8; i++)
        word[i] = away & 8 ? word[i + 2 < GIVEN ? i + 2 : GIVEN - 1] : word[i];
#pragma unroll
    for (int i = 0; i < GIVEN && BYTES >= 8 && ELEMENT <= 4; i++)
        word[i] = away & 4 ? word[i + 1 < GIVEN ? i + 1 : GIVEN - 1] : word[i];
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        to[i] = ELEMENT < 4 ? __funnelshift_r(word[i], word[i + 1 < GIVEN ? i + 1 : i], away * 8) : word[i];
}
template <int COUNT, int BYTES, int ELEMENT, int GIVEN>
__device__ __forceinline__ void move_up(unsigned *to, unsigned (&word)[GIVEN], unsigned away) {
    const int MORE = GIVEN - COUNT;
#pragma unroll
    for (int i = GIVEN - 1; i >= 0 && BYTES >= 16 && ELEMENT <= 8; i--)
        word[i] = away & 8 ? word[i >= 2 ? i - 2 : 0] : word[i];
#pragma unroll
    for (int i = GIVEN - 1; i >= 0 && BYTES >= 8 && ELEMENT <= 4; i--)
        word[i] = away & 4 ? word[i >= 1 ? i - 1 : 0] : word[i];
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        to[i] = ELEMENT < 4 ? __funnelshift_l(word[i + MORE >= 1 ? i + MORE - 1 : 0], word[i + MORE], away * 8) : word[i + MORE];
}
