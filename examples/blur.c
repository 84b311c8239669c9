/* SPDX-License-Identifier: Apache-2.0
 * blur.c - blurs a small picture and prints its mean before and after: the shortest useful program with Tessera.
 * cc blur.c $(pkg-config --cflags --libs tessera), or see CMakeLists.txt. */
#include <stdio.h>
#include <tessera.h>

enum { ROWS = 480, COLUMNS = 640 };
static float picture[ROWS * COLUMNS], blurred[ROWS * COLUMNS];

int main(void) {
    int64_t shape[] = {ROWS, COLUMNS}, taps_shape[] = {5};
    float taps[] = {1 / 16.f, 4 / 16.f, 6 / 16.f, 4 / 16.f, 1 / 16.f}, before, after;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        picture[i] = (float)((i / COLUMNS / 40 + i % COLUMNS / 40) % 2); /* a chessboard */

    DLTensor in = tess_view(picture, tess_f32, 2, shape, NULL), out = tess_view(blurred, tess_f32, 2, shape, NULL);
    DLTensor row = tess_view(taps, tess_f32, 1, taps_shape, NULL);
    DLTensor mean_before = tess_view(&before, tess_f32, 0, NULL, NULL), mean_after = tess_view(&after, tess_f32, 0, NULL, NULL);
    const DLTensor *masks[] = {&row, &row}; /* along the rows, then along the columns */
    tess_correlate_options options = {.struct_size = sizeof options, .boundary = TESS_BOUNDARY_REFLECT};

    if (tess_correlate_separable(NULL, &in, masks, 2, &out, &options) != TESS_OK ||
        tess_reduce(NULL, TESS_MEAN, &in, &mean_before, NULL) != TESS_OK || tess_reduce(NULL, TESS_MEAN, &out, &mean_after, NULL) != TESS_OK) {
        fprintf(stderr, "blur: %s\n", tess_detail());
        return 1;
    }
    printf("mean %.4f before, %.4f after; a corner of a field went from %.0f to %.4f\n", before, after, picture[40], blurred[40]);
    return 0;
}
