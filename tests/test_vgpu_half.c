/* SPDX-License-Identifier: Apache-2.0
 * test_vgpu_half.c - 16-bit floats: every result is the representable value nearest to the exact one, ties to even, found by looking at all 65536 of them.
 * Operands are kept in a range where a double holds products and sums exactly. */
#include <math.h>

#include "vgpu.h"

typedef struct half_format {
    int fraction_bits, bias;
} half_format;
static const half_format f16 = {10, 15}, bf16 = {7, 127};

static double value(unsigned bits, half_format f) {
    int exponent = (int)(bits >> f.fraction_bits & ((1u << (15 - f.fraction_bits)) - 1)), fraction = (int)(bits & ((1u << f.fraction_bits) - 1));
    double x =
        exponent ? ldexp((1 << f.fraction_bits) + fraction, exponent - f.bias - f.fraction_bits) : ldexp(fraction, 1 - f.bias - f.fraction_bits);
    return bits & 0x8000 ? -x : x;
}

static void check(double exact, unsigned got, half_format f, const char *what, int lane) {
    unsigned best = 0, infinity = 0x8000u - (1u << f.fraction_bits);
    for (unsigned bits = 0; bits < infinity; bits++) {
        double now = fabs(value(bits, f) - fabs(exact)), least = fabs(value(best, f) - fabs(exact));
        if (now < least || (now == least && !(bits & 1)))
            best = bits;
    }
    best |= signbit(exact) ? 0x8000 : 0;
    if (best != got)
        fail_msg("%s, lane %d: %04x, not %04x", what, lane, got, best);
}

/* Random bits with an exponent between -5 and 5. */
static uint16_t operand(uint64_t *random, half_format f) {
    unsigned exponent = (unsigned)(f.bias + hostile_between(random, -5, 5));
    return (uint16_t)((hostile_random(random) & 0x8000) | exponent << f.fraction_bits | (hostile_random(random) & ((1u << f.fraction_bits) - 1)));
}

static void test_half(void **state) {
    (void)state;
    for (int d = 0; d < 2; d++) {
        vgpu_bench b;
        char name[64];
        uint64_t random = 12;
        uint16_t x[66], y[66], out[64 * 6];
        snprintf(name, sizeof name, "half.%s.ptx", vgpu_dialects[d]);
        vgpu_begin_file(&b, name, TESS_ISA_AUTO, 1);
        for (int k = 0; k < 3; k++) {
            static const char *const kernels[] = {"half_arithmetic", "bfloat_arithmetic", "half_pairs"};
            half_format f = k == 1 ? bf16 : f16;
            for (int i = 0; i < 66; i++) {
                x[i] = operand(&random, f);
                y[i] = operand(&random, f);
            }
            uint64_t x_at = vgpu_array(&b, x, sizeof x), y_at = vgpu_array(&b, y, sizeof y), out_at = vgpu_array(&b, NULL, sizeof out);
            VGPU_PARAM(&b, uint64_t, x_at);
            VGPU_PARAM(&b, uint64_t, y_at);
            VGPU_PARAM(&b, uint64_t, out_at);
            vgpu_launch(&b, kernels[k], (tess_vgpu_launch_options){.block = {k == 2 ? 32 : 64}, .check = true});
            vgpu_no_faults(&b);
            vgpu_fetch(&b, out, out_at, sizeof out);
            for (int i = 0; i < 64; i++) {
                double u = value(x[i], f), v = value(y[i], f), next = value(x[i + 1], f);
                if (k == 2) { /* a * b + (a + b), the inner sum rounded first: here only that the two halves of a word do not mix */
                    unsigned sum = 0;
                    for (unsigned bits = 0; bits < 0x10000; bits++)
                        if ((bits & 0x7c00) != 0x7c00 && fabs(value(bits, f) - (u + v)) < fabs(value(sum, f) - (u + v)))
                            sum = bits;
                    bool tie = fabs(fabs(value(sum + 1, f) - (u + v)) - fabs(value(sum, f) - (u + v))) == 0 || (sum & 0x7fff) == 0;
                    if (!tie)
                        check(u * v + value(sum, f), out[i], f, "pair", i);
                    continue;
                }
                const uint16_t *got = out + (k ? 4 : 6) * i;
                check(u + v, got[0], f, "add", i);
                check(u * v, got[1], f, "mul", i);
                check(u * v + next, got[2], f, "fma", i);
                check(u * 1.5, got[3], f, "convert", i);
                if (k == 0) {
                    assert_int_equal(got[4], u > v ? x[i] : y[i]);
                    assert_int_equal(got[5], u < v ? x[i] : y[i]);
                }
            }
        }
        vgpu_end(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_half)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
