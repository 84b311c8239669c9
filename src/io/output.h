/* SPDX-License-Identifier: Apache-2.0
 * output.h - a file in the making: beside its place until it is whole. */
#ifndef TESS_IO_OUTPUT_H
#define TESS_IO_OUTPUT_H

#include "io/io.h"

struct tess_io_output {
    const char *name; /* as the user wrote it, for messages */
    int fd;
    int error;     /* errno of the first failed write; later writes fail at once */
    bool in_place; /* standard output, a device or a pipe: nothing to rename */
    char *final;   /* where it goes, links resolved */
    char *temporary;
};

tess_io_status tess_io_output_open(tess_io_output *output, const char *name, tess_io_message *message);
/* All or an error (then false, and output->error says which). */
bool tess_io_output_write(tess_io_output *output, const void *data, size_t size);
int64_t tess_io_output_seek(tess_io_output *output, int64_t offset, int whence); /* -1 on error */
/* What a failed write is called; output->error must be set. */
tess_io_status tess_io_output_failed(const tess_io_output *output, tess_io_message *message);
/* Makes it durable and moves it into its place. On failure the temporary is gone and the old file untouched. */
tess_io_status tess_io_output_commit(tess_io_output *output, tess_io_message *message);
/* Removes what was written. Does nothing after commit. */
void tess_io_output_discard(tess_io_output *output);

/* Installs handlers that remove a half-made file when a signal ends the process, and turn a file that shrinks under its mapping (SIGBUS) into one
 * sentence and `input_exit`. SIGPIPE and SIGXFSZ become write errors. Called once, by the command. */
void tess_io_guard_signals(int input_exit);

#endif
