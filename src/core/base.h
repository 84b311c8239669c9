/* SPDX-License-Identifier: Apache-2.0
 * base.h - what every file of the library may use: compiler macros and the naming of per-instruction-set builds.
 *
 * All GNU extensions that the library leans on are named here, so that another compiler has one file to answer for.
 *
 * A file called cpu_*.c (and core/convert.c) is compiled once per instruction set. TESS_ISA_SUFFIX is then baseline, avx2, avx512 or
 * neon, and TESS_ISA_NAME(reduce_lanes) is reduce_lanes_avx2: every symbol with external linkage in such a file must be named
 * through it. The order of the slots is that of tess_isa_slot. */
#ifndef TESS_CORE_BASE_H
#define TESS_CORE_BASE_H

#include "tessera.h"

#define TESS_PASTE_(a, b) a##_##b
#define TESS_PASTE(a, b) TESS_PASTE_(a, b)
#ifdef TESS_ISA_SUFFIX
#define TESS_ISA_NAME(name) TESS_PASTE(name, TESS_ISA_SUFFIX)
#endif

#define TESS_PRINTF(format_at, first) __attribute__((format(printf, format_at, first)))
#define TESS_LIKELY(x) __builtin_expect(!!(x), 1)
#define TESS_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define TESS_INLINE static inline __attribute__((always_inline))
#define TESS_NOINLINE __attribute__((noinline))
#define TESS_ASSUME_ALIGNED(p, bytes) __builtin_assume_aligned(p, bytes)
#define TESS_UNROLL _Pragma("GCC unroll 16")   /* before a loop: all of its turns, 16 at most, written out (gcc and clang) */
#define TESS_POPCOUNT(x) __builtin_popcount(x) /* of 32 bits */
#define TESS_POPCOUNT64(x) __builtin_popcountll(x)
#define TESS_LOW_BIT(x) __builtin_ctz(x)       /* number of the lowest one; x != 0 */
#define TESS_LEADING_ZEROS(x) __builtin_clz(x) /* x != 0 */
#define TESS_LEADING_ZEROS64(x) __builtin_clzll(x)
#define TESS_COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define TESS_MUL_OVERFLOWS(a, b, result) __builtin_mul_overflow(a, b, result)
#define TESS_ADD_OVERFLOWS(a, b, result) __builtin_add_overflow(a, b, result)

/* Built with a sanitizer, which sees the loads of plain C and not those of assembly. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TESS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define TESS_SANITIZED 1
#endif
#endif
#ifndef TESS_SANITIZED
#define TESS_SANITIZED 0
#endif

/* Slots of per-instruction-set function tables, each a superset of those before it on its architecture. */
typedef enum tess_isa_slot { TESS_SLOT_BASELINE = 0, TESS_SLOT_AVX2, TESS_SLOT_AVX512, TESS_SLOT_NEON, TESS_SLOTS } tess_isa_slot;

/* X(slot, suffix, ...) for each build there is: the one list of them. What follows X is handed on to it. The Makefile says which of them it compiles (SLOTS):
 * builds that look at other things than kernels have the first only, those under a sanitizer what the machine can run. */
#ifdef TESS_BUILDS_avx2
#define TESS_BUILD_avx2(X, ...) X(TESS_SLOT_AVX2, avx2, ##__VA_ARGS__)
#else
#define TESS_BUILD_avx2(X, ...)
#endif
#ifdef TESS_BUILDS_avx512
#define TESS_BUILD_avx512(X, ...) X(TESS_SLOT_AVX512, avx512, ##__VA_ARGS__)
#else
#define TESS_BUILD_avx512(X, ...)
#endif
#ifdef TESS_BUILDS_neon
#define TESS_BUILD_neon(X, ...) X(TESS_SLOT_NEON, neon, ##__VA_ARGS__)
#else
#define TESS_BUILD_neon(X, ...)
#endif
#define TESS_BUILDS(X, ...)                        \
    X(TESS_SLOT_BASELINE, baseline, ##__VA_ARGS__) \
    TESS_BUILD_avx2(X, ##__VA_ARGS__) TESS_BUILD_avx512(X, ##__VA_ARGS__) TESS_BUILD_neon(X, ##__VA_ARGS__)

typedef __int128 tess_i128;
typedef unsigned __int128 tess_u128;

TESS_INLINE int64_t tess_min64(int64_t a, int64_t b) { return a < b ? a : b; }
TESS_INLINE int64_t tess_max64(int64_t a, int64_t b) { return a > b ? a : b; }
TESS_INLINE int64_t tess_ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); } /* a >= 0, b > 0 */
/* n bytes, mostly those of one element: without a call, of which AddressSanitizer looks at every one (a fifth of a virtual GPU's time in its build). */
TESS_INLINE void tess_move(void *to, const void *from, size_t n) {
    switch (n) {
    case 1: __builtin_memcpy(to, from, 1); break;
    case 2: __builtin_memcpy(to, from, 2); break;
    case 4: __builtin_memcpy(to, from, 4); break;
    case 8: __builtin_memcpy(to, from, 8); break;
    case 16: __builtin_memcpy(to, from, 16); break;
    default: __builtin_memcpy(to, from, n);
    }
}
TESS_INLINE int64_t tess_gcd(int64_t a, int64_t b) { /* Euclid; of a and 0: a */
    while (b != 0) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

#endif
