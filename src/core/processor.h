/* SPDX-License-Identifier: Apache-2.0
 * processor.h - what C has no words for, beside the vectors of src/simd: registers of the floating-point units, and the hint of a waiting loop. */
#ifndef TESS_CORE_PROCESSOR_H
#define TESS_CORE_PROCESSOR_H

#if defined(__x86_64__)
#include <xmmintrin.h>
#define TESS_X87_STATE(control, status) __asm__ volatile("fnstcw %0\n\tfnstsw %1" : "=m"(control), "=a"(status)) /* two uint16_t */
#define TESS_PAUSE() _mm_pause()
#define TESS_STREAM_FENCE() _mm_sfence() /* stores past the caches, which wait for none but this, before others may look */
#elif defined(__aarch64__)
#define TESS_PAUSE() __asm__ volatile("yield")
#define TESS_STREAM_FENCE() ((void)0)
#else
#define TESS_PAUSE() ((void)0)
#define TESS_STREAM_FENCE() ((void)0)
#endif

#endif
