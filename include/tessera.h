/* SPDX-License-Identifier: Apache-2.0
 *
 * tessera.h - the one installed header, and the manual of the C interface.
 *
 * Tessera has four operations on arrays: correlate (and convolve), reduce, transpose, lookup. Each takes the
 * caller's arrays as DLPack views, writes into an array of the caller's, and returns a status. Nothing is printed,
 * nothing aborts, nothing is kept after the call returns.
 *
 *     #include <tessera.h>
 *
 *     float image[480 * 640], blurred[480 * 640];
 *     int64_t shape[2] = {480, 640};
 *     float box[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
 *     int64_t box_shape[2] = {3, 3};
 *     DLTensor in = tess_view(image, tess_f32, 2, shape, NULL);
 *     DLTensor mask = tess_view(box, tess_f32, 2, box_shape, NULL);
 *     DLTensor out = tess_view(blurred, tess_f32, 2, shape, NULL);
 *     if (tess_correlate(NULL, &in, &mask, &out, NULL) != TESS_OK)
 *         fprintf(stderr, "%s\n", tess_detail());
 *
 * Contents
 *     1. Versions, visibility      5. Contexts               9. Lookup
 *     2. Arrays                    6. What every call takes  10. Plans
 *     3. Types                     7. Correlate, convolve    11. Explain, strategies, limits
 *     4. Status                    8. Reduce; transpose      12. Wisdom
 *                                                            13. Profile
 *
 * Conventions
 *   - Sizes and strides are counted in elements, byte offsets and workspaces in bytes. All sizes are 64-bit.
 *   - Every function is safe to call from several threads at once, on one context too, unless its text says otherwise.
 *   - On any status but TESS_OK the output's contents are unspecified but nothing outside it was written; the caller
 *     still owns all that it owned, and what a function would have returned through a pointer is set to NULL or 0.
 *   - In the option structures 0 always means the default, so `{.struct_size = sizeof opt}` asks for the defaults; NULL
 *     in place of a structure does the same. Fields may be added at the end: struct_size tells the library
 *     what the caller knows. A structure from a newer header is accepted while the unknown bytes are zero.
 *   - Complexity is given in n, the elements of the input, and m, the elements of the output.
 */
#ifndef TESSERA_H
#define TESSERA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- 1. Versions, visibility ------------------------------------------------------------------------------- */

#define TESSERA_VERSION_MAJOR 0
#define TESSERA_VERSION_MINOR 1
#define TESSERA_VERSION_PATCH 0
#define TESSERA_VERSION (TESSERA_VERSION_MAJOR * 10000 + TESSERA_VERSION_MINOR * 100 + TESSERA_VERSION_PATCH)

#if defined(__GNUC__)
#define TESS_API __attribute__((visibility("default")))
#else
#define TESS_API
#endif

/* TESSERA_VERSION of the library that is running; it differs from the macro when another one was loaded. */
TESS_API int tess_version(void);

/* ---- 2. Arrays ----------------------------------------------------------------------------------------------
 *
 * An array is a DLTensor: a pointer, sizes, strides. The structure is DLPack's own (https://dmlc.github.io/dlpack,
 * version 1.1); when <dlpack/dlpack.h> was included first, its definitions are used, else equal ones are made here.
 *
 *   data         first byte of the allocation. May be NULL when the array has no elements.
 *   byte_offset  added to data: the first element. Any value that leaves elements readable; no alignment is asked for.
 *   ndim         0 .. TESS_MAX_NDIM. A 0-d array has one element.
 *   shape        ndim sizes, each >= 0. Zero makes an empty array, which every operation accepts. The other sizes multiply to less
 *                than 2^63 bytes all the same (TESS_ERR_SIZE), as in NumPy.
 *   strides      ndim strides in elements, any sign, zero too (a broadcast input); NULL = compact, last axis fastest.
 *   dtype        lanes = 1. See section 3.
 *   device       kDLCPU, kDLCUDAHost, kDLCUDA, kDLCUDAManaged; all arrays of a call in one place. CUDA arrays run on the CUDA engine, and their elements
 *                are aligned to their size; masks and offsets are read when a plan is made and lie in host memory.
 *
 * The library reads shape and strides during the call only. An output may not have two elements in one place
 * (a zero stride over more than one element, say): TESS_ERR_OVERLAP. Whether an output may overlap an input is
 * said with each operation; the check is exact for every pair of views that it can decide within a bounded search, and it refuses
 * the others.
 */
#ifndef DLPACK_DLPACK_H_
typedef enum { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3, kDLCUDAManaged = 13 } DLDeviceType;
typedef struct {
    DLDeviceType device_type;
    int32_t device_id;
} DLDevice;
typedef enum { kDLInt = 0U, kDLUInt = 1U, kDLFloat = 2U, kDLBfloat = 4U, kDLComplex = 5U, kDLBool = 6U } DLDataTypeCode;
typedef struct {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
} DLDataType;
typedef struct {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape;
    int64_t *strides;
    uint64_t byte_offset;
} DLTensor;
#endif

#define TESS_MAX_NDIM 64

/* ---- 3. Types -----------------------------------------------------------------------------------------------
 *
 * The element types, in the order of their rank. docs/types.md has the matrix of what each operation takes.
 *
 * Conversions to the output's type, the same in every operation:
 *   to an integer       round half to even, then saturate; NaN becomes 0
 *   to bool             nonzero (NaN too) is true, stored as 1
 *   to a narrower float round half to even; overflow becomes infinity
 *   complex to real     refused (TESS_ERR_TYPE)
 * A NaN that an operation computed is stored as the one quiet NaN with sign 0 and payload 0, so that it has the same bits on every
 * machine; operations that only move elements (transpose, lookup without interpolation) keep every bit.
 */
typedef enum tess_type {
    tess_no_type = 0,
    tess_bool,
    tess_u8,
    tess_i8,
    tess_u16,
    tess_i16,
    tess_u32,
    tess_i32,
    tess_u64,
    tess_i64,
    tess_f16,
    tess_bf16,
    tess_f32,
    tess_f64,
    tess_c64,
    tess_c128
} tess_type;

