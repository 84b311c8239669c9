/* SPDX-License-Identifier: Apache-2.0
 * devices.c - what `tessera devices` says about this machine. */
#include "core/engine.h"

tess_status tess_devices(tess_context *given, tess_format format, char *at, size_t capacity, size_t *length) {
    tess_text text = {.at = at, .capacity = capacity};
    tess_cpu_info info;
    tess_context *context;
    if (length)
        *length = 0;
    TESS_TRY(tess_context_get(&context, given));
    if (!at && capacity > 0)
        return tess_fail(TESS_ERR_ARGUMENT, "text is NULL with a capacity of %zu", capacity);
    if (capacity > 0)
        *at = 0;
    if (format != TESS_TEXT && format != TESS_JSON)
        return tess_fail(TESS_ERR_ARGUMENT, "format is %d, it must be TESS_TEXT or TESS_JSON", (int)format);
    tess_cpu_info_get(&info);
    int threads = atomic_load(&context->threads);
    if (format == TESS_JSON) {
        tess_text_add(&text, "{\"cpu\": {\"name\": ");
        tess_text_json(&text, info.name);
        tess_text_add(&text, ", \"processors\": %d, \"threads\": %d, \"isa\": \"%s\", \"isas\": [", info.processors, threads,
                      tess_slot_name(context->slot));
        for (int s = 0, listed = 0; s < TESS_SLOTS; s++)
            if (tess_cpu_has_slot((tess_isa_slot)s))
                tess_text_add(&text, "%s\"%s\"", listed++ ? ", " : "", tess_slot_name((tess_isa_slot)s));
        tess_text_add(&text, "], \"l1d\": %lld, \"l2\": %lld, \"l3\": %lld}", (long long)info.l1d, (long long)info.l2, (long long)info.l3);
        for (int i = 0; i < tess_engines_count; i++)
            tess_engines[i]->describe(context, format, &text);
        tess_text_add(&text, "}\n");
    } else {
        tess_text_add(&text, "cpu      %s\n", info.name);
        tess_text_add(&text, "threads  %d of %d processors\n", threads, info.processors);
        tess_text_add(&text, "isa      %s; this processor has", tess_slot_name(context->slot));
        for (int s = 0; s < TESS_SLOTS; s++)
            if (tess_cpu_has_slot((tess_isa_slot)s))
                tess_text_add(&text, " %s", tess_slot_name((tess_isa_slot)s));
        tess_text_add(&text, "\ncaches   L1d %lld KiB, L2 %lld KiB, L3 %lld KiB\n", (long long)info.l1d / 1024, (long long)info.l2 / 1024,
                      (long long)info.l3 / 1024);
        for (int i = 0; i < tess_engines_count; i++)
            tess_engines[i]->describe(context, format, &text);
    }
    return tess_text_end(&text, length);
}
