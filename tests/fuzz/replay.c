/* SPDX-License-Identifier: Apache-2.0
 * replay.c - runs a fuzz target on the files named, without libFuzzer: the kept corpus with any compiler, or a crashing input in a debugger. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        enum { LIMIT = 1 << 20 };
        uint8_t *data = malloc(LIMIT);
        if (!file || !data) {
            fprintf(stderr, "%s cannot be read\n", argv[i]);
            return 1;
        }
        size_t size = fread(data, 1, LIMIT, file);
        fclose(file);
        LLVMFuzzerTestOneInput(data, size);
        free(data);
    }
    printf("%d inputs\n", argc - 1);
    return 0;
}
