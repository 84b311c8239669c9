/* SPDX-License-Identifier: Apache-2.0
 * exec_memory.c - loads and stores where nothing is unusual: one space, all lanes inside one allocation, aligned, elements as wide as their registers.
 * Compiled once per instruction set. What does not fit is handed to access.c, which also says what is wrong with it. */
#include "vgpu/access.h"
#include "vgpu/decode.h"

/* Addresses of all lanes; lanes outside the mask get that of the active lane before them, so that loops need not look at the mask. */
TESS_INLINE void find_addresses(const vgpu_warp *w, const vgpu_record *r, uint32_t mask, uint64_t *address) {
    uint64_t add = (uint64_t)r->offset;
    if (r->flags & VGPU_FRAME)
        add += (uint64_t)w->base;
    if (r->flags & VGPU_DYNAMIC)
        add += (uint64_t)w->launch->dynamic_base;
    if (r->e == VGPU_NO_SLOT) {
        for (int l = 0; l < LANES; l++)
            address[l] = add;
        return;
    }
    if (r->flags & VGPU_ADDRESS32) {
        const uint32_t *a = SLOT(uint32_t, w, r->e);
        for (int l = 0; l < LANES; l++)
            address[l] = (uint32_t)(a[l] + (uint32_t)add);
    } else {
        const uint64_t *a = SLOT(uint64_t, w, r->e);
        for (int l = 0; l < LANES; l++)
            address[l] = a[l] + add;
    }
    if (TESS_UNLIKELY(mask != ALL_LANES)) {
        uint64_t last = address[TESS_LOW_BIT(mask)];
        for (int l = 0; l < LANES; l++)
            address[l] = last = mask >> l & 1 ? address[l] : last;
    }
}

/* The memory that the address *origin is at, or NULL: the access is unusual. Tells the observers. */
TESS_INLINE char *resolve(vgpu_warp *w, const vgpu_record *r, uint32_t mask, ptx_space space, int bytes, vgpu_access_kind kind, uint64_t *address,
                          uint64_t *origin, vgpu_pattern *pattern) {
    const vgpu_launch *launch = w->launch;
    const vgpu_allocation *a = NULL;
    char *base;
    *origin = 0;
    find_addresses(w, r, mask, address);
    uint64_t low = UINT64_MAX, high = 0, bits = 0, unit = 0, same = 0, first = address[0];
    for (int l = 0; l < LANES; l++) {
        uint64_t x = address[l];
        low = x < low ? x : low;
        high = x > high ? x : high;
        bits |= x;
        unit |= x ^ (first + (uint64_t)(l * bytes));
        same |= x ^ first;
    }
    if (bits & (uint64_t)(bytes - 1))
        return NULL;
    *pattern = mask == ALL_LANES && !unit ? VGPU_UNIT : same ? VGPU_ANY_PATTERN : VGPU_SAME;
    if (space == PTX_GLOBAL) {
        const vgpu_allocation **hit = &w->worker->hits[r - launch->module->records];
        uint64_t span = high - low + (uint64_t)bytes;
        a = *hit;
        if (TESS_UNLIKELY(!(a && low >= a->address && span <= (uint64_t)a->size && low - a->address <= (uint64_t)a->size - span))) {
            a = high - low < (uint64_t)1 << 42 ? tess_vgpu_allocation_of(launch->machine, low, (int64_t)span) : NULL;
            if (!a)
                return NULL;
            *hit = a;
        }
        base = a->host;
        *origin = a->address;
    } else {
        base = space == PTX_SHARED ? w->worker->shared : launch->module->constants;
        uint64_t size = (uint64_t)(space == PTX_SHARED ? launch->shared_bytes : launch->module->constant_bytes);
        if (size < (uint64_t)bytes || high > size - (uint64_t)bytes)
            return NULL;
    }
    if (launch->observers) {
        vgpu_access access = {r, w, a, address, mask, bytes, space, kind, *pattern, low, high};
        for (int i = 0; i < launch->observers; i++)
            if (launch->observer[i]->access)
                launch->observer[i]->access(w->worker->state[i], &access);
    }
    w->polled |= (r->flags & VGPU_VOLATILE) != 0;
    return base;
}

