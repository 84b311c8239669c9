/* SPDX-License-Identifier: Apache-2.0
 * cutover.h - from how many elements of work on a call is shared between threads. */
#ifndef TESS_CORE_CUTOVER_H
#define TESS_CORE_CUTOVER_H

extern const double tess_thread_cutover;

#endif
