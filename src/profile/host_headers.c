/* SPDX-License-Identifier: Apache-2.0
 * host_headers.c - small stand-ins for headers that NVRTC does not have: the host's C and C++ ones, and of the toolkit's those that a compiler of device code refuses.
 *
 * What kernels use of them is there: integer types, limits of types, constants, std::sqrt and its like as the device's functions, std::numeric_limits and traits as cuda::std's.
 * Of a program with a host's side they are more, and most of them empty. */
#include <string.h>

#include "profile/profile.h"

#define EMPTY "#pragma once\nnamespace std {}\n"
/* The types are those that the toolkit's own headers give these names. */
#define INTEGERS                                                                                                                                \
    "#pragma once\n"                                                                                                                            \
    "typedef signed char int8_t; typedef unsigned char uint8_t; typedef short int16_t; typedef unsigned short uint16_t; typedef int int32_t;\n" \
    "typedef unsigned int uint32_t; typedef long long int64_t; typedef unsigned long long uint64_t;\n"                                          \
    "typedef int8_t int_least8_t, int_fast8_t; typedef int16_t int_least16_t, int_fast16_t; typedef int32_t int_least32_t, int_fast32_t;\n"     \
    "typedef int64_t int_least64_t, int_fast64_t, intmax_t, intptr_t; typedef uint8_t uint_least8_t, uint_fast8_t;\n"                           \
    "typedef uint16_t uint_least16_t, uint_fast16_t; typedef uint32_t uint_least32_t, uint_fast32_t;\n"                                         \
    "typedef uint64_t uint_least64_t, uint_fast64_t, uintmax_t, uintptr_t;\n"                                                                   \
    "#define INT8_MAX 127\n#define INT16_MAX 32767\n#define INT32_MAX 2147483647\n#define INT64_MAX 9223372036854775807ll\n"                    \
    "#define INT8_MIN (-128)\n#define INT16_MIN (-32768)\n#define INT32_MIN (-INT32_MAX - 1)\n#define INT64_MIN (-INT64_MAX - 1)\n"             \
    "#define UINT8_MAX 255\n#define UINT16_MAX 65535\n#define UINT32_MAX 4294967295u\n#define UINT64_MAX 18446744073709551615ull\n"             \
    "#define INTPTR_MAX INT64_MAX\n#define INTPTR_MIN INT64_MIN\n#define UINTPTR_MAX UINT64_MAX\n"                                              \
    "#define PTRDIFF_MAX INT64_MAX\n#define PTRDIFF_MIN INT64_MIN\n#define SIZE_MAX UINT64_MAX\n"                                               \
    "#define INT32_C(x) x\n#define UINT32_C(x) x##u\n#define INT64_C(x) x##ll\n#define UINT64_C(x) x##ull\n"                                    \
    "namespace std { using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t; using ::uint8_t; using ::uint16_t; using ::uint32_t;\n" \
    "using ::uint64_t; using ::intptr_t; using ::uintptr_t; }\n"
#define SIZES                                                                                               \
    "#pragma once\ntypedef decltype(sizeof 0) size_t; typedef decltype((char *)0 - (char *)0) ptrdiff_t;\n" \
    "namespace std { using ::size_t; using ::ptrdiff_t; }\n"
#define LIMITS                                                                                                                             \
    "#pragma once\n#define CHAR_BIT 8\n#define SCHAR_MAX 127\n#define SCHAR_MIN (-128)\n#define UCHAR_MAX 255\n"                           \
    "#define CHAR_MAX SCHAR_MAX\n#define CHAR_MIN SCHAR_MIN\n#define SHRT_MAX 32767\n#define SHRT_MIN (-32768)\n#define USHRT_MAX 65535\n" \
    "#define INT_MAX 2147483647\n#define INT_MIN (-INT_MAX - 1)\n#define UINT_MAX 4294967295u\n"                                           \
    "#define LONG_MAX 9223372036854775807l\n#define LONG_MIN (-LONG_MAX - 1)\n#define ULONG_MAX 18446744073709551615ul\n"                  \
    "#define LLONG_MAX 9223372036854775807ll\n#define LLONG_MIN (-LLONG_MAX - 1)\n#define ULLONG_MAX 18446744073709551615ull\n"
#define FLOATS                                                                                                                                   \
    "#pragma once\n#define FLT_RADIX 2\n#define FLT_MANT_DIG 24\n#define DBL_MANT_DIG 53\n#define FLT_DIG 6\n#define DBL_DIG 15\n"               \
    "#define FLT_MAX 3.402823466e38f\n#define FLT_MIN 1.175494351e-38f\n#define FLT_EPSILON 1.192092896e-7f\n"                                   \
    "#define DBL_MAX 1.7976931348623158e308\n#define DBL_MIN 2.2250738585072014e-308\n#define DBL_EPSILON 2.2204460492503131e-16\n"              \
    "#define FLT_TRUE_MIN 1.401298464e-45f\n#define DBL_TRUE_MIN 4.9406564584124654e-324\n#define FLT_MAX_EXP 128\n#define FLT_MIN_EXP (-125)\n" \
    "#define DBL_MAX_EXP 1024\n#define DBL_MIN_EXP (-1021)\n"
