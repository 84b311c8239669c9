/* SPDX-License-Identifier: Apache-2.0
 * gathers.h - whether the processor's vector gather, where it has one, is quicker than a load an element. */
#ifndef TESS_CORE_GATHERS_H
#define TESS_CORE_GATHERS_H

#include <stdbool.h>

bool tess_cpu_gathers(void);
/* From now on tess_cpu_gathers() says so, whatever the processor: for tests, which must see both ways. */
void tess_cpu_pretend_gathers(bool yes);

#endif
