/* SPDX-License-Identifier: Apache-2.0
 * test_convert.c - proves: every loader and storer gives what a slow definition of the conversion gives, on values chosen to hurt (all 65536
 * patterns of f16 and bf16, the midpoints between neighbours and what lies a last bit beside them, saturation, NaN, integers of 64 bits), and
 * every instruction-set build gives the same bits, compact and strided, whatever the row's length.
 *
 * The definition works in long double, which holds every value of every compute type here (64 bits of mantissa at least), rounds once
 * by exact scaling and halves, and shares nothing with convert.c. */
#include "hostile.h"

#include <float.h>
#include <math.h>

#include "core/convert.h"
#include "core/cpu.h"

#if LDBL_MANT_DIG < 64
#error "the definition needs a long double of 64 bits of mantissa"
#endif

typedef struct format {
    int digits, low, high; /* bits of mantissa with the hidden one; exponents of the smallest normal and the largest number */
} format;
static const format formats[] = {
    [tess_f16] = {11, -14, 15}, [tess_bf16] = {8, -126, 127}, [tess_f32] = {24, -126, 127}, [tess_f64] = {53, -1022, 1023}};

static long double half_even(long double x) {
    long double below = floorl(x), rest = x - below;
    bool up = rest > 0.5L || (rest == 0.5L && fmodl(below, 2) != 0);
    return up ? below + 1 : below;
}

static long double round_to(format f, long double x) {
    if (isnan(x) || isinf(x) || x == 0)
        return x;
    int exponent = ilogbl(x);
    int quantum = (exponent < f.low ? f.low : exponent) - (f.digits - 1);
    long double rounded = copysignl(ldexpl(half_even(ldexpl(fabsl(x), -quantum)), quantum), x);
    return fabsl(rounded) >= ldexpl(1, f.high + 1) ? copysignl(INFINITY, x) : rounded;
}

/* The bits of a value that the format holds exactly, NaN canonical; and back. */
static uint64_t encode(tess_type type, long double x) {
    format f = formats[type];
    int field = f.digits - 1, width = (int)tess_type_size(type) * 8;
    uint64_t sign = (uint64_t)(signbit(x) != 0) << (width - 1), top = (uint64_t)(2 * f.high + 1) << field;
    if (isnan(x))
        return top | (uint64_t)1 << (field - 1);
    if (isinf(x))
        return sign | top;
    if (x == 0)
        return sign;
    int exponent = ilogbl(x) < f.low ? f.low : ilogbl(x);
    uint64_t mantissa = (uint64_t)ldexpl(fabsl(x), field - exponent);
    return sign | (mantissa + ((uint64_t)(exponent - f.low) << field)); /* the hidden bit adds the one that normal exponents have */
}
static long double decode(tess_type type, uint64_t bits) {
    format f = formats[type];
    int field = f.digits - 1, width = (int)tess_type_size(type) * 8;
    uint64_t mantissa = bits & (((uint64_t)1 << field) - 1);
    int exponent = (int)(bits >> field & (uint64_t)(2 * f.high + 1));
    long double sign = bits >> (width - 1) ? -1.0L : 1.0L;
    if (exponent == 2 * f.high + 1)
        return mantissa ? copysignl(NAN, sign) : sign * INFINITY;
    return sign * ldexpl((long double)(exponent ? mantissa | (uint64_t)1 << field : mantissa), (exponent ? exponent : 1) - f.high - field);
}

/* What a storer must write for x, as bits. */
static uint64_t stored(tess_type to, long double x) {
    if (tess_is_float(to))
        return encode(to, round_to(formats[to], x));
    if (to == tess_bool)
        return isnan(x) || x != 0;
    int width = (int)tess_type_size(to) * 8;
    long double low = tess_is_unsigned(to) ? 0 : -ldexpl(1, width - 1), high = ldexpl(1, tess_is_unsigned(to) ? width : width - 1) - 1;
    if (isnan(x))
        return 0;
    long double y = isinf(x) ? x : half_even(x);
    y = y < low ? low : y > high ? high : y;
    uint64_t bits = y < 0 ? 0 - (uint64_t)-y : (uint64_t)y;
    return width == 64 ? bits : bits & (((uint64_t)1 << width) - 1);
}

