/* SPDX-License-Identifier: Apache-2.0
 * gpu_compile.c - what the kernels of a plan cost at their first use: compiled into an empty cache, then found in it by another context. */
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/row.h"

/* All kernels of the plan's row, in a context of its own; milliseconds, or -1. */
static double get_kernels(const tess_plan *plan) {
    const tess_gpu_plan *made = plan->prepared;
    const tess_gpu_layout *layout = &made->layout;
    tess_context *context;
    tess_gpu *gpu;
    tess_gpu_device *device;
    tess_gpu_scope scope = {0};
    tess_gpu_kernel kernel;
    double start = 0;
    if (tess_open(&context, NULL) != TESS_OK)
        return -1;
    tess_status status = tess_gpu_get(&gpu, context);
    if (status == TESS_OK)
        status = tess_gpu_open(gpu);
    if (status == TESS_OK)
        status = tess_gpu_device_get(gpu, 0, &device);
    if (status == TESS_OK)
        status = tess_gpu_enter(gpu, device, NULL, &scope);
    if (status == TESS_OK) /* the library alone takes longer than a kernel, and is loaded once */
        status = tess_gpu_open_nvrtc(gpu);
    start = tess_seconds();
    for (int s = 0; s < layout->steps && status == TESS_OK; s++) {
        int u = layout->step[s].unit;
        const tess_gpu_source source = {.name = layout->unit[u].text->name,
                                        .text = layout->unit[u].text->text,
                                        .headers = tess_gpu_unit_headers(layout, u, made->row->gpu->headers),
                                        .lasting = true,
                                        .options = layout->unit[u].option,
                                        .option_count = layout->unit[u].options};
        status = tess_gpu_kernel_get(&scope, &source, layout->step[s].entry, &kernel);
    }
    double took = (tess_seconds() - start) * 1e3;
    if (scope.gpu)
        tess_gpu_leave(&scope);
    tess_close(context);
    return status == TESS_OK ? took : -1;
}

void gpu_bench_compile(const tess_plan *plan, const char *work) {
    char folder[] = "/tmp/tessera-bench-XXXXXX", command[64];
    const char *before = getenv("TESSERA_CACHE");
    char *kept = before ? strdup(before) : NULL;
    if (!mkdtemp(folder))
        return;
    setenv("TESSERA_CACHE", folder, 1);
    double first = get_kernels(plan), again = get_kernels(plan);
    if (kept)
        setenv("TESSERA_CACHE", kept, 1);
    else
        unsetenv("TESSERA_CACHE");
    free(kept);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) != 0)
        printf("%s is left\n", folder);
    static const char *const trust[] = {"not tried", "gave known answers", "no known answers", "wrong"};
    printf("%-44s | %-24s | %7.1f ms compiled and loaded | %6.2f ms from the disk cache | %s\n", work, plan->row->name, first, again,
           trust[tess_gpu_kernel_trust(&((const tess_gpu_plan *)plan->prepared)->kernel[0])]);
    fflush(stdout);
}
