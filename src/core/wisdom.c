/* SPDX-License-Identifier: Apache-2.0
 * wisdom.c - which strategy was fastest for which problem on which machine, as lines of text.
 *
 * One line a measured row: `1 STRATEGY ISA THREADS MACHINE SECONDS KEY`. 1 is the format's version, MACHINE a hash of the processor's name
 * (of a GPU's for rows that run there, ISA is then its compute capability, sm_90, and THREADS 1), KEY the problem's and the rest of the line. Records are per row, so adding a row to a table spoils nothing that was measured. Selection takes the
 * fastest record of the problem on this machine. Two layers: the shipped lines (wisdom_shipped.c) and the user's file, read when a context plans for
 * the first time; for the same row the later reading wins, so the user's does. A save merges the file's lines with the context's and renames, with
 * the folder locked where its file system can, so that no writer's lines are lost; readers need no lock. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/engine.h"
#include "core/environment.h"
#include "core/wisdom.h"

enum { LINE_LIMIT = 512, SECONDS_LIMIT = 100000 };

/* Records of one problem's key hang in a list; the lists stand in a tree of four branches a node, taken by the bits of the key's hash from the top: a search tree
 * that needs no balancing, since hashes are. */
struct tess_wisdom_record {
    tess_wisdom_record *branch[4]; /* of the first record of a list only */
    tess_wisdom_record *next;
    const tess_strategy *row;
    uint64_t key_hash;
    double seconds;
    tess_wisdom_place place;
    bool shipped;
    char key[sizeof((tess_problem *)0)->key];
};

/* FNV-1a (Fowler, Noll, Vo), 64 bit. */
uint64_t tess_wisdom_hash(const char *text) {
    uint64_t h = 0xcbf29ce484222325u;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return h;
}

/* With the lock held. Found once: it reads a file. */
static uint64_t this_machine(tess_context *context) {
    if (context->machine == 0) {
        tess_cpu_info info;
        tess_cpu_info_get(&info);
        context->machine = tess_wisdom_hash(info.name);
    }
    return context->machine;
}

static bool same_place(const tess_wisdom_place *a, const tess_wisdom_place *b) {
    return a->machine == b->machine && a->threads == b->threads && strcmp(a->isa, b->isa) == 0;
}

static bool same(const tess_wisdom_record *a, const tess_wisdom_record *b) {
    return a->key_hash == b->key_hash && a->row == b->row && same_place(&a->place, &b->place) && strcmp(a->key, b->key) == 0;
}

/* Where the list of a key is, or where it would be. With the lock held. */
static tess_wisdom_record **list_of(tess_context *context, uint64_t key_hash) {
    tess_wisdom_record **at = &context->wisdom;
    for (uint64_t bits = key_hash; *at && (*at)->key_hash != key_hash; bits <<= 2)
        at = &(*at)->branch[bits >> 62];
    return at;
}

/* Of an operation in wisdom_ops. What is none of the library's, which tests make, has the next one. */
static unsigned bit_of(const tess_op *op) {
    int o = 0;
    while (o < tess_ops_count && tess_ops[o] != op)
        o++;
    return 1u << o;
}

static unsigned bit_of_row(const tess_strategy *row) {
    int o = 0;
    while (o < tess_ops_count && !tess_op_has(tess_ops[o], row))
        o++;
    return 1u << o;
}

/* With the lock held. */
static tess_status put(tess_context *context, const tess_wisdom_record *record) {
    tess_wisdom_record **list = list_of(context, record->key_hash), *last = NULL;
    for (tess_wisdom_record *r = *list; r; last = r, r = r->next)
        if (same(r, record)) {
            r->seconds = record->seconds;
            r->shipped = record->shipped;
            return TESS_OK;
        }
    tess_wisdom_record *made = tess_allocate(context, sizeof *made);
    if (!made)
        return TESS_ERR_MEMORY;
    context->wisdom_ops |= bit_of_row(record->row);
    atomic_fetch_and(&context->no_wisdom, ~context->wisdom_ops);
    *made = *record;
    made->next = NULL;
    memset(made->branch, 0, sizeof made->branch);
    *(last ? &last->next : list) = made;
    return TESS_OK;
}

/* Times are kept as whole nanoseconds below SECONDS_LIMIT: what was written is then read back as the same number, since reading errs by less than half a
 * nanosecond there. */
static int64_t whole_nanoseconds(double seconds) { return tess_max64(llround(seconds * 1e9), 1); }

