/* SPDX-License-Identifier: Apache-2.0
 * cutover.c - from how many elements of work on a call is shared between threads. Below, no thread is woken.
 *
 * Waking a sleeping thread takes the caller some 12 microseconds and the thread 20 to 60 to come, so that sharing pays from about 100 microseconds of work on.
 * Measured on two virtual processors (bench/cutover.c; microseconds with one thread and with two, calls 200 microseconds apart):
 *
 *     elements      sum f32     7 taps f32    transpose f32   lookup by u8   variance f32
 *     Intel model 207, 2026-11-20
 *      131 072      8.9 22.3     40.7 46.4     25.1 43.0      30.6 41.3      51.6 48.7
 *      262 144     18.7 30.6     83.4 69.4     78.2 112.8     61.0 70.4     102.8 79.1
 *      524 288     53.4 51.9    168.4 125.6   252.3 223.5    125.1 97.1     223.6 141.2
 *    1 048 576    132.6 97.8    383.6 227.2   498.0 338.1    261.9 168.3    502.0 275.2
 *     AMD Zen 4, 2026-11-22 (the middle one of three runs)
 *      262 144     18.8 37.9     86.9 98.7     64.5 68.7      23.3 24.8      63.4 73.2
 *      524 288     35.3 48.9    160.5 130.7   145.0 141.0     47.5 66.9     129.6 133.0
 *    1 048 576     68.1 82.1    333.9 249.4   262.3 199.8     97.1 112.7    250.7 185.3
 *    2 097 152    146.8 144.7   710.3 484.2   537.5 385.9    220.4 209.4    521.2 333.0
 *
 * The number is alone in this file so that a program that defines it itself, as the tests do to share small work, links without it. */
#include "core/cutover.h"

const double tess_thread_cutover = 524288;
