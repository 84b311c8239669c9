/* SPDX-License-Identifier: Apache-2.0
 * shipped.c - PTX that was made earlier, for machines without NVRTC: the virtual GPU runs it as it is, a driver compiles it.
 *
 * shipped.ptx beside this file has the ladder's kernels, shipped_general.ptx those of the general rows (tests/shipped.h lists what for). Both are texts of
 * records, each "kernel WORDS\nkey HEX\nsize N\n" and N bytes of PTX. The key is that of the source for compute capability 9.0 with the compiler's
 * version as 0, so a record whose kernel text has changed since is not found. tests/test_cli_shipped.c makes and checks them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/gpu.h"

#define FILE_AS(name, path)                  \
    __asm__(".pushsection .rodata\n"         \
            ".hidden " #name "\n"            \
            ".globl " #name "\n" #name ":\n" \
            ".incbin \"" path "\"\n"         \
            ".byte 0\n"                      \
            ".popsection\n");                \
    extern const char name[] __attribute__((visibility("hidden")))
FILE_AS(tess_gpu_shipped_file, "src/gpu/shipped.ptx");
#ifndef TESS_SHIPPED_GENERAL
#define TESS_SHIPPED_GENERAL 1 /* 0: in a Python wheel, for its size */
#endif
#if TESS_SHIPPED_GENERAL
FILE_AS(tess_gpu_shipped_general, "src/gpu/shipped_general.ptx");
#else
static const char tess_gpu_shipped_general[] = "";
#endif

tess_gpu_key tess_gpu_shipped_key(const tess_gpu_source *source) { return tess_gpu_source_key(source, 90, TESS_GPU_PTX, 0); }

/* wanted: "key HEX" */
static const char *find_in(const char *file, const char *wanted, size_t *size) {
    for (const char *at = strstr(file, "\nkernel "); at;) {
        const char *is = strchr(at + 1, '\n'), *length = is ? strchr(is + 1, '\n') : NULL;
        if (!length || strncmp(length + 1, "size ", 5) != 0)
            return NULL;
        char *end;
        *size = strtoull(length + 6, &end, 10);
        if (strncmp(is + 1, wanted, strlen(wanted)) == 0)
            return end + 1;
        at = end + 1 + *size;
        at = *at ? at : NULL;
    }
    return NULL;
}

const char *tess_gpu_shipped_find(const tess_gpu_key *key, size_t *size) {
    char wanted[4 + TESS_SHA256_TEXT] = "key ";
    tess_sha256_text(key->bytes, wanted + 4);
    const char *found = find_in(tess_gpu_shipped_file, wanted, size);
    return found ? found : find_in(tess_gpu_shipped_general, wanted, size);
}