static uint64_t get(const void *p, size_t size) {
    uint64_t bits = 0;
    memcpy(&bits, p, size); /* little-endian, as every machine that Tessera runs on */
    return bits;
}

/* ---- values ---- */
enum { ROOM = 600000 };
typedef struct values {
    tess_type compute;
    size_t count, size;
    unsigned char *data; /* count values of the compute type */
} values;

static void add_bits(values *v, uint64_t bits) {
    assert_true(v->count < ROOM);
    memcpy(v->data + v->count++ * v->size, &bits, v->size);
}
static void add_around(values *v, uint64_t bits) {
    add_bits(v, bits - 1);
    add_bits(v, bits);
    add_bits(v, bits + 1);
}
static long double value_of(tess_type compute, const void *p) {
    uint64_t bits = get(p, tess_type_size(compute));
    return compute == tess_u64 ? (long double)bits : compute == tess_i64 ? (long double)(int64_t)bits : decode(compute, bits);
}

static values make_values(tess_type compute) {
    values v = {.compute = compute, .size = tess_type_size(compute)};
    uint64_t random = 1 + (uint64_t)compute;
    v.data = malloc(ROOM * v.size);
    assert_non_null(v.data);
    if (tess_is_float(compute)) {
        const tess_type small[] = {tess_f16, tess_bf16};
        for (int k = 0; k < 2; k++)
            for (uint64_t bits = 0; bits < 65536; bits++) {
                long double x = decode(small[k], bits), next = decode(small[k], (bits + 1) & 0xffff);
                add_bits(&v, encode(compute, x));
                if (isfinite(x) && isfinite(next) && (bits & 0x7fff) != 0x7fff && bits % 4 < 2) /* midpoints after even and odd mantissas */
                    add_around(&v, encode(compute, (x + next) / 2));
            }
        for (int e = -2; e < 66; e++) /* halves and limits of the integers */
            for (int k = 0; k < 2; k++) {
                long double power = ldexpl(k ? -1 : 1, e);
                add_around(&v, encode(compute, power));
                add_around(&v, encode(compute, round_to(formats[compute], power + 0.5L)));
                add_around(&v, encode(compute, round_to(formats[compute], power - 0.5L)));
            }
        for (int i = -600; i <= 600; i++)
            add_around(&v, encode(compute, i / 2.0L));
        if (compute == tess_f64)
            for (int i = 0; i < 20000; i++) { /* midpoints of f32 */
                uint64_t bits = hostile_random(&random) & 0xffffffff;
                long double x = decode(tess_f32, bits), next = decode(tess_f32, (bits + 1) & 0xffffffff);
                if (isfinite(x) && isfinite(next))
                    add_around(&v, encode(tess_f64, (x + next) / 2));
            }
    } else {
        for (int e = 0; e < 64; e++)
            for (int bits = 1; bits < 256; bits += 2) { /* 8 bits at every place: midpoints of bf16 and, with a far bit, of wider floats */
                uint64_t x = (uint64_t)bits << e, far = (uint64_t)1 << e;
                add_around(&v, x);
                add_around(&v, 0 - x);
                if (e > 24)
                    add_around(&v, x | far >> 24);
                if (e > 11)
                    add_around(&v, x | far >> 11);
                if (e > 53)
                    add_around(&v, x | far >> 53);
            }
    }
    for (int i = 0; i < 40000; i++) {
        uint64_t bits = hostile_random(&random);
        add_bits(&v, tess_is_float(compute) ? bits : bits >> (bits & 63));
    }
    return v;
}

static const tess_type real_compute[] = {tess_u64, tess_i64, tess_f32, tess_f64};

