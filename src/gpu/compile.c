/* SPDX-License-Identifier: Apache-2.0
 * compile.c - kernel text and -D options to machine code or PTX, by NVRTC.
 *
 * Every kernel is compiled with the options below and its own -D: nothing else may change what a kernel computes. PTX has the source's line numbers
 * beside it, which the virtual GPU counts by. The compiler runs outside the lock,
 * so two threads may compile the same kernel at once; both results are right and the later one is kept. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/engine.h"
#include "gpu/gpu.h"

/* A product and a sum become one operation only where the kernel writes fma (docs/numerics.md). The other defaults are IEEE's: no flush to zero,
 * division and square root correctly rounded. */
static const char *const fixed_options[] = {"--std=c++17", "--fmad=false"};
enum { FIXED = sizeof fixed_options / sizeof fixed_options[0] };

/* Of PTX. Without optimising the compiler takes a tenth of the time for unrolled correlations, for kernels that a virtual GPU runs a few times: the tests'. What a kernel
 * computes stays as it is, since no option here lets a compiler reorder floats; accesses, which the counters count, do not. */
static const char *const ptx_options[] = {"--generate-line-info", "--Ofast-compile=mid"};
enum { FAST_COMPILE = 12090 }; /* the first NVRTC that knows the second */

bool tess_gpu_unoptimised(void) {
    const char *given = getenv("TESSERA_UNOPTIMISED");
    return given && *given && strcmp(given, "0") != 0;
}

static int ptx_option_count(tess_gpu_form form, int nvrtc_version) {
    return form == TESS_GPU_CUBIN ? 0 : 1 + (nvrtc_version >= FAST_COMPILE && tess_gpu_unoptimised());
}

static const char *form_name(tess_gpu_form form) { return form == TESS_GPU_CUBIN ? "sm" : "compute"; }

tess_gpu_key tess_gpu_source_key(const tess_gpu_source *source, int arch, tess_gpu_form form, int nvrtc_version) {
    tess_sha256 hash;
    tess_gpu_key key;
    char target[96];
    int length =
        snprintf(target, sizeof target, "tessera image 1 %s_%d nvrtc %d options %d", form_name(form), arch, nvrtc_version, source->option_count);
    tess_sha256_start(&hash);
    tess_sha256_add_field(&hash, target, (size_t)length);
    tess_sha256_add_field(&hash, source->name, strlen(source->name));
    tess_sha256_add_field(&hash, source->text, strlen(source->text));
    for (const tess_gpu_text *const *h = source->headers; h && *h; h++) {
        tess_sha256_add_field(&hash, (*h)->name, strlen((*h)->name));
        tess_sha256_add_field(&hash, (*h)->text, strlen((*h)->text));
    }
    for (int i = 0; i < FIXED; i++)
        tess_sha256_add_field(&hash, fixed_options[i], strlen(fixed_options[i]));
    for (int i = 0; i < ptx_option_count(form, nvrtc_version); i++)
        tess_sha256_add_field(&hash, ptx_options[i], strlen(ptx_options[i]));
    for (int i = 0; i < source->option_count; i++)
        tess_sha256_add_field(&hash, source->options[i], strlen(source->options[i]));
    tess_sha256_end(&hash, key.bytes);
    return key;
}

/* The next line of the log that says something: without blanks at its ends, lines that only point with ^ and ~ left out. */
static const char *next_line(const char **log, int *length) {
    while (**log) {
        const char *line = *log + strspn(*log, " \t\r\n");
        size_t size = strcspn(line, "\n");
        *log = line + size;
        while (size > 0 && strchr(" \t\r", line[size - 1]))
            size--;
        if (size > 0 && strspn(line, "^~ \t") < size) {
            *length = size < 4096 ? (int)size : 4096;
            return line;
        }
    }
    return NULL;
}

static bool says_error(const char *line, int length) {
    for (int i = 0; i + 5 <= length; i++)
        if (memcmp(line + i, "error", 5) == 0)
            return true;
    return false;
}

