/* SPDX-License-Identifier: Apache-2.0
 * prune.c - the disk cache kept from growing for ever.
 *
 * Looks only when an image was written, which took a compiler much longer. A file's modification time is when it was last used. Files that another
 * process removes meanwhile, or will miss, only cost a compilation. */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpu/gpu.h"

/* 64 hexadecimal digits, then .cubin or .ptx, then perhaps the ending of a file that was being written when a process died. Nothing else is touched.
 */
static bool is_ours(const char *name) {
    const char *ending = name + strspn(name, "0123456789abcdef");
    return ending - name == 2 * TESS_SHA256_SIZE && (strncmp(ending, ".cubin", 6) == 0 || strncmp(ending, ".ptx", 4) == 0);
}

typedef struct file {
    int64_t time;
    char name[128];
} file;

static int earlier(const void *a, const void *b) {
    const file *x = a, *y = b;
    return (x->time > y->time) - (x->time < y->time);
}

/* Notes the first `room` of the folder's files; returns how many there are. */
static size_t list(DIR *folder, file *files, size_t room) {
    size_t count = 0;
    struct stat about;
    rewinddir(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (!is_ours(entry->d_name) || strlen(entry->d_name) >= sizeof files->name)
            continue;
        if (count < room && fstatat(dirfd(folder), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0) {
            files[count].time = (int64_t)about.st_mtim.tv_sec * 1000000000 + about.st_mtim.tv_nsec;
            memcpy(files[count].name, entry->d_name, strlen(entry->d_name) + 1);
        } else if (count < room) {
            continue; /* gone meanwhile */
        }
        count++;
    }
    return count;
}

void tess_gpu_cache_prune(tess_gpu *gpu, const char *path) {
    DIR *folder = opendir(path);
    if (!folder)
        return;
    size_t count = list(folder, NULL, 0);
    file *files = count > TESS_GPU_CACHE_FILES ? tess_allocate(gpu->context, count * sizeof *files) : NULL;
    if (files) {
        size_t found = list(folder, files, count), oldest = count / 4;
        found = found < count ? found : count;
        qsort(files, found, sizeof *files, earlier);
        for (size_t i = 0; i < found && i < oldest; i++)
            unlinkat(dirfd(folder), files[i].name, 0);
        tess_free(gpu->context, files, count * sizeof *files);
    }
    closedir(folder);
}