TESS_API DLDataType tess_dl_type(tess_type type);     /* {0, 0, 0} for tess_no_type */
TESS_API tess_type tess_type_of(DLDataType dtype);    /* tess_no_type when Tessera has none */
TESS_API const char *tess_type_name(tess_type type);  /* "f32", static storage; "?" when there is none */
TESS_API tess_type tess_type_named(const char *name); /* tess_no_type when there is none */
TESS_API size_t tess_type_size(tess_type type);       /* bytes */

/* A view of the caller's memory on the CPU. Nothing is copied: shape and strides must outlive the view. strides in elements or NULL. */
static inline DLTensor tess_view(void *data, tess_type type, int ndim, int64_t *shape, int64_t *strides) {
    DLTensor t;
    t.data = data;
    t.device.device_type = kDLCPU;
    t.device.device_id = 0;
    t.ndim = ndim;
    t.dtype = tess_dl_type(type);
    t.shape = shape;
    t.strides = strides;
    t.byte_offset = 0;
    return t;
}

/* ---- 4. Status ---------------------------------------------------------------------------------------------- */

/* The one list: name, text. TESS_OK is 0 and stays 0; numbers are never reused. */
#define TESS_STATUS_LIST(X)                                                     \
    X(TESS_OK, "ok")                                                            \
    X(TESS_ERR_ARGUMENT, "an argument is not valid")                            \
    X(TESS_ERR_TYPE, "an element type is not offered here")                     \
    X(TESS_ERR_SHAPE, "sizes do not fit together")                              \
    X(TESS_ERR_AXIS, "an axis does not exist or is named twice")                \
    X(TESS_ERR_SIZE, "a size overflows 64 bits or the address space")           \
    X(TESS_ERR_OVERLAP, "an output overlaps itself or an input")                \
    X(TESS_ERR_INDEX, "an index lies outside its table")                        \
    X(TESS_ERR_EMPTY, "no elements where at least one is needed")               \
    X(TESS_ERR_MEMORY, "memory could not be allocated")                         \
    X(TESS_ERR_STRATEGY, "the strategy asked for does not exist or cannot run") \
    X(TESS_ERR_ENGINE, "the engine asked for is not available")                 \
    X(TESS_ERR_DEVICE, "the array lives on a device that this call cannot use") \
    X(TESS_ERR_CANCELLED, "cancelled by the progress callback")                 \
    X(TESS_ERR_FILE, "a file could not be read or written")                     \
    X(TESS_ERR_INTERNAL, "an internal check failed: please report it")

typedef enum tess_status {
#define TESS_STATUS_ENUM(name, text) name,
    TESS_STATUS_LIST(TESS_STATUS_ENUM)
#undef TESS_STATUS_ENUM
} tess_status;

TESS_API const char *tess_status_text(tess_status status); /* the text of the list above, static storage */
TESS_API const char *tess_status_name(tess_status status); /* "TESS_ERR_TYPE" */

/* One sentence about the last call on this thread that did not return TESS_OK: it names the argument, its value and the limit.
 * Never NULL; "" before the first failure. Owned by the library, valid until the next failing call on this thread. */
TESS_API const char *tess_detail(void);

/* ---- 5. Contexts --------------------------------------------------------------------------------------------
 *
 * A context holds what calls share: allocator, threads, engine, pinned choices, wisdom. NULL stands for the default context
 * of the process, which is made at first use and reads the environment:
 *
 *   TESSERA_THREADS=N             threads a call may use (default: the processors that this process may run on)
 *   TESSERA_ISA=baseline|avx2|avx512|neon    highest instruction set used (default: the best that the processor has)
 *   TESSERA_STRATEGY=name[,name]  strategies to prefer, as `-s`: "reduce/lanes" pins it for every reduce that it can run
 *   TESSERA_WISDOM=FILE           user wisdom (default: $XDG_CACHE_HOME or ~/.cache, then tessera/wisdom)
 *   TESSERA_LIBCUDA=FILE, TESSERA_LIBNVRTC=FILE    NVIDIA's driver and kernel compiler, instead of looking for them
 *   TESSERA_CACHE=FOLDER          where compiled kernels are kept (default: $XDG_CACHE_HOME or ~/.cache, then tessera); none: nowhere
 *   TESSERA_UNOPTIMISED=1         kernels for a virtual GPU are compiled without optimising: sooner, and to more accesses than a card's
 *   TESSERA_GPU_MEMORY=BYTES      device memory that a call may use for arrays that it copies there (K, M, G: times 2^10, 2^20, 2^30); read by each call
 *
 * Results never depend on any of them. Opened contexts read the environment as well; the options overrule it.
 * After fork() the child may go on using a context: it starts threads of its own. As with any lock, no other thread of the parent may have been
 * inside a call on that context when it forked.
 * Calls compute in the floating-point environment that C starts with (rounding to nearest, subnormals kept, no traps), whatever the program has
 * set, and leave the program's as it was, its exception flags included.
 */
typedef struct tess_context tess_context;

typedef enum tess_engine { TESS_ENGINE_AUTO = 0, TESS_ENGINE_CPU, TESS_ENGINE_CUDA, TESS_ENGINE_VIRTUAL } tess_engine;
typedef enum tess_isa { TESS_ISA_AUTO = 0, TESS_ISA_BASELINE, TESS_ISA_AVX2, TESS_ISA_AVX512, TESS_ISA_NEON } tess_isa;