const char *tess_gpu_log_line(char *buffer, size_t size, const char *log) {
    enum { TAIL = 32 }; /* room for the last words */
    size_t whole = 0, used = 0;
    int length = 0, left_out = 0;
    bool begun, full = false;
    const char *at = log, *line;
    while ((line = next_line(&at, &length)) != NULL)
        whole += (size_t)length + 3;
    begun = whole < size;
    at = log;
    *buffer = 0;
    while ((line = next_line(&at, &length)) != NULL) {
        begun = begun || says_error(line, length);
        full = full || (begun && whole >= size && used + (size_t)length + 3 + TAIL > size);
        if (begun && (!full || used == 0)) { /* the first line is given in any case, cut */
            size_t room = size - used;
            int wrote =
                snprintf(buffer + used, room, "%s%.*s", used ? " | " : "", full && length + TAIL > (int)room ? (int)room - TAIL : length, line);
            used += (size_t)wrote;
        } else {
            left_out++;
        }
    }
    if (left_out > 0 && size > used)
        snprintf(buffer + used, size - used, "%s(%d more lines)", used ? " | " : "", left_out);
    return buffer;
}

void tess_gpu_image_free(tess_gpu *gpu, tess_gpu_image *image) {
    tess_free(gpu->context, image->data, image->size + 1);
    image->data = NULL;
    image->size = 0;
}

tess_status tess_gpu_check_nvrtc(const tess_gpu *gpu, nvrtcResult result, const char *entry) {
    if (TESS_LIKELY(result == NVRTC_SUCCESS))
        return TESS_OK;
    return tess_fail(TESS_ERR_ENGINE, "%s answered %s (%d)", entry, gpu->nvrtc.nvrtcGetErrorString(result), (int)result);
}

tess_status tess_gpu_refused(tess_gpu *gpu, nvrtcProgram program, nvrtcResult result, tess_status status, const char *text) {
    char line[1536];
    size_t size = 0;
    TESS_NVRTC(gpu, nvrtcGetProgramLogSize, program, &size);
    char *log = tess_allocate_zeroed(gpu->context, size + 1);
    if (!log)
        return TESS_ERR_MEMORY;
    if (gpu->nvrtc.nvrtcGetProgramLog(program, log) == NVRTC_SUCCESS && *log)
        tess_gpu_log_line(line, sizeof line, log);
    else
        snprintf(line, sizeof line, "%s", gpu->nvrtc.nvrtcGetErrorString(result));
    tess_free(gpu->context, log, size + 1);
    return tess_fail(status, "%s: %s", text, line);
}

static tess_status fetch(tess_gpu *gpu, nvrtcProgram program, tess_gpu_image *image) {
    bool cubin = image->form == TESS_GPU_CUBIN;
    size_t size = 0;
    if (cubin)
        TESS_NVRTC(gpu, nvrtcGetCUBINSize, program, &size);
    else
        TESS_NVRTC(gpu, nvrtcGetPTXSize, program, &size);
    if (size <= (cubin ? 0 : 1))
        return tess_fail(TESS_ERR_ENGINE, "the compiler made an image of %zu bytes", size);
    image->size = cubin ? size : size - 1; /* PTX is counted with its 0 */
    if (!(image->data = tess_allocate_zeroed(gpu->context, image->size + 1)))
        return TESS_ERR_MEMORY;
    if (cubin)
        TESS_NVRTC(gpu, nvrtcGetCUBIN, program, image->data);
    else
        TESS_NVRTC(gpu, nvrtcGetPTX, program, image->data);
    return TESS_OK;
}

