/* SPDX-License-Identifier: Apache-2.0
 * cutover.c - from how many elements of work on a call is shared between threads. Below, no thread is woken.
 *
 * Waking a sleeping thread takes the caller some 12 microseconds and the thread 20 to 60 to come, so that sharing pays from about 60 microseconds of work on.
 * Measured on two virtual processors (2026-11-20, Intel model 207; microseconds with one thread and with two, calls 200 microseconds apart):
 *
 *     elements      sum f32     7 taps f32    transpose f32   lookup by u8   variance f32
 *      131 072      8.9 22.3     40.7 46.4     25.1 43.0      30.6 41.3      51.6 48.7
 *      262 144     18.7 30.6     83.4 69.4     78.2 112.8     61.0 70.4     102.8 79.1
 *      524 288     53.4 51.9    168.4 125.6   252.3 223.5    125.1 97.1     223.6 141.2
 *    1 048 576    132.6 97.8    383.6 227.2   498.0 338.1    261.9 168.3    502.0 275.2
 *
 * The number is alone in this file so that a program that defines it itself, as the tests do to share small work, links without it. */
#include "core/cutover.h"

const double tess_thread_cutover = 262144;