typedef struct tess_context_options {
    size_t struct_size;
    int threads;          /* 0 = default; 1 = no thread is ever started; at most 1024 */
    tess_engine engine;   /* default for calls that leave theirs at AUTO */
    tess_isa isa;         /* highest instruction set; one that this processor lacks is TESS_ERR_ENGINE */
    const char *strategy; /* as TESSERA_STRATEGY; copied. A name that does not exist is TESS_ERR_STRATEGY */
    /* Allocator of everything that the library allocates for this context, itself included. Both or neither. allocate returns memory
     * aligned to at least `alignment` (a power of two, at most 4096), or NULL; release takes what allocate gave and its size. Either may be
     * called from any thread that uses the context, and from the context's own threads. Default: aligned_alloc and free. */
    void *(*allocate)(void *user, size_t size, size_t alignment);
    void (*release)(void *user, void *memory, size_t size);
    void *allocator_user;
    /* Called between the pieces of a long call, at most some 20 times a second, on the calling thread; fraction 0..1 is the share done of the pass that
     * runs (some strategies take several passes). Work of one piece, and a reference, may not call at all. A nonzero return cancels: the call returns
     * TESS_ERR_CANCELLED soon after. */
    int (*progress)(void *user, double fraction);
    void *progress_user;
} tess_context_options;

/* Makes a context. *context is NULL on failure. Close it when no call uses it any more. Plans keep a pointer to it: free them first. */
TESS_API tess_status tess_open(tess_context **context, const tess_context_options *options);
TESS_API void tess_close(tess_context *context); /* NULL is accepted and does nothing */

/* Threads that calls on this context, and plans made on it, may use from now on (0 = default); older plans keep theirs. Not while a call runs on the
 * context. */
TESS_API tess_status tess_set_threads(tess_context *context, int threads);
TESS_API int tess_threads(tess_context *context);

/* ---- 6. What every call takes -------------------------------------------------------------------------------- */

/* What a call did. Filled when tess_call.report points to one and the call returned TESS_OK. */
typedef struct tess_report {
    size_t struct_size; /* set by the caller */
    char strategy[48];  /* "correlate/rows" */
    char isa[16];       /* "avx512" */
    int threads;        /* threads that the call was allowed: fewer take part when the context's threads are busy with another call */
    double seconds;     /* wall time of the execution, planning not included */
    double bytes;       /* bytes of the problem: each input element read once, each output element written once */
    double flops;       /* floating-point operations of the method that ran: an fma counts 2; 0 when none */
    double workspace;   /* scratch bytes used */
} tess_report;

typedef struct tess_call {
    tess_engine engine;
    const char *strategy; /* run this row ("reduce/lanes") or fail with TESS_ERR_STRATEGY saying why it cannot; NULL = choose */
    void *
        workspace; /* scratch of the caller's, 64-byte aligned, on the device for arrays there; NULL = from the allocator. Read by tess_execute only */
    size_t workspace_size; /* at least tess_plan_workspace() */
    void *stream;          /* CUstream for the CUDA engine, used by planning and execution; the CPU engine ignores it and is synchronous */
    tess_report *report;   /* NULL = no report; with one the CUDA engine waits for the stream, else it does not */
} tess_call;

/* ---- 7. Correlate, convolve ----------------------------------------------------------------------------------
 *
 * out[i] = sum over j of in[i - c + j] * mask[j]           correlate, c = width / 2 + origin (integer division) on each axis
 * convolve(in, mask) = correlate(in, mask flipped on every axis) with c = (width - 1) - (width / 2 + origin): the definition of
 * scipy.ndimage for odd and even widths. Elements outside the array ("ghost cells") are given by the boundary. They take part in the sum like any
 * other element: a weight that is infinite or NaN makes NaN of the zeros outside.
 *
 * Shapes: mask.ndim = number of axes, at most in.ndim (0: a scalar factor); every mask size >= 1, masks longer than the array included.
 * out has the sizes of in on the other axes, and on the mask's axes
 *     SAME  n             VALID  max(n - width + 1, 0), no ghost cell is read           FULL  n + width - 1
 *
 * Numerics (docs/numerics.md): computed in one type, C, found from in and mask:
 *     any complex                       c128 if one is c128, f64 or an integer of 32 bits or more, else c64
 *     both integer or bool              i64, or u64 when both are unsigned: exact modulo 2^64 (saturated on conversion to out)
 *     f64, or a float with an integer of 32 bits or more    f64
 *     else                              f32
 * unless compute asks for more: f64 or c128 instead of u64 and i64; f64, c64 or c128 instead of f32; c128 instead of f64 and c64.
 * Each real output is a chain of fused multiply-adds (one rounding a tap) in the mask's row-major order, from +0 - for convolve the order of the
 * flipped mask -, then one conversion to out's type. So its bits depend on nothing else. Complex outputs are two such chains with two fused
 * multiply-adds a tap: re = fma(a.re, b.re, re), then re = fma(-a.im, b.im, re); im = fma(a.re, b.im, im), then im = fma(a.im, b.re, im).
 * A separable list is a chain for each pass; between passes values are in C. No weight is dropped for being small.
 *
 * Overlap: out may not overlap in or a mask (TESS_ERR_OVERLAP). Complexity: m * taps, or m * sum of widths when separable.
 */
typedef enum tess_boundary {
    TESS_BOUNDARY_ZERO = 0, /*  0 0 0 | a b c d | 0 0 0 */
    TESS_BOUNDARY_CONSTANT, /*  v v v | a b c d | v v v */
    TESS_BOUNDARY_NEAREST,  /*  a a a | a b c d | d d d */
    TESS_BOUNDARY_REFLECT,  /*  c b a | a b c d | d c b    the edge is repeated */
    TESS_BOUNDARY_MIRROR,   /*  d c b | a b c d | c b a    the edge is not repeated */
    TESS_BOUNDARY_WRAP      /*  b c d | a b c d | a b c */
} tess_boundary;            /* reflect, mirror and wrap bounce as often as needed. docs/boundaries.md has the other libraries' names */

typedef enum tess_extent { TESS_EXTENT_SAME = 0, TESS_EXTENT_VALID, TESS_EXTENT_FULL } tess_extent;

