// SPDX-License-Identifier: Apache-2.0
// gpu_bytes.cuh - bytes in words on their way into sums: four at a time for integer weights, and as numbers of 16 bits for weights of f32. After gpu_window.cuh.

// The four bytes from number i of the words on, as far as there are words.
template <int N> __device__ __forceinline__ unsigned four_bytes(const unsigned (&word)[N], int i) {
    const int at = i / 4, next = at + 1 < N ? at + 1 : N - 1;
    return i % 4 ? __funnelshift_r(word[at], word[next], i % 4 * 8) : word[at];
}

// Four products an instruction.
__device__ __forceinline__ int dot(unsigned bytes, int taps, int sum) {
#if IN == T_I8
    asm("dp4a.s32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(bytes), "r"(taps));
#else
    asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(bytes), "r"(taps));
#endif
    return sum;
}

// Number i of the two of 16 bits in a word, below 2^10: its 2^24th part, by one instruction.
__device__ __forceinline__ float part_of_halves(unsigned two, int i) {
    float value;
    if (i % 2)
        asm("{.reg .b16 low, high; mov.b32 {low, high}, %1; cvt.f32.f16 %0, high;}" : "=f"(value) : "r"(two));
    else
        asm("{.reg .b16 low, high; mov.b32 {low, high}, %1; cvt.f32.f16 %0, low;}" : "=f"(value) : "r"(two));
    return value;
}

// Element i of the words, u8: its 2^24th part. One permutation makes two numbers of 16 bits, and one instruction each makes them f32: half an instruction an
// element less than `cell` takes.
__device__ __forceinline__ float part_of_byte(const unsigned *word, int i) {
    return part_of_halves(__byte_perm(word[i / 4], 0, i % 4 < 2 ? 0x4140 : 0x4342), i);
}