/* ---- storers ---- */
static void store_all(void **state) {
    (void)state;
    for (int c = 0; c < TESS_COUNT(real_compute); c++) {
        values v = make_values(real_compute[c]);
        unsigned char *compact = malloc(v.count * 8), *strided = malloc(v.count * 11 + 8);
        for (tess_type to = tess_bool; to <= tess_f64; to++)
            for (int slot = 0; slot < TESS_SLOTS; slot++) {
                if (!tess_cpu_has_slot((tess_isa_slot)slot))
                    continue;
                size_t size = tess_type_size(to);
                tess_row_storer store = tess_storer((tess_isa_slot)slot, v.compute, to);
                assert_non_null(store);
                store(compact, (int64_t)size, v.data, (int64_t)v.count);
                store(strided + (v.count - 1) * 11, -11, v.data, (int64_t)v.count);
                for (size_t i = 0; i < v.count; i++) {
                    uint64_t got = get(compact + i * size, size), got_strided = get(strided + (v.count - 1 - i) * 11, size);
                    if (slot == 0) {
                        uint64_t expected = stored(to, value_of(v.compute, v.data + i * v.size));
                        if (got != expected)
                            fail_msg("%s %#llx to %s: %#llx, the definition says %#llx", tess_type_name(v.compute),
                                     (unsigned long long)get(v.data + i * v.size, v.size), tess_type_name(to), (unsigned long long)got,
                                     (unsigned long long)expected);
                    }
                    if (got != got_strided)
                        fail_msg("%s to %s, value %zu: compact and strided differ", tess_type_name(v.compute), tess_type_name(to), i);
                }
                if (slot > 0) { /* the strided row equals the compact one; compare the compact one with the baseline's */
                    unsigned char *baseline = malloc(v.count * size);
                    tess_storer(TESS_SLOT_BASELINE, v.compute, to)(baseline, (int64_t)size, v.data, (int64_t)v.count);
                    if (memcmp(baseline, compact, v.count * size) != 0)
                        fail_msg("%s to %s: %s and baseline differ", tess_type_name(v.compute), tess_type_name(to),
                                 tess_slot_name((tess_isa_slot)slot));
                    free(baseline);
                }
            }
        free(compact);
        free(strided);
        free(v.data);
    }
}

/* ---- loaders ---- */

/* The element as a long double; bits holds it. */
static long double element_value(tess_type type, uint64_t bits) {
    if (tess_is_float(type))
        return decode(type, bits);
    if (type == tess_bool)
        return bits != 0;
    int shift = 64 - (int)tess_type_size(type) * 8;
    return tess_is_unsigned(type) ? (long double)bits : (long double)((int64_t)(bits << shift) >> shift);
}

static void load_all(void **state) {
    (void)state;
    enum { COUNT = 65536 + 40000 };
    unsigned char *from = malloc((size_t)COUNT * 8), *row = malloc((size_t)COUNT * 8 + 8), *other = malloc((size_t)COUNT * 8);
    for (tess_type type = tess_bool; type <= tess_f64; type++) {
        size_t size = tess_type_size(type);
        uint64_t random = (uint64_t)type;
        for (size_t i = 0; i < COUNT; i++) { /* all patterns of the small types, then random ones; of a bool any byte */
            uint64_t bits = i < 65536 ? i : hostile_random(&random);
            if (i >= 65536 && size == 8 && !tess_is_float(type))
                bits >>= bits & 63;
            memcpy(from + i * size, &bits, size);
        }
        for (int c = 0; c < TESS_COUNT(real_compute); c++) {
            tess_type compute = real_compute[c];
            size_t width = tess_type_size(compute);
            if (tess_is_float(type) && !tess_is_float(compute))
                continue; /* never asked for */
            for (int slot = 0; slot < TESS_SLOTS; slot++) {
                if (!tess_cpu_has_slot((tess_isa_slot)slot))
                    continue;
                tess_row_loader load = tess_loader((tess_isa_slot)slot, type, compute);
                assert_non_null(load);
                load(row, from, (int64_t)size, COUNT);
                load(other, from + (COUNT - 1) * size, -(int64_t)size, COUNT); /* backwards: the strided path */
                for (size_t i = 0; i < COUNT; i++) {
                    uint64_t bits = get(from + i * size, size), got = get(row + i * width, width);
                    long double x = element_value(type, bits);
                    if (isnan(x)) {
                        assert_true(isnan(decode(compute, got)));
                    } else {
                        uint64_t expected = tess_is_float(compute) ? encode(compute, round_to(formats[compute], x))
                                            : x < 0                ? 0 - (uint64_t)-x
                                                                   : (uint64_t)x; /* to u64 modulo 2^64 */
                        if (got != expected)
                            fail_msg("%s %#llx as %s (%s): %#llx, the definition says %#llx", tess_type_name(type), (unsigned long long)bits,
                                     tess_type_name(compute), tess_slot_name((tess_isa_slot)slot), (unsigned long long)got,
                                     (unsigned long long)expected);
                    }
                    if (memcmp(row + i * width, other + (COUNT - 1 - i) * width, width) != 0)
                        fail_msg("%s as %s, value %zu: compact and strided differ", tess_type_name(type), tess_type_name(compute), i);
                }
                if (slot > 0) {
                    tess_loader(TESS_SLOT_BASELINE, type, compute)(other, from, (int64_t)size, COUNT);
                    if (memcmp(row, other, COUNT * width) != 0)
                        fail_msg("%s as %s: %s and baseline differ", tess_type_name(type), tess_type_name(compute),
                                 tess_slot_name((tess_isa_slot)slot));
                }
            }
        }
    }
    free(from);
    free(row);
    free(other);
}

