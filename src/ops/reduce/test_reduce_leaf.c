/* SPDX-License-Identifier: Apache-2.0
 * test_reduce_leaf.c - sums of rows that begin anywhere in a line and end with a page: every instruction set gives the baseline's bits, for every kind of element
 * that is converted or mapped on its way, and reads nothing outside the rows' vectors. Lengths around every turn of the loops, elements at odd addresses too. Eight rows
 * of columns likewise, which are held against the definition. */
#include "hostile.h"

#include <sys/mman.h>
#include <unistd.h>

#include "core/context.h"
#include "core/maker.h"
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

/* Eight rows that end with the page, or nearly, of n columns each, and their sums or products: lanes are joined row by row and halve as neighbours, and rows below are added to
 * that from the nearest on. What the stack has elsewhere stays. */
#define EIGHT(name, type, of, START, JOIN)                                                                                                 \
    static void eight_##name(reduce_eight got_by, int64_t n, int from_end, int lanes, bool more, int merges, uint64_t *random) {           \
        static type expected[MOST_MERGES + 1][MOST_COLUMNS], got[MOST_MERGES + 1][MOST_COLUMNS];                                           \
        const char *row[REDUCE_EIGHT], *next[REDUCE_EIGHT];                                                                                \
        char *rows = room_end - from_end - REDUCE_EIGHT * n * (int64_t)sizeof(type);                                                       \
        for (int64_t i = 0; i < REDUCE_EIGHT * n; i++)                                                                                     \
            put(rows + i * (int64_t)sizeof(type), tess_##of, random);                                                                      \
        for (int k = 0; k < REDUCE_EIGHT; k++)                                                                                             \
            next[k] = row[k] = rows + (5 * k + 3) % REDUCE_EIGHT * n * (int64_t)sizeof(type);                                              \
        for (int64_t c = 0; c < n; c++) {                                                                                                  \
            type sum[REDUCE_EIGHT];                                                                                                        \
            for (int level = 0; level <= MOST_MERGES; level++) {                                                                           \
                put((char *)&got[level][c], tess_##of, random);                                                                            \
                expected[level][c] = got[level][c];                                                                                        \
            }                                                                                                                              \
            for (int k = 0; k < REDUCE_EIGHT; k++)                                                                                         \
                sum[k] = START;                                                                                                            \
            if (more)                                                                                                                      \
                sum[0] = got[MOST_MERGES][c];                                                                                              \
            for (int k = 0; k < REDUCE_EIGHT; k++) {                                                                                       \
                type x;                                                                                                                    \
                memcpy(&x, row[k] + c * (int64_t)sizeof x, sizeof x);                                                                      \
                sum[k * lanes / REDUCE_EIGHT] = sum[k * lanes / REDUCE_EIGHT] JOIN x;                                                      \
            }                                                                                                                              \
            for (int w = 1; w < lanes; w *= 2)                                                                                             \
                for (int k = 0; k < lanes; k += 2 * w)                                                                                     \
                    sum[k] = sum[k] JOIN sum[k + w];                                                                                       \
            for (int k = 1; k <= merges; k++)                                                                                              \
                sum[0] = got[MOST_MERGES - k][c] JOIN sum[0];                                                                              \
            expected[MOST_MERGES - merges][c] = sum[0];                                                                                    \
        }                                                                                                                                  \
        got_by(got[MOST_MERGES], MOST_COLUMNS, merges, row, next, lanes, more, n, NULL);                                                   \
        for (int level = 0; level <= MOST_MERGES; level++)                                                                                 \
            if (memcmp(expected[level], got[level], (size_t)n * sizeof(type)) != 0)                                                        \
                fail_msg("%s: %d columns, %d lanes%s, %d merges, %d bytes before a page's end, row %d of the stack", #name, (int)n, lanes, \
                         more ? " on top" : "", merges, from_end, level);                                                                  \
    }
enum { MOST_COLUMNS = 1100, MOST_MERGES = 3 };
EIGHT(sums_f32, float, f32, 0, +)
EIGHT(sums_f64, double, f64, 0, +)
EIGHT(products_f32, float, f32, 1, *)
EIGHT(products_f64, double, f64, 1, *)

static void eight_rows_anywhere(void **state) {
    static const tess_isa isas[] = {TESS_ISA_BASELINE, TESS_ISA_AVX2, TESS_ISA_AVX512, TESS_ISA_NEON};
    static const int64_t widths[] = {16,  17,  24,  31,  32,  255, 256,  257,  264,  300,  511, 512,
                                     513, 520, 528, 529, 544, 545, 1000, 1023, 1024, 1025, 1100};
    uint64_t random = 22;
    (void)state;
    for (int i = 0; i < (int)TESS_COUNT(isas); i++) {
        tess_context *context;
        tess_context_options options = {.struct_size = sizeof options, .isa = isas[i], .threads = 1};
        if (tess_open(&context, &options) != TESS_OK)
            continue;
        const reduce_eight_kernels *eight = tess_reduce_kernels_for(context->slot)->eight;
        for (int width = 0; width < (int)TESS_COUNT(widths); width++)
            for (int from_end = 0; from_end < 64; from_end += 13)
                for (int lanes = 1, more = 1; lanes <= REDUCE_EIGHT; lanes *= 2 - more, more = 0) {
                    const int merges = (width + from_end / 13) % (MOST_MERGES + 1);
                    eight_sums_f32(eight->sums[REDUCE_PLAIN][tess_f32], widths[width], from_end, lanes, more, merges, &random);
                    eight_sums_f64(eight->sums[REDUCE_PLAIN][tess_f64], widths[width], from_end, lanes, more, merges, &random);
                    eight_products_f32(eight->products[tess_f32], widths[width], from_end, lanes, more, merges, &random);
                    eight_products_f64(eight->products[tess_f64], widths[width], from_end, lanes, more, merges, &random);
                }
        tess_close(context);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_anywhere), cmocka_unit_test(eight_rows_anywhere)};
    int failed = 0;
    for (int generation = 3; generation <= 4; generation++) { /* two rows in turns, one after another (core/maker.h) */
        tess_cpu_pretend_zen(generation);
        failed += cmocka_run_group_tests(tests, setup, NULL);
    }
    return failed;
}
