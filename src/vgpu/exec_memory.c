/* SPDX-License-Identifier: Apache-2.0
 * exec_memory.c - loads and stores where nothing is unusual: one space, all lanes inside one allocation, aligned, elements as wide as their registers.
 * Compiled once per instruction set. What does not fit is handed to access.c, which also says what is wrong with it. */
#include "simd/warp.h"
#include "vgpu/access.h"
#include "vgpu/decode.h"

enum { WINDOW = 128 };

/* ---- shapes: observe.h says what they are ---- */

TESS_INLINE uint64_t base_of(const vgpu_warp *w, const vgpu_record *r) {
    return (uint64_t)r->offset + (r->flags & VGPU_FRAME ? (uint64_t)w->base : 0) + (r->flags & VGPU_DYNAMIC ? (uint64_t)w->launch->dynamic_base : 0);
}

/* Whether the lanes' addresses lie as the shape says; *first: the lowest active lane's. */
TESS_INLINE bool fits(const vgpu_warp *w, const vgpu_record *r, uint32_t mask, const vgpu_shape *s, uint64_t *first) {
    uint64_t add = base_of(w, r);
    int lowest = TESS_LOW_BIT(mask);
    if (r->e == VGPU_NO_SLOT) {
        *first = add;
        return mask == s->mask;
    }
    if (r->flags & VGPU_ADDRESS32) {
        const uint32_t *a = SLOT(uint32_t, w, r->e);
        *first = (uint32_t)(a[lowest] + (uint32_t)add);
        return mask == s->mask && v_words_lie(a, a[lowest], s->offset, mask);
    }
    const uint64_t *a = SLOT(uint64_t, w, r->e);
    *first = a[lowest] + add;
    return mask == s->mask && v_doubles_lie(a, a[lowest], s->offset, mask);
}

/* Remembers the shape of this access; false: it has none, its lanes are too far apart. */
static TESS_NOINLINE bool learn(const vgpu_warp *w, const vgpu_record *r, uint32_t mask, uint64_t first, int bytes, vgpu_shape *s) {
    uint64_t address[LANES], low = UINT64_MAX, high = 0, bits = 0, unit = 0, same = 0;
    tess_vgpu_addresses(w, r, r->e, r->offset, address);
    s->mask = 0;
    s->to = NULL;
    s->known_window = false;
    if (mask != ALL_LANES) {
        uint64_t last = first;
        for (int l = 0; l < LANES; l++)
            address[l] = last = mask >> l & 1 ? address[l] : last;
    }
    for (int l = 0; l < LANES; l++) {
        uint64_t x = address[l];
        low = x < low ? x : low;
        high = x > high ? x : high;
        bits |= x - first;
        unit |= x ^ (first + (uint64_t)(l * bytes));
        same |= x ^ first;
    }
    if (high - low >= 1 << 30)
        return false;
    for (int l = 0; l < LANES; l++)
        s->offset[l] = (int32_t)(address[l] - first);
    s->mask = mask;
    s->low = (int32_t)(low - first);
    s->high = (int32_t)(high - first);
    s->bits = (uint32_t)bits;
    s->pattern = mask == ALL_LANES && !unit ? VGPU_UNIT : same ? VGPU_ANY_PATTERN : VGPU_SAME;
    return true;
}

/* The counter need not look again at what it has seen; the others want addresses. */
TESS_INLINE void tell(const vgpu_warp *w, const vgpu_record *r, ptx_space space, int bytes, vgpu_access_kind kind, uint64_t first, vgpu_shape *s) {
    const vgpu_launch *launch = w->launch;
    uint64_t low = first + (uint64_t)s->low, address[LANES];
    int i = 0;
    if (s->to && s->last_bits == ((uint32_t)low & s->that_matter)) {
        for (int k = 0; k < TESS_COUNT(s->add); k++)
            s->to[k] += s->add[k];
        i = 1;
    }
    if (i == launch->observers)
        return;
    for (int l = 0; l < LANES; l++)
        address[l] = first + (uint64_t)s->offset[l];
    const vgpu_allocation *a = space == PTX_GLOBAL ? s->hit : NULL;
    vgpu_access access = {r, w, a, address, s->mask, bytes, space, kind, s->pattern, low, first + (uint64_t)s->high, s, NULL};
    for (; i < launch->observers; i++)
        if (launch->observer[i]->access)
            launch->observer[i]->access(w->worker->state[i], &access);
}

/* Where the lowest active lane's data is, or NULL: the access is unusual. Tells the observers. *window: whether 128 bytes from the lowest address on
 * may be read here at once. */
