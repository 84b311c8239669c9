/* SPDX-License-Identifier: Apache-2.0
 * test_gpu_cache.c - proves: SHA-256 gives the published digests; a key depends on source, name, each option and where it ends, architecture, form
 * and compiler version; an image is compiled once and then found in memory, by other contexts on disk; a file that is cut, changed in any byte,
 * empty, too long, a folder or another image's is compiled again and mended; a folder that cannot be written or made is no error, one that is full
 * loses what was used longest ago; threads and processes that write at once end with one whole file; the compiler's log is cut to what matters;
 * every allocation may fail. The compiler is the pretended one, which counts its runs. */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "gpu_fake.h"

static void digest_of(const char *text, int repeat, char *hexadecimal) {
    tess_sha256 hash;
    unsigned char digest[TESS_SHA256_SIZE];
    tess_sha256_start(&hash);
    for (int i = 0; i < repeat; i++)
        tess_sha256_add(&hash, text, strlen(text));
    tess_sha256_end(&hash, digest);
    tess_sha256_text(digest, hexadecimal);
}

/* NIST's examples for SHA-256: "abc", two blocks, a million a's; and the empty message. */
static void sha256_gives_the_published_digests(void **state) {
    (void)state;
    char found[65];
    digest_of("abc", 1, found);
    assert_string_equal(found, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    digest_of("", 1, found);
    assert_string_equal(found, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    digest_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1, found);
    assert_string_equal(found, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    digest_of("aaaaaaaaaa", 100000, found);
    assert_string_equal(found, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static const char *const two[] = {"-DA=1", "-DB"}, *const joined[] = {"-DA=1-DB"}, *const swapped[] = {"-DB", "-DA=1"},
                         *const empty[] = {"-DA=1", "-DB", ""};
static const tess_gpu_source plain = {"k.cu", "kernel", two, 2, NULL, NULL, false};

static void a_key_depends_on_all(void **state) {
    (void)state;
    tess_gpu_source sources[] = {plain,
                                 {"k.cu", "kernel ", two, 2, NULL, NULL, false},
                                 {"l.cu", "kernel", two, 2, NULL, NULL, false},
                                 {"k.cu", "kernel", two, 1, NULL, NULL, false},
                                 {"k.cu", "kernel", joined, 1, NULL, NULL, false},
                                 {"k.cu", "kernel", swapped, 2, NULL, NULL, false},
                                 {"k.cu", "kernel", empty, 3, NULL, NULL, false},
                                 {"k.cukernel", "", two, 2, NULL, NULL, false}};
    tess_gpu_key keys[TESS_COUNT(sources) + 3];
    int count = 0;
    for (int i = 0; i < TESS_COUNT(sources); i++)
        keys[count++] = tess_gpu_source_key(&sources[i], 90, TESS_GPU_CUBIN, 13000);
    keys[count++] = tess_gpu_source_key(&plain, 80, TESS_GPU_CUBIN, 13000);
    keys[count++] = tess_gpu_source_key(&plain, 90, TESS_GPU_PTX, 13000);
    keys[count++] = tess_gpu_source_key(&plain, 90, TESS_GPU_CUBIN, 13010);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++)
            assert_memory_not_equal(&keys[i], &keys[j], sizeof keys[i]);
    tess_gpu_key again = tess_gpu_source_key(&plain, 90, TESS_GPU_CUBIN, 13000);
    assert_memory_equal(&again, &keys[0], sizeof again);
}

/* Of PTX only, by a compiler that can. */
static void unoptimised_ptx_is_another_image(void **state) {
    (void)state;
    static const struct {
        tess_gpu_form form;
        int nvrtc;
        const char *given;
        bool other;
    } cases[] = {{TESS_GPU_PTX, 13000, "1", true},    {TESS_GPU_PTX, 12090, "1", true},  {TESS_GPU_PTX, 12080, "1", false},
                 {TESS_GPU_CUBIN, 13000, "1", false}, {TESS_GPU_PTX, 13000, "0", false}, {TESS_GPU_PTX, 13000, "", false}};
    for (int i = 0; i < TESS_COUNT(cases); i++) {
        const tess_gpu_key usual = tess_gpu_source_key(&plain, 90, cases[i].form, cases[i].nvrtc);
        setenv("TESSERA_UNOPTIMISED", cases[i].given, 1);
        const tess_gpu_key key = tess_gpu_source_key(&plain, 90, cases[i].form, cases[i].nvrtc);
        unsetenv("TESSERA_UNOPTIMISED");
        assert_int_equal(memcmp(&key, &usual, sizeof key) != 0, cases[i].other);
    }
}

static const char plain_image[] = "FAKE --std=c++17 --fmad=false --gpu-architecture=sm_90 -DA=1 -DB\nkernel";

static int compile_with(tess_gpu *gpu, const tess_gpu_source *source, tess_gpu_form form, const char *expected) {
    tess_gpu_image image;
    int before = fake_compiles();
    assert_tess_ok(tess_gpu_compile(gpu, source, 90, form, &image));
    if (expected)
        assert_string_equal(image.data, expected);
    assert_int_equal(image.size, strlen(image.data));
    tess_gpu_image_free(gpu, &image);
    return fake_compiles() - before;
}

/* In a context of its own, so that only the disk can help. */
static int compile_anew(const char *expected) {
    tess_context *context;
    tess_gpu *gpu = fake_open(&context);
    int runs = compile_with(gpu, &plain, TESS_GPU_CUBIN, expected);
    tess_close(context);
    return runs;
}

/* The path of the one file in the cache; the number of files there. */
static int cached(const char *folder, char *path, size_t size) {
    char kernels[256];
    int count = 0;
    snprintf(kernels, sizeof kernels, "%s/kernels", folder);
    DIR *open = opendir(kernels);
    if (!open)
        return 0;
    for (struct dirent *entry; (entry = readdir(open)) != NULL;)
        if (*entry->d_name != '.') {
            count++;
            snprintf(path, size, "%s/%s", kernels, entry->d_name);
        }
    closedir(open);
    return count;
}

static void compiled_once(void **state) {
    (void)state;
    char *folder = fake_cache(), path[600];
    tess_context *context;
    struct stat about;
    tess_gpu *gpu = fake_open(&context);
    assert_int_equal(compile_with(gpu, &plain, TESS_GPU_CUBIN, plain_image), 1);
    assert_int_equal(compile_with(gpu, &plain, TESS_GPU_CUBIN, plain_image), 0);
    assert_int_equal(cached(folder, path, sizeof path), 1);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_size, 16 + 32 + 32 + 8 + 8 + strlen(plain_image));
    assert_int_equal(strlen(strrchr(path, '/')), 1 + 64 + strlen(".cubin"));
    unlink(path); /* memory still has it */
    assert_int_equal(compile_with(gpu, &plain, TESS_GPU_CUBIN, plain_image), 0);
    assert_int_equal(
        compile_with(gpu, &plain, TESS_GPU_PTX, "FAKE --std=c++17 --fmad=false --gpu-architecture=compute_90 --generate-line-info -DA=1 -DB\nkernel"),
        1);
    tess_close(context);
    assert_int_equal(compile_anew(plain_image), 1);
    assert_int_equal(compile_anew(plain_image), 0); /* from disk */
    setenv("TESSERA_CACHE", "none", 1);
    assert_int_equal(compile_anew(plain_image), 1);
    assert_int_equal(compile_anew(plain_image), 1);
    fake_cache_end(folder);
}

/* Memory is cut at 16 MiB: of three images of 7 MiB the two used last stay. */
static void memory_keeps_the_last_used(void **state) {
    (void)state;
    enum { LARGE = 7 << 20 };
    char *text = malloc(LARGE + 1);
    const char *const numbers[] = {"-DN=0", "-DN=1", "-DN=2"};
    tess_context *context;
    tess_gpu *gpu = fake_open(&context);
    setenv("TESSERA_CACHE", "none", 1);
    memset(text, 'x', LARGE);
    text[LARGE] = 0;
    tess_gpu_source large[3];
    for (int i = 0; i < 3; i++)
        large[i] = (tess_gpu_source){"large.cu", text, &numbers[i], 1, NULL, NULL, false};
    assert_int_equal(compile_with(gpu, &large[0], TESS_GPU_CUBIN, NULL), 1);
    assert_int_equal(compile_with(gpu, &large[1], TESS_GPU_CUBIN, NULL), 1);
    assert_int_equal(compile_with(gpu, &large[0], TESS_GPU_CUBIN, NULL), 0);
    assert_int_equal(compile_with(gpu, &large[2], TESS_GPU_CUBIN, NULL), 1);
    assert_int_equal(compile_with(gpu, &large[0], TESS_GPU_CUBIN, NULL), 0);
    assert_int_equal(compile_with(gpu, &large[1], TESS_GPU_CUBIN, NULL), 1);
    tess_close(context);
    unsetenv("TESSERA_CACHE");
    free(text);
}

static void write_file(const char *path, const void *data, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    fclose(file);
}

static void a_damaged_file_is_mended(void **state) {
    (void)state;
    char *folder = fake_cache(), path[600], good[512], bad[600];
    assert_int_equal(compile_anew(plain_image), 1);
    assert_int_equal(cached(folder, path, sizeof path), 1);
    FILE *file = fopen(path, "rb");
    size_t size = fread(good, 1, sizeof good, file);
    fclose(file);
    for (size_t i = 0; i < size; i++) { /* each byte of the file in turn */
        memcpy(bad, good, size);
        bad[i] ^= 0x40;
        write_file(path, bad, size);
        assert_int_equal(compile_anew(plain_image), 1);
        assert_int_equal(compile_anew(plain_image), 0);
    }
    for (size_t cut = 0; cut < size; cut += 7) {
        write_file(path, good, cut);
        assert_int_equal(compile_anew(plain_image), 1);
    }
    memcpy(bad, good, size);
    bad[size] = 0;
    write_file(path, bad, size + 1);
    assert_int_equal(compile_anew(plain_image), 1);
    assert_int_equal(compile_anew(plain_image), 0);
    assert_int_equal(cached(folder, path, sizeof path), 1); /* no files left beside it */
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0); /* a folder in its place: never read, never replaced, never an error */
    assert_int_equal(compile_anew(plain_image), 1);
    assert_int_equal(compile_anew(plain_image), 1);
    rmdir(path);
    assert_int_equal(mkfifo(path, 0600), 0); /* opening a pipe would wait for a writer */
    assert_int_equal(compile_anew(plain_image), 1);
    assert_int_equal(compile_anew(plain_image), 0);
    fake_cache_end(folder);
}

static void folders_that_do_not_serve(void **state) {
    (void)state;
    char *folder = fake_cache(), path[600];
    snprintf(path, sizeof path, "%s/a/file", folder);
    const char *const places[] = {"/proc/nowhere", "/dev/null", path};
    for (int i = 0; i < TESS_COUNT(places); i++) {
        setenv("TESSERA_CACHE", places[i], 1);
        assert_int_equal(compile_anew(plain_image), 1);
        assert_int_equal(compile_anew(plain_image), i == 2 ? 0 : 1); /* the last is made, with the folders above it */
    }
    char buffer[64];
    char *home = getenv("HOME") ? strdup(getenv("HOME")) : NULL, *cache = getenv("XDG_CACHE_HOME") ? strdup(getenv("XDG_CACHE_HOME")) : NULL;
    unsetenv("TESSERA_CACHE");
    setenv("HOME", "/house", 1);
    setenv("XDG_CACHE_HOME", "/caches", 1);
    assert_true(tess_gpu_cache_folder(buffer, sizeof buffer));
    assert_string_equal(buffer, "/caches/tessera/kernels");
    setenv("XDG_CACHE_HOME", "relative", 1);
    assert_true(tess_gpu_cache_folder(buffer, sizeof buffer));
    assert_string_equal(buffer, "/house/.cache/tessera/kernels");
    assert_false(tess_gpu_cache_folder(buffer, 20));
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    assert_false(tess_gpu_cache_folder(buffer, sizeof buffer));
    if (home)
        setenv("HOME", home, 1);
    if (cache)
        setenv("XDG_CACHE_HOME", cache, 1);
    free(home);
    free(cache);
    fake_cache_end(folder);
}

/* ---- Several at once ---- */

/* One file more than the limit: the quarter used longest ago goes, what was read lately and what is not an image stays. */
static void the_folder_does_not_grow_for_ever(void **state) {
    (void)state;
    char *folder = fake_cache(), path[600], first[600];
    tess_context *context;
    assert_int_equal(compile_anew(plain_image), 1);
    assert_int_equal(cached(folder, first, sizeof first), 1);
    const struct timespec old[2] = {{1000, 0}, {1000, 0}};
    assert_int_equal(utimensat(AT_FDCWD, first, old, 0), 0);
    for (int i = 0; i < TESS_GPU_CACHE_FILES; i++) {
        snprintf(path, sizeof path, "%s/kernels/%064x.%s", folder, i, i % 2 ? "ptx" : "cubin.1234.5678.9"); /* the last as a crash leaves it */
        write_file(path, "", 0);
        const struct timespec times[2] = {{2000 + i, 0}, {2000 + i, 0}};
        assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    }
    snprintf(path, sizeof path, "%s/kernels/someone's.cubin", folder);
    write_file(path, "", 0);
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    assert_int_equal(compile_anew(plain_image), 0); /* read: it is young now */
    tess_gpu *gpu = fake_open(&context);
    assert_int_equal(compile_with(gpu, &plain, TESS_GPU_PTX, NULL), 1); /* written: two files of ours beyond the limit */
    tess_close(context);
    const int quarter = (TESS_GPU_CACHE_FILES + 2) / 4;
    assert_int_equal(cached(folder, path, sizeof path), TESS_GPU_CACHE_FILES + 2 - quarter + 1);
    for (int i = 0; i < TESS_GPU_CACHE_FILES; i += quarter - 1) {
        snprintf(path, sizeof path, "%s/kernels/%064x.%s", folder, i, i % 2 ? "ptx" : "cubin.1234.5678.9");
        assert_int_equal(access(path, F_OK), i < quarter ? -1 : 0);
    }
    assert_int_equal(access(first, F_OK), 0);
    fake_cache_end(folder);
}

enum { THREADS = 4, PROCESSES = 4, ROUNDS = 20 };

static void *compile_in_thread(void *argument) {
    tess_gpu *gpu = argument;
    char text[32];
    for (int i = 0; i < ROUNDS; i++) {
        tess_gpu_image image;
        snprintf(text, sizeof text, "kernel %d", i % 5);
        tess_gpu_source source = {"k.cu", text, NULL, 0, NULL, NULL, false};
        if (tess_gpu_compile(gpu, &source, 90, TESS_GPU_CUBIN, &image) != TESS_OK || !strstr(image.data, text))
            return argument; /* any address: the test fails */
        tess_gpu_image_free(gpu, &image);
    }
    return NULL;
}

static void threads_share_a_context(void **state) {
    (void)state;
    char *folder = fake_cache(), path[600];
    pthread_t threads[THREADS];
    void *failed;
    tess_context *context;
    tess_gpu *gpu = fake_open(&context);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, compile_in_thread, gpu), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    assert_int_equal(cached(folder, path, sizeof path), 5);
    tess_close(context);
    fake_cache_end(folder);
}

