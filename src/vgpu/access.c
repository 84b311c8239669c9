/* SPDX-License-Identifier: Apache-2.0
 * access.c - loads and stores: addresses, spaces, bounds and alignment, then the data, then the register's width. */
#include "vgpu/access.h"

#include "vgpu/decode.h"

void tess_vgpu_addresses(const vgpu_warp *w, const vgpu_record *r, uint32_t slot, int64_t offset, uint64_t *address) {
    uint64_t add = (uint64_t)offset;
    if (r->flags & VGPU_FRAME)
        add += (uint64_t)w->base;
    if (r->flags & VGPU_DYNAMIC)
        add += (uint64_t)w->launch->dynamic_base;
    if (slot == VGPU_NO_SLOT) {
        for (int l = 0; l < LANES; l++)
            address[l] = add;
    } else if (r->flags & VGPU_ADDRESS32) {
        const uint32_t *a = SLOT(uint32_t, w, slot);
        for (int l = 0; l < LANES; l++)
            address[l] = (uint32_t)(a[l] + (uint32_t)add);
    } else {
        const uint64_t *a = SLOT(uint64_t, w, slot);
        for (int l = 0; l < LANES; l++)
            address[l] = a[l] + add;
    }
}

static ptx_space space_of(uint64_t address, uint64_t *inside) {
    static const struct {
        uint64_t base;
        ptx_space space;
    } windows[] = {{VGPU_SHARED_WINDOW, PTX_SHARED}, {VGPU_LOCAL_WINDOW, PTX_LOCAL}, {VGPU_CONST_WINDOW, PTX_CONST}, {VGPU_PARAM_WINDOW, PTX_PARAM}};
    for (int i = 0; i < TESS_COUNT(windows); i++)
        if (address - windows[i].base < VGPU_WINDOW_SIZE) {
            *inside = address - windows[i].base;
            return windows[i].space;
        }
    *inside = address;
    return PTX_GLOBAL;
}

uint32_t tess_vgpu_same_space(ptx_space named, uint64_t *address, uint32_t mask, ptx_space *space) {
    *space = named;
    if (named != PTX_GENERIC)
        return mask;
    uint64_t inside;
    uint32_t same = 0;
    *space = space_of(address[TESS_LOW_BIT(mask)], &inside);
    for (int l = 0; l < LANES; l++)
        if (mask >> l & 1 && space_of(address[l], &inside) == *space) {
            address[l] = inside;
            same |= 1u << l;
        }
    return same;
}

static const char *const space_names[PTX_SPACES] = {"generic", "global", "shared", "local", "constant", "parameter"};
#define FAR ((uint64_t)1 << 32) /* further from an allocation it was not meant */
enum { NEAR_NULL = 65536 };
static const char *const kind_names[] = {"read", "write", "atomic access"};

static void out_of_bounds(const vgpu_warp *w, const vgpu_record *r, int lane, ptx_space space, vgpu_access_kind kind, int bytes, uint64_t address,
                          int64_t size) {
    if (space != PTX_GLOBAL) {
        tess_vgpu_fault_report(w, r, lane, TESS_VGPU_OUT_OF_BOUNDS, address, NULL, "%s of %d bytes at %s address %llu, of which %s has %lld bytes",
                               kind_names[kind], bytes, space_names[space], (unsigned long long)address,
                               space == PTX_SHARED  ? "the block"
                               : space == PTX_LOCAL ? "the thread"
                                                    : "the kernel",
                               (long long)size);
        return;
    }
    const vgpu_allocation *near = tess_vgpu_nearest(w->launch->machine, address);
    uint64_t end = near ? near->address + (uint64_t)near->size : 0;
    if (!near || (address < near->address ? near->address - address : address > end ? address - end : 0) > FAR) {
        tess_vgpu_fault_report(w, r, lane, TESS_VGPU_OUT_OF_BOUNDS, address, NULL,
                               "%s of %d bytes at global address 0x%llx, where nothing is allocated%s", kind_names[kind], bytes,
                               (unsigned long long)address, address < NEAR_NULL ? ": a null pointer, or one with an offset" : "");
        return;
    }
    int64_t distance = (int64_t)(address - near->address);
    bool behind = distance >= near->size || distance >= 0;
    tess_vgpu_fault_report(w, r, lane, TESS_VGPU_OUT_OF_BOUNDS, address, NULL,
                           "%s of %d bytes at global address 0x%llx, %lld bytes %s %.*s%s0x%llx of %lld bytes", kind_names[kind], bytes,
                           (unsigned long long)address, (long long)(behind ? distance - near->size : -distance),
                           behind ? "past the end of" : "before", near->name_length, near->name ? near->name : "",
                           near->name ? " at " : "the allocation at ", (unsigned long long)near->address, (long long)near->size);
}

