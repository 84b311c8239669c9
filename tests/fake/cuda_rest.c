/* SPDX-License-Identifier: Apache-2.0
 * cuda_rest.c - every entry of driver.def once, weak, answering NOT_SUPPORTED: what cuda.c defines takes its place when both are linked. */
#include "gpu/driver.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"
#define CUDA_ENTRY(name, symbol, parameters) \
    CUresult symbol parameters;              \
    __attribute__((weak)) CUresult symbol parameters { return CUDA_ERROR_NOT_SUPPORTED; }
#include "gpu/driver.def"
