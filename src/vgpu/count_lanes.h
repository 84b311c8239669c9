/* SPDX-License-Identifier: Apache-2.0
 * count_lanes.h - how many different lines, words or lanes of a bank the addresses of a warp have: what exec_count.c counts by. Regular addresses
 * are asked about without search. */
#ifndef TESS_VGPU_COUNT_LANES_H
#define TESS_VGPU_COUNT_LANES_H

#include "vgpu/machine.h"

enum { LANES = 32 };

/* The addresses with those of absent lanes replaced by the one before, so that loops over all 32 need no mask. */
TESS_INLINE const uint64_t *filled(const uint64_t *address, uint32_t mask, uint64_t *room) {
    if (mask == UINT32_MAX)
        return address;
    uint64_t last = address[TESS_LOW_BIT(mask)];
    for (int l = 0; l < LANES; l++)
        room[l] = last = mask >> l & 1 ? address[l] : last;
    return room;
}

TESS_INLINE bool ascending(const uint64_t *address) {
    uint64_t falls = 0;
    for (int l = 1; l < LANES; l++)
        falls |= (uint64_t)(address[l] < address[l - 1]);
    return !falls;
}

/* The same of ascending addresses, which need no search. */
TESS_INLINE int steps(const uint64_t *address, int shift) {
    int count = 1;
    for (int l = 1; l < LANES; l++)
        count += address[l] >> shift != address[l - 1] >> shift;
    return count;
}

/* How many different values of address >> shift the active lanes have. */
static int distinct(const uint64_t *address, uint32_t mask, int shift) {
    uint64_t key[64], used = 0, last = ~0ull;
    int count = 0;
    for (int l = 0; l < LANES; l++) {
        uint64_t k = address[l] >> shift;
        if (!(mask >> l & 1) || k == last)
            continue;
        last = k;
        unsigned h = (unsigned)(k * 0x9e3779b97f4a7c15u >> 58);
        while (used >> h & 1 && key[h] != k)
            h = (h + 1) & 63;
        count += !(used >> h & 1);
        used |= 1ull << h;
        key[h] = k;
    }
    return count;
}

/* Most distinct words that the lanes want of one of the 32 banks. */
static int words_per_bank(const uint64_t *address, uint32_t lanes, int bytes) {
    uint64_t key[256];
    unsigned char used[256] = {0}, in_bank[32] = {0};
    int worst = 0, words = bytes <= 4 ? 1 : bytes / 4;
    for (; lanes; lanes &= lanes - 1) {
        uint64_t first = address[TESS_LOW_BIT(lanes)] / 4;
        for (int j = 0; j < words; j++) {
            uint64_t k = first + (uint64_t)j;
            unsigned h = (unsigned)(k * 0x9e3779b97f4a7c15u >> 56);
            while (used[h] && key[h] != k)
                h = (h + 1) & 255;
            if (used[h])
                continue;
            used[h] = 1;
            key[h] = k;
            int n = ++in_bank[k % 32];
            worst = n > worst ? n : worst;
        }
    }
    return worst;
}

/* The same for elements of at most 4 bytes. Each round takes one word of every bank that still has some: as many rounds as the fullest bank has words.
 * *words: how many different ones there are. */
static int rounds(const uint64_t *address, uint32_t mask, int *words) {
    uint32_t word[LANES], bank[LANES], in_bank[LANES], rest = mask;
    int count = 0;
    *words = 0;
    for (int l = 0; l < LANES; l++) {
        word[l] = (uint32_t)(address[l] / 4);
        bank[l] = word[l] % 32;
    }
    while (rest) {
        uint32_t used = 0, done = 0;
        for (uint32_t m = rest; m; m &= m - 1) {
            int l = TESS_LOW_BIT(m);
            in_bank[bank[l]] = word[l];
            used |= 1u << bank[l];
        }
        for (uint32_t m = rest; m; m &= m - 1) {
            int l = TESS_LOW_BIT(m);
            done |= in_bank[bank[l]] == word[l] ? 1u << l : 0;
        }
        rest &= ~done;
        *words += TESS_POPCOUNT(used);
        count++;
    }
    return count;
}

/* Words that all lie within 32 in a row: different ones are in different banks. How many there are, or 0: they do not. */
TESS_INLINE int in_one_row(const vgpu_access *a, const uint64_t *address) {
    uint32_t used = 0;
    if (a->high - a->low >= 128)
        return 0;
    for (int l = 0; l < LANES; l++)
        used |= 1u << (uint32_t)((address[l] - a->low) / 4);
    return TESS_POPCOUNT(used);
}

/* The first of those rounds for a whole warp, without branches: the number of words, or 0 when some are left. */
TESS_INLINE int one_round(const uint64_t *address) {
    uint32_t word[LANES], in_bank[LANES], used = 0, left = 0;
    for (int l = 0; l < LANES; l++)
        word[l] = (uint32_t)(address[l] / 4);
    for (int l = 0; l < LANES; l++)
        in_bank[word[l] % 32] = word[l];
    for (int l = 0; l < LANES; l++) {
        used |= 1u << word[l] % 32;
        left |= in_bank[word[l] % 32] ^ word[l];
    }
    return left ? 0 : TESS_POPCOUNT(used);
}

/* Words at one distance: that many lanes meet in a bank. 0: they are not. */
TESS_INLINE int at_one_distance(const uint64_t *address) {
    uint64_t step = address[1] - address[0], off = 0;
    for (int l = 0; l < LANES; l++)
        off |= address[l] ^ (address[0] + (uint64_t)l * step);
    if (off || step % 4 || !step)
        return 0;
    uint32_t words = (uint32_t)(step / 4) % 32;
    return words ? 1 << TESS_LOW_BIT(words) : 32;
}

/* Most active lanes, equal addresses too, that meet in one bank. */
static int lanes_per_bank(const uint64_t *address, uint32_t lanes, int bytes) {
    unsigned char in_bank[32] = {0};
    int worst = 0;
    for (; lanes; lanes &= lanes - 1)
        for (int j = 0; j < (bytes <= 4 ? 1 : bytes / 4); j++) {
            int n = ++in_bank[(address[TESS_LOW_BIT(lanes)] / 4 + (uint64_t)j) % 32];
            worst = n > worst ? n : worst;
        }
    return worst;
}

#endif
