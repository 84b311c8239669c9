/* SPDX-License-Identifier: Apache-2.0
 * io_files.h - what the tests of src/io share: a folder of their own, bytes to files, arrays to compare. */
#ifndef TESS_TESTS_IO_FILES_H
#define TESS_TESTS_IO_FILES_H

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hostile.h"
#include "io/output.h"

static char files_folder[32];
static char files_path[4][sizeof files_folder + 64];

static inline int files_setup(void **state) {
    (void)state;
    /* In memory where that is possible: every output is synced, which disks take their time for. */
    strcpy(files_folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/tessera-XXXXXX" : "/tmp/tessera-XXXXXX");
    return mkdtemp(files_folder) ? 0 : -1;
}

/* Entries of the folder, . and .. left out. */
static inline int files_count(void) {
    int count = 0;
    DIR *folder = opendir(files_folder);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(folder);
    return count;
}

/* The path of a file in the folder; `slot` keeps up to four apart. */
static inline const char *files_name(int slot, const char *name) {
    snprintf(files_path[slot], sizeof files_path[slot], "%s/%s", files_folder, name);
    return files_path[slot];
}

static inline int files_teardown(void **state) {
    (void)state;
    DIR *folder = opendir(files_folder);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (entry->d_name[0] != '.' || strncmp(entry->d_name, ".tessera-", 9) == 0)
            unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        closedir(folder);
    return rmdir(files_folder);
}

static inline void files_put(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static inline size_t files_get(const char *path, void *bytes, size_t capacity) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, capacity, file);
    fclose(file);
    return size;
}

/* A compact array with repeating content that differs from element to element. */
static inline void files_array(tess_io_array *array, tess_type type, int ndim, const int64_t *shape) {
    tess_io_message message;
    uint64_t random = 7;
    assert_int_equal(tess_io_make(array, type, ndim, shape, "test", &message), TESS_IO_OK);
    for (size_t at = 0; at < array->block_size; at++)
        ((unsigned char *)array->block)[at] = (unsigned char)hostile_random(&random);
}

static inline void files_write(const tess_io_array *array, const char *path) {
    tess_io_message message = {""};
    if (tess_io_write(array, path, &message) != TESS_IO_OK)
        fail_msg("writing %s: %s", path, message.text);
}
static inline void files_read(tess_io_array *array, const char *path) {
    tess_io_message message = {""};
    if (tess_io_read(array, path, NULL, &message) != TESS_IO_OK)
        fail_msg("reading %s: %s", path, message.text);
}
/* Reading fails with a sentence that has `words` in it, in one line, and leaves nothing to free. */
static inline void files_refused(const char *path, const char *words) {
    tess_io_array array;
    tess_io_message message = {""};
    tess_io_status status = tess_io_read(&array, path, NULL, &message);
    if (status != TESS_IO_ERR_INPUT || !strstr(message.text, words) || strchr(message.text, '\n'))
        fail_msg("reading %s: status %d, \"%s\" where \"%s\" was expected", path, (int)status, message.text, words);
    assert_null(array.block);
}

static inline void files_same(const tess_io_array *a, const tess_io_array *b) {
    assert_int_equal(tess_io_type(a), tess_io_type(b));
    assert_int_equal(a->tensor.ndim, b->tensor.ndim);
    for (int d = 0; d < a->tensor.ndim; d++) {
        assert_int_equal(a->shape[d], b->shape[d]);
        if (tess_io_count(&a->tensor) > 0)
            assert_int_equal(a->strides[d], b->strides[d]);
    }
    assert_memory_equal(a->tensor.data, b->tensor.data, (size_t)tess_io_count(&a->tensor) * tess_type_size(tess_io_type(a)));
}

#endif
