/* SPDX-License-Identifier: Apache-2.0
 * environment.h - computing in the floating-point environment that C starts with, whatever the host program has set.
 *
 * A host that rounds upwards, flushes subnormals (linking with -ffast-math is enough) or traps on exceptions must not change a bit of a result, nor be
 * interrupted by one. So everything that converts or computes stands between enter and leave; the host's environment, its exception flags included, is
 * as it was afterwards. */
#ifndef TESS_CORE_ENVIRONMENT_H
#define TESS_CORE_ENVIRONMENT_H

#include <fenv.h>

#include "core/base.h"

TESS_INLINE void tess_environment_enter(fenv_t *host) {
    fegetenv(host);
    fesetenv(FE_DFL_ENV);
}

TESS_INLINE void tess_environment_leave(const fenv_t *host) { fesetenv(host); }

#endif
