/* SPDX-License-Identifier: Apache-2.0
 * wisdom_file.c - where the user's wisdom lies, and reading, locking and replacing such a file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/wisdom.h"

bool tess_wisdom_default_path(char *buffer, size_t size) {
    const char *given = getenv("TESSERA_WISDOM"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length;
    if (given && *given)
        length = snprintf(buffer, size, "%s", given);
    else if (cache && *cache == '/') /* the XDG rule: a relative one is to be ignored */
        length = snprintf(buffer, size, "%s/tessera/wisdom", cache);
    else if (home && *home)
        length = snprintf(buffer, size, "%s/.cache/tessera/wisdom", home);
    else
        return false;
    return length > 0 && (size_t)length < size;
}

tess_status tess_wisdom_no_default(void) {
    return tess_fail(TESS_ERR_FILE,
                     "there is no default wisdom file: TESSERA_WISDOM, XDG_CACHE_HOME and HOME are not set, or make a path of more than "
                     "4095 bytes");
}

static tess_status file_failure(const char *what, const char *path) {
    return tess_fail(TESS_ERR_FILE, "the wisdom file %s could not be %s: %s", path, what, strerror(errno));
}

tess_status tess_wisdom_read_file(tess_context *context, const char *path, char **text, size_t *size) {
    *text = NULL;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* a pipe that nobody writes to must not hold up the first plan */
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "rb") : NULL;
    if (!file) {
        tess_status failed = file_failure("opened", path);
        if (descriptor >= 0)
            close(descriptor);
        return failed;
    }
    struct stat about;
    tess_status status = TESS_OK;
    if (fstat(fileno(file), &about) != 0 || (!S_ISREG(about.st_mode) && about.st_size == 0)) {
        about.st_size = 0; /* a device such as /dev/null, a pipe: empty */
    } else if (!S_ISREG(about.st_mode) || about.st_size > TESS_WISDOM_FILE_LIMIT) {
        status = tess_fail(TESS_ERR_FILE, "the wisdom file %s has %lld bytes or is no plain file; the limit is %d bytes", path,
                           (long long)about.st_size, TESS_WISDOM_FILE_LIMIT);
    }
    *size = (size_t)about.st_size + 1;
    if (status == TESS_OK && !(*text = tess_allocate(context, *size)))
        status = TESS_ERR_MEMORY;
    if (status == TESS_OK)
        (*text)[fread(*text, 1, *size - 1, file)] = 0;
    fclose(file);
    return status;
}

void tess_wisdom_make_folder(const char *path) {
    char parent[4096];
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        size_t length = (size_t)(slash - path);
        if (length >= sizeof parent)
            return;
        memcpy(parent, path, length);
        parent[length] = 0;
        mkdir(parent, 0777); /* most exist; the open below tells what is wrong */
    }
}

static bool write_all(int descriptor, const char *text, size_t length) {
    while (length > 0) {
        ssize_t wrote = write(descriptor, text, length); /* short where the disk is nearly full: the next one says so */
        if (wrote < 0 && errno != EINTR)
            return false;
        text += wrote > 0 ? wrote : 0;
        length -= wrote > 0 ? (size_t)wrote : 0;
    }
    return true;
}

/* A character device, such as /dev/null, is written to: a file in its place would take it from the whole machine. */
static tess_status write_in_place(const char *path, const char *text, size_t length) {
    int descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor < 0)
        return file_failure("written", path);
    bool written = write_all(descriptor, text, length);
    int error = errno;
    close(descriptor);
    errno = error;
    return written ? TESS_OK : file_failure("written", path);
}

tess_status tess_wisdom_write_file(const char *path, const char *text, size_t length) {
    char temporary[4200];
    struct stat about;
    const bool there = stat(path, &about) == 0;
    if (there && S_ISCHR(about.st_mode))
        return write_in_place(path, text, length);
    if (there && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode))
        return tess_fail(TESS_ERR_FILE, "the wisdom file %s is neither a file nor a character device", path);
    snprintf(temporary, sizeof temporary, "%.4096s.XXXXXX", path);
    int descriptor = mkstemp(temporary);
    if (descriptor < 0)
        return file_failure("written", path);
    bool written = write_all(descriptor, text, length);
    written = fchmod(descriptor, 0644) == 0 && written;
    written = close(descriptor) == 0 && written;
    if (written && rename(temporary, path) == 0)
        return TESS_OK;
    tess_status status = file_failure("written", path);
    unlink(temporary);
    return status;
}

tess_status tess_wisdom_resolve(const char **path, char target[PATH_MAX]) {
    struct stat about;
    if (lstat(*path, &about) != 0 || !S_ISLNK(about.st_mode))
        return TESS_OK;
    if (!realpath(*path, target)) {
        int made = open(*path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644); /* what it names is not there yet */
        if (made < 0)
            return file_failure("written", *path);
        close(made);
        if (!realpath(*path, target))
            return file_failure("written", *path);
    }
    *path = target;
    return TESS_OK;
}

int tess_wisdom_lock_folder(const char *path) {
    enum { TRIES = 100 };
    char folder[4096];
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    if (length >= sizeof folder)
        return -1;
    memcpy(folder, path, length);
    folder[length] = 0;
    int descriptor = open(length > 0 ? folder : slash ? "/" : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int try = 0; descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) != 0; try++)
        if (try == TRIES || (errno != EWOULDBLOCK && errno != EINTR)) {
            close(descriptor);
            return -1;
        } else {
            nanosleep(&(struct timespec){0, 10000000}, NULL);
        }
    return descriptor;
}
