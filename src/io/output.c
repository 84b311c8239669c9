/* SPDX-License-Identifier: Apache-2.0
 * output.c - writing a file so that it is there whole or not at all.
 *
 * The bytes go to a temporary in the same directory, which is synced and renamed over the name: rename is atomic (POSIX), so a reader sees
 * the old file or the new one, and an input that is also the output stays readable, through its mapping, until the end.
 * What cannot be renamed over - standard output, a device, a pipe - is written in place. */
#include "io/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the signal handler removes. One file is in the making at a time. */
static char removed_by_signal[PATH_MAX];
static volatile sig_atomic_t removal_armed;
static int exit_of_lost_input;

static void end_by_signal(int number) {
    if (removal_armed)
        unlink(removed_by_signal);
    if (number == SIGBUS) {
        static const char sentence[] = "tessera: an input file became shorter, or its disk failed, while it was read\n";
        ssize_t ignored = write(STDERR_FILENO, sentence, sizeof sentence - 1);
        (void)ignored;
        _exit(exit_of_lost_input);
    }
    signal(number, SIG_DFL);
    raise(number);
}

void tess_io_guard_signals(int input_exit) {
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGBUS};
    exit_of_lost_input = input_exit;
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++) {
        struct sigaction old, action = {.sa_handler = end_by_signal, .sa_flags = SA_NODEFER};
        sigemptyset(&action.sa_mask);
        if (sigaction(ending[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) /* nohup stays nohup */
            sigaction(ending[i], &action, NULL);
    }
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

static void arm(const char *path) {
    size_t length = strlen(path);
    if (length < sizeof removed_by_signal) {
        memcpy(removed_by_signal, path, length + 1);
        removal_armed = 1;
    }
}

static tess_io_status open_temporary(tess_io_output *output, tess_io_message *message) {
    const char *slash = strrchr(output->final, '/');
    int directory = slash ? (int)(slash - output->final) + 1 : 0;
    size_t size = (size_t)directory + sizeof ".tessera-XXXXXX";
    output->temporary = malloc(size);
    if (!output->temporary)
        return tess_io_fail(message, TESS_IO_ERR_MEMORY, "%s: no memory for a file name", output->name);
    snprintf(output->temporary, size, "%.*s.tessera-XXXXXX", directory, output->final);
    output->fd = mkostemp(output->temporary, O_CLOEXEC);
    if (output->fd < 0) {
        int error = errno;
        free(output->temporary);
        output->temporary = NULL;
        return tess_io_fail(message, TESS_IO_ERR_OUTPUT, "%s: a file beside it cannot be made: %s", output->name, strerror(error));
    }
    arm(output->temporary);
    return TESS_IO_OK;
}

/* mkstemp makes files that only the user can read: give the new file the mode of the old one, or what open() would have given. */
static void set_mode(int fd, const struct stat *old) {
    mode_t mask = umask(0);
    umask(mask);
    int ignored = fchmod(fd, old ? old->st_mode & 07777 : 0666 & ~mask);
    (void)ignored;
}

tess_io_status tess_io_check_output(const char *name, tess_io_message *message) {
    struct stat status;
    if (strcmp(name, "-") == 0) {
        if (isatty(STDOUT_FILENO))
            return tess_io_fail(message, TESS_IO_ERR_OUTPUT, "standard output is a terminal; an array goes to a file or a pipe");
        return TESS_IO_OK;
    }
    bool exists = stat(name, &status) == 0;
    if (exists && S_ISDIR(status.st_mode))
        return tess_io_fail(message, TESS_IO_ERR_OUTPUT, "%s is a directory, not a file to write", name);
    if (exists && !S_ISREG(status.st_mode))
        return TESS_IO_OK;
    char *final = exists ? realpath(name, NULL) : strdup(name), *slash = final ? strrchr(final, '/') : NULL;
    if (slash)
        slash[slash == final] = 0;
    const char *folder = slash ? final : ".";
    tess_io_status result = TESS_IO_OK;
    errno = ENOTDIR;
    if (!final || (stat(folder, &status) == 0 && !S_ISDIR(status.st_mode)) || access(folder, W_OK | X_OK) != 0)
        result = tess_io_fail(message, TESS_IO_ERR_OUTPUT, "%s: nothing can be made in its directory: %s", name, strerror(errno));
    free(final);
    return result;
}

tess_io_status tess_io_output_open(tess_io_output *output, const char *name, tess_io_message *message) {
    struct stat status;
    memset(output, 0, sizeof *output);
    output->fd = -1;
    output->name = name;
    tess_io_status checked = tess_io_check_output(name, message);
    if (checked != TESS_IO_OK)
        return checked;
    if (strcmp(name, "-") == 0) {
        output->name = "standard output";
        output->in_place = true;
        output->fd = STDOUT_FILENO;
        return TESS_IO_OK;
    }
    bool exists = stat(name, &status) == 0;
    if (exists && !S_ISREG(status.st_mode)) {
        output->in_place = true;
        output->fd = open(name, O_WRONLY | O_CLOEXEC);
        if (output->fd < 0)
            return tess_io_fail(message, TESS_IO_ERR_OUTPUT, "%s cannot be opened for writing: %s", name, strerror(errno));
        return TESS_IO_OK;
    }
    output->final = exists ? realpath(name, NULL) : strdup(name);
    if (!output->final)
        return tess_io_fail(message, TESS_IO_ERR_OUTPUT, "%s: its place cannot be found: %s", name, strerror(errno));
    tess_io_status result = open_temporary(output, message);
    if (result != TESS_IO_OK)
        tess_io_output_discard(output);
    else
        set_mode(output->fd, exists ? &status : NULL);
    return result;
}

bool tess_io_output_write(tess_io_output *output, const void *data, size_t size) {
    const char *at = data;
    while (size > 0 && !output->error) {
        ssize_t written = write(output->fd, at, size < (size_t)1 << 30 ? size : (size_t)1 << 30);
        if (written > 0) {
            at += written;
            size -= (size_t)written;
        } else if (written == 0) {
            output->error = ENOSPC;
        } else if (errno != EINTR) {
            output->error = errno;
        }
    }
    return !output->error;
}

int64_t tess_io_output_seek(tess_io_output *output, int64_t offset, int whence) {
    off_t at = lseek(output->fd, (off_t)offset, whence);
    if (at < 0 && !output->error)
        output->error = errno;
    return at;
}

tess_io_status tess_io_output_failed(const tess_io_output *output, tess_io_message *message) {
    return tess_io_fail(message, TESS_IO_ERR_OUTPUT, "%s cannot be written: %s", output->name, strerror(output->error));
}

tess_io_status tess_io_output_commit(tess_io_output *output, tess_io_message *message) {
    if (!output->error && !output->in_place && fsync(output->fd) != 0 && errno != EINVAL && errno != EROFS)
        output->error = errno;
    if (output->fd >= 0 && output->fd != STDOUT_FILENO && close(output->fd) != 0 && !output->error)
        output->error = errno;
    output->fd = -1;
    if (!output->error && output->temporary && rename(output->temporary, output->final) != 0)
        output->error = errno;
    if (output->error) {
        tess_io_status failed = tess_io_output_failed(output, message);
        tess_io_output_discard(output);
        return failed;
    }
    removal_armed = 0;
    free(output->temporary);
    output->temporary = NULL;
    tess_io_output_discard(output);
    return TESS_IO_OK;
}

void tess_io_output_discard(tess_io_output *output) {
    if (output->fd >= 0 && output->fd != STDOUT_FILENO)
        close(output->fd);
    output->fd = -1;
    if (output->temporary)
        unlink(output->temporary);
    removal_armed = 0;
    free(output->temporary);
    free(output->final);
    output->temporary = output->final = NULL;
}