static void check_alignment(const vgpu_warp *w, const vgpu_record *r, ptx_space space, vgpu_access_kind kind, int align, vgpu_resolved *out) {
    uint64_t low = 0;
    for (int l = 0; l < LANES; l++)
        low |= out->mask >> l & 1 ? out->address[l] : 0;
    if (TESS_LIKELY((low & (uint64_t)(align - 1)) == 0))
        return;
    for (int l = 0; l < LANES; l++)
        if (out->mask >> l & 1 && out->address[l] & (uint64_t)(align - 1)) {
            tess_vgpu_fault_report(w, r, l, TESS_VGPU_MISALIGNED, out->address[l], NULL, "%s at %s address 0x%llx, which is not a multiple of %d",
                                   kind_names[kind], space_names[space], (unsigned long long)out->address[l], align);
            out->mask &= ~(1u << l);
        }
}

static vgpu_pattern pattern_of(const uint64_t *address, uint32_t mask, int bytes) {
    uint64_t first = address[TESS_LOW_BIT(mask)], differs = 0, steps = 0;
    if (mask == ALL_LANES) {
        for (int l = 0; l < LANES; l++)
            steps |= address[l] ^ (first + (uint64_t)(l * bytes));
        if (!steps)
            return VGPU_UNIT;
        for (int l = 0; l < LANES; l++)
            differs |= address[l] ^ first;
    } else {
        for (int l = 0; l < LANES; l++)
            differs |= mask >> l & 1 ? address[l] ^ first : 0;
    }
    return differs ? VGPU_ANY_PATTERN : VGPU_SAME;
}

/* Where the lanes' bytes are; takes out those that are nowhere. */
static const vgpu_allocation *find_global(vgpu_warp *w, const vgpu_record *r, vgpu_access_kind kind, int bytes, vgpu_resolved *out) {
    vgpu_worker *worker = w->worker;
    uint64_t low = ~0ull, high = 0;
    if (out->pattern == VGPU_UNIT) {
        low = out->address[0];
        high = out->address[31];
    } else {
        for (int l = 0; l < LANES; l++) {
            low = out->mask >> l & 1 && out->address[l] < low ? out->address[l] : low;
            high = out->mask >> l & 1 && out->address[l] > high ? out->address[l] : high;
        }
    }
    const vgpu_allocation *a = worker->last_hit;
    uint64_t span = high - low + (uint64_t)bytes;
    bool hit = a && low >= a->address && span <= (uint64_t)a->size && low - a->address <= (uint64_t)a->size - span;
    if (!hit && high - low < (uint64_t)1 << 42 && (a = tess_vgpu_allocation_of(w->launch->machine, low, (int64_t)span))) {
        worker->last_hit = a;
        hit = true;
    }
    if (TESS_LIKELY(hit)) {
        for (int l = 0; l < LANES; l++)
            out->host[l] = a->host + (out->mask >> l & 1 ? out->address[l] - a->address : 0);
        out->contiguous = out->pattern == VGPU_UNIT;
        return a;
    }
    for (int l = 0; l < LANES; l++) {
        if (!(out->mask >> l & 1))
            continue;
        a = tess_vgpu_allocation_of(w->launch->machine, out->address[l], bytes);
        if (a) {
            out->host[l] = a->host + (out->address[l] - a->address);
        } else {
            out_of_bounds(w, r, l, PTX_GLOBAL, kind, bytes, out->address[l], 0);
            out->mask &= ~(1u << l);
        }
    }
    return NULL;
}