/* Which sums may stand in for the chain of fused multiply-adds. The choice reads the mask, the sizes and the types and nothing of the machine, so that the
 * bits of each class are the same everywhere too (docs/numerics.md). Masks with a weight that is infinite or NaN, and complex and integer C, always
 * have DIRECT's bits; so have lists of masks. */
typedef enum tess_accuracy {
    TESS_ACCURACY_DIRECT = 0, /* the bits described above. A rank-1 mask runs as separable where that gives the same bits (integers) */
    TESS_ACCURACY_FAST,       /* what is fastest for the sizes, as method='auto' of scipy.signal: FFT below for large masks (from some 75 taps in one
                                 dimension, some 11 x 11 in two, where the array is large too); for a mask of more than 32 taps that is exactly of rank 1 its 1-D factors, in axis
                                 order, each pass rounded to C: an error at most that of the direct sum times the number of passes. (With a constant
                                 other than 0 in ghost cells there are no factors.) Else DIRECT */
    TESS_ACCURACY_FFT         /* masks of more than one tap go through Fourier transforms, tile by tile. The error of an output is at most
                                 (6 log2 N + 2 P + 3) u sum|w| sqrt(sum x^2) in f32, with 11 for 6 in f64: u is 2^-24 or 2^-53, N <= 2^20 the points of a
                                 tile, P its mask's pieces (1 up to some thousand taps), x what its pair of tiles meets. So it follows the largest elements
                                 near by, and outputs that would be 0 are small numbers. An infinity or NaN makes NaN of every output of its pair of tiles,
                                 and so does |x| sum|w| N beyond the largest number of C */
} tess_accuracy;

typedef struct tess_correlate_options {
    size_t struct_size;
    const int *axes;       /* axes of in, one for each axis of the mask, in the mask's order, negative counts from the end; NULL = the last ones */
    int naxes;             /* 0 with axes NULL */
    const int64_t *origin; /* one for each mask axis, -(width/2) <= origin <= (width-1)/2; SAME only; NULL = 0. As in scipy.ndimage: positive shifts
                              the mask to the left */
    tess_boundary boundary;
    double constant; /* the v of TESS_BOUNDARY_CONSTANT, converted to C */
    tess_extent extent;
    tess_accuracy accuracy;
    tess_type compute; /* tess_no_type, or C: a type at least as wide as the rule's, see above (f64 for SciPy's double accumulation) */
    bool flip;         /* for plans: convolve. tess_convolve sets it, tess_correlate clears it */
    tess_call call;
} tess_correlate_options;

TESS_API tess_status tess_correlate(tess_context *context, const DLTensor *in, const DLTensor *mask, const DLTensor *out,
                                    const tess_correlate_options *options);
TESS_API tess_status tess_convolve(tess_context *context, const DLTensor *in, const DLTensor *mask, const DLTensor *out,
                                   const tess_correlate_options *options);

/* A separable mask as its 1-D factors: masks[k], of rank 1, runs along axes[k] (default: the last `count` axes), one pass after
 * another in the order of the list, each with ghost cells of its own (a constant is the same v in every pass), each rounded to C. 1 <= count <=
 * in.ndim. */
TESS_API tess_status tess_correlate_separable(tess_context *context, const DLTensor *in, const DLTensor *const *masks, int count, const DLTensor *out,
                                              const tess_correlate_options *options);
TESS_API tess_status tess_convolve_separable(tess_context *context, const DLTensor *in, const DLTensor *const *masks, int count, const DLTensor *out,
                                             const tess_correlate_options *options);

/* ---- 8. Reduce; transpose ------------------------------------------------------------------------------------
 *
 * Reduce. The axes of `axes` are reduced to one value. The k elements along them are numbered 0..k-1 in row-major order of the
 * array's axes, whatever their strides, so layouts that hold the same values give the same bits.
 *
 *   operation                accumulates in                                                          result, before its conversion to out's type
 *   SUM, PROD                A = f32 for f16 bf16 f32, f64 for f64 and whenever out is f64 or c128;    A
 *                            c64, c128 likewise; i64, or u64 for unsigned and bool, modulo 2^64
 *   MEAN                     A, divided in f64; integers up to 32 bits exactly, 64-bit ones in f64   A; integers: f64
 *   NORM1                    A; integers: u64 of the magnitudes; complex: f64 of the moduli          the same
 *   NORM2                    f64 of the squares                                                      f64
 *   VAR, STD                 f64, by means and squared deviations of leaves                          f64
 *   MIN, MAX, NORM_INF       the input's type; NORM_INF of integers u64, of complex f64              the same
 *   ARGMIN, ARGMAX           numbers compared: -0 equals +0                                          i64: the first such element's number
 *   ANY, ALL, COUNT_NONZERO  a NaN is not zero                                                       bool, bool, i64
 *
 * Float sums follow one tree, a pure function of k: leaves of 8192 elements, each 256 lanes of 32 terms, a halving tree over the lanes, a binary
 * tree over the leaves (docs/numerics.md). Error of SUM: at most (39 + ceil(log2(k / 8192))) u * sum|x|. 1e9 float32 ones sum to 1e9.
 * MIN and MAX order -0 before +0. complex: SUM, MEAN, PROD, COUNT_NONZERO, ANY, ALL and the norms (of the modulus sqrt(re*re + im*im), in f64);
 * a complex SUM, MEAN or PROD needs a complex out.
 *
 * k = 0: SUM 0, PROD 1, ANY false, ALL true, COUNT_NONZERO 0, norms 0, MEAN VAR STD NaN; MIN MAX ARGMIN ARGMAX give TESS_ERR_EMPTY
 * when out has elements; an empty segment is answered likewise. VAR and STD divide by max(k - ddof, 0), as NumPy: NaN for 0 / 0, else infinity.
 *
 * Overlap: out may not overlap in. Complexity: n.
 */