static void processes_share_a_folder(void **state) {
    (void)state;
    char *folder = fake_cache(), path[600];
    pid_t children[PROCESSES];
    fflush(NULL);
    for (int i = 0; i < PROCESSES; i++)
        if ((children[i] = fork()) == 0) {
            bool good = true;
            for (int round = 0; round < ROUNDS && good; round++) {
                tess_context *context;
                tess_gpu *gpu;
                good = tess_open(&context, NULL) == TESS_OK && tess_gpu_get(&gpu, context) == TESS_OK && !compile_in_thread(gpu);
                tess_close(context);
            }
            _exit(good ? 0 : 1);
        }
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    assert_int_equal(cached(folder, path, sizeof path), 5);
    fake_cache_end(folder);
}

/* ---- Errors ---- */

static void the_log_is_cut_to_the_errors(void **state) {
    (void)state;
    char line[64];
    tess_gpu_image image;
    tess_context *context;
    tess_gpu *gpu = fake_open(&context);
    tess_gpu_source source = {"broken.cu", "#error", NULL, 0, NULL, NULL, false};
    assert_tess_fails(tess_gpu_compile(gpu, &source, 90, TESS_GPU_CUBIN, &image), TESS_ERR_ENGINE);
    const char *begin = "broken.cu does not compile for sm_90: k.cu(30): error: line 30 of the log | k.cu(31): error: line 31 of the log | ";
    assert_memory_equal(tess_detail(), begin, strlen(begin));
    assert_non_null(strstr(tess_detail(), " more lines)"));
    assert_null(strpbrk(tess_detail(), "\n^"));
    assert_null(image.data);
    assert_string_equal(tess_gpu_log_line(line, sizeof line, "  one\n ^~~~ \n\n two  \r\n"), "one | two");
    assert_string_equal(tess_gpu_log_line(line, sizeof line, ""), "");
    assert_string_equal(tess_gpu_log_line(line, sizeof line, "\n ^ \n"), "");
    tess_gpu_log_line(
        line, sizeof line,
        "warning: a long line that has nothing to do with it at all\nan error in a line that is far too long for the room that there is here\nlast");
    assert_string_equal(line, "an error in a line that is far t | (2 more lines)");
    tess_close(context);
}