/* Short rows write exactly their elements: every length across two vectors of the widest build, at an odd address. */
static void rows_of_every_length(void **state) {
    (void)state;
    unsigned char from[16 * 140], to[16 * 140];
    for (tess_type type = tess_bool; type <= tess_c128; type++)
        for (int slot = 0; slot < TESS_SLOTS; slot++) {
            if (!tess_cpu_has_slot((tess_isa_slot)slot))
                continue;
            tess_type compute = tess_is_complex(type) ? tess_c128 : tess_f64;
            size_t size = tess_type_size(type), width = tess_type_size(compute);
            for (int64_t n = 0; n <= 130; n++) {
                memset(from, 0, sizeof from);
                memset(to, HOSTILE_POISON, sizeof to);
                tess_storer((tess_isa_slot)slot, compute, type)(to + 1, (int64_t)size, from, n);
                for (size_t i = 0; i < sizeof to; i++)
                    assert_int_equal(to[i], i >= 1 && i < 1 + (size_t)n * size ? 0 : HOSTILE_POISON);
                memset(to, HOSTILE_POISON, sizeof to);
                tess_loader((tess_isa_slot)slot, type, compute)(to, from + 1, (int64_t)size, n);
                for (size_t i = 0; i < sizeof to; i++)
                    assert_int_equal(to[i], i < (size_t)n * width ? 0 : HOSTILE_POISON);
            }
        }
}

/* Complex types: parts convert each on its own, real values get +0, and complex to real does not exist. */
static void complex_types(void **state) {
    (void)state;
    const double parts[] = {1.5, -0.0, 0x1.000001p0, 0x1.00000100001p0, 1e300, -1e-300, INFINITY, NAN, 0x1p-149, 0x1.8p-149};
    double in[2 * TESS_COUNT(parts)];
    for (int i = 0; i < TESS_COUNT(parts); i++) {
        in[2 * i] = parts[i];
        in[2 * i + 1] = parts[TESS_COUNT(parts) - 1 - i];
    }
    for (int slot = 0; slot < TESS_SLOTS; slot++) {
        if (!tess_cpu_has_slot((tess_isa_slot)slot))
            continue;
        float narrow[2 * TESS_COUNT(parts)];
        double wide[2 * TESS_COUNT(parts)];
        tess_storer((tess_isa_slot)slot, tess_c128, tess_c64)(narrow, 8, in, TESS_COUNT(parts));
        tess_loader((tess_isa_slot)slot, tess_c64, tess_c128)(wide, narrow, 8, TESS_COUNT(parts));
        for (int i = 0; i < 2 * TESS_COUNT(parts); i++) {
            assert_int_equal(get(&narrow[i], 4), stored(tess_f32, in[i]));
            if (in[i] == in[i])
                assert_int_equal(get(&wide[i], 8), stored(tess_f64, narrow[i]));
        }
        for (tess_type real = tess_bool; real <= tess_f64; real++) {
            assert_null(tess_storer((tess_isa_slot)slot, tess_c64, real));
            assert_null(tess_storer((tess_isa_slot)slot, tess_c128, real));
            unsigned char one[8] = {1};
            double as[2] = {7, 7};
            tess_loader((tess_isa_slot)slot, real, tess_c128)(as, one, 8, 1);
            assert_int_equal(get(&as[1], 8), 0);
            assert_true(as[0] == (double)element_value(real, get(one, tess_type_size(real))));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(store_all), cmocka_unit_test(load_all), cmocka_unit_test(rows_of_every_length),
                                       cmocka_unit_test(complex_types)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