static tess_status run_compiler(tess_gpu *gpu, const tess_gpu_source *source, int arch, tess_gpu_image *image) {
    char target[32], architecture[64], sentence[1024];
    nvrtcProgram program = NULL;
    const int of_ptx = ptx_option_count(image->form, gpu->nvrtc_version), own = FIXED + 1 + of_ptx;
    int count = own + source->option_count, headers = 0;
    while (source->headers && source->headers[headers])
        headers++;
    const size_t bytes = (size_t)(count + 2 * headers) * sizeof(char *);
    const char **options = tess_allocate(gpu->context, bytes), **header_text, **header_name;
    if (!options)
        return TESS_ERR_MEMORY;
    header_text = options + count;
    header_name = header_text + headers;
    snprintf(target, sizeof target, "%s_%d", form_name(image->form), arch);
    snprintf(architecture, sizeof architecture, "--gpu-architecture=%s", target);
    memcpy(options, fixed_options, sizeof fixed_options);
    options[FIXED] = architecture;
    memcpy(options + FIXED + 1, ptx_options, (size_t)of_ptx * sizeof *options);
    if (source->option_count > 0)
        memcpy(options + own, source->options, (size_t)source->option_count * sizeof *options);
    for (int i = 0; i < headers; i++) {
        header_text[i] = source->headers[i]->text;
        header_name[i] = source->headers[i]->name;
    }
    tess_status status = tess_gpu_check_nvrtc(
        gpu, gpu->nvrtc.nvrtcCreateProgram(&program, source->text, source->name, headers, headers ? header_text : NULL, headers ? header_name : NULL),
        "nvrtcCreateProgram");
    if (status == TESS_OK) {
        nvrtcResult result = gpu->nvrtc.nvrtcCompileProgram(program, count, options);
        snprintf(sentence, sizeof sentence, "%s does not compile for %s", source->name, target);
        status = result == NVRTC_SUCCESS ? fetch(gpu, program, image) : tess_gpu_refused(gpu, program, result, TESS_ERR_ENGINE, sentence);
        gpu->nvrtc.nvrtcDestroyProgram(&program);
    }
    tess_free(gpu->context, options, bytes);
    return status;
}

tess_status tess_gpu_compile(tess_gpu *gpu, const tess_gpu_source *source, int arch, tess_gpu_form form, tess_gpu_image *image) {
    *image = (tess_gpu_image){.form = form};
    TESS_TRY(tess_gpu_open_nvrtc(gpu));
    image->key = tess_gpu_source_key(source, arch, form, gpu->nvrtc_version);
    if (tess_gpu_cache_find(gpu, image))
        return TESS_OK;
    tess_status status = run_compiler(gpu, source, arch, image);
    if (status != TESS_OK)
        tess_gpu_image_free(gpu, image);
    else
        tess_gpu_cache_store(gpu, image);
    return status;
}

tess_status tess_gpu_target(tess_gpu *gpu, const tess_gpu_device *device, int *arch, tess_gpu_form *form) {
    int archs[128], count = 0, wanted = device->major * 10 + device->minor, best = 0;
    TESS_TRY(tess_gpu_open_nvrtc(gpu));
    TESS_NVRTC(gpu, nvrtcGetNumSupportedArchs, &count);
    if (count < 1 || count > TESS_COUNT(archs))
        return tess_fail(TESS_ERR_ENGINE, "the compiler says that it knows %d architectures, 1 to %d are understood", count, TESS_COUNT(archs));
    TESS_NVRTC(gpu, nvrtcGetSupportedArchs, archs);
    for (int i = 0; i < count; i++)
        if (archs[i] <= wanted && archs[i] > best)
            best = archs[i];
    if (best == 0)
        return tess_fail(TESS_ERR_ENGINE, "%s has compute capability %d.%d, the compiler (NVRTC %d.%d) knows %d.%d and later", device->name,
                         device->major, device->minor, gpu->nvrtc_version / 1000, gpu->nvrtc_version % 1000 / 10, archs[0] / 10, archs[0] % 10);
    *arch = best;
    *form = best == wanted && !gpu->driver.ptx_only ? TESS_GPU_CUBIN : TESS_GPU_PTX;
    return TESS_OK;
}
