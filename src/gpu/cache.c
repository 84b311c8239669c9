/* SPDX-License-Identifier: Apache-2.0
 * cache.c - images kept in memory and on disk, so that a kernel is compiled once on a machine.
 *
 * In memory: a list, most recently used first, cut at 16 MiB. On disk: one file an image, named by the key in hexadecimal:
 *
 *     "tessera image 2\n"   key (32 bytes)   SHA-256 of what follows (32)   size (8, little-endian)   answered (8)   image
 *
 * answered: which of the image's kernels gave known answers (answer.c), a bit for each.
 *
 * A file is written under another name and renamed, so readers see all of it or nothing; it is not synchronised to the disk first, because a torn
 * file fails its hash and is only compiled again. Any defect of file or folder is a miss. Whoever can write to the folder can choose what runs on the
 * card: it is made for its owner alone, and TESSERA_CACHE is to name folders of people who trust each other. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "gpu/gpu.h"

enum { MAGIC = 16, HEADER = MAGIC + 2 * TESS_SHA256_SIZE + 16, IMAGE_LIMIT = 64 << 20, MEMORY_LIMIT = 16 << 20 };
static const char magic[MAGIC + 1] = "tessera image 2\n";

struct tess_gpu_entry {
    tess_gpu_entry *next;
    tess_gpu_image image; /* the entry's own */
};

static bool copy_image(tess_gpu *gpu, tess_gpu_image *to, const tess_gpu_image *from) {
    *to = *from;
    to->data = tess_allocate(gpu->context, from->size + 1);
    if (to->data)
        memcpy(to->data, from->data, from->size + 1);
    return to->data != NULL;
}

static bool same_key(const tess_gpu_key *a, const tess_gpu_key *b) { return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0; }

/* ---- In memory; with the lock held ---- */

static bool memory_find(tess_gpu *gpu, tess_gpu_image *image) {
    for (tess_gpu_entry **at = &gpu->images; *at; at = &(*at)->next)
        if (same_key(&(*at)->image.key, &image->key)) {
            tess_gpu_entry *entry = *at;
            *at = entry->next;
            entry->next = gpu->images;
            gpu->images = entry;
            return copy_image(gpu, image, &entry->image);
        }
    return false;
}

static void memory_cut(tess_gpu *gpu, size_t limit) {
    size_t kept = 0;
    tess_gpu_entry **at = &gpu->images;
    while (*at && kept + (*at)->image.size <= limit) {
        kept += (*at)->image.size;
        at = &(*at)->next;
    }
    while (*at) {
        tess_gpu_entry *entry = *at;
        *at = entry->next;
        tess_gpu_image_free(gpu, &entry->image);
        tess_free(gpu->context, entry, sizeof *entry);
    }
}

static void memory_store(tess_gpu *gpu, const tess_gpu_image *image) {
    for (const tess_gpu_entry *entry = gpu->images; entry; entry = entry->next)
        if (same_key(&entry->image.key, &image->key))
            return;
    tess_gpu_entry *made = tess_allocate(gpu->context, sizeof *made);
    if (!made || !copy_image(gpu, &made->image, image)) {
        tess_free(gpu->context, made, sizeof *made);
        return;
    }
    made->next = gpu->images;
    gpu->images = made;
    memory_cut(gpu, MEMORY_LIMIT);
}

void tess_gpu_cache_free(tess_gpu *gpu) { memory_cut(gpu, 0); }

/* ---- On disk ---- */

