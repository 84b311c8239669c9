/* SPDX-License-Identifier: Apache-2.0
 * ladder_works.c - the problems that the ladders are climbed on: odd and small to be checked, in proportion to be extrapolated, 64 Mi elements on a card.
 *
 * The second work of a ladder is for strategies that need what the first has not, such as sizes that are whole vectors. The large ones have names by which
 * times measured on a card are found again. */
#include "ladder.h"

#define Ki *1024
#define Mi *1048576
#define ALL .axis = CLI_ALL_AXES

#define SUM(name, n) \
    { name, "reduce", 0, tess_i32, 1, {n}, .reduction = TESS_SUM, ALL }
#define DOWN(name, y, x) \
    { name, "reduce", 0, tess_f32, 2, {y, x}, .reduction = TESS_SUM, .axis = 0 }
static const cli_ladder_work sums[] = {
    {SUM("sum i32 70001", 70001), SUM("sum i32 1 Mi", 1 Mi), SUM("sum i32 2 Mi", 2 Mi), SUM("sum i32 64 Mi", 64 Mi)},
    {DOWN("sum f32 301 x 259, axis 0", 301, 259), DOWN("sum f32 8192 x 128, axis 0", 8192, 128), DOWN("sum f32 8192 x 256, axis 0", 8192, 256),
     DOWN("sum f32 8192 x 8192, axis 0", 8192, 8192)},
};

#define TURN(name, y, x)                                            \
    {                                                               \
        name, "transpose", 0, tess_f32, 2, {y, x}, .perm = { 1, 0 } \
    }
#define STAY(name, y, x)                                            \
    {                                                               \
        name, "transpose", 0, tess_f32, 2, {y, x}, .perm = { 0, 1 } \
    }
#define TURN3_OF(type, name, z, y, x, a, b, c)                        \
    {                                                                 \
        name, "transpose", 0, type, 3, {z, y, x}, .perm = { a, b, c } \
    }
#define TURN3(name, z, y, x, a, b, c) TURN3_OF(tess_f32, name, z, y, x, a, b, c)
#define LARGE_TURN \
    TURN("transpose f32 512 x 512", 512, 512), TURN("transpose f32 1024 x 1024", 1024, 1024), TURN("transpose f32 8192 x 8192", 8192, 8192)
static const cli_ladder_work transposes[] = {
    {TURN("transpose f32 253 x 251", 253, 251), LARGE_TURN},
    {TURN("transpose f32 252 x 260", 252, 260), LARGE_TURN},
    {STAY("copy f32 253 x 260", 253, 260), STAY("copy f32 512 x 512", 512, 512), STAY("copy f32 1024 x 1024", 1024, 1024),
     STAY("copy f32 8192 x 8192", 8192, 8192)},
    {TURN("transpose f32 20011 x 3", 20011, 3), TURN("transpose f32 128 Ki x 3", 128 Ki, 3), TURN("transpose f32 256 Ki x 3", 256 Ki, 3),
     TURN("transpose f32 64 Mi x 3", 64 Mi, 3)},
    {TURN3("matrices of f32 1001 x 8 x 8", 1001, 8, 8, 0, 2, 1), TURN3("matrices of f32 4 Ki x 8 x 8", 4 Ki, 8, 8, 0, 2, 1),
     TURN3("matrices of f32 16 Ki x 8 x 8", 16 Ki, 8, 8, 0, 2, 1), TURN3("matrices of f32 1 Mi x 8 x 8", 1 Mi, 8, 8, 0, 2, 1)},
    {TURN3("pixels of f32 131 x 127 x 3", 131, 127, 3, 1, 0, 2), TURN3("pixels of f32 256 x 256 x 3", 256, 256, 3, 1, 0, 2),
     TURN3("pixels of f32 512 x 512 x 3", 512, 512, 3, 1, 0, 2), TURN3("pixels of f32 8192 x 8192 x 3", 8192, 8192, 3, 1, 0, 2)},
    {TURN3("runs of 101 f32, 33 x 31", 33, 31, 101, 1, 0, 2), TURN3("runs of 101 f32, 64 x 64", 64, 64, 101, 1, 0, 2),
     TURN3("runs of 101 f32, 64 x 128", 64, 128, 101, 1, 0, 2), TURN3("runs of 101 f32, 1000 x 1000", 1000, 1000, 101, 1, 0, 2)},
    {TURN3_OF(tess_u8, "runs of 101 u8, 33 x 31", 33, 31, 101, 1, 0, 2), TURN3_OF(tess_u8, "runs of 101 u8, 64 x 64", 64, 64, 101, 1, 0, 2),
     TURN3_OF(tess_u8, "runs of 101 u8, 64 x 128", 64, 128, 101, 1, 0, 2),
     TURN3_OF(tess_u8, "runs of 101 u8, 1000 x 1000", 1000, 1000, 101, 1, 0, 2)},
};

#define LINE(name, n)                                                          \
    {                                                                          \
        name, "correlate", 0, tess_f32, 1, {n}, .mask_ndim = 1, .mask = { 11 } \
    }