void tess_vgpu_resolve(vgpu_warp *w, const vgpu_record *r, ptx_space space, vgpu_access_kind kind, int bytes, int align, const uint64_t *address,
                       uint32_t mask, vgpu_resolved *out) {
    /* The kernel's own parameters, one block for all lanes: generic addresses are of no others (cvta.param). */
    const bool of_launch = space == PTX_PARAM && (r->mode == 1 || r->space == PTX_GENERIC);
    if (of_launch && kind != VGPU_LOAD) {
        tess_vgpu_fault_report(w, r, TESS_LOW_BIT(mask), TESS_VGPU_OUT_OF_BOUNDS, address[TESS_LOW_BIT(mask)], NULL,
                               "write to a kernel's parameters");
        mask = 0;
    }
    memcpy(out->address, address, sizeof out->address);
    out->mask = mask;
    out->contiguous = false;
    if (align > 1)
        check_alignment(w, r, space, kind, align, out);
    if (!out->mask)
        return;
    out->pattern = pattern_of(address, out->mask, bytes);
    const vgpu_allocation *allocation = NULL;
    if (space == PTX_GLOBAL) {
        allocation = find_global(w, r, kind, bytes, out);
    } else {
        char *base = space == PTX_SHARED ? w->worker->shared : space == PTX_CONST ? w->launch->module->constants : w->stack;
        int64_t size = space == PTX_SHARED  ? w->launch->shared_bytes
                       : space == PTX_CONST ? w->launch->module->constant_bytes
                                            : w->launch->stack_bytes;
        int64_t stride = space == PTX_LOCAL || space == PTX_PARAM ? w->launch->stack_bytes : 0;
        if (of_launch) {
            base = w->launch->params;
            size = w->launch->kernel->param_bytes;
            stride = 0;
        }
        uint32_t bad = 0;
        for (int l = 0; l < LANES; l++) {
            bool inside = bytes <= size && out->address[l] <= (uint64_t)(size - bytes);
            bad |= (uint32_t)!inside << l;
            out->host[l] = base + l * stride + (inside ? out->address[l] : 0);
        }
        bad &= out->mask;
        for (; TESS_UNLIKELY(bad); bad &= bad - 1) {
            int l = TESS_LOW_BIT(bad);
            out_of_bounds(w, r, l, space, kind, bytes, out->address[l], size);
            out->mask &= ~(1u << l);
        }
        out->contiguous = out->pattern == VGPU_UNIT && !stride;
    }
    if (out->mask != mask) {
        out->contiguous = false;
        if (!out->mask)
            return;
        out->pattern = pattern_of(address, out->mask, bytes);
    }
    const vgpu_launch *launch = w->launch;
    if (launch->observers) {
        uint64_t low = UINT64_MAX, high = 0;
        for (uint32_t m = out->mask; m; m &= m - 1) {
            uint64_t x = out->address[TESS_LOW_BIT(m)];
            low = x < low ? x : low;
            high = x > high ? x : high;
        }
        vgpu_access access = {r, w, allocation, out->address, out->mask, bytes, space, kind, out->pattern, low, high, NULL, NULL};
        for (int i = 0; i < launch->observers; i++)
            if (launch->observer[i]->access)
                launch->observer[i]->access(w->worker->state[i], &access);
    }
}

