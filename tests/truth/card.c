/* SPDX-License-Identifier: Apache-2.0
 * card.c - runs on a card what test_truth.c runs on the virtual GPU: the same PTX, made into machine code by ptxas at a level, with the same arrays. To be
 * run under Nsight Compute by measure.py, which does all of it.
 *
 *     card launches LEVEL FILE [TABLE]      the launches of launches.txt that are of one file, from the PTX beside it
 *     card rows LEVEL OPERATION [TABLE]     an operation's GPU rows, from the PTX that NVRTC makes of them
 *     card code LEVEL FILE|rows             needs no card: the accesses of the machine code, as code.txt has them
 *
 * Prints one line a launch, in order: what was launched, a tab, the hash of what it wrote ("-" when more launches of the same row follow). The
 * profiler is told to look at these launches only, and with TABLE, a file like h200.txt, only at those without a line there; of the others the printed line
 * ends with a tab and "known". */
#include <dlfcn.h>
#include <unistd.h>

#include "gpu/gpu.h"
#include "profile/profile.h"
#include "truth.h"
#include "vgpu/audit.h"

static tess_context *context;
static tess_vgpu_machine *machine; /* for reading PTX */
static tess_gpu *gpu;
static tess_gpu_scope scope;
static const char *level, *only;
static int launched;
static tess_driver real;

static void check(tess_status status) {
    if (status != TESS_OK) {
        printf("%s\n", tess_detail());
        exit(1);
    }
}
#define CALL(entry, ...) check(tess_gpu_check(gpu, gpu->driver.entry(__VA_ARGS__), #entry))

/* ---- what is known already ---- */

static const char *table; /* its whole text, a line each; NULL: all are looked at */
static CUresult (*profiler_start)(void), (*profiler_stop)(void);

static void find_profiler(void) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    *(void **)&profiler_start = driver ? dlsym(driver, "cuProfilerStart") : NULL;
    *(void **)&profiler_stop = driver ? dlsym(driver, "cuProfilerStop") : NULL;
    if (!profiler_start || !profiler_stop)
        exit(1);
}

static void read_known(const char *name) {
    FILE *f = fopen(name, "r");
    char *text = calloc(1, 1 << 20);
    if (!f || !text || fread(text + 1, 1, (1 << 20) - 2, f) == 0)
        exit(1);
    text[0] = '\n';
    fclose(f);
    table = text;
}

static bool known(const char *launch) {
    char line[400];
    snprintf(line, sizeof line, "\nO%s\t%s\t", level, launch);
    return table && strstr(table, line);
}

/* Nothing else is looked at: plans may launch kernels to try them. */
static bool executing;
static void watch(const char *launch) {
    if (executing && !known(launch))
        profiler_start();
}
static void unwatch(const char *launch) {
    if (executing && !known(launch))
        profiler_stop();
}

static void *allocate(size_t bytes) {
    void *p = calloc(1, bytes ? bytes : 1);
    if (!p)
        exit(1);
    return p;
}

/* The machine code that ptxas makes of a PTX; the caller's. */
static char *assemble(const char *ptx, size_t *size) {
    char folder[] = "truth.XXXXXX", from[64], to[64], command[256];
    if (!mkdtemp(folder))
        exit(1);
    snprintf(from, sizeof from, "%s/a.ptx", folder);
    snprintf(to, sizeof to, "%s/a.cubin", folder);
    snprintf(command, sizeof command, "PATH=$PATH:/usr/local/cuda/bin ptxas -arch=sm_90 -O%s -lineinfo -o %s %s", level, to, from);
    FILE *f = fopen(from, "wb");
    if (!f || fwrite(ptx, 1, strlen(ptx), f) != strlen(ptx) || fclose(f) != 0 || system(command) != 0 || !(f = fopen(to, "rb"))) {
        printf("ptxas failed\n");
        exit(1);
    }
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    char *code = allocate(*size);
    if (fread(code, 1, *size, f) != *size)
        exit(1);
    fclose(f);
    unlink(from);
    unlink(to);
    rmdir(folder);
    return code;
}

/* ---- launches ---- */

