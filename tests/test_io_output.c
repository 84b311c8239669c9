/* SPDX-License-Identifier: Apache-2.0
 * Proves: an output appears whole or not at all. The old file stays until the new one is complete; a full disk, a limit on file sizes, a directory
 * that cannot be written and an ending signal leave no temporary; the mode of the old file is kept, links are followed, an input may be its own
 * output. */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "io_files.h"

static void test_replaced(void **state) {
    tess_io_array a, b, c;
    struct stat status;
    const char *path = files_name(0, "a.npy");
    (void)state;
    files_array(&a, tess_i32, 1, (const int64_t[]){1000});
    files_write(&a, path);
    assert_int_equal(chmod(path, 0640), 0);
    files_read(&b, path); /* mapped */
    ((int32_t *)a.block)[0] ^= 1;
    files_write(&a, path);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0640);
    files_read(&c, path);
    files_same(&a, &c);
    ((int32_t *)a.block)[0] ^= 1;
    files_same(&a, &b); /* the mapping of the old file still holds the old values */
    tess_io_free(&b);
    tess_io_free(&c);
    /* Through a link the file behind it is replaced. */
    const char *link = files_name(1, "link.npy");
    assert_int_equal(symlink("a.npy", link), 0);
    files_write(&a, link);
    assert_int_equal(lstat(link, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    files_read(&c, path);
    files_same(&a, &c);
    tess_io_free(&a);
    tess_io_free(&c);
    unlink(link);
    assert_int_equal(files_count(), 1);
}

static void refused(const tess_io_array *a, const char *path, const char *words) {
    tess_io_message message = {""};
    assert_int_equal(tess_io_write(a, path, &message), TESS_IO_ERR_OUTPUT);
    if (!strstr(message.text, words))
        fail_msg("\"%s\" where \"%s\" was expected", message.text, words);
}

/* Names of each format, so that each library's way of failing is seen. */
static const char *const names[] = {"x.npy", "x.png", "x.tif", "x.wav", "x.flac"};

static void test_no_room(void **state) {
    tess_io_array a;
    struct rlimit old, small;
    int before = files_count();
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    for (int k = 0; k < 5; k++)
        for (rlim_t limit = 0; limit <= 40000; limit += 20000) {
            if (k < 3)
                files_array(&a, tess_u16, 2, (const int64_t[]){300, 400});
            else
                files_array(&a, tess_i16, 2, (const int64_t[]){60000, 2});
            a.rate = 8000;
            small.rlim_cur = limit;
            setrlimit(RLIMIT_FSIZE, &small);
            tess_io_message message = {""};
            tess_io_status status = tess_io_write(&a, files_name(0, names[k]), &message);
            setrlimit(RLIMIT_FSIZE, &old);
            assert_int_equal(status, TESS_IO_ERR_OUTPUT);
            if (!strstr(message.text, strerror(EFBIG)))
                fail_msg("%s with room for %d bytes: \"%s\"", names[k], (int)limit, message.text);
            tess_io_free(&a);
            assert_int_equal(files_count(), before);
        }
    files_array(&a, tess_u8, 2, (const int64_t[]){30, 40});
    refused(&a, "/dev/full", strerror(ENOSPC));
    refused(&a, files_folder, "extension");
    refused(&a, "/no/such/folder/x.npy", strerror(ENOENT));
    refused(&a, files_name(0, "x.txt"), "extension");
    mkdir(files_name(0, "d.npy"), 0700);
    refused(&a, files_name(0, "d.npy"), "is a directory");
    rmdir(files_name(0, "d.npy"));
    tess_io_free(&a);
    assert_int_equal(files_count(), before);
}

/* A signal between the start and the end of a file removes it. */
static void test_signal(void **state) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    int before = files_count();
    (void)state;
    for (int k = 0; k < 3; k++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            tess_io_output output;
            tess_io_message message;
            signal(signals[k], SIG_DFL);
            tess_io_guard_signals(3);
            if (tess_io_output_open(&output, files_name(0, "s.npy"), &message) != TESS_IO_OK || !tess_io_output_write(&output, "half", 4))
                _exit(99);
            raise(signals[k]);
            _exit(98);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), signals[k]);
        assert_int_equal(files_count(), before);
    }
}

/* A mapped file that becomes shorter ends the process with the exit code for inputs, not with a crash. */
static void test_shrinking(void **state) {
    tess_io_array a;
    const char *path = files_name(0, "shrink.npy");
    (void)state;
    files_array(&a, tess_u8, 1, (const int64_t[]){100000});
    files_write(&a, path);
    tess_io_free(&a);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGBUS, SIG_DFL);
        tess_io_guard_signals(3);
        fclose(stderr);
        close(2);
        files_read(&a, path);
        if (truncate(path, 200) != 0)
            _exit(99);
        _exit(((volatile unsigned char *)a.tensor.data)[90000] == 1 ? 97 : 98);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replaced),
        cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_signal),
        cmocka_unit_test(test_shrinking),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