const char *tess_vgpu_peek(const vgpu_warp *w, int lane, uint64_t address, int64_t bytes) {
    uint64_t inside;
    ptx_space space = space_of(address, &inside);
    if (space == PTX_GLOBAL) {
        const vgpu_allocation *a = tess_vgpu_allocation_of(w->launch->machine, address, bytes);
        return a ? a->host + (address - a->address) : NULL;
    }
    const char *base = space == PTX_SHARED  ? w->worker->shared
                       : space == PTX_CONST ? w->launch->module->constants
                       : space == PTX_LOCAL ? w->stack + lane * w->launch->stack_bytes
                                            : w->launch->params;
    int64_t size = space == PTX_SHARED  ? w->launch->shared_bytes
                   : space == PTX_CONST ? w->launch->module->constant_bytes
                   : space == PTX_LOCAL ? w->launch->stack_bytes
                                        : w->launch->kernel->param_bytes;
    return base && bytes <= size && inside <= (uint64_t)(size - bytes) ? base + inside : NULL;
}

/* ---- loads ---- */

#define LOAD_LANES(T, R)                                \
    do {                                                \
        R *to = SLOT(R, w, slot);                       \
        for (int l = 0; l < LANES; l++)                 \
            if (in->mask >> l & 1) {                    \
                T v;                                    \
                memcpy(&v, in->host[l] + at, sizeof v); \
                to[l] = (R)v;                           \
            }                                           \
    } while (0)
#define LOAD_WIDENED(T)                  \
    do {                                 \
        if (r->register_bytes == 2)      \
            LOAD_LANES(T, uint16_t);     \
        else if (r->register_bytes == 4) \
            LOAD_LANES(T, uint32_t);     \
        else                             \
            LOAD_LANES(T, uint64_t);     \
    } while (0)

/* One element of the vector, for every lane, extended to the register by the type's sign. */
static void load_element(vgpu_warp *w, const vgpu_record *r, const vgpu_resolved *in, uint32_t slot, int at) {
    bool negative = r->flags & VGPU_SIGNED;
    if (r->bytes == 4 && r->register_bytes == 4)
        LOAD_LANES(uint32_t, uint32_t);
    else if (r->bytes == 8)
        LOAD_LANES(uint64_t, uint64_t);
    else if (r->bytes == 1 && !negative)
        LOAD_WIDENED(uint8_t);
    else if (r->bytes == 1)
        LOAD_WIDENED(int8_t);
    else if (r->bytes == 2 && !negative)
        LOAD_WIDENED(uint16_t);
    else if (r->bytes == 2)
        LOAD_WIDENED(int16_t);
    else if (negative)
        LOAD_LANES(int32_t, uint64_t);
    else
        LOAD_LANES(uint32_t, uint64_t);
}

static void zero_lanes(vgpu_warp *w, const vgpu_record *r, const uint32_t *slot, uint32_t mask) { /* what a refused read gives */
    for (int i = 0; i < r->count; i++)
        for (int l = 0; l < LANES; l++)
            if (mask >> l & 1)
                memset(w->file + slot[i] + l * r->register_bytes, 0, r->register_bytes);
}

void tess_vgpu_load_lanes(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    uint64_t address[LANES];
    vgpu_resolved in;
    const uint32_t four[] = {r->d, r->a, r->b, r->c}, *slot = r->count == 8 ? w->launch->module->lists + r->target : four;
    int bytes = r->bytes * r->count;
    tess_vgpu_addresses(w, r, r->e, r->offset, address);
    w->polled |= (r->flags & VGPU_VOLATILE) != 0;
    while (mask) {
        ptx_space space;
        uint32_t part = tess_vgpu_same_space((ptx_space)r->space, address, mask, &space);
        mask &= ~part;
        tess_vgpu_resolve(w, r, space, VGPU_LOAD, bytes, bytes, address, part, &in);
        if (TESS_UNLIKELY(in.mask != part))
            zero_lanes(w, r, slot, part & ~in.mask);
        if (!in.mask)
            continue;
        if (in.contiguous && r->count == 1 && r->bytes == r->register_bytes)
            memcpy(w->file + r->d, in.host[0], (size_t)(LANES * bytes));
        else
            for (int i = 0; i < r->count; i++)
                load_element(w, r, &in, slot[i], i * r->bytes);
    }
}