#define CONSTANTS                                                                                                                       \
    "#pragma once\n#define M_E 2.7182818284590452354\n#define M_LOG2E 1.4426950408889634074\n#define M_LOG10E 0.43429448190325182765\n" \
    "#define M_LN2 0.69314718055994530942\n#define M_LN10 2.30258509299404568402\n#define M_PI 3.14159265358979323846\n"                \
    "#define M_PI_2 1.57079632679489661923\n#define M_PI_4 0.78539816339744830962\n#define M_1_PI 0.31830988618379067154\n"             \
    "#define M_2_PI 0.63661977236758134308\n#define M_2_SQRTPI 1.12837916709551257390\n#define M_SQRT2 1.41421356237309504880\n"        \
    "#define M_SQRT1_2 0.70710678118654752440\n#define HUGE_VALF (1.0f / 0.0f)\n#define INFINITY HUGE_VALF\n"                           \
    "#define HUGE_VAL (1.0 / 0.0)\n#define NAN (0.0f / 0.0f)\n"
#define FUNCTIONS                                                                                                                              \
    CONSTANTS "namespace std { using ::abs; using ::fabs; using ::sqrt; using ::cbrt; using ::hypot; using ::pow; using ::exp; using ::exp2; " \
              "using ::expm1;\n"                                                                                                               \
              "using ::log; using ::log2; using ::log10; using ::log1p; using ::sin; using ::cos; using ::tan; using ::asin; using ::acos;\n"  \
              "using ::atan; using ::atan2; using ::sinh; using ::cosh; using ::tanh; using ::asinh; using ::acosh; using ::atanh;\n"          \
              "using ::floor; using ::ceil; using ::round; using ::trunc; using ::rint; using ::nearbyint; using ::lround; using ::llround;\n" \
              "using ::fma; using ::fmod; using ::fmin; using ::fmax; using ::fdim; using ::remainder; using ::copysign; using ::ldexp;\n"     \
              "using ::frexp; using ::modf; using ::erf; using ::erfc; using ::tgamma; using ::lgamma; using ::isnan; using ::isinf;\n"        \
              "using ::isfinite; using ::signbit; }\n"
#define NUMBERS \
    "#pragma once\n#if __has_include(<cuda/std/limits>)\n#include <cuda/std/limits>\nnamespace std { using cuda::std::numeric_limits; }\n#endif\n"
#define TRAITS                                                                                                                              \
    "#pragma once\n#if __has_include(<cuda/std/type_traits>)\n#include <cuda/std/type_traits>\nnamespace std { using namespace cuda::std; " \
    "}\n#endif\n"
#define CHOICES                                                                                     \
    "#pragma once\nnamespace std {\n"                                                               \
    "template <class T> constexpr const T &min(const T &a, const T &b) { return b < a ? b : a; }\n" \
    "template <class T> constexpr const T &max(const T &a, const T &b) { return a < b ? b : a; }\n" \
    "template <class T> constexpr const T &clamp(const T &x, const T &a, const T &b) { return x < a ? a : b < x ? b : x; }\n}\n"
/* Of the toolkit's where that is there: by another name, which is no stand-in's. */
#define RANDOM "#pragma once\n#if __has_include(<./curand.h>)\n#include <./curand.h>\n#endif\n"
#define CUB                                                                                                                           \
    "#pragma once\n#include <cub/block/block_reduce.cuh>\n#include <cub/block/block_scan.cuh>\n#include <cub/block/block_load.cuh>\n" \
    "#include <cub/block/block_store.cuh>\n#include <cub/block/block_exchange.cuh>\n#include <cub/block/block_radix_sort.cuh>\n"      \
    "#include <cub/block/block_histogram.cuh>\n#include <cub/block/block_discontinuity.cuh>\n#include <cub/warp/warp_reduce.cuh>\n"   \
    "#include <cub/warp/warp_scan.cuh>\n"

/* For every file. */
static const char *const names[] = {"stdio.h", "cstdio",   "stdlib.h", "cstdlib",  "assert.h", "cassert",  "math.h",  "cmath",   "string.h",
                                    "cstring", "stdint.h", "cstdint",  "stddef.h", "cstddef",  "limits.h", "climits", "float.h", "cfloat"};
static const char *const texts[] = {EMPTY, EMPTY,    EMPTY,    EMPTY, EMPTY, EMPTY,  CONSTANTS, FUNCTIONS, EMPTY,
                                    EMPTY, INTEGERS, INTEGERS, SIZES, SIZES, LIMITS, LIMITS,    FLOATS,    FLOATS};
