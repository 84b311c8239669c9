/* SPDX-License-Identifier: Apache-2.0
 * cpu.h - what the processor can do: instruction sets, caches, name. */
#ifndef TESS_CORE_CPU_H
#define TESS_CORE_CPU_H

#include "core/base.h"

/* The best slot that this processor and this build have. */
tess_isa_slot tess_cpu_best_slot(void);
bool tess_cpu_has_slot(tess_isa_slot slot);
const char *tess_slot_name(tess_isa_slot slot); /* "avx2" */
bool tess_slot_named(const char *name, tess_isa_slot *slot);

typedef struct tess_cpu_info {
    char name[96];
    int processors;      /* that this process may run on */
    int64_t l1d, l2, l3; /* bytes that one processor has, alone or shared; 0 = not known */
    int64_t l3_all;      /* of all last-level caches that the processors share */
} tess_cpu_info;
void tess_cpu_info_get(tess_cpu_info *info);

#endif