#define LARGE_LINE \
    LINE("correlate f32 128 Ki, 11 taps", 128 Ki), LINE("correlate f32 256 Ki, 11 taps", 256 Ki), LINE("correlate f32 64 Mi, 11 taps", 64 Mi)
static const cli_ladder_work lines[] = {
    {LINE("correlate f32 10007, 11 taps", 10007), LARGE_LINE},
    {LINE("correlate f32 10016, 11 taps", 10016), LARGE_LINE},
};

#define IMAGE(name, y, x)                                                           \
    {                                                                               \
        name, "correlate", 0, tess_f32, 2, {y, x}, .mask_ndim = 2, .mask = { 5, 5 } \
    }
#define LARGE_IMAGE                                                                                       \
    IMAGE("correlate f32 256 x 256, 5 x 5", 256, 256), IMAGE("correlate f32 512 x 512, 5 x 5", 512, 512), \
        IMAGE("correlate f32 8192 x 8192, 5 x 5", 8192, 8192)
static const cli_ladder_work images[] = {
    {IMAGE("correlate f32 131 x 127, 5 x 5", 131, 127), LARGE_IMAGE},
    {IMAGE("correlate f32 131 x 128, 5 x 5", 131, 128), LARGE_IMAGE},
};

#define FACTORS(name, y, x) \
    { name, "correlate", 0, tess_f32, 2, {y, x}, .mask_ndim = 2, .mask = {5, 5}, .separable = true }
#define LARGE_FACTORS                                                                                         \
    FACTORS("separable f32 256 x 256, 5 + 5", 256, 256), FACTORS("separable f32 512 x 512, 5 + 5", 512, 512), \
        FACTORS("separable f32 8192 x 8192, 5 + 5", 8192, 8192)
static const cli_ladder_work factors[] = {
    {FACTORS("separable f32 131 x 127, 5 + 5", 131, 127), LARGE_FACTORS},
    {FACTORS("separable f32 131 x 128, 5 + 5", 131, 128), LARGE_FACTORS},
};

#define VOLUME(name, z, y, x)                                                             \
    {                                                                                     \
        name, "correlate", 0, tess_f32, 3, {z, y, x}, .mask_ndim = 3, .mask = { 3, 3, 3 } \
    }
#define LARGE_VOLUME                                                                                                          \
    VOLUME("correlate f32 32 x 64 x 64, 3 x 3 x 3", 32, 64, 64), VOLUME("correlate f32 64 x 64 x 64, 3 x 3 x 3", 64, 64, 64), \
        VOLUME("correlate f32 256 x 512 x 512, 3 x 3 x 3", 256, 512, 512)
static const cli_ladder_work volumes[] = {
    {VOLUME("correlate f32 17 x 19 x 23, 3 x 3 x 3", 17, 19, 23), LARGE_VOLUME},
    {VOLUME("correlate f32 17 x 19 x 32, 3 x 3 x 3", 17, 19, 32), LARGE_VOLUME},
};

#define GATHER(name, n) \
    { name, "lookup", 0, tess_f32, 1, {n}, .table = 36, .index = tess_i32 }
#define BETWEEN(name, n) \
    { name, "lookup", 0, tess_f32, 1, {n}, .table = 1024, .index = tess_f32 }
#define BYTES(name, n) \
    { name, "lookup", 0, tess_u8, 1, {n}, .table = 256, .index = tess_u8 }
static const cli_ladder_work lookups[] = {
    {GATHER("lookup f32[36] by i32 10007", 10007), GATHER("lookup f32[36] by i32 256 Ki", 256 Ki), GATHER("lookup f32[36] by i32 512 Ki", 512 Ki),
     GATHER("lookup f32[36] by i32 64 Mi", 64 Mi)},
    {BETWEEN("interpolate f32[1024] at f32 10007", 10007), BETWEEN("interpolate f32[1024] at f32 256 Ki", 256 Ki),
     BETWEEN("interpolate f32[1024] at f32 512 Ki", 512 Ki), BETWEEN("interpolate f32[1024] at f32 64 Mi", 64 Mi)},
    {BYTES("lookup u8[256] by u8 10007", 10007), BYTES("lookup u8[256] by u8 256 Ki", 256 Ki), BYTES("lookup u8[256] by u8 512 Ki", 512 Ki),
     BYTES("lookup u8[256] by u8 64 Mi", 64 Mi)},
};

#define LADDER(name, operation, works) \
    { name, operation, works, (int)(sizeof(works) / sizeof(works)[0]) }
const cli_ladder cli_ladders[] = {
    LADDER("correlate in one axis", "correlate", lines),
    LADDER("correlate in two axes", "correlate", images),
    LADDER("correlate by two factors", "correlate", factors),
    LADDER("correlate in three axes", "correlate", volumes),
    LADDER("reduce", "reduce", sums),
    LADDER("transpose", "transpose", transposes),
    LADDER("lookup", "lookup", lookups),
};
const int cli_ladder_count = (int)(sizeof cli_ladders / sizeof cli_ladders[0]);
