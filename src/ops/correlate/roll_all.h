/* SPDX-License-Identifier: Apache-2.0
 * roll_all.h - ROLL_KERNEL for every length of the masks, those of 11 taps and more where LONG is 1; included by cpu_roll_kernels.c for each type of input. */

#define roll_name KERNEL(roll3)
#define TAPS 3
#define ROWS ROWS_3
#include ROLL_KERNEL
#define roll_name KERNEL(roll5)
#define TAPS 5
#define ROWS ROWS_5
#include ROLL_KERNEL
#define roll_name KERNEL(roll7)
#define TAPS 7
#define ROWS ROWS_7
#include ROLL_KERNEL
#define roll_name KERNEL(roll9)
#define TAPS 9
#define ROWS ROWS_9
#include ROLL_KERNEL_9
#if LONG
#define roll_name KERNEL(roll11)
#define TAPS 11
#define ROWS ROWS_LONG
#include ROLL_KERNEL
#define roll_name KERNEL(roll13)
#define TAPS 13
#define ROWS ROWS_LONG
#include ROLL_KERNEL
#define roll_name KERNEL(roll15)
#define TAPS 15
#define ROWS ROWS_LONG
#include ROLL_KERNEL
#endif
