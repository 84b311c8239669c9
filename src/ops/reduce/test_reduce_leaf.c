/* SPDX-License-Identifier: Apache-2.0
 * test_reduce_leaf.c - sums of rows that begin anywhere in a line and end with a page: every instruction set gives the baseline's bits, for every kind of element
 * that is converted or mapped on its way, and reads nothing outside the rows' vectors. Lengths around every turn of the loops, elements at odd addresses too. */
#include "hostile.h"

#include <sys/mman.h>
#include <unistd.h>

#include "core/context.h"
#include "ops/reduce/reduce.h"

typedef void (*row_sums)(void *sums, const char *rows, int64_t step, int64_t count, int64_t k);

enum { ROOM = 1 << 17, MOST_ROWS = 5 };
static char *room_end; /* behind it lies a page that cannot be read */

static int setup(void **state) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    (void)state;
    char *room = mmap(NULL, ROOM + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED || mprotect(room + ROOM, page, PROT_NONE) != 0)
        return -1;
    room_end = room + ROOM;
    return 0;
}

/* Small numbers of both signs, zeros of both signs among them. */
static void put(char *to, tess_type type, uint64_t *random) {
    const float x = (float)(int64_t)hostile_between(random, 0, 4000) * (hostile_between(random, 0, 1) ? 0.37f : -0.61f);
    const double wide = (double)x * 1.0000001;
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (type == tess_f64)
        memcpy(to, &wide, sizeof wide);
    else if (type == tess_f32)
        memcpy(to, &x, sizeof x);
    else if (type == tess_bf16)
        memcpy(to, (const char *)&bits + 2, 2);
    else
        memcpy(to, &(uint16_t){(uint16_t)hostile_between(random, 0, 0x5fff)}, 2);
}

static void compare(const char *name, row_sums expected_by, row_sums got_by, tess_type type, int wide, uint64_t *random) {
    static const int64_t lengths[] = {1,   7,   8,   9,   15,  16,  17,  31,  33,  63,  64,  65,  100,  127,  129,
                                      255, 256, 257, 264, 271, 273, 300, 319, 320, 500, 511, 512, 1000, 1023, 2050};
    const int size = (int)tess_type_size(type);
    for (int length = 0; length < (int)TESS_COUNT(lengths); length++)
        for (int from_end = 0; from_end < 64; from_end += from_end % size ? size - 1
                                                          : length % 3    ? 1
                                                                          : size) { /* element by element, and once between two of them */
            const int64_t k = lengths[length], count = 1 + from_end % MOST_ROWS, step = k * size;
            char *rows = room_end - from_end - count * step;
            double expected[MOST_ROWS] = {0}, got[MOST_ROWS] = {0};
            for (int64_t i = 0; i < count * k; i++)
                put(rows + i * size, type, random);
            expected_by(expected, rows, step, count, k);
            got_by(got, rows, step, count, k);
            if (memcmp(expected, got, (size_t)count * (wide ? 8 : 4)) != 0)
                fail_msg("%s: %d rows of %d elements, %d bytes before a page's end", name, (int)count, (int)k, from_end);
        }
}

static void rows_anywhere(void **state) {
    static const tess_isa isas[] = {TESS_ISA_AVX2, TESS_ISA_AVX512, TESS_ISA_NEON};
    const reduce_row_kernels *expected = tess_reduce_kernels_for(TESS_SLOT_BASELINE)->rows;
    uint64_t random = 21;
    (void)state;
    for (int i = 0; i < (int)TESS_COUNT(isas); i++) {
        tess_context *context;
        tess_context_options options = {.struct_size = sizeof options, .isa = isas[i], .threads = 1};
        if (tess_open(&context, &options) != TESS_OK)
            continue;
        const reduce_row_kernels *got = tess_reduce_kernels_for(context->slot)->rows;
        for (int type = 0; type < TESS_TYPES; type++) {
            for (int map = 0; map < REDUCE_MAPS; map++)
                if (expected->sums[map][type])
                    compare(tess_type_name((tess_type)type), expected->sums[map][type], got->sums[map][type], (tess_type)type,
                            map == REDUCE_SQUARE || type == tess_f64, &random);
            if (expected->wide[type])
                compare(tess_type_name((tess_type)type), expected->wide[type], got->wide[type], (tess_type)type, 1, &random);
        }
        tess_close(context);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_anywhere)};
    return cmocka_run_group_tests(tests, setup, NULL);
}