#define LOAD(T, space, count)                                                                                \
    do {                                                                                                     \
        uint64_t address[LANES], origin;                                                                     \
        vgpu_pattern pattern;                                                                                \
        enum { WIDTH = (int)sizeof(T) };                                                                     \
        const char *base = resolve(w, r, mask, space, WIDTH * count, VGPU_LOAD, address, &origin, &pattern); \
        if (TESS_UNLIKELY(!base)) {                                                                          \
            tess_vgpu_load_lanes(w, r, mask);                                                                \
            return;                                                                                          \
        }                                                                                                    \
        if (count == 1 && pattern == VGPU_UNIT) {                                                            \
            memcpy(w->file + r->d, base + (address[0] - origin), LANES * sizeof(T));                         \
            return;                                                                                          \
        }                                                                                                    \
        const uint32_t slot[] = {r->d, r->a, r->b, r->c};                                                    \
        for (int i = 0; i < count; i++) {                                                                    \
            T row[LANES];                                                                                    \
            if (pattern == VGPU_SAME) {                                                                      \
                T v;                                                                                         \
                memcpy(&v, base + (address[0] - origin) + i * WIDTH, sizeof v);                              \
                for (int l = 0; l < LANES; l++)                                                              \
                    row[l] = v;                                                                              \
            } else {                                                                                         \
                for (int l = 0; l < LANES; l++)                                                              \
                    memcpy(&row[l], base + (address[l] - origin) + i * WIDTH, sizeof(T));                    \
            }                                                                                                \
            PUT(T, SLOT(T, w, slot[i]), row, mask);                                                          \
        }                                                                                                    \
    } while (0)

/* Of several lanes that write to one place the lowest stays, so the lanes go downwards. */
#define STORE(T, space, count)                                                                          \
    do {                                                                                                \
        uint64_t address[LANES], origin;                                                                \
        vgpu_pattern pattern;                                                                           \
        enum { WIDTH = (int)sizeof(T) };                                                                \
        char *base = resolve(w, r, mask, space, WIDTH * count, VGPU_STORE, address, &origin, &pattern); \
        if (TESS_UNLIKELY(!base)) {                                                                     \
            tess_vgpu_store_lanes(w, r, mask);                                                          \
            return;                                                                                     \
        }                                                                                               \
        if (count == 1 && pattern == VGPU_UNIT) {                                                       \
            memcpy(base + (address[0] - origin), w->file + r->a, LANES * sizeof(T));                    \
            return;                                                                                     \
        }                                                                                               \
        const uint32_t slot[] = {r->a, r->b, r->c, r->d};                                               \
        for (int i = 0; i < count; i++) {                                                               \
            const T *from = SLOT(T, w, slot[i]);                                                        \
            if (mask == ALL_LANES)                                                                      \
                for (int l = LANES - 1; l >= 0; l--)                                                    \
                    memcpy(base + (address[l] - origin) + i * WIDTH, &from[l], sizeof(T));              \
            else                                                                                        \
                for (int l = LANES - 1; l >= 0; l--)                                                    \
                    if (mask >> l & 1)                                                                  \
                        memcpy(base + (address[l] - origin) + i * WIDTH, &from[l], sizeof(T));          \
        }                                                                                               \
    } while (0)

#define HANDLERS(T, bits, count)                                                                                                  \
    static void load_global_##bits##x##count(vgpu_warp *w, const vgpu_record *r, uint32_t mask) { LOAD(T, PTX_GLOBAL, count); }   \
    static void load_shared_##bits##x##count(vgpu_warp *w, const vgpu_record *r, uint32_t mask) { LOAD(T, PTX_SHARED, count); }   \
    static void load_const_##bits##x##count(vgpu_warp *w, const vgpu_record *r, uint32_t mask) { LOAD(T, PTX_CONST, count); }     \
    static void store_global_##bits##x##count(vgpu_warp *w, const vgpu_record *r, uint32_t mask) { STORE(T, PTX_GLOBAL, count); } \
    static void store_shared_##bits##x##count(vgpu_warp *w, const vgpu_record *r, uint32_t mask) { STORE(T, PTX_SHARED, count); }
HANDLERS(uint32_t, 32, 1)
HANDLERS(uint32_t, 32, 2)
HANDLERS(uint32_t, 32, 4)
HANDLERS(uint64_t, 64, 1)
HANDLERS(uint64_t, 64, 2)