typedef enum tess_reduction {
    TESS_SUM = 0,
    TESS_PROD,
    TESS_MIN,
    TESS_MAX,
    TESS_MEAN,
    TESS_VAR,
    TESS_STD,
    TESS_ARGMIN,
    TESS_ARGMAX,
    TESS_ANY,
    TESS_ALL,
    TESS_COUNT_NONZERO,
    TESS_NORM1,
    TESS_NORM2,
    TESS_NORM_INF
} tess_reduction;

typedef enum tess_nan {
    TESS_NAN_PROPAGATE = 0, /* a NaN makes the result NaN; ARGMIN and ARGMAX give the first NaN's index */
    TESS_NAN_OMIT           /* NaN elements (complex: either part) keep their number but do not count: sums read them as +0, products as 1, means and
                               variances divide by the number of the others, ANY, ALL and COUNT_NONZERO pass them over.
                               None left: as k = 0, but MIN MAX give NaN and ARGMIN ARGMAX give -1 */
} tess_nan;

typedef struct tess_reduce_options {
    size_t struct_size;
    const int *axes; /* distinct, negative counts from the end; NULL with naxes = 0: all axes */
    int naxes;       /* with axes not NULL, 0 reduces no axis: every element is a group of its own */
    bool keepdims;   /* out keeps the reduced axes, with size 1; else they are left out */
    tess_nan nan;
    double ddof; /* VAR, STD: the divisor is max(k - ddof, 0); finite */
    bool exact;  /* SUM, MEAN, NORM1 (else TESS_ERR_ARGUMENT): the sum has one rounding, whatever its order: to nearest in f64, or in out's
                    type when that is f32, f16 or bf16. MEAN: the sum so rounded to f64, divided by k in f64.
                    Sums of integers are exact modulo 2^64 with it or without */
    const DLTensor *offsets; /* segments: s + 1 non-decreasing i64 or i32 offsets in 0..size along the one axis of `axes`; segment i is [offsets[i],
                                offsets[i+1]). out has size s on that axis, keepdims or not. The tree of a segment depends on its own length alone.
                                NULL = no segments. Read when the plan is made */
    tess_call call;
} tess_reduce_options;

/* out.shape: in.shape without the reduced axes (or with 1 there: keepdims), any type that the result converts to. */
TESS_API tess_status tess_reduce(tess_context *context, tess_reduction operation, const DLTensor *in, const DLTensor *out,
                                 const tess_reduce_options *options);

TESS_API const char *tess_reduction_name(tess_reduction operation); /* "count_nonzero" */
TESS_API bool tess_reduction_named(const char *name, tess_reduction *operation);

/* Transpose: out[i_perm[0], i_perm[1], ...] = in[i_0, i_1, ...], that is out.shape[k] = in.shape[perm[k]]. Any rank, any element size
 * (1, 2, 4, 8, 16 bytes), every bit kept; out's type = in's.
 *
 * In place: out and in have the same first element, both are compact (row-major), and the permutation exchanges two neighbouring groups of
 * axes once the axes that stay are set apart (a batch of matrices, or of matrices of short rows). Square matrices need no scratch, rectangular ones
 * of up to 256 KiB their own size for each thread, larger ones at most a seventh of a matrix and 1 MiB, and for each thread 4 MiB or 1/256 of the
 * matrix, whichever is more (tess_plan_workspace tells exactly; it is far less as a rule); on a GPU the array's size and at most some MiB. A permutation that moves nothing does nothing, whatever the
 * layout. Any other overlap: TESS_ERR_OVERLAP.
 * Complexity: n; rectangular in place n too, with two or three passes over memory.
 */
typedef struct tess_transpose_options {
    size_t struct_size;
    const int *perm; /* in.ndim distinct axes, negative counts from the end; NULL = reversed */
    int nperm;       /* in.ndim, or 0 with perm NULL */
    tess_call call;
} tess_transpose_options;

TESS_API tess_status tess_transpose(tess_context *context, const DLTensor *in, const DLTensor *out, const tess_transpose_options *options);

/* ---- 9. Lookup ------------------------------------------------------------------------------------------------
 *
 * Integer index:  out[a.., i.., b..] = table[a.., index[i..], b..], where a.. are the axes of the table before `axis`, b.. those after it:
 * out.shape = table.shape[:axis] + index.shape + table.shape[axis+1:]. out's type = table's; bits are kept.
 *
 * Real index (f16, bf16, f32, f64) with an interpolation: the same shapes; x is a coordinate in elements along the axis of n elements.
 * Computed in C = f64 when table or index is f64 (table: or c128) or the table is an integer of 32 bits or more, else in f32; then converted to out's type. Complex
 * tables part by part. Entries are converted to C first; k = floor(x), t = x - k (exact), p0..p3 = table[k - 1] .. table[k + 2], and every operation rounds once:
 *     NEAREST  table[floor(x + 1/2)], without rounding the sum
 *     LINEAR   fma(t, p2 - p1, p1)
 *     CUBIC    Keys' cubic convolution, a = -1/2:  fma(t / 2, fma(t, fma(t, c3, c2), c1), p1)  with  c1 = p2 - p0,
 *              c2 = fma(-5, p1, fma(4, p2, fma(2, p0, -p3))),  c3 = fma(3, p1 - p2, p3 - p0)
 * t = 0 gives p1 itself, whatever its neighbours: x = n - 1 gives the last entry. Neighbours beyond the ends are the end entry again (WRAP: wrapped).
 *
 * Outside 0..n-1 (real: 0 <= x <= n-1; NaN lies outside):
 *     ERROR    TESS_ERR_INDEX; the detail names the first bad index in row-major order, its place and the limit
 *     CLIP     the nearest end (NaN: 0)         WRAP   modulo n, so that -1 is the last entry (real: period n; NaN and infinity give NaN, or 0 for integers)
 *     FILL     `fill`, converted to out's type
 * WRAP of a coordinate is fmod(x, n) in f64, plus n (rounded) when that is negative, and 0 when this makes n; t is then rounded to C. An index of type bool or complex
 * is TESS_ERR_TYPE; a table without entries on the axis, looked into by at least one index, is TESS_ERR_EMPTY unless FILL. ERROR looks at every index, also when
 * another empty axis leaves nothing to write.
 *
 * Positions: with options.positions, one axis of n numbers that do not decrease (bool and complex: TESS_ERR_TYPE), x is no coordinate in elements but a place
 * among them (numpy.interp's xp), and NEAREST and LINEAR interpolate between the entries around it. They are converted to f64, as x is; a is the last
 * position that is x or less and k its number, b the one after it:
 *     t = x == a ? 0 : min((x - a) / (b - a), 1)      each operation in f64, rounded once; a quotient that is NaN counts as 1
 * and LINEAR is the formula above with t rounded to C, NEAREST table[t < 1/2 ? k : k + 1]. The last position gives the last entry. Outside is what lies before the first
 * position or behind the last one, and NaN, which CLIP turns into NaN; WRAP and CUBIC are TESS_ERR_ARGUMENT. Positions that do decrease, or NaNs among
 * them, are not looked for: results are then some values or other, and may differ between strategies. They lie in host memory; plans copy them.
 *
 * Overlap: out may not overlap table, index or positions. Complexity: m; with positions m log n at most.
 */
