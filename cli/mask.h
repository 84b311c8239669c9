/* SPDX-License-Identifier: Apache-2.0
 * mask.h - weights from the text after --mask. */
#ifndef TESS_CLI_MASK_H
#define TESS_CLI_MASK_H

#include "io/io.h"

enum { CLI_MASK_FACTORS = 3, CLI_MASK_LIMIT = 1 << 24 };

/* Either one mask of any rank, or a list of 1-D factors, one for each axis that is worked on. */
typedef struct cli_mask {
    tess_io_array arrays[CLI_MASK_FACTORS]; /* the distinct ones */
    const DLTensor *list[TESS_MAX_NDIM];    /* `count` of them */
    int count;
    bool separable;
} cli_mask;

/* Weights as they are read, before they take a type. */
typedef struct cli_weights {
    int ndim;
    int64_t shape[3];
    double *values;
} cli_weights;

/* spec: the text; axes: how many axes are worked on; in: the type of the array that they will meet, which chooses theirs. A file is not read here:
 * see cli_mask_is_file. On failure the sentence points at the character, and there is nothing to free. */
bool cli_mask_parse(cli_mask *mask, const char *spec, int axes, tess_type in, tess_io_message *message);
void cli_mask_free(cli_mask *mask);
bool cli_mask_is_file(const char *spec);

/* mask_text.c: "1 2 1; 2 4 2 * 1/8". */
bool cli_weights_parse(cli_weights *weights, const char *text, tess_io_message *message);
/* The number, fraction or percentage-free real at *at; moves *at. False when there is none. */
bool cli_number(const char **at, double *value);
/* "--mask "1 x": character 3 ("x"): a number is expected" */
bool cli_mask_wrong(const char *spec, const char *at, tess_io_message *message, const char *what);

#endif