/* A decimal number up to the next space, whatever decimal point the program's locale has; -1 when it is none. */
static double decimal(const char *text) {
    double value = 0, scale = 1;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++)
        value = 10 * value + (*at - '0');
    if (*at == '.')
        for (at++; *at >= '0' && *at <= '9'; at++)
            value += (*at - '0') * (scale /= 10);
    if (at == text)
        return -1;
    if (*at == 'e' || *at == 'E') {
        char *end;
        long exponent = strtol(at + 1, &end, 10);
        value *= end > at + 1 && exponent > -400 && exponent < 400 ? pow(10, (double)exponent) : -1;
        at = end;
    }
    return *at ? -1 : value;
}

/* A slot's name, or for a row that the planner may choose a GPU's compute capability. */
static bool is_isa(const tess_strategy *row, const char *isa) {
    tess_isa_slot slot;
    if (row->target == TESS_TARGET_CPU)
        return tess_slot_named(isa, &slot);
    return tess_gpu_production(row) && strncmp(isa, "sm_", 3) == 0 && isa[3] && strspn(isa + 3, "0123456789") == strlen(isa + 3);
}

static bool parse(const char *line, size_t length, tess_wisdom_record *record) {
    char text[LINE_LIMIT], strategy[64], seconds[32];
    int version, used = 0;
    unsigned long long machine;
    memset(record, 0, sizeof *record);
    if (length >= sizeof text)
        return false;
    memcpy(text, line, length);
    text[length] = 0;
    if (strlen(text) != length ||
        sscanf(text, "%d %63s %15s %d %16llx %31s %n", &version, strategy, record->place.isa, &record->place.threads, &machine, seconds, &used) < 6 ||
        used == 0 || version != 1)
        return false;
    record->row = tess_strategy_named(strategy, strlen(strategy));
    record->place.machine = machine;
    record->seconds = decimal(seconds);
    size_t key_length = length - (size_t)used;
    if (!record->row || !is_isa(record->row, record->place.isa) || record->place.threads < 1 ||
        !(record->seconds > 0 && record->seconds < SECONDS_LIMIT) || key_length == 0 || key_length >= sizeof record->key)
        return false;
    record->seconds = (double)whole_nanoseconds(record->seconds) / 1e9;
    memcpy(record->key, text + used, key_length + 1);
    record->key_hash = tess_wisdom_hash(record->key);
    return true;
}

/* With the lock held. *understood counts lines taken, *ignored lines that are neither taken, empty nor comments. */
static tess_status take_lines(tess_context *context, const char *text, bool shipped, int *understood, int *ignored) {
    while (*text) {
        size_t length = strcspn(text, "\n");
        tess_wisdom_record record;
        if (parse(text, length, &record)) {
            record.shipped = shipped;
            TESS_TRY(put(context, &record));
            ++*understood;
        } else if (length > 0 && *text != '#') {
            ++*ignored;
        }
        text += length + (text[length] == '\n');
    }
    return TESS_OK;
}

/* Times are converted: not in the host's floating-point environment. */
static tess_status read_lines(tess_context *context, const char *text, bool shipped, int *understood, int *ignored) {
    tess_environment host;
    tess_environment_enter(&host);
    tess_status status = take_lines(context, text, shipped, understood, ignored);
    tess_environment_leave(&host);
    return status;
}

/* Both layers, once a context, with the lock held. Failures of any kind leave the context with less wisdom and nothing else; the caller's detail sentence is not touched
 * by a missing file because planning goes on to succeed. */
static void read_layers(tess_context *context) {
    char path[4096], *text;
    size_t size;
    int understood = 0, ignored = 0;
    if (context->user_wisdom_read)
        return;
    context->user_wisdom_read = true;
    if (read_lines(context, tess_wisdom_shipped, true, &understood, &ignored) != TESS_OK || !tess_wisdom_default_path(path, sizeof path) ||
        access(path, R_OK) != 0 || tess_wisdom_read_file(context, path, &text, &size) != TESS_OK)
        return;
    read_lines(context, text, false, &understood, &ignored);
    tess_free(context, text, size);
}