typedef enum tess_outside { TESS_OUTSIDE_ERROR = 0, TESS_OUTSIDE_CLIP, TESS_OUTSIDE_WRAP, TESS_OUTSIDE_FILL } tess_outside;
typedef enum tess_interpolation {
    TESS_INTERPOLATE_NONE = 0,
    TESS_INTERPOLATE_NEAREST,
    TESS_INTERPOLATE_LINEAR,
    TESS_INTERPOLATE_CUBIC
} tess_interpolation;

typedef struct tess_lookup_options {
    size_t struct_size;
    int axis; /* of the table, negative counts from the end; default 0 */
    tess_outside outside;
    double fill;
    tess_interpolation interpolation; /* NONE for integer indices (the default there); real indices: NONE means LINEAR */
    tess_call call;
    const DLTensor *positions; /* of the entries, for a real index; NULL: 0, 1, 2, ... */
} tess_lookup_options;

TESS_API tess_status tess_lookup(tess_context *context, const DLTensor *table, const DLTensor *index, const DLTensor *out,
                                 const tess_lookup_options *options);

/* ---- 10. Plans ------------------------------------------------------------------------------------------------
 *
 * A plan has checked the arguments and chosen a strategy, once; executing it does neither again. It keeps sizes, strides, types and
 * options, and copies masks, offsets and positions; it keeps no pointer of the caller's but the context. Plans do not change once made: any number of threads
 * may execute one at once, each with its own arrays and workspace. The data pointers of the tensors given at planning may be NULL; overlap is checked
 * at execution.
 */
typedef struct tess_plan tess_plan;

/* count = 1: masks[0] is a mask of any rank. count > 1: a separable list. options->flip: convolve. */
TESS_API tess_status tess_plan_correlate(tess_plan **plan, tess_context *context, const DLTensor *in, const DLTensor *const *masks, int count,
                                         const DLTensor *out, const tess_correlate_options *options);
TESS_API tess_status tess_plan_reduce(tess_plan **plan, tess_context *context, tess_reduction operation, const DLTensor *in, const DLTensor *out,
                                      const tess_reduce_options *options);
TESS_API tess_status tess_plan_transpose(tess_plan **plan, tess_context *context, const DLTensor *in, const DLTensor *out,
                                         const tess_transpose_options *options);
/* inplace transposes: give in and out with the same non-NULL data. */
TESS_API tess_status tess_plan_lookup(tess_plan **plan, tess_context *context, const DLTensor *table, const DLTensor *index, const DLTensor *out,
                                      const tess_lookup_options *options);
TESS_API void tess_plan_free(tess_plan *plan); /* NULL is accepted */

/* Runs the plan. in, second, out: the first elements (byte_offset already added) of arrays with the planned shapes, strides and types. in: the input
 * (lookup: the table); second: the index of a lookup, else NULL. call: workspace, stream and report are read; NULL = defaults. */
TESS_API tess_status tess_execute(const tess_plan *plan, const void *in, const void *second, void *out, const tess_call *call);

/* Scratch bytes that an execution needs. */
TESS_API size_t tess_plan_workspace(const tess_plan *plan);

/* ---- 11. Explain, strategies, limits -------------------------------------------------------------------------- */

typedef enum tess_format { TESS_TEXT = 0, TESS_JSON, TESS_HTML } tess_format; /* HTML: tess_profile_text alone, one self-contained page */

/* What the plan will do and why: the strategy, every other row and what it lost by, bytes, flops, workspace. Writes at most `capacity` bytes with the
 * final 0, and the length without it to *length (so a first call with capacity 0 asks for the size). text may be NULL when capacity is 0. A text that
 * is cut is TESS_ERR_SIZE, with *length set all the same. The same holds for tess_devices and tess_wisdom_export. */
TESS_API tess_status tess_explain(const tess_plan *plan, tess_format format, char *text, size_t capacity, size_t *length);

/* The rows of the strategy tables, in the order in which selection tries them. index 0 .. tess_strategy_count() - 1. */
typedef struct tess_strategy_info {
    const char *name;      /* "transpose/blocked" */
    const char *operation; /* "transpose" */
    const char *idea;      /* one line */
    const char *source;    /* paper, book, or "-" */
    const char *target;    /* "cpu" or "gpu" */
    const char *isas;      /* "baseline avx2 avx512": compiled for these; the bits are the same */
    bool usable;           /* on this machine */
    int rung;              /* place in the operation's ladder of GPU kernels, 1 for the naive one; 0: not a rung */
} tess_strategy_info;
TESS_API int tess_strategy_count(void);
TESS_API bool tess_strategy_get(int index, tess_strategy_info *info); /* all strings static */

