/* SPDX-License-Identifier: Apache-2.0
 * woven_all.h - roll_woven.h for every length of the masks, those of 3 and 5 taps where SHORTEST is 3, those of 7 and 9 where it is at most 7; included by
 * cpu_woven_kernels.c for each type of input. */

#if SHORTEST <= 3
#define roll_name KERNEL(woven3)
#define TAPS 3
#include "ops/correlate/roll_woven.h"
#define roll_name KERNEL(woven5)
#define TAPS 5
#include "ops/correlate/roll_woven.h"
#endif
#if SHORTEST <= 7
#define roll_name KERNEL(woven7)
#define TAPS 7
#include "ops/correlate/roll_woven.h"
#define roll_name KERNEL(woven9)
#define TAPS 9
#include "ops/correlate/roll_woven.h"
#endif
#define roll_name KERNEL(woven11)
#define TAPS 11
#include "ops/correlate/roll_woven.h"
#define roll_name KERNEL(woven13)
#define TAPS 13
#include "ops/correlate/roll_woven.h"
#define roll_name KERNEL(woven15)
#define TAPS 15
#include "ops/correlate/roll_woven.h"
#define roll_name KERNEL(woven17)
#define TAPS 17
#include "ops/correlate/roll_woven.h"
#define roll_name KERNEL(woven19)
#define TAPS 19
#include "ops/correlate/roll_woven.h"
#define roll_name KERNEL(woven21)
#define TAPS 21
#include "ops/correlate/roll_woven.h"
#define roll_name KERNEL(woven23)
#define TAPS 23
#include "ops/correlate/roll_woven.h"
#define roll_name KERNEL(woven25)
#define TAPS 25
#include "ops/correlate/roll_woven.h"
#define roll_name KERNEL(woven27)
#define TAPS 27
#include "ops/correlate/roll_woven.h"
#define roll_name KERNEL(woven29)
#define TAPS 29
#include "ops/correlate/roll_woven.h"
#define roll_name KERNEL(woven31)
#define TAPS 31
#include "ops/correlate/roll_woven.h"
#define roll_name KERNEL(woven33)
#define TAPS 33
#include "ops/correlate/roll_woven.h"
