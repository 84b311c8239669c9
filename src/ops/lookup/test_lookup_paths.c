/* SPDX-License-Identifier: Apache-2.0
 * test_lookup_paths.c - proves what examples/lookup_paths.cu shows: four memory paths to one table give the same outputs, and each lookup of a warp costs
 * what the rules of the hardware say - sectors for global and read-only loads, a turn an address for constant memory, wavefronts for shared - whether lanes
 * look up different entries or the same, alone and between sines; and the weights are the B-splines' own. */
#include <math.h>

#include "gpu_rows.h"
#include "tessera.h"

enum { BLOCKS = 4, THREADS = 256, COUNT = BLOCKS * THREADS };
enum { GLOBAL, CONSTANT, READ_ONLY, SHARED, PATHS };
enum { DIVERGENT, BROADCAST };
static const char *const paths[] = {"GLOBAL", "CONSTANT", "READ_ONLY", "SHARED"}, *const patterns[] = {"DIVERGENT", "BROADCAST"};
static char source[16384];

static uint64_t counter(const tess_profile *profile, const char *name) {
    uint64_t value = 0;
    assert_true(tess_profile_counter(profile, name, &value));
    return value;
}

static tess_profile *run(const char *form, int order, int path, int pattern) {
    tess_profile *profile;
    char launch[160];
    tess_profile_options options = {.struct_size = sizeof options, .name = "lookup_paths.cu", .no_fmad = true};
    snprintf(launch, sizeof launch, "%s<%d, %s, %s><<<%d, %d>>>(out:f64[%d], %d, 0)", form, order, paths[path], patterns[pattern], BLOCKS, THREADS,
             COUNT, COUNT);
    assert_tess_ok(tess_profile_kernel(&profile, NULL, source, launch, NULL, 0, &options));
    if (tess_profile_faults(profile))
        fail_msg("%s: %s", launch, tess_profile_fault(profile, 0));
    return profile;
}

typedef struct costs {
    double requests, sectors, constants, shared, wavefronts, shared_stores;
} costs;

/* The lookups of all warps: of 1 entry a thread (bare), or of every entry in turn (particles). */
static costs expected(bool particles, int order, int path, int pattern) {
    int size = (order + 1) * (order + 1);
    costs c = {0, 0, 0, 0, 0, 0};
    for (int first = 0; first < COUNT; first += 32)
        for (int k = 0; k < (particles ? size : 1); k++) {
            bool sector[9] = {false}, entry[36] = {false};
            tess_gpu_shared_cost cost = {0, 0, 0};
            int32_t address[32];
            for (int lane = 0; lane < 32; lane++) {
                int at = pattern == DIVERGENT ? (first + lane + k) % size : particles ? k : first / 32 % size;
                c.constants += path == CONSTANT && !entry[at];
                c.sectors += path != CONSTANT && path != SHARED && !sector[at / 4];
                entry[at] = sector[at / 4] = true;
                address[lane] = at * 8;
            }
            tess_gpu_shared_request(&cost, address, 8, false);
            c.requests += path == GLOBAL || path == READ_ONLY;
            c.shared += path == SHARED ? cost.requests : 0;
            c.wavefronts += path == SHARED ? cost.wavefronts : 0;
        }
    if (path == SHARED) { /* each block's copy: 16 or 36 entries by one or two warps */
        c.requests += BLOCKS * (order == 3 ? 1 : 2);
        c.sectors += BLOCKS * (order == 3 ? 4 : 9);
        c.shared_stores += BLOCKS * (order == 3 ? 1 : 2);
    }
    return c;
}

static costs counted(const tess_profile *profile) {
    return (costs){(double)counter(profile, "global_ld_requests"),   (double)counter(profile, "global_ld_sectors"),
                   (double)counter(profile, "constant_requests"),    (double)counter(profile, "shared_ld_requests"),
                   (double)counter(profile, "shared_ld_wavefronts"), (double)counter(profile, "shared_st_requests")};
}

