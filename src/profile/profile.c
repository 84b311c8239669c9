/* SPDX-License-Identifier: Apache-2.0
 * profile.c - the public functions: source to module, launch to arguments, a run, what was counted by source line. */
#include <stdio.h>
#include <string.h>

#include "profile/profile.h"

static char *copy_text(tess_context *context, const char *text, size_t *size) {
    *size = strlen(text) + 1;
    char *copy = tess_allocate(context, *size);
    if (copy)
        memcpy(copy, text, *size);
    return copy;
}

/* PTX begins with .version, after comments. */
static bool is_ptx(const char *at) {
    for (;;) {
        at += strspn(at, " \t\r\n");
        if (at[0] == '/' && at[1] == '/') {
            at += strcspn(at, "\n");
        } else if (at[0] == '/' && at[1] == '*') {
            const char *end = strstr(at + 2, "*/");
            if (!end)
                return false;
            at = end + 2;
        } else {
            return strncmp(at, ".version", 8) == 0;
        }
    }
}

/* ---- the kernel ---- */

/* The first ones of a name that several have; overloads are told apart by their symbols only. */
static tess_status several_kernels(const tess_profile *p, int several) {
    char list[600] = "";
    size_t used = 0;
    tess_vgpu_kernel_info k;
    for (int i = 0; tess_vgpu_kernel_at(p->module, i, &k) && used < sizeof list - 1; i++)
        if (tess_profile_names(k.name, k.name_length, p->launch.kernel))
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%.*s", used ? ", " : "", k.name_length, k.name);
    return tess_fail(TESS_ERR_ARGUMENT, "%s has %d kernels \"%s\": give one as the PTX spells it, %s", p->name, several, p->launch.kernel, list);
}

