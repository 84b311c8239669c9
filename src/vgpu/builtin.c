/* SPDX-License-Identifier: Apache-2.0
 * builtin.c - the functions that CUDA gives to device code and that no module defines: vprintf, __assertfail, malloc, free.
 *
 * What is printed is kept by each worker with the block that printed it, and put in the order of the blocks when the launch has ended: the text does
 * not depend on host threads. As on a card there is room for 1 MiB; of more, the beginning is kept. */
#include "vgpu/builtin.h"

#include <stdio.h>
#include <string.h>

#include "vgpu/access.h"
#include "vgpu/decode.h"

enum { PRINT_ROOM = 1 << 20, STRING_LIMIT = 4096 };

/* ---- arguments and results: in the caller's frame ---- */

static uint64_t argument(const vgpu_warp *w, const vgpu_record *r, int number, int lane) {
    const vgpu_value *v = &w->launch->module->sites[r->target].arguments[number];
    uint64_t value = 0;
    memcpy(&value, w->stack + lane * w->launch->stack_bytes + w->base + v->offset, v->bytes < 8 ? (size_t)v->bytes : 8);
    return value;
}
static void give_result(const vgpu_warp *w, const vgpu_record *r, int lane, uint64_t value) {
    const vgpu_call_site *site = &w->launch->module->sites[r->target];
    if (site->result_count)
        memcpy(w->stack + lane * w->launch->stack_bytes + w->base + site->results[0].offset, &value,
               site->results[0].bytes < 8 ? (size_t)site->results[0].bytes : 8);
}

/* The string at a generic address, cut where it cannot be read. */
static void read_string(const vgpu_warp *w, int lane, uint64_t address, char *to, size_t room) {
    size_t n = 0;
    const char *c;
    while (n + 1 < room && (c = tess_vgpu_peek(w, lane, address + n, 1)) && *c)
        to[n++] = *c;
    to[n] = 0;
}

/* ---- printf ---- */

static void print(vgpu_worker *worker, const char *text, size_t length) {
    tess_context *context = worker->launch->run->context;
    vgpu_printed *p = &worker->printed;
    if (p->size + length > PRINT_ROOM) {
        length = PRINT_ROOM - p->size;
        p->cut = true;
    }
    if (p->size + length > p->room) {
        size_t wider = p->room ? 2 * p->room : 4096;
        while (wider < p->size + length)
            wider *= 2;
        char *grown = tess_allocate(context, wider);
        if (!grown) {
            worker->status = TESS_ERR_MEMORY;
            worker->stop = true;
            return;
        }
        if (p->size)
            memcpy(grown, p->text, p->size);
        tess_free(context, p->text, p->room);
        p->text = grown;
        p->room = wider;
    }
    if (!p->count || p->part[p->count - 1].block != worker->block_number) {
        if (p->count == p->parts_room) {
            int wider = p->parts_room ? 2 * p->parts_room : 64;
            vgpu_printed_part *grown = tess_allocate(context, (size_t)wider * sizeof *grown);
            if (!grown) {
                worker->status = TESS_ERR_MEMORY;
                worker->stop = true;
                return;
            }
            if (p->count)
                memcpy(grown, p->part, (size_t)p->count * sizeof *grown);
            tess_free(context, p->part, (size_t)p->parts_room * sizeof *grown);
            p->part = grown;
            p->parts_room = wider;
        }
        p->part[p->count++] = (vgpu_printed_part){worker->block_number, p->size, 0};
    }
    memcpy(p->text + p->size, text, length);
    p->size += length;
    p->part[p->count - 1].length += length;
}

/* One conversion of the format, from % to its letter: at *at; the arguments lie at a generic address, each at a multiple of its size. */
static int convert(const vgpu_warp *w, int lane, const char **at, uint64_t *values, char *out, size_t room) {
    char spec[32] = "%", string[STRING_LIMIT];
    size_t n = 1;
    bool wide = false;
    const char *p = *at + 1, *c;
    uint64_t bits = 0;
    for (; *p && strchr("-+ #0123456789.*", *p); p++) {
        if (*p == '*') { /* width or precision from the arguments */
            int32_t value = 0;
            *values = (*values + 3) & ~3ull;
            if ((c = tess_vgpu_peek(w, lane, *values, 4)))
                memcpy(&value, c, 4);
            *values += 4;
            n += (size_t)snprintf(spec + n, sizeof spec - n, "%d", value > 999 ? 999 : value < -999 ? -999 : value);
        } else if (n < 12) {
            spec[n++] = *p;
        }
    }
    for (; *p && strchr("hljztL", *p); p++)
        wide |= *p == 'l' || *p == 'j' || *p == 'z' || *p == 't';
    char letter = *p;
    *at = letter ? p + 1 : p;
    if (letter == '%') {
        out[0] = '%';
        return 1;
    }
    bool real = letter && strchr("fFeEgGaA", letter), pointer = letter == 's' || letter == 'p';
    if (!letter || (!real && !pointer && !strchr("diouxXc", letter)))
        return snprintf(out, room, "%.*s", (int)(*at - p + 1), "%");
    uint64_t size = real || pointer || wide ? 8 : 4;
    *values = (*values + size - 1) & ~(size - 1);
    if ((c = tess_vgpu_peek(w, lane, *values, (int64_t)size)))
        memcpy(&bits, c, size);
    *values += size;
    if (real) {
        double x;
        memcpy(&x, &bits, 8);
        spec[n++] = letter;
        return snprintf(out, room, spec, x);
    }
    if (letter == 's') {
        read_string(w, lane, bits, string, sizeof string);
        spec[n++] = 's';
        return snprintf(out, room, spec, string);
    }
    if (letter == 'p')
        return snprintf(out, room, "0x%llx", (unsigned long long)bits);
    if (letter == 'c') {
        spec[n++] = 'c';
        return snprintf(out, room, spec, (int)bits);
    }
    spec[n++] = 'l';
    spec[n++] = 'l';
    spec[n++] = letter;
    if (letter == 'd' || letter == 'i')
        return snprintf(out, room, spec, size == 8 ? (long long)bits : (long long)(int32_t)(uint32_t)bits);
    return snprintf(out, room, spec, (unsigned long long)bits);
}

