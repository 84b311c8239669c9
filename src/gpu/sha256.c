/* SPDX-License-Identifier: Apache-2.0
 * sha256.c - SHA-256 as FIPS 180-4 defines it. */
#include "gpu/sha256.h"

#include <string.h>

#include "core/base.h"

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2). */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void take_block(tess_sha256 *hash, const unsigned char *block) {
    uint32_t w[64], v[8];
    for (int t = 0; t < 16; t++)
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 | (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
    for (int t = 16; t < 64; t++) {
        uint32_t low = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ w[t - 15] >> 3;
        uint32_t high = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = w[t - 16] + low + w[t - 7] + high;
    }
    memcpy(v, hash->state, sizeof v);
    for (int t = 0; t < 64; t += 8)
        /* The words stay where they are, their names turn: unrolled, all eight are in registers. */
        TESS_UNROLL for (int i = 0; i < 8; i++) {
#define V(n) v[(n - i) & 7]
            uint32_t high = rotate(V(4), 6) ^ rotate(V(4), 11) ^ rotate(V(4), 25), choice = (V(4) & V(5)) ^ (~V(4) & V(6));
            uint32_t low = rotate(V(0), 2) ^ rotate(V(0), 13) ^ rotate(V(0), 22), majority = (V(0) & V(1)) ^ (V(0) & V(2)) ^ (V(1) & V(2));
            uint32_t first = V(7) + high + choice + constants[t + i] + w[t + i];
            V(3) += first;
            V(7) = first + low + majority;
#undef V
        }
    for (int i = 0; i < 8; i++)
        hash->state[i] += v[i];
}

void tess_sha256_start(tess_sha256 *hash) {
    static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(hash->state, initial, sizeof initial);
    hash->length = 0;
}

void tess_sha256_add(tess_sha256 *hash, const void *data, size_t size) {
    const unsigned char *from = data;
    while (size > 0) {
        size_t at = hash->length % 64, part = size < 64 - at ? size : 64 - at;
        memcpy(hash->block + at, from, part);
        hash->length += part;
        from += part;
        size -= part;
        if (at + part == 64)
            take_block(hash, hash->block);
    }
}

static void put_big_endian(unsigned char to[8], uint64_t value) {
    for (int i = 0; i < 8; i++)
        to[i] = (unsigned char)(value >> (56 - 8 * i));
}

void tess_sha256_add_field(tess_sha256 *hash, const void *data, size_t size) {
    unsigned char length[8];
    put_big_endian(length, size);
    tess_sha256_add(hash, length, sizeof length);
    tess_sha256_add(hash, data, size);
}

void tess_sha256_end(tess_sha256 *hash, unsigned char digest[TESS_SHA256_SIZE]) {
    unsigned char bits[8];
    put_big_endian(bits, hash->length * 8);
    tess_sha256_add(hash, "\x80", 1);
    while (hash->length % 64 != 56)
        tess_sha256_add(hash, "", 1);
    tess_sha256_add(hash, bits, sizeof bits);
    for (int i = 0; i < TESS_SHA256_SIZE; i++)
        digest[i] = (unsigned char)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
}

void tess_sha256_text(const unsigned char digest[TESS_SHA256_SIZE], char text[TESS_SHA256_TEXT]) {
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < TESS_SHA256_SIZE; i++) {
        text[2 * i] = digits[digest[i] >> 4];
        text[2 * i + 1] = digits[digest[i] & 15];
    }
    text[2 * TESS_SHA256_SIZE] = 0;
}