static tess_status no_kernel(const tess_profile *p) {
    char list[600] = "";
    size_t used = 0;
    tess_vgpu_kernel_info k;
    for (int i = 0; tess_vgpu_kernel_at(p->module, i, &k) && used < sizeof list - 1; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.*s", i ? ", " : "", k.name_length, k.name);
    return tess_fail(TESS_ERR_ARGUMENT, "%s has no kernel \"%s\"; it has %s%s", p->name, p->launch.kernel, *list ? list : "none",
                     p->source_is_ptx || p->launch.templated ? "" : " (a template is there when its arguments are named: name<float>)");
}

/* By exact name, else by the C++ name when that leaves one. */
static tess_status find_kernel(tess_profile *p, const char *lowered) {
    tess_vgpu_kernel_info k;
    int found = -1, several = 0;
    const char *name = *lowered ? lowered : p->launch.kernel;
    for (int i = 0; tess_vgpu_kernel_at(p->module, i, &k); i++) {
        if ((int)strlen(name) == k.name_length && memcmp(k.name, name, (size_t)k.name_length) == 0) {
            found = i;
            several = 0;
            break;
        }
        if (!*lowered && tess_profile_names(k.name, k.name_length, name)) {
            several += found >= 0;
            found = found < 0 ? i : found;
        }
    }
    if (found < 0)
        return no_kernel(p);
    tess_vgpu_kernel_at(p->module, found, &k);
    p->static_shared = k.shared_bytes;
    if (several)
        return several_kernels(p, several + 1);
    if (k.name_length >= (int)sizeof p->kernel)
        return tess_fail(TESS_ERR_ARGUMENT, "the kernel's name has %d characters, the limit is %d", k.name_length, (int)sizeof p->kernel - 1);
    memcpy(p->kernel, k.name, (size_t)k.name_length);
    p->kernel[k.name_length] = 0;
    p->kernel_number = found;
    return TESS_OK;
}

static tess_status load(tess_profile *p, const tess_profile_options *options) {
    profile_code code = {0};
    if (!p->source_is_ptx)
        TESS_TRY(tess_profile_translate(p->context, p->source, p->name, &p->launch, options, &code));
    tess_status status = tess_vgpu_load(p->machine, code.ptx ? code.ptx : p->source, &p->module);
    if (status != TESS_OK) {
        char why[1024];
        snprintf(why, sizeof why, "%s", tess_detail());
        status = tess_fail(status, "%s: %s%s", p->name, p->source_is_ptx ? "" : "the compiler's PTX: ", why);
    }
    if (status == TESS_OK && options->cubin)
        status = tess_vgpu_audit_cubin(p->module, options->cubin, options->cubin_size);
    else if (status == TESS_OK && code.cubin && tess_vgpu_audit_cubin(p->module, code.cubin, code.cubin_size) == TESS_ERR_MEMORY)
        status = TESS_ERR_MEMORY; /* a form that is not understood means that there is no audit */
    if (status == TESS_OK)
        status = find_kernel(p, code.lowered);
    if (status == TESS_OK)
        status = tess_vgpu_kernel_check(p->module, p->kernel_number);
    tess_profile_code_free(p->context, &code);
    return status;
}

/* ---- lines ---- */

static int compare(const profile_line *a, const char *file, int file_length, int line) {
    int least = a->file_length < file_length ? a->file_length : file_length;
    int c = least ? memcmp(a->file, file, (size_t)least) : 0;
    return c ? c : a->file_length != file_length ? a->file_length - file_length : a->line - line;
}

static tess_status line_of(tess_profile *p, const tess_vgpu_line *from, profile_line **found) {
    int low = 0, high = p->line_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (compare(&p->lines[middle], from->file, from->file_length, from->source_line) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < p->line_count && compare(&p->lines[low], from->file, from->file_length, from->source_line) == 0) {
        *found = &p->lines[low];
        return TESS_OK;
    }
    if (p->line_count == p->line_room) {
        int room = p->line_room ? 2 * p->line_room : 64;
        profile_line *grown = tess_allocate(p->context, (size_t)room * sizeof *grown);
        if (!grown)
            return TESS_ERR_MEMORY;
        if (p->line_count)
            memcpy(grown, p->lines, (size_t)p->line_count * sizeof *grown);
        tess_free(p->context, p->lines, (size_t)p->line_room * sizeof *grown);
        p->lines = grown;
        p->line_room = room;
    }
    *found = &p->lines[low];
    memmove(*found + 1, *found, (size_t)(p->line_count - low) * sizeof **found);
    p->line_count++;
    **found = (profile_line){.file = from->file, .file_length = from->file_length, .line = from->source_line};
    return TESS_OK;
}

static tess_status add_lines(tess_profile *p) {
    tess_vgpu_line from;
    profile_line *to;
    tess_vgpu_total(p->run, &p->total);
    p->is_audited = tess_vgpu_total_audited(p->run, &p->audited);
    for (int i = 0; tess_vgpu_line_at(p->run, i, &from); i++) {
        if (p->source_is_ptx && from.source_line == 0) { /* no line table: the PTX is the source */
            from.file = p->name;
            from.file_length = (int)strlen(p->name);
            from.source_line = from.ptx_line;
        }
        TESS_TRY(line_of(p, &from, &to));
#define X(name)                              \
    to->counters.name += from.counters.name; \
    to->audited.name += from.audited.name;
        TESS_VGPU_COUNTER_LIST(X)
#undef X
        tess_vgpu_verdict verdict = from.verdict == TESS_VGPU_PART ? TESS_VGPU_MERGED : from.verdict;
        to->verdict = verdict > to->verdict ? verdict : to->verdict;
    }
    return TESS_OK;
}

/* ---- running ---- */

static void predict(tess_profile *p) {
    int64_t threads = 1, blocks = 1;
    for (int i = 0; i < 3; i++) {
        threads *= p->launch.block[i];
        blocks *= p->launch.grid[i];
    }
    tess_profile_predict(p->run, &p->card, threads, blocks, p->static_shared + p->launch.shared, &p->prediction);
    p->finding_count = tess_profile_findings(p->run, &p->prediction, p->source_is_ptx ? p->name : NULL, p->findings);
}

static tess_status run(tess_profile *p, const DLTensor *const *arrays, int count, const tess_profile_options *options) {
    TESS_TRY(load(p, options));
    TESS_TRY(tess_profile_bind(p, arrays, count, options));
    tess_vgpu_launch_options launch = {.shared_bytes = p->launch.shared,
                                       .params = p->params,
                                       .param_bytes = p->param_bytes,
                                       .threads = options->threads,
                                       .count = true,
                                       .check = !options->no_check,
                                       .check_global = options->check_global && !options->no_check,
                                       .check_leaks = !options->no_check,
                                       .sample = true,
                                       .step_limit = options->step_limit,
                                       .seed = options->seed};
    memcpy(launch.grid, p->launch.grid, sizeof launch.grid);
    memcpy(launch.block, p->launch.block, sizeof launch.block);
    TESS_TRY(tess_vgpu_launch(p->module, p->kernel, &launch, &p->run));
    TESS_TRY(add_lines(p));
    predict(p);
    return tess_profile_collect(p);
}

static tess_status check_options(const tess_profile_options *o, int count, const DLTensor *const *arrays) {
    if (o->threads < 0 || o->threads > 1024)
        return tess_fail(TESS_ERR_ARGUMENT, "threads is %d, it must be 0 to 1024", o->threads);
    if (o->compiler_option_count < 0 || o->compiler_option_count > 4096)
        return tess_fail(TESS_ERR_ARGUMENT, "compiler_option_count is %d, it must be 0 to 4096", o->compiler_option_count);
    if (o->compiler_option_count > 0 && !o->compiler_options)
        return tess_fail(TESS_ERR_ARGUMENT, "compiler_options is NULL with a count of %d", o->compiler_option_count);
    for (int i = 0; i < o->compiler_option_count; i++)
        if (!o->compiler_options[i])
            return tess_fail(TESS_ERR_ARGUMENT, "compiler_options[%d] is NULL", i);
    if (count < 0 || count > 4096)
        return tess_fail(TESS_ERR_ARGUMENT, "count is %d, it must be 0 to 4096", count);
    return count > 0 && !arrays ? tess_fail(TESS_ERR_ARGUMENT, "arrays is NULL with a count of %d", count) : TESS_OK;
}

static tess_status begin(tess_profile *p, const char *source, const char *launch, const tess_profile_options *options) {
    TESS_TRY(tess_profile_card(options->cards, options->card, &p->card));
    TESS_TRY(tess_launch_parse(p->context, launch, &p->launch));
    p->source_is_ptx = is_ptx(source);
    p->fmad = !options->no_fmad;
    p->source = copy_text(p->context, source, &p->source_size);
    p->launch_text = copy_text(p->context, launch, &p->launch_size);
    p->name = copy_text(p->context, options->name ? options->name : p->source_is_ptx ? "kernel.ptx" : "kernel.cu", &p->name_size);
    if (!p->source || !p->launch_text || !p->name)
        return TESS_ERR_MEMORY;
    return tess_vgpu_open(&p->machine, p->context);
}

tess_status tess_profile_kernel(tess_profile **profile, tess_context *given, const char *source, const char *launch, const DLTensor *const *arrays,
                                int count, const tess_profile_options *options) {
    tess_profile_options o;
    tess_context *context;
    if (!profile)
        return tess_fail(TESS_ERR_ARGUMENT, "profile is NULL");
    *profile = NULL;
    if (!source || !launch)
        return tess_fail(TESS_ERR_ARGUMENT, "%s is NULL", source ? "launch" : "source");
    TESS_TRY(tess_options_copy(&o, sizeof o, options, "profile options"));
    TESS_TRY(check_options(&o, count, arrays));
    TESS_TRY(tess_context_get(&context, given));
    tess_profile *p = tess_allocate_zeroed(context, sizeof *p);
    if (!p)
        return TESS_ERR_MEMORY;
    p->context = context;
    tess_status status = begin(p, source, launch, &o);
    if (status == TESS_OK)
        status = run(p, arrays, count, &o);
    if (status == TESS_OK)
        *profile = p;
    else
        tess_profile_free(p);
    return status;
}

void tess_profile_free(tess_profile *p) {
    if (!p)
        return;
    tess_context *c = p->context;
    for (int i = 0; i < p->array_count; i++)
        tess_free(c, p->arrays[i].data, (size_t)p->arrays[i].bytes);
    tess_free(c, p->arrays, (size_t)p->array_room * sizeof *p->arrays);
    tess_free(c, p->lines, (size_t)p->line_room * sizeof *p->lines);
    tess_free(c, p->params, (size_t)p->param_bytes);
    tess_vgpu_run_free(p->run);
    tess_vgpu_unload(p->module);
    tess_vgpu_close(p->machine);
    tess_launch_free(c, &p->launch);
    tess_free(c, p->launch_text, p->launch_size);
    tess_free(c, p->name, p->name_size);
    tess_free(c, p->source, p->source_size);
    tess_free(c, p, sizeof *p);
}

/* ---- reading the result ---- */

bool tess_profile_output_get(const tess_profile *p, int index, tess_profile_output *output) {
    for (int i = 0; i < p->array_count && index >= 0; i++) {
        const profile_array *a = &p->arrays[i];
        if (!a->out || index-- > 0)
            continue;
        *output = (tess_profile_output){.argument = a->argument, .type = a->type, .count = a->count, .data = a->data, .hash = a->hash};
        return true;
    }
    return false;
}

bool tess_profile_counter(const tess_profile *p, const char *name, uint64_t *value) {
#define X(counter)                     \
    if (strcmp(name, #counter) == 0) { \
        *value = p->total.counter;     \
        return true;                   \
    }
    TESS_VGPU_COUNTER_LIST(X)
#undef X
    if (strcmp(name, "local_sectors") == 0) {
        *value = p->total.local_ld_sectors + p->total.local_st_sectors;
        return true;
    }
    return false;
}

int tess_profile_faults(const tess_profile *p) { return tess_vgpu_fault_count(p->run); }

const char *tess_profile_fault(const tess_profile *p, int index) {
    const tess_vgpu_fault *f = tess_vgpu_fault_at(p->run, index);
    return f ? f->message : NULL;
}

double tess_profile_seconds(const tess_profile *p) { return p->prediction.seconds; }

tess_status tess_profile_text(const tess_profile *p, tess_format format, char *at, size_t capacity, size_t *length) {
    tess_text text = {.at = at, .capacity = capacity};
    if (length)
        *length = 0;
    if (!at && capacity > 0)
        return tess_fail(TESS_ERR_ARGUMENT, "text is NULL with a capacity of %zu", capacity);
    if (capacity > 0)
        *at = 0;
    if (format != TESS_TEXT && format != TESS_JSON && format != TESS_HTML)
        return tess_fail(TESS_ERR_ARGUMENT, "format is %d, it must be TESS_TEXT, TESS_JSON or TESS_HTML", (int)format);
    (format == TESS_JSON ? tess_profile_json : format == TESS_HTML ? tess_profile_html : tess_profile_plain)(p, &text);
    return tess_text_end(&text, length);
}