/* A kernel's parameter at a fixed offset: the same value for all. */
void tess_vgpu_load_param(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    const uint32_t slot[] = {r->d, r->a, r->b, r->c};
    for (int i = 0; i < r->count; i++) {
        uint64_t v = 0;
        memcpy(&v, w->launch->params + r->offset + i * r->bytes, r->bytes);
        if (r->flags & VGPU_SIGNED && r->bytes < 8)
            v = (uint64_t)((int64_t)(v << (64 - 8 * r->bytes)) >> (64 - 8 * r->bytes));
        for (int l = 0; l < LANES; l++)
            if (mask >> l & 1)
                memcpy(w->file + slot[i] + l * r->register_bytes, &v, r->register_bytes);
    }
}

/* ---- stores: of several lanes that write to one place the lowest stays, as measured on the card ---- */

void tess_vgpu_store_lanes(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    uint64_t address[LANES];
    vgpu_resolved out;
    const uint32_t four[] = {r->a, r->b, r->c, r->d}, *slot = r->count == 8 ? w->launch->module->lists + r->target : four;
    int bytes = r->bytes * r->count;
    tess_vgpu_addresses(w, r, r->e, r->offset, address);
    while (mask) {
        ptx_space space;
        uint32_t part = tess_vgpu_same_space((ptx_space)r->space, address, mask, &space);
        mask &= ~part;
        if (space == PTX_CONST) {
            tess_vgpu_fault_report(w, r, TESS_LOW_BIT(part), TESS_VGPU_OUT_OF_BOUNDS, address[TESS_LOW_BIT(part)], NULL, "write to constant memory");
            continue;
        }
        tess_vgpu_resolve(w, r, space, VGPU_STORE, bytes, bytes, address, part, &out);
        if (!out.mask)
            continue;
        if (out.contiguous && r->count == 1 && r->bytes == r->register_bytes) {
            memcpy(out.host[0], w->file + r->a, (size_t)(LANES * bytes));
            continue;
        }
        for (int l = LANES - 1; l >= 0; l--)
            if (out.mask >> l & 1)
                for (int i = 0; i < r->count; i++)
                    tess_move(out.host[l] + i * r->bytes, w->file + slot[i] + l * r->register_bytes, r->bytes); /* little-endian: the low bytes */
    }
}

/* cp.async: done at once. Bytes beyond the given source size are zeros, and are not read: lanes of each size are looked up, and checked, by
 * themselves. */
void tess_vgpu_copy_async(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    uint64_t to[LANES], from[LANES];
    uint32_t size[LANES], there = 0;
    char *host[LANES] = {NULL};
    vgpu_resolved in, out;
    vgpu_record source = *r;
    source.flags = 0;
    tess_vgpu_addresses(w, &source, r->a, (int32_t)r->target, from);
    tess_vgpu_addresses(w, r, r->e, r->offset, to);
    for (int l = 0; l < LANES; l++) {
        size[l] = r->b == VGPU_NO_SLOT ? r->bytes : SLOT(uint32_t, w, r->b)[l];
        size[l] = size[l] < r->bytes ? size[l] : r->bytes;
    }
    for (uint32_t left = mask, part; left; left &= ~part) {
        const uint32_t bytes = size[TESS_LOW_BIT(left)];
        part = 0;
        for (int l = 0; l < LANES; l++)
            part |= (uint32_t)(size[l] == bytes) << l;
        part &= left;
        if (bytes == 0) {
            there |= part;
            continue;
        }
        tess_vgpu_resolve(w, r, PTX_GLOBAL, VGPU_LOAD, (int)bytes, r->bytes, from, part, &in);
        there |= in.mask;
        for (int l = 0; l < LANES; l++)
            if (in.mask >> l & 1)
                host[l] = in.host[l];
    }
    if (!there)
        return;
    tess_vgpu_resolve(w, r, PTX_SHARED, VGPU_STORE, r->bytes, r->bytes, to, there, &out);
    for (int l = LANES - 1; l >= 0; l--)
        if (out.mask >> l & 1) {
            if (size[l])
                tess_move(out.host[l], host[l], size[l]);
            if (size[l] < r->bytes)
                memset(out.host[l] + size[l], 0, r->bytes - size[l]);
        }
}
