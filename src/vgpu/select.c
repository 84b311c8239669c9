/* SPDX-License-Identifier: Apache-2.0
 * select.c - picks a handler from the tables of an instruction set, and that set's warp loop. */
#include "vgpu/decode.h"

#define DECLARE(slot, suffix)                                                                                                                     \
    extern const vgpu_handler_table tess_vgpu_integer_##suffix, tess_vgpu_bits_##suffix, tess_vgpu_floating_##suffix, tess_vgpu_compare_##suffix, \
        tess_vgpu_memory_##suffix;                                                                                                                \
    extern const vgpu_observer tess_vgpu_count_observer_##suffix, tess_vgpu_check_observer_##suffix;                                              \
    bool tess_vgpu_run_warp_##suffix(vgpu_warp *warp);
TESS_BUILDS(DECLARE)

enum { TABLES_OF_A_SET = 5 };

static vgpu_handler search(const vgpu_handler_table *table, int op, int type, int type2, int mode, uint32_t flags) {
    for (int i = 0; i < table->count; i++) {
        const vgpu_handler_row *r = &table->rows[i];
        if (r->op == op && r->type == type && r->type2 == type2 && r->mode == mode && r->flags == flags)
            return r->run;
    }
    return NULL;
}

vgpu_handler tess_vgpu_select(tess_isa_slot slot, int op, int type, int type2, int mode, uint32_t flags) {
    const vgpu_handler_table *tables[TABLES_OF_A_SET] = {NULL};
    switch (slot) {
#define TABLES(s, suffix)                         \
    case s:                                       \
        tables[0] = &tess_vgpu_integer_##suffix;  \
        tables[1] = &tess_vgpu_floating_##suffix; \
        tables[2] = &tess_vgpu_compare_##suffix;  \
        tables[3] = &tess_vgpu_memory_##suffix;   \
        tables[4] = &tess_vgpu_bits_##suffix;     \
        break;
        TESS_BUILDS(TABLES)
    default: return NULL;
    }
    vgpu_handler found = NULL;
    for (int i = 0; i < TABLES_OF_A_SET && !found; i++)
        found = search(tables[i], op, type, type2, mode, flags);
    return found;
}

vgpu_warp_runner tess_vgpu_runner(tess_isa_slot slot) {
    switch (slot) {
#define RUNNER(s, suffix) \
    case s: return tess_vgpu_run_warp_##suffix;
        TESS_BUILDS(RUNNER)
    default: return NULL;
    }
}

const vgpu_observer *tess_vgpu_counter(tess_isa_slot slot) {
    switch (slot) {
#define COUNTER(s, suffix) \
    case s: return &tess_vgpu_count_observer_##suffix;
        TESS_BUILDS(COUNTER)
    default: return NULL;
    }
}

const vgpu_observer *tess_vgpu_checker(tess_isa_slot slot) {
    switch (slot) {
#define CHECKER(s, suffix) \
    case s: return &tess_vgpu_check_observer_##suffix;
        TESS_BUILDS(CHECKER)
    default: return NULL;
    }
}