static void run_printf(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    char format[STRING_LIMIT], out[STRING_LIMIT + 512];
    for (int l = 0; l < LANES; l++) {
        if (!(mask >> l & 1))
            continue;
        uint64_t values = argument(w, r, 1, l);
        read_string(w, l, argument(w, r, 0, l), format, sizeof format);
        int conversions = 0;
        for (const char *p = format; *p;) {
            size_t plain = strcspn(p, "%");
            if (plain) {
                print(w->worker, p, plain);
                p += plain;
                continue;
            }
            int length = convert(w, l, &p, &values, out, sizeof out);
            conversions++;
            print(w->worker, out, length < (int)sizeof out ? (size_t)length : sizeof out - 1);
        }
        give_result(w, r, l, (uint64_t)conversions);
    }
}

tess_status tess_vgpu_gather_printed(vgpu_launch *launch) {
    tess_vgpu_run *run = launch->run;
    size_t size = 0;
    int count = 0, filled = 0;
    for (int n = 0; n < launch->worker_count; n++) {
        size += launch->workers[n].printed.size;
        count += launch->workers[n].printed.count;
        run->printed_cut |= launch->workers[n].printed.cut;
    }
    if (!size)
        return TESS_OK;
    typedef struct piece {
        vgpu_printed_part part;
        const char *text;
    } piece;
    piece *all = tess_allocate(run->context, (size_t)count * sizeof *all);
    run->printed_room = size + 1;
    run->printed = tess_allocate(run->context, run->printed_room);
    if (all && run->printed) {
        for (int n = 0; n < launch->worker_count; n++) /* a worker's parts ascend: insertion moves little */
            for (int i = 0; i < launch->workers[n].printed.count; i++) {
                piece one = {launch->workers[n].printed.part[i], launch->workers[n].printed.text};
                int k = filled++;
                for (; k > 0 && all[k - 1].part.block > one.part.block; k--)
                    all[k] = all[k - 1];
                all[k] = one;
            }
        for (int i = 0; i < filled; i++) {
            memcpy(run->printed + run->printed_size, all[i].text + all[i].part.start, all[i].part.length);
            run->printed_size += all[i].part.length;
        }
        run->printed_cut |= run->printed_size > PRINT_ROOM;
        run->printed_size = run->printed_size > PRINT_ROOM ? PRINT_ROOM : run->printed_size;
        run->printed[run->printed_size] = 0;
    }
    bool done = all && run->printed;
    tess_free(run->context, all, (size_t)count * sizeof *all);
    return done ? TESS_OK : TESS_ERR_MEMORY;
}

const char *tess_vgpu_printed(const tess_vgpu_run *run, size_t *length, bool *cut) {
    *length = run->printed_size;
    if (cut)
        *cut = run->printed_cut;
    return run->printed ? run->printed : "";
}

/* ---- assert ---- */

/* __assertfail(message, file, line, function, size of a character): ends the launch. */
static void run_assert(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    char text[128], function[64];
    for (int l = 0; l < LANES; l++)
        if (mask >> l & 1) {
            read_string(w, l, argument(w, r, 0, l), text, sizeof text);
            read_string(w, l, argument(w, r, 3, l), function, sizeof function);
            tess_vgpu_fault_report(w, r, l, TESS_VGPU_ASSERT, 0, NULL, "assertion `%s' failed in %s", text, function);
        }
    w->worker->stop = true;
}

/* ---- the heap of the device ---- */

static void run_malloc(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    for (int l = 0; l < LANES; l++)
        if (mask >> l & 1)
            give_result(w, r, l, tess_vgpu_heap_get(w, r, l, argument(w, r, 0, l)));
}
static void run_free(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    for (int l = 0; l < LANES; l++)
        if (mask >> l & 1)
            tess_vgpu_heap_put(w, r, l, argument(w, r, 0, l));
}

static const struct {
    const char *name;
    int arguments;
    vgpu_handler run;
    bool heap;
} builtins[] = {
    {"vprintf", 2, run_printf, false}, {"__assertfail", 5, run_assert, false}, {"malloc", 1, run_malloc, true}, {"free", 1, run_free, true}};

vgpu_handler tess_vgpu_builtin(const char *name, int length, int arguments, bool *heap) {
    for (int i = 0; i < TESS_COUNT(builtins); i++)
        if ((int)strlen(builtins[i].name) == length && memcmp(builtins[i].name, name, (size_t)length) == 0 && builtins[i].arguments == arguments) {
            *heap |= builtins[i].heap;
            return builtins[i].run;
        }
    return NULL;
}
bool tess_vgpu_builtin_ends(vgpu_handler run) { return run == run_assert; }