/* The kernel is first run on the virtual GPU, which lays out arrays and parameters; the card gets the same with addresses of its own. */
static void launch(const truth_launch *l, const char *ptx, CUmodule module) {
    tess_profile *p;
    CUfunction function;
    char name[320];
    check(tess_profile_kernel(&p, context, ptx, l->text, NULL, 0, NULL));
    CUdeviceptr *place = allocate((size_t)p->array_count * sizeof *place);
    for (int a = 0, v = 0; a < p->array_count; a++, v++) {
        while (p->launch.values[v].kind != TESS_LAUNCH_ARRAY)
            v++;
        const tess_launch_value *value = &p->launch.values[v];
        char *data = allocate((size_t)p->arrays[a].bytes);
        memset(data, 0xa5, (size_t)p->arrays[a].bytes);
        if (value->in)
            check(tess_profile_fill(context, data, value->type, value->count, value->source, value->seed));
        CALL(cuMemAlloc, &place[a], (size_t)p->arrays[a].bytes);
        CALL(cuMemcpyHtoDAsync, place[a], data, (size_t)p->arrays[a].bytes, NULL);
        CALL(cuStreamSynchronize, NULL);
        free(data);
        for (int64_t at = 0; at + 8 <= p->param_bytes; at += 8)
            if (memcmp(p->params + at, &p->arrays[a].address, 8) == 0)
                memcpy(p->params + at, &place[a], 8);
    }
    size_t bytes = (size_t)p->param_bytes;
    void *extra[] = {(void *)1, p->params, (void *)2, &bytes, NULL}; /* CU_LAUNCH_PARAM_BUFFER_POINTER, _SIZE, _END */
    const uint32_t *g = p->launch.grid, *b = p->launch.block;
    CALL(cuModuleGetFunction, &function, module, p->kernel);
    if (p->launch.shared > 32768)
        CALL(cuFuncSetAttribute, function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)p->launch.shared);
    snprintf(name, sizeof name, "%s %s", l->file, l->text);
    watch(name);
    CALL(cuLaunchKernel, function, g[0], g[1], g[2], b[0], b[1], b[2], (unsigned)p->launch.shared, NULL, NULL, extra);
    CALL(cuStreamSynchronize, NULL);
    unwatch(name);
    printf("%s\t", name);
    for (int a = 0, outputs = 0; a < p->array_count; a++) {
        if (!p->arrays[a].out)
            continue;
        char *data = allocate((size_t)p->arrays[a].bytes);
        CALL(cuMemcpyDtoHAsync, data, place[a], (size_t)p->arrays[a].bytes, NULL);
        CALL(cuStreamSynchronize, NULL);
        printf("%s%016llx", outputs++ ? "," : "", (unsigned long long)truth_hash(TRUTH_HASH, data, (size_t)p->arrays[a].bytes));
        free(data);
    }
    printf("%s\n", known(name) ? "\tknown" : "");
    fflush(stdout);
    for (int a = 0; a < p->array_count; a++)
        CALL(cuMemFree, place[a]);
    free(place);
    tess_profile_free(p);
}

static void launches(void) {
    FILE *list = fopen(TRUTH_FOLDER "launches.txt", "r");
    truth_launch l;
    CUmodule module = NULL;
    char *ptx = truth_read(only, ".ptx"), *code;
    size_t size;
    if (!list || !ptx)
        exit(1);
    code = assemble(ptx, &size);
    CALL(cuModuleLoadDataEx, &module, code, 0, NULL, NULL);
    free(code);
    executing = true;
    while (truth_next(list, &l))
        if (strcmp(only, l.file) == 0)
            launch(&l, ptx, module);
    free(ptx);
    fclose(list);
}

/* ---- rows: the engine itself, through a driver that takes PTX and counts launches ---- */

/* The code's hash is part of a launch's name: what was measured of other code is not compared. */
static struct {
    void *handle;
    unsigned hash;
} codes[4096];
static int code_count;
static unsigned launched_code[64];

static void remember(void *handle, unsigned hash) {
    if (code_count == TESS_COUNT(codes))
        exit(1);
    codes[code_count].handle = handle;
    codes[code_count++].hash = hash;
}
static unsigned hash_of(const void *handle) {
    for (int i = code_count - 1; i >= 0; i--)
        if (codes[i].handle == handle)
            return codes[i].hash;
    return 0;
}

static CUresult find_function(CUfunction *function, CUmodule module, const char *name) {
    CUresult result = real.cuModuleGetFunction(function, module, name);
    if (result == CUDA_SUCCESS)
        remember(*function, hash_of(module));
    return result;
}

static CUresult load_ptx(CUmodule *module, const void *image, unsigned count, CUjit_option *options, void **values) {
    size_t size;
    char *code = assemble(image, &size);
    CUresult result = real.cuModuleLoadDataEx(module, code, count, options, values);
    if (result == CUDA_SUCCESS)
        remember(*module, truth_code_hash(image));
    free(code);
    return result;
}

static const char *row_now;
static int problem_now;

static void row_name(char name[80], int launch) {
    snprintf(name, 80, "%s %d.%d @%08x", row_now, problem_now, launch, launched_code[launch % TESS_COUNT(launched_code)]);
}

static CUresult launch_counted(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                               CUstream stream, void **arguments, void **extra) {
    char name[80];
    if (!executing)
        return real.cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, stream, arguments, extra);
    launched_code[launched % TESS_COUNT(launched_code)] = hash_of(f);
    row_name(name, launched++);
    watch(name);
    CUresult result = real.cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, stream, arguments, extra);
    unwatch(name);
    return result;
}