/* A kernel's parameter: the same for all lanes. */
#define PARAM(T, name)                                                    \
    static void name(vgpu_warp *w, const vgpu_record *r, uint32_t mask) { \
        T row[LANES], v;                                                  \
        memcpy(&v, w->launch->params + r->offset, sizeof v);              \
        for (int l = 0; l < LANES; l++)                                   \
            row[l] = v;                                                   \
        PUT(T, SLOT(T, w, r->d), row, mask);                              \
    }
PARAM(uint32_t, load_param_32)
PARAM(uint64_t, load_param_64)

/* ---- shuffles ---- */

/* c: the clamp in bits 0-4, the mask that makes segments in bits 8-12. A lane out of range keeps its own value and gets a false predicate. From a
 * lane that does not take part comes what its register holds: PTX leaves that open, and code that does it mostly throws the value away. */
TESS_INLINE void shuffle(vgpu_warp *w, const vgpu_record *r, uint32_t mask, ptx_mode mode) {
    const uint32_t *a = SLOT(uint32_t, w, r->a), *b = SLOT(uint32_t, w, r->b), *c = SLOT(uint32_t, w, r->c);
    uint32_t row[LANES], from[LANES], in_range = 0;
    for (int l = 0; l < LANES; l++) {
        int lane = l, by = (int)(b[l] & 31), clamp = (int)(c[l] & 31), segment = (int)(c[l] >> 8 & 31);
        int most = (lane & segment) | (clamp & ~segment), least = lane & segment;
        int other = mode == PTX_UP ? lane - by : mode == PTX_DOWN ? lane + by : mode == PTX_BFLY ? lane ^ by : least | (by & ~segment);
        bool ok = mode == PTX_UP ? other >= most : other <= most;
        from[l] = (uint32_t)(ok ? other : lane) & 31;
        in_range |= (uint32_t)ok << l;
    }
    for (int l = 0; l < LANES; l++)
        row[l] = a[from[l]];
    PUT(uint32_t, SLOT(uint32_t, w, r->d), row, mask);
    if (r->e != VGPU_NO_SLOT)
        vgpu_set_predicate(w, r->e, in_range, mask);
}
static void shuffle_up(vgpu_warp *w, const vgpu_record *r, uint32_t mask) { shuffle(w, r, mask, PTX_UP); }
static void shuffle_down(vgpu_warp *w, const vgpu_record *r, uint32_t mask) { shuffle(w, r, mask, PTX_DOWN); }
static void shuffle_bfly(vgpu_warp *w, const vgpu_record *r, uint32_t mask) { shuffle(w, r, mask, PTX_BFLY); }
static void shuffle_idx(vgpu_warp *w, const vgpu_record *r, uint32_t mask) { shuffle(w, r, mask, PTX_IDX); }

/* ---- the table: for loads and stores by space, bits of an element and elements ---- */

/* clang-format off */
#define BOTH(bits, count)                                                                                                     \
    {PTX_OP_LD, PTX_GLOBAL, bits, count, 0, load_global_##bits##x##count}, {PTX_OP_LD, PTX_SHARED, bits, count, 0, load_shared_##bits##x##count}, \
    {PTX_OP_LD, PTX_CONST, bits, count, 0, load_const_##bits##x##count}, {PTX_OP_ST, PTX_GLOBAL, bits, count, 0, store_global_##bits##x##count},   \
    {PTX_OP_ST, PTX_SHARED, bits, count, 0, store_shared_##bits##x##count},
static const vgpu_handler_row rows[] = {
    BOTH(32, 1) BOTH(32, 2) BOTH(32, 4) BOTH(64, 1) BOTH(64, 2)
    {PTX_OP_LD, PTX_PARAM, 32, 1, 0, load_param_32}, {PTX_OP_LD, PTX_PARAM, 64, 1, 0, load_param_64},
    {PTX_OP_SHFL, PTX_B32, 0, PTX_UP, 0, shuffle_up}, {PTX_OP_SHFL, PTX_B32, 0, PTX_DOWN, 0, shuffle_down},
    {PTX_OP_SHFL, PTX_B32, 0, PTX_BFLY, 0, shuffle_bfly}, {PTX_OP_SHFL, PTX_B32, 0, PTX_IDX, 0, shuffle_idx},
};
/* clang-format on */

extern const vgpu_handler_table TESS_ISA_NAME(tess_vgpu_memory);
const vgpu_handler_table TESS_ISA_NAME(tess_vgpu_memory) = {rows, TESS_COUNT(rows)};