tess_status tess_wisdom_import(tess_context *given, const char *text) {
    tess_context *context;
    int understood = 0, ignored = 0;
    if (!text)
        return tess_fail(TESS_ERR_ARGUMENT, "text is NULL");
    TESS_TRY(tess_context_get(&context, given));
    pthread_mutex_lock(&context->lock);
    read_layers(context); /* before, so that they do not overrule what is given here */
    tess_status status = read_lines(context, text, false, &understood, &ignored);
    pthread_mutex_unlock(&context->lock);
    if (status == TESS_OK && understood == 0 && ignored > 0)
        return tess_fail(TESS_ERR_ARGUMENT, "none of the %d lines of wisdom was understood; a line is `1 STRATEGY ISA THREADS MACHINE SECONDS KEY`",
                         ignored);
    return status;
}

tess_status tess_wisdom_load(tess_context *given, const char *path) {
    tess_context *context;
    char buffer[4096], *text;
    size_t size;
    int understood = 0, ignored = 0;
    TESS_TRY(tess_context_get(&context, given));
    if (!path) {
        if (!tess_wisdom_default_path(buffer, sizeof buffer))
            return tess_wisdom_no_default();
        path = buffer;
    }
    TESS_TRY(tess_wisdom_read_file(context, path, &text, &size));
    pthread_mutex_lock(&context->lock);
    read_layers(context);
    tess_status status = read_lines(context, text, false, &understood, &ignored);
    pthread_mutex_unlock(&context->lock);
    tess_free(context, text, size);
    return status;
}

static void write_record(const tess_wisdom_record *r, tess_text *text) {
    int64_t nanoseconds = whole_nanoseconds(r->seconds);
    tess_text_add(text, "1 %s %s %d %016llx %lld.%09lld %s\n", r->row->name, r->place.isa, r->place.threads, (unsigned long long)r->place.machine,
                  (long long)(nanoseconds / 1000000000), (long long)(nanoseconds % 1000000000),
                  r->key); /* %g would write the locale's decimal point */
}

static void write_tree(const tess_wisdom_record *node, tess_text *text) {
    for (const tess_wisdom_record *r = node; r; r = r->next)
        if (!r->shipped)
            write_record(r, text);
    for (int b = 0; node && b < TESS_COUNT(node->branch); b++)
        write_tree(node->branch[b], text);
}

tess_status tess_wisdom_export(tess_context *given, char *at, size_t capacity, size_t *length) {
    tess_context *context;
    tess_text text = {.at = at, .capacity = capacity};
    if (length)
        *length = 0;
    if (!at && capacity > 0)
        return tess_fail(TESS_ERR_ARGUMENT, "text is NULL with a capacity of %zu", capacity);
    TESS_TRY(tess_context_get(&context, given));
    if (capacity > 0)
        *at = 0;
    pthread_mutex_lock(&context->lock);
    write_tree(context->wisdom, &text);
    pthread_mutex_unlock(&context->lock);
    return tess_text_end(&text, length);
}

/* All of a context's lines in memory of its own, also while other threads add to them: then once more. *size is what to free. */
static tess_status export_all(tess_context *context, char **text, size_t *size, size_t *length) {
    *text = NULL;
    TESS_TRY(tess_wisdom_export(context, NULL, 0, length));
    for (;;) {
        *size = *length + 1;
        *text = tess_allocate(context, *size);
        if (!*text)
            return TESS_ERR_MEMORY;
        tess_status status = tess_wisdom_export(context, *text, *size, length);
        if (status == TESS_OK)
            return TESS_OK;
        tess_free(context, *text, *size);
        *text = NULL;
        if (status != TESS_ERR_SIZE)
            return status;
    }
}

/* Into a context of its own, so that the caller's does not learn what other writers put into the file. A file that is there and cannot be read is not
 * overwritten. */
static tess_status merge(tess_context *context, tess_context *merged, const char *path) {
    char *text = NULL;
    size_t size = 0, length = 0;
    merged->user_wisdom_read = true;
    tess_status status = access(path, F_OK) == 0 ? tess_wisdom_load(merged, path) : TESS_OK;
    if (status == TESS_OK)
        status = export_all(context, &text, &size, &length);
    if (status == TESS_OK && length > 0)
        status = tess_wisdom_import(merged, text);
    tess_free(context, text, size);
    text = NULL;
    if (status == TESS_OK)
        status = export_all(merged, &text, &size, &length);
    if (status == TESS_OK && length > TESS_WISDOM_FILE_LIMIT)
        status = tess_fail(TESS_ERR_FILE, "the wisdom file %s would have %zu bytes, the limit is %d; take lines away, or the file", path, length,
                           TESS_WISDOM_FILE_LIMIT);
    if (status == TESS_OK)
        status = tess_wisdom_write_file(path, text, length);
    tess_free(merged, text, size);
    return status;
}