/* Times every strategy of the plan's engine but the reference that can run this plan, on scratch data (never the caller's), and records the times in the
 * context's wisdom, for this processor or for the GPU that the plan is for. Takes about `seconds` in all. The plan itself does not change; plans made later take the fastest. */
TESS_API tess_status tess_tune(const tess_plan *plan, double seconds);

/* Executes the plan again and again for about `seconds` (in all; at least 15 times after 3 uncounted) and gives the median time of one execution. The arrays
 * are those of tess_execute, in host memory and without gaps; out holds the result afterwards. A plan of the CUDA engine is timed between events on arrays copied to
 * the card once: copies and allocations are not in the time. */
TESS_API tess_status tess_time_plan(const tess_plan *plan, const void *in, const void *second, void *out, double seconds, double *median);

/* What this machine can do, measured now: about `seconds` in all, but three rounds at least. bytes/s count reads + writes. The two arrays have 4 times
 * the size of the last-level caches that the processors share each, 256 MiB at least, but at most 1 GiB and an eighth of the machine's memory: where that is
 * less than the caches hold, the limits come out too high, never too low. The cached ones are of 128 KiB a thread, copied to 128 KiB; random reads are of 4 bytes each, independent of one another, in
 * a table of 64 MiB. On a context whose engine is CUDA the card is measured, with arrays of 4 GiB (an eighth of its memory where that is less), and what
 * caches and random reads give stays 0; TESS_ERR_ENGINE without a card. */
typedef struct tess_limits {
    size_t struct_size;
    int threads;
    double read_bytes_per_s;
    double copy_bytes_per_s; /* with streaming stores, which go past the caches */
    double write_bytes_per_s;
    double f32_flops_per_s; /* an fma counts 2 */
    double f64_flops_per_s;
    double plain_copy_bytes_per_s; /* with ordinary stores */
    double plain_write_bytes_per_s;
    double cached_read_bytes_per_s;
    double cached_copy_bytes_per_s;
    double random_reads_per_s;
    size_t array_bytes; /* of each of the two arrays */
} tess_limits;
TESS_API tess_status tess_measure_limits(tess_context *context, double seconds, tess_limits *limits);

/* One pass of the loop behind one limit, over `bytes` of each array that it reads (from) or writes (to), with the context's threads and instruction set: what the
 * machine does with this very memory at this moment. On a machine that others use such passes, run in turns with other work, tell what share of the limit
 * the work reaches. *per_second: bytes read + written, reads or flops, as in tess_limits. The last pages are left out where bytes is not a multiple
 * of 4 KiB or an array is not aligned to 64 bytes. Flops need no array. Random reads take the first 64 MiB, cached passes the first 128 KiB a thread. TESS_ERR_SIZE
 * when bytes are fewer, TESS_ERR_ENGINE on a context whose engine is CUDA. */
typedef enum tess_limit {
    TESS_LIMIT_WRITE = 0,
    TESS_LIMIT_READ,
    TESS_LIMIT_COPY,
    TESS_LIMIT_PLAIN_WRITE, /* with ordinary stores */
    TESS_LIMIT_PLAIN_COPY,
    TESS_LIMIT_CACHED_READ,
    TESS_LIMIT_CACHED_COPY,
    TESS_LIMIT_RANDOM_READS,
    TESS_LIMIT_F32_FLOPS,
    TESS_LIMIT_F64_FLOPS
} tess_limit;
TESS_API tess_status tess_time_limit(tess_context *context, tess_limit what, void *to, const void *from, size_t bytes, double *per_second);

/* A text about processor, caches, instruction sets and GPUs, as for tess_explain. NVIDIA's driver and kernel compiler are loaded when they are
 * found; when not, the text says where they were looked for. Neither is a failure. */
TESS_API tess_status tess_devices(tess_context *context, tess_format format, char *text, size_t capacity, size_t *length);

/* ---- 12. Wisdom -----------------------------------------------------------------------------------------------
 *
 * Which strategy was fastest for which problem on which machine, as lines of text that can be read and compared. Two layers: a shipped one and the
 * user's; the user's wins. It changes what runs, never a result. A file that is broken, missing or not writable is never an error for an operation.
 */
TESS_API tess_status tess_wisdom_export(tess_context *context, char *text, size_t capacity, size_t *length);
TESS_API tess_status tess_wisdom_import(tess_context *context,
                                        const char *text); /* lines that are not understood are skipped; none understood: TESS_ERR_ARGUMENT */
TESS_API tess_status tess_wisdom_load(tess_context *context, const char *path); /* NULL = the default path; TESS_ERR_FILE */
TESS_API tess_status tess_wisdom_save(tess_context *context, const char *path); /* written beside and renamed; NULL = the default path */
TESS_API void tess_wisdom_forget(tess_context *context);

/* ---- 13. Profile ----------------------------------------------------------------------------------------------
 *
 * Runs a CUDA kernel on the virtual GPU - no card and, for PTX, no software of NVIDIA's is needed - and says what its memory accesses cost, line by
 * line, which mistakes it makes, and how long it would take on a card. docs/counters.md defines what is counted, docs/json.md the JSON.
 *
 * source: CUDA C++, compiled by NVRTC (C++17, for compute capability 9.0; TESS_ERR_ENGINE when there is none), or PTX, which is told by its first
 * word, .version.
 *
 * launch: one line in CUDA's own form:
 *
 *     kernel<<<grid, block, shared, stream>>>(argument, ...)             shared and stream may be left out
 *
 *   kernel     the name in the source, with namespaces and template arguments where it has them: "blur", "ns::blur", "blur<float, 32>"; or as the PTX has it
 *   grid, block  N   (x, y)   (x, y, z)   dim3(x, y, z)                      sizes and counts may be products: 1024*1024
 *   argument   in:T[N]=SOURCE      an array that the kernel reads            T: u8 i8 u16 i16 f16 bf16 u32 i32 f32 u64 i64 f64
 *              inout:T[N]=SOURCE   one that it reads and writes              SOURCE: ramp (0, 1, 2, ... converted to T: integers wrap), zeros, ones,
 *              out:T[N]            one that it writes: undefined before               random:SEED (integers: all bits; floats: [0, 1)), or a file
 *              $N, in:$N, inout:$N, out:$N   array N of the caller, by default as inout; one of 0 axes is passed by value unless a word stands before it
 *              4096  -1  0x1f  0.5f  true  T:VALUE   a number, in the width and kind of the kernel's parameter
 *              {a, b, ...}         a structure by value, laid out as C does; members take the type that the kernel reads at their place, else the one
 *                                  written (T:VALUE, suffixes f h u ll), else int and double
 * Arrays begin at multiples of 256 bytes. Without (...) the arguments are the caller's arrays. "$N" arrays that the kernel may write are copied back
 * when it has run, whatever faults it had.
 */