_Static_assert(sizeof names == sizeof texts, "a text for each name");
/* For a program with a host's side too; those without a text here are empty. */
static const struct {
    const char *name, *text;
} of_programs[] = {
    {"limits", NUMBERS},
    {"type_traits", TRAITS},
    {"algorithm", CHOICES},
    {"inttypes.h", INTEGERS},
    {"cinttypes", INTEGERS},
    {"curand.h", RANDOM},
    {"cub/cub.cuh", CUB},
    {.name = "any"},
    {.name = "array"},
    {.name = "atomic"},
    {.name = "bits/stdc++.h"},
    {.name = "bitset"},
    {.name = "cctype"},
    {.name = "cerrno"},
    {.name = "chrono"},
    {.name = "complex"},
    {.name = "condition_variable"},
    {.name = "csignal"},
    {.name = "cstdarg"},
    {.name = "cstdbool"},
    {.name = "ctime"},
    {.name = "ctype.h"},
    {.name = "cwchar"},
    {.name = "deque"},
    {.name = "errno.h"},
    {.name = "exception"},
    {.name = "fcntl.h"},
    {.name = "filesystem"},
    {.name = "fstream"},
    {.name = "functional"},
    {.name = "future"},
    {.name = "getopt.h"},
    {.name = "immintrin.h"},
    {.name = "initializer_list"},
    {.name = "iomanip"},
    {.name = "ios"},
    {.name = "iosfwd"},
    {.name = "iostream"},
    {.name = "istream"},
    {.name = "iterator"},
    {.name = "list"},
    {.name = "locale"},
    {.name = "locale.h"},
    {.name = "map"},
    {.name = "memory"},
    {.name = "mpi.h"},
    {.name = "mutex"},
    {.name = "new"},
    {.name = "numeric"},
    {.name = "omp.h"},
    {.name = "optional"},
    {.name = "ostream"},
    {.name = "pthread.h"},
    {.name = "queue"},
    {.name = "random"},
    {.name = "ratio"},
    {.name = "regex"},
    {.name = "set"},
    {.name = "shared_mutex"},
    {.name = "signal.h"},
    {.name = "sstream"},
    {.name = "stack"},
    {.name = "stdarg.h"},
    {.name = "stdbool.h"},
    {.name = "stdexcept"},
    {.name = "streambuf"},
    {.name = "string"},
    {.name = "string_view"},
    {.name = "strings.h"},
    {.name = "sys/mman.h"},
    {.name = "sys/resource.h"},
    {.name = "sys/stat.h"},
    {.name = "sys/time.h"},
    {.name = "sys/types.h"},
    {.name = "system_error"},
    {.name = "thread"},
    {.name = "time.h"},
    {.name = "tuple"},
    {.name = "typeindex"},
    {.name = "typeinfo"},
    {.name = "unistd.h"},
    {.name = "unordered_map"},
    {.name = "unordered_set"},
    {.name = "utility"},
    {.name = "valarray"},
    {.name = "variant"},
    {.name = "vector"},
    {.name = "wchar.h"},
    {.name = "windows.h"},
    {.name = "cublas.h"},
    {.name = "cublasLt.h"},
    {.name = "cublas_v2.h"},
    {.name = "cuda_profiler_api.h"},
    {.name = "cudnn.h"},
    {.name = "cufft.h"},
    {.name = "cufftXt.h"},
    {.name = "cusolverDn.h"},
    {.name = "cusparse.h"},
    {.name = "helper_cuda.h"},
    {.name = "helper_functions.h"},
    {.name = "helper_image.h"},
    {.name = "helper_string.h"},
    {.name = "helper_timer.h"},
    {.name = "nccl.h"},
    {.name = "nvToolsExt.h"},
    {.name = "nvtx3/nvToolsExt.h"},
    {.name = "nvtx3/nvtx3.hpp"},
    {.name = "thrust/copy.h"},
    {.name = "thrust/count.h"},
    {.name = "thrust/device_ptr.h"},
    {.name = "thrust/device_vector.h"},
    {.name = "thrust/execution_policy.h"},
    {.name = "thrust/extrema.h"},
    {.name = "thrust/fill.h"},
    {.name = "thrust/for_each.h"},
    {.name = "thrust/gather.h"},
    {.name = "thrust/generate.h"},
    {.name = "thrust/host_vector.h"},
    {.name = "thrust/inner_product.h"},
    {.name = "thrust/random.h"},
    {.name = "thrust/reduce.h"},
    {.name = "thrust/remove.h"},
    {.name = "thrust/scan.h"},
    {.name = "thrust/scatter.h"},
    {.name = "thrust/sequence.h"},
    {.name = "thrust/sort.h"},
    {.name = "thrust/system/cuda/execution_policy.h"},
    {.name = "thrust/transform.h"},
    {.name = "thrust/transform_reduce.h"},
    {.name = "thrust/unique.h"},
    {.name = "thrust/universal_vector.h"},
};

int tess_profile_headers(bool program, const char **name, const char **text) {
    const int count = TESS_COUNT(names), more = program ? TESS_COUNT(of_programs) : 0;
    memcpy(name, names, sizeof names);
    memcpy(text, texts, sizeof texts);
    for (int i = 0; i < more; i++) {
        name[count + i] = of_programs[i].name;
        text[count + i] = of_programs[i].text ? of_programs[i].text : EMPTY;
    }
    return count + more;
}
_Static_assert(TESS_COUNT(names) + TESS_COUNT(of_programs) <= TESS_PROFILE_HEADERS, "as many as the caller has places for");
