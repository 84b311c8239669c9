/* SPDX-License-Identifier: Apache-2.0
 * environment.h - computing in the floating-point environment that C starts with, whatever the host program has set.
 *
 * A host that rounds upwards, flushes subnormals (linking with -ffast-math is enough) or traps on exceptions must not change a bit of a result, nor be
 * interrupted by one. So everything that converts or computes stands between enter and leave; the host's environment, its exception flags included, is
 * as it was afterwards.
 *
 * Nearly every host computes in that environment itself. On x86-64 two registers tell, in a fraction of the time of fegetenv and fesetenv (0.25 of the 0.43
 * microseconds that a planned sum of one element took); then only the flags have to be put back. */
#ifndef TESS_CORE_ENVIRONMENT_H
#define TESS_CORE_ENVIRONMENT_H

#include <fenv.h>

#include "core/base.h"
#include "core/processor.h"

typedef struct tess_environment {
    fenv_t host;
#if defined(__x86_64__)
    bool plain; /* the host's is C's, but for its flags: host is not set */
    unsigned mxcsr;
    uint16_t x87_flags;
#endif
} tess_environment;

TESS_INLINE void tess_environment_enter(tess_environment *e) {
#if defined(__x86_64__)
    enum { FLAGS = 0x3f, DEFAULT_MXCSR = 0x1f80, DEFAULT_X87 = 0x37f };
    uint16_t control, status;
    TESS_X87_STATE(control, status);
    e->mxcsr = _mm_getcsr();
    e->x87_flags = status & FLAGS;
    e->plain = (e->mxcsr & ~(unsigned)FLAGS) == DEFAULT_MXCSR && control == DEFAULT_X87;
    if (TESS_LIKELY(e->plain))
        return;
#endif
    fegetenv(&e->host);
    fesetenv(FE_DFL_ENV);
}

TESS_INLINE void tess_environment_leave(const tess_environment *e) {
#if defined(__x86_64__)
    if (TESS_LIKELY(e->plain)) {
        uint16_t control, status;
        TESS_X87_STATE(control, status);
        (void)control;
        if (TESS_UNLIKELY(status & FE_ALL_EXCEPT & ~e->x87_flags)) /* long doubles compute there */
            feclearexcept(status & FE_ALL_EXCEPT & ~e->x87_flags);
        if (_mm_getcsr() != e->mxcsr)
            _mm_setcsr(e->mxcsr);
        return;
    }
#endif
    fesetenv(&e->host);
}

#endif