static void every_path_costs_what_the_rules_say(void **state) {
    (void)state;
    for (int particles = 0; particles < 2; particles++)
        for (int order = 3; order <= 5; order += 2)
            for (int pattern = DIVERGENT; pattern <= BROADCAST; pattern++) {
                costs sines = {0, 0, 0, 0, 0, 0}; /* what the sines load: equal for every path */
                uint64_t hash = 0;
                for (int path = GLOBAL; path < PATHS; path++) {
                    tess_profile *profile = run(particles ? "particles" : "bare", order, path, pattern);
                    tess_profile_output output;
                    assert_true(tess_profile_output_get(profile, 0, &output));
                    costs c = counted(profile), e = expected(particles, order, path, pattern);
                    if (path == GLOBAL) {
                        hash = output.hash;
                        sines = (costs){c.requests - e.requests, c.sectors - e.sectors, c.constants, 0, 0, 0};
                        assert_true(particles ? sines.requests >= 0 : sines.requests == 0 && sines.sectors == 0 && sines.constants == 0);
                    }
                    assert_true(output.hash == hash);
#define EQUAL(word)                                                                                                                                  \
    if (c.word != e.word + sines.word)                                                                                                               \
    fail_msg("%s, order %d, %s, %s: %s %.0f, expected %.0f", particles ? "particles" : "bare", order, paths[path], patterns[pattern], #word, c.word, \
             e.word + sines.word)
                    EQUAL(requests);
                    EQUAL(sectors);
                    EQUAL(constants);
                    EQUAL(shared);
                    EQUAL(wavefronts);
                    EQUAL(shared_stores);
                    tess_profile_free(profile);
                }
            }
}

/* B-spline of order m - 1 at u by its recursion, in floating point. */
static double spline(int m, double u) {
    if (m == 1)
        return u >= 0 && u < 1;
    return (u * spline(m - 1, u) + (m - u) * spline(m - 1, u - 1)) / (m - 1);
}

static void the_weights_are_splines(void **state) {
    (void)state;
    for (int order = 3; order <= 5; order += 2) {
        int points = order + 1, size = points * points;
        double table[36];
        tess_profile *profile = run("bare", order, GLOBAL, BROADCAST); /* warp w looks up entry w: 32 of them */
        tess_profile_output output;
        assert_true(tess_profile_output_get(profile, 0, &output));
        int seen = COUNT / 32 < size ? COUNT / 32 : size;
        for (int i = 0; i < seen; i++)
            table[i] = ((const double *)output.data)[32 * i];
        if (order == 3) /* known by heart: (1 - 2x)^3 / 48 */
            assert_true(table[0] == 1.0 / 48 && table[1] == -6.0 / 48 && table[2] == 12.0 / 48 && table[3] == -8.0 / 48);
        for (int j = 0; (j + 1) * points <= seen; j++)
            for (double x = -0.5; x < 0.5; x += 0.0625) {
                double value = 0;
                for (int k = order; k >= 0; k--)
                    value = value * x + table[j * points + k];
                if (fabs(value - spline(points, x + 0.5 + order - j)) > 1e-15) /* six roundings of numbers below 1 */
                    fail_msg("order %d, weight %d at %g: %.17g", order, j, x, value);
            }
        tess_profile_free(profile);
    }
}

static bool read_source(void) {
    FILE *file = fopen("examples/lookup_paths.cu", "rb");
    size_t length = file ? fread(source, 1, sizeof source - 1, file) : 0;
    if (file)
        fclose(file);
    return length > 0 && length < sizeof source - 1;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_path_costs_what_the_rules_say), cmocka_unit_test(the_weights_are_splines)};
    if (!gpu_test_compiler()) {
        printf("no compiler for kernels here: %s\n", tess_detail());
        return 77;
    }
    if (!read_source()) {
        printf("examples/lookup_paths.cu cannot be read: run the test from the top of the tree\n");
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