TESS_INLINE char *resolve(vgpu_warp *w, const vgpu_record *r, uint32_t mask, ptx_space space, int bytes, vgpu_access_kind kind, vgpu_shape **shape,
                          bool *window) {
    const vgpu_launch *launch = w->launch;
    vgpu_shape *s = *shape = &w->worker->shapes[r->f];
    uint64_t first;
    if (TESS_UNLIKELY(!fits(w, r, mask, s, &first)) && !learn(w, r, mask, first, bytes, s))
        return NULL;
    if (TESS_UNLIKELY(((uint32_t)first | s->bits) & (uint32_t)(bytes - 1)))
        return NULL;
    uint64_t low = first + (uint64_t)s->low, span = (uint64_t)s->high - (uint64_t)s->low + (uint64_t)bytes;
    char *base;
    *window = false;
    if (space == PTX_GLOBAL) {
        const vgpu_allocation *a = s->hit;
        if (TESS_UNLIKELY(!(a && low >= a->address && span <= (uint64_t)a->size && low - a->address <= (uint64_t)a->size - span))) {
            a = tess_vgpu_allocation_of(launch->machine, low, (int64_t)span);
            if (!a)
                return NULL;
            s->hit = a;
        }
        base = a->host + (first - a->address);
    } else {
        uint64_t size = (uint64_t)(space == PTX_SHARED ? launch->shared_bytes : launch->module->constant_bytes);
        if (size < span || low > size - span)
            return NULL;
        base = (space == PTX_SHARED ? w->worker->shared : launch->module->constants) + first;
        *window = span <= WINDOW && low + WINDOW <= size;
    }
    if (launch->observers)
        tell(w, r, space, bytes, kind, first, s);
    w->polled |= (r->flags & VGPU_VOLATILE) != 0;
    return base;
}

#define LOAD(T, space, count)                                                               \
    do {                                                                                    \
        enum { WIDTH = (int)sizeof(T) };                                                    \
        vgpu_shape *s;                                                                      \
        bool window;                                                                        \
        const char *at = resolve(w, r, mask, space, WIDTH * count, VGPU_LOAD, &s, &window); \
        if (TESS_UNLIKELY(!at)) {                                                           \
            tess_vgpu_load_lanes(w, r, mask);                                               \
            return;                                                                         \
        }                                                                                   \
        if (count == 1 && s->pattern == VGPU_UNIT) {                                        \
            memcpy(w->file + r->d, at, LANES * sizeof(T));                                  \
            return;                                                                         \
        }                                                                                   \
        const uint32_t slot[] = {r->d, r->a, r->b, r->c};                                   \
        for (int i = 0; i < count; i++) {                                                   \
            T row[LANES];                                                                   \
            if (s->pattern == VGPU_SAME) {                                                  \
                T v;                                                                        \
                memcpy(&v, at + i * WIDTH, sizeof v);                                       \
                for (int l = 0; l < LANES; l++)                                             \
                    row[l] = v;                                                             \
            } else if (count == 1 && WIDTH == 4 && window) {                                \
                v_words_pick((uint32_t *)row, at + s->low, s->offset, s->low);              \
            } else {                                                                        \
                TESS_UNROLL                                                                 \
                for (int l = 0; l < LANES; l++)                                             \
                    memcpy(&row[l], at + s->offset[l] + i * WIDTH, sizeof(T));              \
            }                                                                               \
            PUT(T, SLOT(T, w, slot[i]), row, mask);                                         \
        }                                                                                   \
    } while (0)

/* Of several lanes that write to one place the lowest stays, so the lanes go downwards. */
#define STORE(T, space, count)                                                         \
    do {                                                                               \
        enum { WIDTH = (int)sizeof(T) };                                               \
        vgpu_shape *s;                                                                 \
        bool window;                                                                   \
        char *at = resolve(w, r, mask, space, WIDTH * count, VGPU_STORE, &s, &window); \
        if (TESS_UNLIKELY(!at)) {                                                      \
            tess_vgpu_store_lanes(w, r, mask);                                         \
            return;                                                                    \
        }                                                                              \
        if (count == 1 && s->pattern == VGPU_UNIT) {                                   \
            memcpy(at, w->file + r->a, LANES * sizeof(T));                             \
            return;                                                                    \
        }                                                                              \
        const uint32_t slot[] = {r->a, r->b, r->c, r->d};                              \
        for (int i = 0; i < count; i++) {                                              \
            const T *from = SLOT(T, w, slot[i]);                                       \
            if (mask == ALL_LANES)                                                     \
                for (int l = LANES - 1; l >= 0; l--)                                   \
                    memcpy(at + s->offset[l] + i * WIDTH, &from[l], sizeof(T));        \
            else                                                                       \
                for (uint32_t m = mask; m;) {                                          \
                    int l = 31 - TESS_LEADING_ZEROS(m);                                \
                    m &= ~(1u << l);                                                   \
                    memcpy(at + s->offset[l] + i * WIDTH, &from[l], sizeof(T));        \
                }                                                                      \
        }                                                                              \
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
