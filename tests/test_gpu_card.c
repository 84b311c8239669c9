/* SPDX-License-Identifier: Apache-2.0
 * test_gpu_card.c - proves on a real card what tests/gpu_card.h lists. Skipped where there is no card or no compiler. Prints what `tessera devices` says
 * and a few times. */
#include "gpu_card.h"

int main(void) {
    char *folder = fake_cache(), *said = malloc(1 << 16);
    size_t length;
    double begin = tess_seconds();
    bool there = tess_open(&context, NULL) == TESS_OK && tess_gpu_get(&gpu, context) == TESS_OK && tess_gpu_open(gpu) == TESS_OK;
    double opened = tess_seconds() - begin;
    compiler = there && tess_gpu_open_nvrtc(gpu) == TESS_OK;
    there = compiler && tess_gpu_device_get(gpu, 0, &device) == TESS_OK;
    int failed = 77;
    if (there) {
        char *kernels = vgpu_read("card.cu");
        source.text = kernels;
        printf("note: driver opened in %.1f ms\n", opened * 1e3);
        if (tess_devices(context, TESS_TEXT, said, 1 << 16, &length) == TESS_OK)
            printf("%s", said);
        failed = cmocka_run_group_tests(card_tests, NULL, NULL);
        free(kernels);
    } else {
        printf("%s\n", tess_detail());
    }
    tess_close(context);
    fake_cache_end(folder);
    free(said);
    return failed;
}
