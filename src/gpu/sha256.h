/* SPDX-License-Identifier: Apache-2.0
 * sha256.h - the hash that names kernel images and guards the files that hold them. */
#ifndef TESS_GPU_SHA256_H
#define TESS_GPU_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { TESS_SHA256_SIZE = 32, TESS_SHA256_TEXT = 2 * TESS_SHA256_SIZE + 1 };

typedef struct tess_sha256 {
    uint32_t state[8];
    uint64_t length;
    unsigned char block[64];
} tess_sha256;

void tess_sha256_start(tess_sha256 *hash);
void tess_sha256_add(tess_sha256 *hash, const void *data, size_t size);
/* The length, then the bytes: lists of fields hash differently when they are cut differently. */
void tess_sha256_add_field(tess_sha256 *hash, const void *data, size_t size);
void tess_sha256_end(tess_sha256 *hash, unsigned char digest[TESS_SHA256_SIZE]);
/* The digest in hexadecimal, and a 0. */
void tess_sha256_text(const unsigned char digest[TESS_SHA256_SIZE], char text[TESS_SHA256_TEXT]);

#endif
