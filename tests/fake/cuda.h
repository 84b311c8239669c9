/* SPDX-License-Identifier: Apache-2.0
 * cuda.h - what a test can ask the pretended driver and compiler about. Each library exports the function that is named here. */
#ifndef TESS_TESTS_FAKE_CUDA_H
#define TESS_TESTS_FAKE_CUDA_H

#include <stdbool.h>

#include "gpu/driver.h"

typedef struct fake_cuda_state {
    int retained, released; /* primary contexts */
    int loaded, unloaded;   /* modules */
    int launches;
    unsigned int grid[3], block[3], shared;
    CUstream stream;
    int first_argument; /* *(int *)arguments[0] */
    CUcontext launched_in;
    int dynamic_limit; /* last cuFuncSetAttribute */
    char constant[64]; /* what was copied into the one variable */
} fake_cuda_state;

fake_cuda_state *fake_cuda(void);
/* A stream and a context that the caller of the library is supposed to have made on the device. */
CUcontext fake_cuda_context(int device);
CUstream fake_cuda_stream(int device);

int fake_nvrtc_compiles(void);

#endif