static void row(const char *row_wanted, int problem) {
    truth_trial t;
    row_now = row_wanted;
    problem_now = problem;
    tess_status status = truth_begin(&t, context, TESS_ENGINE_CUDA, &truth_problems[problem], row_wanted);
    launched = 0;
    executing = true;
    if (status == TESS_OK)
        check(truth_execute(&t));
    executing = false;
    if (status != TESS_OK && status != TESS_ERR_STRATEGY)
        check(status);
    for (int i = 0; i < launched; i++) {
        char name[80];
        row_name(name, i);
        printf("%s\t", name);
        if (i < launched - 1)
            printf("-");
        else
            printf("%016llx", (unsigned long long)truth_hash(TRUTH_HASH, t.out.data, truth_bytes(&t.out)));
        printf("%s\n", known(name) ? "\tknown" : "");
    }
    fflush(stdout);
    truth_end(&t);
}

static void rows(void) {
    real = gpu->driver;
    gpu->driver.ptx_only = 1;
    gpu->driver.cuModuleLoadDataEx = load_ptx;
    gpu->driver.cuModuleGetFunction = find_function;
    gpu->driver.cuLaunchKernel = launch_counted;
    for (int o = 0; o < tess_ops_count; o++)
        for (int r = 0; r < tess_ops[o]->gpu_count; r++)
            for (int p = 0; p < TESS_COUNT(truth_problems); p++)
                if (strcmp(truth_problems[p].operation, tess_ops[o]->name) == 0 && strcmp(only, tess_ops[o]->name) == 0)
                    row(tess_ops[o]->gpu_rows[r].name, p);
}

/* ---- code ---- */

static void tell(const char *name, const char *ptx) {
    tess_vgpu_module *module;
    vgpu_code *list;
    size_t size;
    int count, room;
    char *cubin = assemble(ptx, &size);
    check(tess_vgpu_load(machine, ptx, &module));
    check(tess_vgpu_cubin_read(context, module, cubin, size, &list, &count, &room));
    for (int i = 0, copies; i < count; i += copies) {
        for (copies = 1; i + copies < count && memcmp(&list[i], &list[i + copies], sizeof *list) == 0;)
            copies++;
        printf("%s %s %d %s %d %d %d %d %d %d %d %d\n", name, level, list[i].line, tess_vgpu_code_name(list[i].op), list[i].bytes, list[i].offset,
               list[i].guarded, list[i].at, list[i].entry, list[i].turn, list[i].home, copies);
    }
    tess_free(context, list, (size_t)room * sizeof *list);
    tess_vgpu_unload(module);
    free(cubin);
}

static CUresult load_told(CUmodule *module, const void *image, unsigned count, CUjit_option *options, void **values) {
    char name[16];
    snprintf(name, sizeof name, "@%08x", truth_code_hash(image));
    tell(name, image);
    return real.cuModuleLoadDataEx(module, image, count, options, values);
}

static void code_of_rows(void) {
    check(tess_gpu_get_engine(&gpu, context, TESS_ENGINE_VIRTUAL));
    check(tess_gpu_open(gpu));
    real = gpu->driver;
    gpu->driver.cuModuleLoadDataEx = load_told;
    for (int o = 0; o < tess_ops_count; o++)
        for (int r = 0; r < tess_ops[o]->gpu_count; r++)
            for (int p = 0; p < TESS_COUNT(truth_problems); p++) {
                truth_trial t;
                if (strcmp(truth_problems[p].operation, tess_ops[o]->name) != 0)
                    continue;
                tess_status status = truth_begin(&t, context, TESS_ENGINE_VIRTUAL, &truth_problems[p], tess_ops[o]->gpu_rows[r].name);
                if (status != TESS_ERR_STRATEGY)
                    check(status);
                truth_end(&t);
            }
}

static void code(void) {
    if (strcmp(only, "rows") == 0) {
        code_of_rows();
        return;
    }
    char *ptx = truth_read(only, ".ptx");
    if (!ptx)
        exit(1);
    tell(only, ptx);
    free(ptx);
}

int main(int count, char **words) {
    if (count != 4 && count != 5) {
        printf("usage: card launches|rows|code LEVEL FILE|OPERATION [TABLE]\n");
        return 2;
    }
    level = words[2];
    only = words[3];
    if (count == 5)
        read_known(words[4]);
    check(tess_open(&context, NULL));
    if (strcmp(words[1], "code") == 0) {
        check(tess_vgpu_open(&machine, context));
        code();
        tess_vgpu_close(machine);
        tess_close(context);
        return 0;
    }
    find_profiler();
    check(tess_gpu_get(&gpu, context));
    check(tess_gpu_open(gpu));
    check(tess_gpu_enter(gpu, &gpu->devices[0], NULL, &scope));
    (strcmp(words[1], "rows") == 0 ? rows : launches)();
    tess_gpu_leave(&scope);
    tess_close(context);
    return 0;
}
