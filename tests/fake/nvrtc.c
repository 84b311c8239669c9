/* SPDX-License-Identifier: Apache-2.0
 * nvrtc.c - a library that pretends to be NVRTC: the "image" is the architecture, the options and the source behind the word FAKE. A source with
 * #error in it does not compile and gives a log of 60 lines. FAKE_MAJOR and FAKE_MINOR are its version. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"

#ifndef FAKE_MAJOR
#define FAKE_MAJOR 13
#endif
#ifndef FAKE_MINOR
#define FAKE_MINOR 0
#endif

#define NVRTC_ENTRY(result, name, parameters) result name parameters;
#include "gpu/driver.def"

struct _nvrtcProgram {
    char *source, *image;
    char log[4096];
};

static int compiles;
int fake_nvrtc_compiles(void) { return __atomic_load_n(&compiles, __ATOMIC_SEQ_CST); }

nvrtcResult nvrtcVersion(int *major, int *minor) {
    *major = FAKE_MAJOR;
    *minor = FAKE_MINOR;
    return NVRTC_SUCCESS;
}
const char *nvrtcGetErrorString(nvrtcResult result) { return result == NVRTC_ERROR_COMPILATION ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR_FAKE"; }
nvrtcResult nvrtcGetNumSupportedArchs(int *count) {
    *count = 3;
    return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetSupportedArchs(int *archs) {
    memcpy(archs, (int[]){75, 80, 90}, 3 * sizeof *archs);
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *source, const char *name, int headers, const char *const *header_texts,
                               const char *const *header_names) {
    if (!name || headers || header_texts || header_names)
        return 3;
    *program = calloc(1, sizeof **program);
    (*program)->source = strdup(source);
    return NVRTC_SUCCESS;
}
nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char *expression) { return program && expression ? NVRTC_SUCCESS : 3; }
nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char *expression, const char **name) {
    *name = expression; /* as if every function were extern "C" */
    return program ? NVRTC_SUCCESS : 3;
}
nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char *const *options) {
    size_t size = strlen(program->source) + 16, used;
    __atomic_fetch_add(&compiles, 1, __ATOMIC_SEQ_CST);
    if (strstr(program->source, "#error")) {
        for (int i = 0; i < 60; i++)
            used = strlen(program->log), snprintf(program->log + used, sizeof program->log - used, "  k.cu(%d): %s: line %d of the log\n      ^\n\n",
                                                  i, i >= 30 ? "error" : "warning", i);
        return NVRTC_ERROR_COMPILATION;
    }
    for (int i = 0; i < count; i++)
        size += strlen(options[i]) + 1;
    program->image = calloc(1, size);
    strcpy(program->image, "FAKE");
    for (int i = 0; i < count; i++)
        strcat(strcat(program->image, " "), options[i]);
    strcat(strcat(program->image, "\n"), program->source);
    return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *bytes) {
    *bytes = strlen(program->log) + 1;
    return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *log) {
    strcpy(log, program->log);
    return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *bytes) {
    *bytes = strlen(program->image);
    return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *cubin) {
    memcpy(cubin, program->image, strlen(program->image));
    return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t *bytes) {
    *bytes = strlen(program->image) + 1;
    return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetPTX(nvrtcProgram program, char *ptx) {
    strcpy(ptx, program->image);
    return NVRTC_SUCCESS;
}
nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program) {
    free((*program)->source);
    free((*program)->image);
    free(*program);
    *program = NULL;
    return NVRTC_SUCCESS;
}