static int allocations_left;
static void *allocate(void *user, size_t size, size_t alignment) {
    (void)user;
    return allocations_left-- > 0 ? aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment) : NULL;
}
static void release(void *user, void *memory, size_t size) {
    (void)user;
    (void)size;
    free(memory);
}

/* The n-th allocation fails, for every n until all succeeds; leaks are AddressSanitizer's to find. */
static void every_allocation_may_fail(void **state) {
    (void)state;
    char *folder = fake_cache();
    const tess_context_options options = {.struct_size = sizeof options, .threads = 1, .allocate = allocate, .release = release};
    for (int pass = 0; pass < 2; pass++) { /* the second finds the image on disk */
        tess_status status = TESS_ERR_MEMORY;
        for (int n = 0; status != TESS_OK && n < 100; n++) {
            tess_context *context = NULL;
            tess_gpu *gpu;
            tess_gpu_image image;
            allocations_left = n;
            if ((status = tess_open(&context, &options)) == TESS_OK && (status = tess_gpu_get(&gpu, context)) == TESS_OK &&
                (status = tess_gpu_open(gpu)) == TESS_OK && (status = tess_gpu_compile(gpu, &plain, 90, TESS_GPU_CUBIN, &image)) == TESS_OK)
                tess_gpu_image_free(gpu, &image);
            assert_true(status == TESS_OK || status == TESS_ERR_MEMORY);
            tess_close(context);
        }
        assert_int_equal(status, TESS_OK);
    }
    fake_cache_end(folder);
}

static int use_fakes(void **state) {
    (void)state;
    unsetenv("TESSERA_UNOPTIMISED"); /* the suite's: images and keys are compared here */
    fake_libraries("cuda", "nvrtc");
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sha256_gives_the_published_digests),
                                       cmocka_unit_test(a_key_depends_on_all),
                                       cmocka_unit_test(unoptimised_ptx_is_another_image),
                                       cmocka_unit_test(compiled_once),
                                       cmocka_unit_test(memory_keeps_the_last_used),
                                       cmocka_unit_test(a_damaged_file_is_mended),
                                       cmocka_unit_test(folders_that_do_not_serve),
                                       cmocka_unit_test(the_folder_does_not_grow_for_ever),
                                       cmocka_unit_test(threads_share_a_context),
                                       cmocka_unit_test(processes_share_a_folder),
                                       cmocka_unit_test(the_log_is_cut_to_the_errors),
                                       cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, use_fakes, NULL);
}
