/* SPDX-License-Identifier: Apache-2.0
 * fuzz_launch.c - any text as a launch, bound to kernels of several signatures: a launch within the limits, or one sentence. The first byte chooses whether the text
 * is only read or run as well; runs are kept small. */
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char source[] = ".version 9.0\n.target sm_90\n.address_size 64\n"
                             ".visible .entry k(.param .u64 a, .param .f32 b, .param .u32 c, .param .align 8 .b8 d[24]) {\n"
                             " .reg .f64 %fd<2>; ld.param.f64 %fd1, [d+8]; ret;\n}\n"
                             ".visible .entry _Z4pairIiEvPT_i(.param .u64 p, .param .u32 q) { ret; }\n";

/* Nothing that would only cost time and memory. */
static bool small(const tess_launch *l) {
    int64_t elements = 0;
    for (int i = 0; i < l->count; i++)
        elements += l->values[i].kind == TESS_LAUNCH_ARRAY ? l->values[i].count : 0;
    return elements < 4096 && (uint64_t)l->grid[0] * l->grid[1] * l->grid[2] < 64 && (uint64_t)l->block[0] * l->block[1] * l->block[2] < 256;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tess_context *context;
    tess_launch launch;
    if (size == 0)
        return 0;
    char *text = malloc(size);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    if (tess_context_get(&context, NULL) != TESS_OK)
        abort();
    if (tess_launch_parse(context, text, &launch) != TESS_OK) {
        if (!*tess_detail() || launch.values)
            abort();
    } else {
        bool run = data[0] & 1 && small(&launch);
        for (int i = 0; i < launch.count; i++)
            if (launch.values[i].end <= i || launch.values[i].end > launch.count || launch.values[i].at < 0 || launch.values[i].at >= (int)size ||
                launch.values[i].count < 0)
                abort();
        tess_launch_free(context, &launch);
        int32_t number = 7;
        DLTensor scalar = tess_view(&number, tess_i32, 0, NULL, NULL);
        const DLTensor *arrays[] = {&scalar, &scalar};
        tess_profile *profile = NULL;
        if (run && tess_profile_kernel(&profile, context, source, text, arrays, 2, NULL) != TESS_OK && (!*tess_detail() || profile))
            abort();
        tess_profile_free(profile);
    }
    free(text);
    return 0;
}