tess_status tess_wisdom_save(tess_context *given, const char *path) {
    tess_context *context, *merged = NULL;
    char buffer[4096], target[PATH_MAX];
    TESS_TRY(tess_context_get(&context, given));
    if (!path) {
        if (!tess_wisdom_default_path(buffer, sizeof buffer))
            return tess_wisdom_no_default();
        path = buffer;
    }
    TESS_TRY(tess_wisdom_resolve(&path, target));
    tess_context_options options = context->options;
    options.strategy = NULL;
    TESS_TRY(tess_open(&merged, &options));
    tess_wisdom_make_folder(path);
    int lock = tess_wisdom_lock_folder(path);
    tess_status status = merge(context, merged, path);
    if (lock >= 0)
        close(lock);
    tess_close(merged);
    return status;
}

/* At most as deep as a hash has pairs of bits. */
static void free_tree(tess_context *context, tess_wisdom_record *node) {
    for (int b = 0; node && b < TESS_COUNT(node->branch); b++)
        free_tree(context, node->branch[b]);
    while (node) {
        tess_wisdom_record *next = node->next;
        tess_free(context, node, sizeof *node);
        node = next;
    }
}

void tess_wisdom_free(tess_context *context) {
    free_tree(context, context->wisdom);
    context->wisdom = NULL;
    context->wisdom_ops = 0;
}

void tess_wisdom_forget(tess_context *given) {
    tess_context *context;
    if (tess_context_get(&context, given) != TESS_OK)
        return;
    pthread_mutex_lock(&context->lock);
    tess_wisdom_free(context);
    context->user_wisdom_read = true; /* forgotten is forgotten: the file is not read again by itself */
    pthread_mutex_unlock(&context->lock);
}

/* An operation that was never tuned does not pay for one that was: its problem's key, which is text, is then not written. */
bool tess_wisdom_any(tess_context *context, const tess_op *op) {
    const unsigned bit = bit_of(op);
    if (atomic_load_explicit(&context->no_wisdom, memory_order_acquire) & bit)
        return false;
    pthread_mutex_lock(&context->lock);
    read_layers(context);
    const bool any = context->wisdom_ops & bit;
    atomic_store(&context->no_wisdom, ~context->wisdom_ops);
    pthread_mutex_unlock(&context->lock);
    return any;
}

/* This processor's. */
static tess_wisdom_place here(tess_context *context, int threads) {
    tess_wisdom_place place = {.threads = threads};
    pthread_mutex_lock(&context->lock);
    place.machine = this_machine(context);
    pthread_mutex_unlock(&context->lock);
    strcpy(place.isa, tess_slot_name(context->slot));
    return place;
}

const tess_strategy *tess_wisdom_find_on(tess_context *context, const tess_problem *problem, const tess_wisdom_place *place, double *seconds) {
    const tess_strategy *best = NULL;
    pthread_mutex_lock(&context->lock);
    read_layers(context);
    if (context->wisdom) {
        uint64_t key = tess_wisdom_hash(problem->key);
        for (const tess_wisdom_record *r = *list_of(context, key); r; r = r->next)
            if (same_place(&r->place, place) && strcmp(r->key, problem->key) == 0 && (!best || r->seconds < *seconds)) {
                best = r->row;
                *seconds = r->seconds;
            }
    }
    pthread_mutex_unlock(&context->lock);
    return best;
}

tess_status tess_wisdom_record_on(tess_context *context, const tess_problem *problem, const tess_strategy *row, const tess_wisdom_place *place,
                                  double seconds) {
    tess_wisdom_record record = {.row = row, .place = *place, .seconds = (double)whole_nanoseconds(seconds) / 1e9};
    snprintf(record.key, sizeof record.key, "%s", problem->key);
    record.key_hash = tess_wisdom_hash(record.key);
    pthread_mutex_lock(&context->lock);
    read_layers(context);
    tess_status status = put(context, &record);
    pthread_mutex_unlock(&context->lock);
    return status;
}

const tess_strategy *tess_wisdom_find(tess_context *context, const tess_problem *problem, int threads, double *seconds) {
    const tess_wisdom_place place = here(context, threads);
    return tess_wisdom_find_on(context, problem, &place, seconds);
}

tess_status tess_wisdom_record_time(tess_context *context, const tess_problem *problem, const tess_strategy *row, int threads, double seconds) {
    const tess_wisdom_place place = here(context, threads);
    return tess_wisdom_record_on(context, problem, row, &place, seconds);
}