bool tess_gpu_cache_folder(char *buffer, size_t size) {
    const char *given = getenv("TESSERA_CACHE"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length;
    if (given && strcmp(given, "none") == 0)
        return false;
    if (given && *given)
        length = snprintf(buffer, size, "%s/kernels", given);
    else if (cache && *cache == '/') /* the XDG rule: a relative one is to be ignored */
        length = snprintf(buffer, size, "%s/tessera/kernels", cache);
    else if (home && *home)
        length = snprintf(buffer, size, "%s/.cache/tessera/kernels", home);
    else
        return false;
    return length > 0 && (size_t)length < size;
}

static bool file_path(char *path, size_t size, const tess_gpu_image *image) {
    char hexadecimal[TESS_SHA256_TEXT];
    if (!tess_gpu_cache_folder(path, size))
        return false;
    tess_sha256_text(image->key.bytes, hexadecimal);
    size_t folder = strlen(path);
    int length = snprintf(path + folder, size - folder, "/%s.%s", hexadecimal, image->form == TESS_GPU_CUBIN ? "cubin" : "ptx");
    return length > 0 && (size_t)length < size - folder;
}

static void make_header(unsigned char header[HEADER], const tess_gpu_image *image) {
    unsigned char *numbers = header + HEADER - 16;
    tess_sha256 hash;
    memcpy(header, magic, MAGIC);
    memcpy(header + MAGIC, image->key.bytes, TESS_SHA256_SIZE);
    for (int i = 0; i < 8; i++) {
        numbers[i] = (unsigned char)((uint64_t)image->size >> 8 * i);
        numbers[8 + i] = (unsigned char)(image->answered >> 8 * i);
    }
    tess_sha256_start(&hash);
    tess_sha256_add(&hash, numbers, 16);
    tess_sha256_add(&hash, image->data, image->size);
    tess_sha256_end(&hash, header + MAGIC + TESS_SHA256_SIZE);
}

static bool read_all(int file, void *to, size_t size) {
    char *at = to;
    while (size > 0) {
        ssize_t got = read(file, at, size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        size -= (size_t)got;
    }
    return true;
}

static bool write_all(int file, const void *from, size_t size) {
    const char *at = from;
    while (size > 0) {
        ssize_t put = write(file, at, size);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        at += put;
        size -= (size_t)put;
    }
    return true;
}

/* The header is remade from what was read and compared as a whole: magic, key, hash and size at once. */
static bool disk_find(tess_gpu *gpu, tess_gpu_image *image) {
    char path[PATH_MAX];
    unsigned char found[HEADER], expected[HEADER];
    struct stat about;
    int file = file_path(path, sizeof path, image) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (file < 0)
        return false;
    bool good = fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > HEADER && about.st_size <= HEADER + IMAGE_LIMIT;
    if (good) {
        image->size = (size_t)about.st_size - HEADER;
        image->data = tess_allocate(gpu->context, image->size + 1);
        good = image->data && read_all(file, found, HEADER) && read_all(file, image->data, image->size);
        if (good) {
            image->data[image->size] = 0;
            for (int i = 0; i < 8; i++)
                image->answered |= (uint64_t)found[HEADER - 8 + i] << 8 * i;
            make_header(expected, image);
            good = memcmp(found, expected, HEADER) == 0;
        }
        if (good)
            futimens(file, NULL); /* used now, for prune.c; another owner's file keeps its time */
        else {
            tess_gpu_image_free(gpu, image);
            image->answered = 0; /* what is compiled in its place has answered nothing */
        }
    }
    close(file);
    return good;
}

static void make_folders(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0700);
        *slash = '/';
    }
}

static void disk_store(tess_gpu *gpu, const tess_gpu_image *image, bool is_new) {
    char path[PATH_MAX], beside[PATH_MAX + 96];
    unsigned char header[HEADER];
    struct timespec now;
    if (image->size > IMAGE_LIMIT || !file_path(path, sizeof path, image))
        return;
    make_folders(path);
    clock_gettime(CLOCK_REALTIME, &now);
    /* Unique among processes by number, among a process's threads by the address of a local, after a crash by the time; O_EXCL covers the rest. */
    snprintf(beside, sizeof beside, "%s.%ld.%llx.%lx", path, (long)getpid(), (unsigned long long)(uintptr_t)&now, now.tv_nsec);
    int file = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0)
        return;
    make_header(header, image);
    bool good = write_all(file, header, HEADER) && write_all(file, image->data, image->size);
    good = close(file) == 0 && good; /* some file systems report a full disk here */
    if (!good || rename(beside, path) != 0)
        unlink(beside);
    *strrchr(path, '/') = 0;
    if (is_new)
        tess_gpu_cache_prune(gpu, path);
}

bool tess_gpu_cache_find(tess_gpu *gpu, tess_gpu_image *image) {
    pthread_mutex_lock(&gpu->lock);
    bool found = memory_find(gpu, image);
    pthread_mutex_unlock(&gpu->lock);
    if (found)
        return true;
    image->data = NULL;
    image->size = 0;
    image->answered = 0;
    if (!disk_find(gpu, image))
        return false;
    pthread_mutex_lock(&gpu->lock);
    memory_store(gpu, image);
    pthread_mutex_unlock(&gpu->lock);
    return true;
}

void tess_gpu_cache_answered(tess_gpu *gpu, const tess_gpu_key *key, tess_gpu_form form, uint64_t answered) {
    tess_gpu_image image = {.key = *key, .form = form};
    if (!tess_gpu_cache_find(gpu, &image))
        return;
    if (answered & ~image.answered) {
        image.answered |= answered;
        pthread_mutex_lock(&gpu->lock);
        for (tess_gpu_entry *entry = gpu->images; entry; entry = entry->next)
            if (same_key(&entry->image.key, key))
                image.answered = entry->image.answered |= answered;
        pthread_mutex_unlock(&gpu->lock);
        disk_store(gpu, &image, false);
    }
    tess_gpu_image_free(gpu, &image);
}

void tess_gpu_cache_drop(tess_gpu *gpu, const tess_gpu_key *key, tess_gpu_form form) {
    const tess_gpu_image image = {.key = *key, .form = form};
    char path[PATH_MAX];
    pthread_mutex_lock(&gpu->lock);
    for (tess_gpu_entry **at = &gpu->images; *at;) {
        tess_gpu_entry *entry = *at;
        if (!same_key(&entry->image.key, key)) {
            at = &entry->next;
            continue;
        }
        *at = entry->next;
        tess_gpu_image_free(gpu, &entry->image);
        tess_free(gpu->context, entry, sizeof *entry);
    }
    pthread_mutex_unlock(&gpu->lock);
    if (file_path(path, sizeof path, &image))
        unlink(path);
}

void tess_gpu_cache_store(tess_gpu *gpu, const tess_gpu_image *image) {
    pthread_mutex_lock(&gpu->lock);
    memory_store(gpu, image);
    pthread_mutex_unlock(&gpu->lock);
    disk_store(gpu, image, true);
}
