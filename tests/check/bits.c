/* SPDX-License-Identifier: Apache-2.0
 * bits.c - prints a line for each of many calls: what was asked, and a hash of every bit of the result. Two machines, instruction sets or thread
 * counts agree when the lines do (bits.sh compares them). Uses the public header only. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tessera.h>

static uint64_t random_state = 42;
static uint64_t random_bits(void) { /* SplitMix64 */
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Finite numbers over some magnitudes, both signs, now and then a zero, an infinity or a NaN where the type has them. */
static void fill(void *data, tess_type type, int64_t count, int special) {
    unsigned char *at = data;
    size_t size = tess_type_size(type);
    for (int64_t i = 0; i < count; i++, at += size) {
        uint64_t bits = random_bits(), again = random_bits();
        if (type == tess_bool) {
            *at = bits & 1;
        } else if (type < tess_f16) {
            memcpy(at, &bits, size);
        } else if (type == tess_f16 || type == tess_bf16) {
            uint16_t exponent = type == tess_f16 ? (uint16_t)((10 + bits % 8) << 10) : (uint16_t)((122 + bits % 8) << 7);
            uint16_t h = (uint16_t)((again & 0x8000) | exponent | (again & (type == tess_f16 ? 0x3ff : 0x7f)));
            memcpy(at, special && bits % 97 == 0 ? &(uint16_t){0x7fff} : &h, 2);
        } else {
            int parts = type >= tess_c64 ? 2 : 1;
            for (int k = 0; k < parts; k++) {
                double x = ((double)(again >> 11) * 0x1p-53 - 0.5) * (double)(1 << (bits >> 8 & 15));
                uint64_t kind = special ? bits % 101 : 99;
                x = kind == 0 ? 0.0 : kind == 1 ? -0.0 : kind == 2 ? (double)(1e308 * 10) : kind == 3 ? (double)(1e308 * 10) * 0 : x;
                again = again * 6364136223846793005u + 1442695040888963407u;
                if (type == tess_f64 || type == tess_c128)
                    memcpy(at + 8 * k, &x, 8);
                else
                    memcpy(at + 4 * k, &(float){(float)x}, 4);
            }
        }
    }
}

static void line(const char *what, tess_type type, tess_type to, int variant, tess_status status, const void *data, size_t size) {
    uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */
    for (size_t i = 0; i < size; i++)
        h = (h ^ ((const unsigned char *)data)[i]) * 0x100000001b3u;
    if (status == TESS_OK)
        printf("%s %s %s %d %016llx\n", what, tess_type_name(type), tess_type_name(to), variant, (unsigned long long)h);
    else
        printf("%s %s %s %d %s\n", what, tess_type_name(type), tess_type_name(to), variant, tess_status_name(status));
}

enum { MOST = 80000 };
static _Alignas(64) unsigned char in_data[MOST * 16], out_data[MOST * 16], second_data[MOST * 16];

int main(void) {
    for (tess_type type = tess_bool; type <= tess_c128; type++) {
        tess_type outs[] = {type, tess_f32, tess_f64, tess_u8, tess_f16};
        for (int special = 0; special < 2; special++) {
            fill(in_data, type, MOST, special);
            for (int o = 0; o < 5; o++) {
                int64_t image[] = {61, 83}, taps[] = {5, 3}, one_d[] = {7}, long_shape[] = {MOST}, cube[] = {20, 50, 80}, flat[] = {20, 80};
                DLTensor in = tess_view(in_data, type, 2, image, NULL), out = tess_view(out_data, outs[o], 2, image, NULL);
                random_state = 7 + (uint64_t)type;
                fill(second_data, type, 64, 0);
                DLTensor mask = tess_view(second_data, type, 2, taps, NULL), row = tess_view(second_data, type, 1, one_d, NULL);
                const DLTensor *rows[] = {&row, &row};
                for (int b = TESS_BOUNDARY_ZERO; b <= TESS_BOUNDARY_WRAP; b++) {
                    tess_correlate_options options = {.struct_size = sizeof options, .boundary = (tess_boundary)b, .constant = 1.5};
                    memset(out_data, 0, sizeof out_data);
                    tess_status status = b % 2 ? tess_convolve(NULL, &in, &mask, &out, &options) : tess_correlate(NULL, &in, &mask, &out, &options);
                    line("correlate", type, outs[o], b, status, out_data, 61 * 83 * tess_type_size(outs[o]));
                }
                memset(out_data, 0, sizeof out_data);
                tess_status status = tess_correlate_separable(NULL, &in, rows, 2, &out, NULL);
                line("separable", type, outs[o], special, status, out_data, 61 * 83 * tess_type_size(outs[o]));
                in = tess_view(in_data, type, 1, long_shape, NULL);
                DLTensor all = tess_view(out_data, outs[o], 0, NULL, NULL);
                DLTensor blocks = tess_view(in_data, type, 3, cube, NULL), middle = tess_view(out_data, outs[o], 2, flat, NULL);
                for (int r = TESS_SUM; r <= TESS_NORM_INF; r++) {
                    const int axis = 1;
                    tess_reduce_options options = {.struct_size = sizeof options, .nan = special ? TESS_NAN_OMIT : TESS_NAN_PROPAGATE};
                    memset(out_data, 0, sizeof out_data);
                    line("reduce", type, outs[o], r, tess_reduce(NULL, (tess_reduction)r, &in, &all, &options), out_data, 16);
                    options.axes = &axis;
                    options.naxes = 1;
                    memset(out_data, 0, sizeof out_data);
                    line("reduce1", type, outs[o], r, tess_reduce(NULL, (tess_reduction)r, &blocks, &middle, &options), out_data,
                         1600 * tess_type_size(outs[o]));
                    options = (tess_reduce_options){.struct_size = sizeof options, .exact = true};
                    if (r == TESS_SUM || r == TESS_MEAN)
                        line("exact", type, outs[o], r, tess_reduce(NULL, (tess_reduction)r, &in, &all, &options), out_data, 16);
                }
                if (type >= tess_c64)
                    continue;
                float where[500];
                int64_t places[] = {500};
                for (int i = 0; i < 500; i++)
                    where[i] = (float)((double)(random_bits() >> 11) * 0x1p-53 * 4000 - 100);
                DLTensor at = tess_view(where, tess_f32, 1, places, NULL), found = tess_view(out_data, outs[o], 1, places, NULL);
                for (int m = TESS_INTERPOLATE_NEAREST; m <= TESS_INTERPOLATE_CUBIC; m++)
                    for (int w = TESS_OUTSIDE_CLIP; w <= TESS_OUTSIDE_FILL; w++) {
                        tess_lookup_options options = {
                            .struct_size = sizeof options, .interpolation = (tess_interpolation)m, .outside = (tess_outside)w, .fill = 9};
                        memset(out_data, 0, sizeof out_data);
                        line("lookup", type, outs[o], m * 10 + w, tess_lookup(NULL, &in, &at, &found, &options), out_data,
                             500 * tess_type_size(outs[o]));
                    }
            }
        }
    }
    return 0;
}
