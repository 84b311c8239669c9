/* SPDX-License-Identifier: Apache-2.0
 * cpu.c - instruction sets by the compiler's cpuid helper, caches and name from the operating system. */
#include "core/cpu.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

static const char *const slot_names[TESS_SLOTS] = {"baseline", "avx2", "avx512", "neon"};

const char *tess_slot_name(tess_isa_slot slot) { return (unsigned)slot < TESS_SLOTS ? slot_names[slot] : "?"; }

bool tess_slot_named(const char *name, tess_isa_slot *slot) {
    for (int s = 0; s < TESS_SLOTS; s++)
        if (strcmp(name, slot_names[s]) == 0) {
            *slot = (tess_isa_slot)s;
            return true;
        }
    return false;
}

#if defined(__x86_64__)
/* clang's helper does not know it. Asked once: every plan asks for its slot, and in a virtual machine cpuid is a trap of some twenty microseconds. */
static bool has_f16c(void) {
    static atomic_int known; /* 0: not asked yet, 1: no, 2: yes; threads that ask at once find the same */
    int answer = atomic_load_explicit(&known, memory_order_relaxed);
    if (!answer) {
        unsigned a, b, c, d;
        answer = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C) ? 2 : 1;
        atomic_store_explicit(&known, answer, memory_order_relaxed);
    }
    return answer == 2;
}
#endif

/* The sets of one slot are exactly the -m options that the Makefile gives its files. */
bool tess_cpu_has_slot(tess_isa_slot slot) {
#define BUILT(s, suffix) | (1u << s)
    const unsigned built = 0 TESS_BUILDS(BUILT);
    if (!(built >> slot & 1))
        return false;
    if (slot == TESS_SLOT_BASELINE)
        return true;
#if defined(__x86_64__)
    __builtin_cpu_init();
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") && has_f16c();
    if (slot == TESS_SLOT_AVX2)
        return avx2;
    if (slot == TESS_SLOT_AVX512)
        return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vnni");
#elif defined(__aarch64__)
    if (slot == TESS_SLOT_NEON)
        return true;
#endif
    return false;
}

tess_isa_slot tess_cpu_best_slot(void) {
    for (int s = TESS_SLOTS - 1; s > 0; s--)
        if (tess_cpu_has_slot((tess_isa_slot)s))
            return (tess_isa_slot)s;
    return TESS_SLOT_BASELINE;
}

static int64_t cache_size(int name) {
    long size = sysconf(name);
    return size > 0 ? size : 0;
}

/* What the kernel says of one cache of one processor: "32768K", "0-7,96-103". */
static bool cache_text(int processor, int index, const char *what, char text[256]) {
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/%s", processor, index, what);
    FILE *file = fopen(path, "re");
    bool read = file && fgets(text, 256, file);
    if (file)
        fclose(file);
    return read;
}

static int listed(const char *list) {
    int count = 0;
    for (char *end; *list >= '0' && *list <= '9'; list = *end == ',' ? end + 1 : end) {
        long first = strtol(list, &end, 10);
        const long last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        count += (int)(last - first) + 1;
    }
    return count;
}

/* sysconf's last-level cache is a whole socket's where the processor tells no other (AMD's in a virtual machine: 320 MiB of which a core has 32), so the
 * kernel is asked first. */
static void find_caches(tess_cpu_info *info, int processor) {
    char text[256];
    info->l1d = cache_size(_SC_LEVEL1_DCACHE_SIZE);
    info->l2 = cache_size(_SC_LEVEL2_CACHE_SIZE);
    info->l3_all = info->l3 = cache_size(_SC_LEVEL3_CACHE_SIZE);
    for (int i = 0; cache_text(processor, i, "level", text); i++) {
        const int level = atoi(text);
        if (!cache_text(processor, i, "size", text))
            continue;
        char *unit;
        const int64_t number = strtoll(text, &unit, 10), size = number << (*unit == 'K' ? 10 : *unit == 'M' ? 20 : 0);
        if (level == 1 && cache_text(processor, i, "type", text) && strncmp(text, "Data", 4) == 0)
            info->l1d = size;
        if (level == 2)
            info->l2 = size;
        if (level == 3) {
            const int sharing = cache_text(processor, i, "shared_cpu_list", text) ? listed(text) : info->processors;
            info->l3 = size;
            info->l3_all = size * tess_ceil_div(info->processors, sharing > 0 ? sharing : 1);
        }
    }
}

void tess_cpu_info_get(tess_cpu_info *info) {
    memset(info, 0, sizeof *info);
    snprintf(info->name, sizeof info->name, "unknown processor");
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[256], model[32] = "";
    while (file && fgets(line, sizeof line, file)) {
        if (line[0] == '\n') /* the end of the first processor's lines */
            break;
        char *value = strchr(line, ':');
        if (!value || !value[1])
            continue;
        value += 2;
        value[strcspn(value, "\n")] = 0;
        if (strncmp(line, "model name", 10) == 0)
            snprintf(info->name, sizeof info->name, "%.64s", value);
        else if (strncmp(line, "model", 5) == 0 && model[0] == 0)
            snprintf(model, sizeof model, "%.20s", value);
    }
    if (file)
        fclose(file);
    if (model[0]) { /* virtual machines hide the product's name; the model number still tells the generation */
        size_t length = strlen(info->name);
        snprintf(info->name + length, sizeof info->name - length, " (model %s)", model);
    }
    cpu_set_t set;
    const bool known = sched_getaffinity(0, sizeof set, &set) == 0;
    int first = 0;
    info->processors = known ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (info->processors < 1)
        info->processors = 1;
    while (known && first + 1 < CPU_SETSIZE && !CPU_ISSET(first, &set))
        first++;
    find_caches(info, first);
}
