/* SPDX-License-Identifier: Apache-2.0
 * translate.c - CUDA C++ to PTX by NVRTC, as a user's nvcc would: C++17, line table, contraction unless refused, the toolkit's headers.
 *
 * NVRTC has no headers of the host's. Kernels include some all the same, for a constant or for nothing: those get small texts (host_headers.c), so that a file written
 * for nvcc compiles. One that does not is tried once more without what only the host runs (host_code.c), with more of such headers, and
 * with what is left taken as the device's. When that does not compile either, declarations of the host that the compiler names go too, as long as there are some; the words that
 * are told at last are the compiler's about the rest. */
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/gpu.h"
#include "profile/profile.h"

enum { FOLDERS = 4, FIXED = 6, PATH_SIZE = 1200, LINES = 100, ROUNDS = 12 };

/* Lines of the source that the compiler's log names with an error. */
typedef struct complaints {
    int line[LINES], count;
} complaints;

static bool has(const complaints *c, int line) {
    for (int i = 0; i < c->count; i++)
        if (c->line[i] == line)
            return true;
    return false;
}

static void read_log(tess_gpu *gpu, nvrtcProgram program, const char *name, complaints *c) {
    size_t size = 0, length = strlen(name);
    c->count = 0;
    char *log = gpu->nvrtc.nvrtcGetProgramLogSize(program, &size) == NVRTC_SUCCESS ? tess_allocate_zeroed(gpu->context, size + 1) : NULL;
    if (log && gpu->nvrtc.nvrtcGetProgramLog(program, log) == NVRTC_SUCCESS)
        for (const char *at = log; at; at = strchr(at, '\n')) {
            at += *at == '\n';
            int line = 0, read = 0;
            if (strncmp(at, name, length) == 0 && sscanf(at + length, "(%d): error%n", &line, &read) == 1 && read > 0 && !has(c, line) &&
                c->count < LINES)
                c->line[c->count++] = line;
        }
    tess_free(gpu->context, log, size + 1);
}

/* "-I" and the toolkit's headers, found from where the compiler lies or from CUDA_HOME; how many. */
static int toolkit(const tess_gpu *gpu, char folder[FOLDERS][PATH_SIZE]) {
    char library[TESS_GPU_PATH];
    const char *home = secure_getenv("CUDA_HOME");
    int n = 0;
    snprintf(library, sizeof library, "%s", gpu->nvrtc_path);
    char *real = realpath(library, NULL), *beside = dirname(real ? real : library);
    const char *tries[] = {beside, home && *home == '/' ? home : NULL, "/usr/local/cuda"};
    for (int i = 0; i < TESS_COUNT(tries) && n == 0; i++) {
        if (!tries[i] || strlen(tries[i]) > PATH_SIZE - 40)
            continue;
        const char *up = i == 0 ? "/.." : "";
        snprintf(folder[0], PATH_SIZE, "-I%s%s/include", tries[i], up);
        char probe[PATH_SIZE + 16];
        snprintf(probe, sizeof probe, "%s/cuda_fp16.h", folder[0] + 2);
        if (access(probe, R_OK) != 0)
            continue;
        n = 1;
        snprintf(folder[1], PATH_SIZE, "-I%s%s/include/cccl", tries[i], up);
        n += access(folder[1] + 2, R_OK) == 0;
    }
    free(real);
    return n;
}

/* The PTX, and the machine code that the compiler made of it. */
static tess_status fetch(tess_gpu *gpu, nvrtcProgram program, const tess_launch *launch, profile_code *code) {
    const char *name;
    if (launch->templated) {
        TESS_NVRTC(gpu, nvrtcGetLoweredName, program, launch->kernel, &name);
        snprintf(code->lowered, sizeof code->lowered, "%s", name);
    }
    TESS_NVRTC(gpu, nvrtcGetPTXSize, program, &code->ptx_size);
    if (code->ptx_size == 0)
        return tess_fail(TESS_ERR_ENGINE, "the compiler made no PTX");
    if (!(code->ptx = tess_allocate_zeroed(gpu->context, code->ptx_size)))
        return TESS_ERR_MEMORY;
    TESS_NVRTC(gpu, nvrtcGetPTX, program, code->ptx);
    TESS_NVRTC(gpu, nvrtcGetCUBINSize, program, &code->cubin_size);
    if (code->cubin_size == 0)
        return TESS_OK;
    if (!(code->cubin = tess_allocate_zeroed(gpu->context, code->cubin_size)))
        return TESS_ERR_MEMORY;
    return tess_gpu_check_nvrtc(gpu, gpu->nvrtc.nvrtcGetCUBIN(program, code->cubin), "nvrtcGetCUBIN");
}

