/* SPDX-License-Identifier: Apache-2.0
 * describe.c - what `tessera devices` says about GPUs, and the engine's place in core's list. */
#include <stdio.h>

#include "core/engine.h"
#include "gpu/row.h"

static void describe_device(const tess_gpu_device *d, tess_text *text) {
    tess_text_add(text,
                  "gpu %d    %s, compute capability %d.%d, %d multiprocessors at %d MHz, %.1f GiB at %.0f GB/s (%d bits at %d MHz, 2 a clock)\n",
                  d->ordinal, d->name, d->major, d->minor, d->sms, d->clock_khz / 1000, (double)d->memory / (1 << 30), tess_gpu_bandwidth(d) / 1e9,
                  d->bus_bits, d->memory_clock_khz / 1000);
    tess_text_add(text, "         L2 %d KiB, shared memory %d KiB a block (%d without opt-in) and %d a multiprocessor, constant memory %zu KiB\n",
                  d->l2 / 1024, d->shared_block_optin / 1024, d->shared_block / 1024, d->shared_sm / 1024, d->constant_memory / 1024);
    tess_text_add(text, "         threads %d a block and %d a multiprocessor, %d registers a multiprocessor\n", d->threads_block, d->threads_sm,
                  d->registers_sm);
}

static void describe_device_json(const tess_gpu_device *d, tess_text *text) {
    tess_text_add(text, "{\"index\": %d, \"name\": ", d->ordinal);
    tess_text_json(text, d->name);
    tess_text_add(
        text, ", \"compute_capability\": \"%d.%d\", \"multiprocessors\": %d, \"clock_khz\": %d, \"memory_clock_khz\": %d, \"memory_bus_bits\": %d",
        d->major, d->minor, d->sms, d->clock_khz, d->memory_clock_khz, d->bus_bits);
    tess_text_add(text, ", \"memory\": %zu, \"memory_bytes_per_s\": %.0f, \"l2\": %d, \"constant_memory\": %zu", d->memory, tess_gpu_bandwidth(d),
                  d->l2, d->constant_memory);
    tess_text_add(text, ", \"shared_memory_block\": %d, \"shared_memory_block_optin\": %d, \"shared_memory_multiprocessor\": %d", d->shared_block,
                  d->shared_block_optin, d->shared_sm);
    tess_text_add(text, ", \"threads_block\": %d, \"threads_multiprocessor\": %d, \"registers_multiprocessor\": %d}", d->threads_block, d->threads_sm,
                  d->registers_sm);
}

/* "driver": {"search": "...", "version": "13.0", "path": "..."} or "driver": {"search": "...", "reason": "..."} */
static void describe_library_json(tess_text *text, tess_gpu_library library, bool there, int version, const char *path) {
    tess_text_add(text, ", \"%s\": {\"search\": ", library == TESS_GPU_LIBCUDA ? "cuda" : "nvrtc");
    tess_text_json(text, tess_gpu_search_order(library));
    tess_text_add(text, ", ");
    if (there)
        tess_text_add(text, "\"version\": \"%d.%d\", \"path\": ", version / 1000, version % 1000 / 10);
    else
        tess_text_add(text, "\"reason\": ");
    tess_text_json(text, path);
    tess_text_add(text, "}");
}

/* The libraries are found here, whatever else the process does with CUDA: asking costs the loading of both. A machine without them is no failure, so
 * the detail of the last failing call is put back. */
static void describe(tess_context *context, tess_format format, tess_text *text) {
    char before[TESS_DETAIL_SIZE], driver_reason[TESS_DETAIL_SIZE] = "", nvrtc_reason[TESS_DETAIL_SIZE] = "";
    tess_gpu *gpu;
    snprintf(before, sizeof before, "%s", tess_detail());
    bool usable = tess_gpu_get(&gpu, context) == TESS_OK, driver = usable && tess_gpu_open(gpu) == TESS_OK;
    if (!driver)
        snprintf(driver_reason, sizeof driver_reason, "%s", tess_detail());
    bool nvrtc = usable && tess_gpu_open_nvrtc(gpu) == TESS_OK;
    if (!nvrtc)
        snprintf(nvrtc_reason, sizeof nvrtc_reason, "%s", tess_detail());
    tess_fail(TESS_OK, "%s", before);
    int count = driver ? gpu->device_count : 0;
    if (format == TESS_JSON) {
        tess_text_add(text, ", \"gpus\": [");
        for (int i = 0; i < count; i++) {
            tess_text_add(text, "%s", i ? ", " : "");
            describe_device_json(&gpu->devices[i], text);
        }
        tess_text_add(text, "]");
        describe_library_json(text, TESS_GPU_LIBCUDA, driver, driver ? gpu->driver_version : 0, driver ? gpu->driver_path : driver_reason);
        describe_library_json(text, TESS_GPU_LIBNVRTC, nvrtc, nvrtc ? gpu->nvrtc_version : 0, nvrtc ? gpu->nvrtc_path : nvrtc_reason);
        return;
    }
    if (driver)
        tess_text_add(text, "cuda     the driver supports %d.%d (%s); the order of the search: %s\n", gpu->driver_version / 1000,
                      gpu->driver_version % 1000 / 10, gpu->driver_path, tess_gpu_search_order(TESS_GPU_LIBCUDA));
    else
        tess_text_add(text, "gpu      none: %s\n", driver_reason);
    if (nvrtc)
        tess_text_add(text, "nvrtc    %d.%d (%s); the order of the search: %s\n", gpu->nvrtc_version / 1000, gpu->nvrtc_version % 1000 / 10,
                      gpu->nvrtc_path, tess_gpu_search_order(TESS_GPU_LIBNVRTC));
    else
        tess_text_add(text, "nvrtc    none: %s\n", nvrtc_reason);
    for (int i = 0; i < count; i++)
        describe_device(&gpu->devices[i], text);
}

const tess_engine_hooks tess_gpu_hooks = {.engines = 1u << TESS_ENGINE_CUDA | 1u << TESS_ENGINE_VIRTUAL,
                                          .describe = describe,
                                          .close = tess_gpu_close,
                                          .open = tess_gpu_plan_open,
                                          .prepare = tess_gpu_plan_prepare,
                                          .execute = tess_gpu_execute,
                                          .release = tess_gpu_plan_release,
                                          .explain = tess_gpu_plan_explain,
                                          .name = tess_gpu_plan_name,
                                          .place = tess_gpu_plan_place,
                                          .time = tess_gpu_time,
                                          .limits = tess_gpu_limits};
