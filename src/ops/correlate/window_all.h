/* SPDX-License-Identifier: Apache-2.0
 * window_all.h - every kernel of window_kernels.h for one type; included by cpu_window_kernels.c, once for f32 and once for f64. */

#define tile_name KERNEL(tall_tile)
#define ROWS TALL
#define VECTORS WIDE
#include "ops/correlate/window_tile.h"
#define tile_name KERNEL(narrow_tile)
#define ROWS TALL
#define VECTORS 1
#include "ops/correlate/window_tile.h"
#define tile_name KERNEL(line)
#define VECTORS LINE
#include "ops/correlate/window_line.h"
#define tile_name KERNEL(point)
#define VECTORS 1
#include "ops/correlate/window_line.h"

#define ring_name KERNEL(ring2)
#define DEEP 2
#define STREAMS STREAMS_2
#include "ops/correlate/window_ring.h"
#define ring_name KERNEL(ring3)
#define DEEP 3
#define STREAMS STREAMS_3
#include "ops/correlate/window_ring.h"
#define ring_name KERNEL(ring4)
#define DEEP 4
#define STREAMS STREAMS_4
#include "ops/correlate/window_ring.h"
#define ring_name KERNEL(ring5)
#define DEEP 5
#define STREAMS STREAMS_5
#include "ops/correlate/window_ring.h"
#define ring_name KERNEL(ring6)
#define DEEP 6
#define STREAMS STREAMS_6
#include "ops/correlate/window_ring.h"
#define ring_name KERNEL(ring7)
#define DEEP 7
#define STREAMS STREAMS_7
#include "ops/correlate/window_ring.h"
#define ring_name KERNEL(ring8)
#define DEEP 8
#define STREAMS STREAMS_8
#include "ops/correlate/window_ring.h"

static const tess_window_kernels KERNEL(kernels) = {
    .lanes = TESS_VECTOR_BYTES / (int)sizeof(real),
    .tall = TALL,
    .wide = WIDE,
    .line_vectors = LINE,
    .tile = KERNEL(tall_tile),
    .narrow = KERNEL(narrow_tile),
    .line = KERNEL(line),
    .point = KERNEL(point),
    .ring = {[2] = KERNEL(ring2),
             [3] = KERNEL(ring3),
             [4] = KERNEL(ring4),
             [5] = KERNEL(ring5),
             [6] = KERNEL(ring6),
             [7] = KERNEL(ring7),
             [8] = KERNEL(ring8)},
    .streams = {[2] = STREAMS_2, [3] = STREAMS_3, [4] = STREAMS_4, [5] = STREAMS_5, [6] = STREAMS_6, [7] = STREAMS_7, [8] = STREAMS_8},
};