typedef struct tess_profile tess_profile;

typedef struct tess_profile_options {
    size_t struct_size;
    const char *name;                    /* of the source in messages and reports; default "kernel.cu", "kernel.ptx" */
    const char *const *compiler_options; /* more words for NVRTC: "-DWIDTH=7", "-Iinclude" */
    int compiler_option_count;
    bool no_fmad;        /* products and sums are not contracted; by default they are, as nvcc does */
    bool no_check;       /* undefined reads and races are not looked for: up to four times faster */
    int threads;         /* of the host; 0 = the context's. Counts and faults do not depend on it */
    const char *card;    /* whose time is predicted; default "H200". A name of the card list that does not exist is TESS_ERR_ARGUMENT */
    const char *cards;   /* the text of a card list, NULL = the built-in one (docs/json.md) */
    uint64_t seed;       /* not 0: warps take turns in an order shuffled by it, which can bring races out */
    uint64_t step_limit; /* backward branches and calls of one warp, after which the run is ended with a fault; 0 = no limit */
    /* Fills data with the `count` elements of a file that the launch names, or returns another status, which the call then returns. NULL: a file in
     * the launch is TESS_ERR_ARGUMENT. Called on the calling thread. */
    tess_status (*read)(void *user, const char *file, void *data, tess_type type, int64_t count);
    void *read_user;
    /* Machine code for sm_90 that was made of the PTX with line information (a cubin of ptxas -lineinfo), for the audit: the accesses that the assembler
     * merged, dropped or added are counted as it made them (docs/counters.md). NULL: NVRTC's for a CUDA source; PTX is not audited then. */
    const void *cubin;
    size_t cubin_size;
    bool check_global; /* races in global memory are looked for too, unless no_check */
} tess_profile_options;

/* TESS_OK when the kernel has run, also when faults were found: they are the result. Otherwise *profile is NULL: TESS_ERR_ARGUMENT for a launch that
 * cannot be read (the sentence gives the character and what was expected), a source that does not compile without its host's functions either (with the compiler's log), arguments that
 * do not fit the kernel; TESS_ERR_ENGINE; TESS_ERR_MEMORY. arrays: `count` views of memory on the CPU; read-only ones must be named as in:$N. */
TESS_API tess_status tess_profile_kernel(tess_profile **profile, tess_context *context, const char *source, const char *launch,
                                         const DLTensor *const *arrays, int count, const tess_profile_options *options);
TESS_API void tess_profile_free(tess_profile *profile); /* before its context is closed; NULL is accepted */

/* The report as text, JSON (docs/json.md) or a self-contained HTML page; buffer and length as for tess_explain. */
TESS_API tess_status tess_profile_text(const tess_profile *profile, tess_format format, char *text, size_t capacity, size_t *length);

/* The arrays that the kernel could write (inout and out), in the order of the arguments. data stays the profile's. */
typedef struct tess_profile_output {
    int argument; /* place among the launch's arguments, from 0; of the structure that holds it */
    tess_type type;
    int64_t count;
    const void *data;
    uint64_t hash; /* FNV-1a, 64 bits, of the bytes */
} tess_profile_output;
TESS_API bool tess_profile_output_get(const tess_profile *profile, int index, tess_profile_output *output); /* false past the last */

/* A total by its name in docs/counters.md, such as "global_ld_sectors"; false when there is none. */
TESS_API bool tess_profile_counter(const tess_profile *profile, const char *name, uint64_t *value);
TESS_API int tess_profile_faults(const tess_profile *profile); /* how many */
/* The sentence of a fault; NULL past the last. The profile's. */
TESS_API const char *tess_profile_fault(const tess_profile *profile, int index);
TESS_API double tess_profile_seconds(const tess_profile *profile); /* predicted on the card */

/* Runs a plan that was made for TESS_ENGINE_VIRTUAL once, as tess_execute does, and writes what its kernels did as JSON (docs/json.md, "Counts of a
 * plan"): counters, launches, the time on the card (NULL = H200), and whether the counts are those that the strategy predicts by formula. A capacity of
 * 131072 is enough for any plan; a text that is cut is TESS_ERR_SIZE. Not while another call runs on the plan's context. */
TESS_API tess_status tess_profile_plan(const tess_plan *plan, const void *in, const void *second, void *out, const char *card, char *text,
                                       size_t capacity, size_t *length);

/* The time on a card of a plan too large to run on the virtual GPU, extrapolated from two runs: `small` and `medium` are problems of the same kind (same
 * strategy, types, masks) and of ever more elements; a kernel's work is taken as a line in their number. All three plans are made for TESS_ENGINE_VIRTUAL; only
 * the smaller ones run, without the checkers, and plan's arrays may be NULL at planning. docs/json.md, "Counts of a larger plan". */
typedef struct tess_profile_run {
    const tess_plan *plan;
    const void *in, *second;
    void *out;
} tess_profile_run;
TESS_API tess_status tess_profile_larger(const tess_plan *plan, const tess_profile_run *small, const tess_profile_run *medium, const char *card,
                                         char *text, size_t capacity, size_t *length);

#ifdef __cplusplus
}
#endif
#endif