/* left_out: what the second try says of itself; NULL: the first. */
static tess_status compile(tess_gpu *gpu, nvrtcProgram program, const char *name, const tess_launch *launch, const tess_profile_options *given,
                           const char *left_out, complaints *complained, profile_code *code) {
    char folder[FOLDERS][PATH_SIZE];
    int folders = toolkit(gpu, folder), count = 0;
    size_t bytes = (size_t)(FIXED + FOLDERS + given->compiler_option_count) * sizeof(char *);
    const char **options = tess_allocate(gpu->context, bytes);
    if (!options)
        return TESS_ERR_MEMORY;
    options[count++] = "--std=c++17";
    options[count++] = "--generate-line-info";
    options[count++] = given->no_fmad ? "--fmad=false" : "--fmad=true";
    options[count++] = "--gpu-architecture=sm_90";
    options[count++] = "--device-int128";
    if (left_out)
        options[count++] = "--device-as-default-execution-space";
    for (int i = 0; i < given->compiler_option_count; i++)
        options[count++] = given->compiler_options[i];
    for (int i = 0; i < folders; i++)
        options[count++] = folder[i];
    tess_status status = TESS_OK;
    if (launch->templated)
        status = tess_gpu_check_nvrtc(gpu, gpu->nvrtc.nvrtcAddNameExpression(program, launch->kernel), "nvrtcAddNameExpression");
    if (status == TESS_OK) {
        nvrtcResult result = gpu->nvrtc.nvrtcCompileProgram(program, count, options);
        char sentence[1024];
        snprintf(sentence, sizeof sentence, "%s does not compile%s", name, left_out ? left_out : "");
        status = result == NVRTC_SUCCESS ? fetch(gpu, program, launch, code) : tess_gpu_refused(gpu, program, result, TESS_ERR_ARGUMENT, sentence);
        if (result != NVRTC_SUCCESS && complained)
            read_log(gpu, program, name, complained);
    }
    tess_free(gpu->context, options, bytes);
    return status;
}

void tess_profile_code_free(tess_context *context, profile_code *code) {
    tess_free(context, code->ptx, code->ptx_size);
    tess_free(context, code->cubin, code->cubin_size);
    *code = (profile_code){0};
}

static tess_status translate(tess_gpu *gpu, const char *source, const char *name, const tess_launch *launch, const tess_profile_options *options,
                             const char *left_out, complaints *complained, profile_code *code) {
    const char *names[TESS_PROFILE_HEADERS], *texts[TESS_PROFILE_HEADERS];
    const int headers = tess_profile_headers(left_out != NULL, names, texts);
    nvrtcProgram program = NULL;
    TESS_TRY(tess_gpu_check_nvrtc(gpu, gpu->nvrtc.nvrtcCreateProgram(&program, source, name, headers, texts, names), "nvrtcCreateProgram"));
    tess_status status = compile(gpu, program, name, launch, options, left_out, complained, code);
    gpu->nvrtc.nvrtcDestroyProgram(&program);
    if (status != TESS_OK)
        tess_profile_code_free(gpu->context, code);
    return status;
}

/* The host's declarations that the compiler does not know go from `device`, until it compiles or complains of nothing but device code. Where that is for want
 * of what went, the first words stand. */
static tess_status without_complaints(tess_gpu *gpu, char *device, const char *name, const tess_launch *launch, const tess_profile_options *options,
                                      const char *left_out, profile_code *code) {
    complaints first, now;
    char words[2048];
    tess_status status = translate(gpu, device, name, launch, options, left_out, &first, code);
    snprintf(words, sizeof words, "%s", tess_detail());
    now = first;
    for (int round = 0; round < ROUNDS && status == TESS_ERR_ARGUMENT && tess_profile_leave_out(device, now.line, now.count) > 0; round++)
        status = translate(gpu, device, name, launch, options, ", the host's functions and types left out", &now, code);
    for (int i = 0; i < now.count && status == TESS_ERR_ARGUMENT; i++)
        if (!has(&first, now.line[i]))
            return tess_fail(status, "%s", words);
    return status;
}

tess_status tess_profile_translate(tess_context *context, const char *source, const char *name, const tess_launch *launch,
                                   const tess_profile_options *options, profile_code *code) {
    tess_gpu *gpu;
    *code = (profile_code){0};
    TESS_TRY(tess_gpu_get(&gpu, context));
    tess_status status = tess_gpu_open_nvrtc(gpu);
    if (status != TESS_OK) {
        char why[1024];
        snprintf(why, sizeof why, "%s", tess_detail());
        return tess_fail(status, "%s is CUDA C++, and there is no compiler for it (PTX needs none): %s", name, why);
    }
    status = translate(gpu, source, name, launch, options, NULL, NULL, code);
    if (status != TESS_ERR_ARGUMENT)
        return status;
    size_t size;
    char *device = tess_profile_device_code(context, source, &size);
    if (!device)
        return TESS_ERR_MEMORY;
    status = without_complaints(gpu, device, name, launch, options, strcmp(device, source) != 0 ? ", the host's functions left out" : "", code);
    tess_free(context, device, size);
    return status;
}
