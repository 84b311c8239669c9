// SPDX-License-Identifier: Apache-2.0
// gpu_node.cuh - what a subtree of a reduction comes to: how an element is taken in, how two neighbours merge, how the root becomes the result.
//
// -DKIND says which of the foldings of reduce.h; -DIN, -DOUT, -DACC the types (gpu/types.cuh); -DMAP 0 as it is, 1 |x|, 2 x * x; -DOMIT=1 leaves NaNs out;
// -DOPERATION the number of the operation (tess_reduction); -DSMALLEST, -DMAGNITUDE, -DNUMERIC the order of extremes. -DNARROW=1: there are at most 8192
// elements, or 32 KiB of those that no order can change (gpu_stretches.c), whose numbers, counts and sums of bytes and 16-bit integers fit in 32 bits.
#ifndef TESS_REDUCE_NODE_CUH
#define TESS_REDUCE_NODE_CUH
#include "ops/reduce/gpu_tree.cuh"

typedef stored<IN>::type element;
typedef stored<OUT>::type result;
typedef stored<ACC>::type whole_acc;
#if NARROW && KIND == SUM && ACC < T_F16 && IN < T_U32
typedef int acc;
#else
typedef whole_acc acc;
#endif
#if NARROW
typedef int number; // of elements, and of an element
typedef unsigned place_number;
#else
typedef i64 number;
typedef u64 place_number;
#endif
const bool float_in = IN >= T_F16;

#define WIDE_KEY (IN == T_U64 || IN == T_I64 || IN == T_F64)
#if WIDE_KEY
typedef i64 key_type;
typedef u64 bits_type;
#else
typedef int key_type;
typedef unsigned bits_type;
#endif
const int WIDTH = 8 * (int)sizeof(element);
const bits_type TOP = (bits_type)1 << (WIDTH - 1), LOW = TOP - 1;
const key_type LOWEST = (key_type)(-(i64)LOW - 1), HIGHEST = (key_type)LOW;

__device__ bool is_nan(element x) {
    if (IN == T_F16)
        return ((unsigned)x & 0x7fff) > 0x7c00;
    if (IN == T_BF16)
        return ((unsigned)x & 0x7fff) > 0x7f80;
    return float_in && x != x;
}

__device__ bits_type bits_of(element x) {
#if IN == T_F64
    return (bits_type)__double_as_longlong(x);
#elif IN == T_F32
    return __float_as_uint(x);
#else
    return (bits_type)x & (TOP | LOW);
#endif
}

// The wanted element has the greatest key (the CPU's cpu_order.c has the same map).
__device__ key_type key_of(element x) {
    const key_type flip = SMALLEST ? -1 : 0;
    if (IN == T_BOOL)
        return (key_type)(x != 0) ^ flip;
    bits_type u = bits_of(x);
    if (!float_in) {
        if (IN == T_U8 || IN == T_U16)
            return ((key_type)u - (key_type)TOP) ^ flip;
        if (IN == T_U32 || IN == T_U64)
            return (key_type)(u ^ TOP) ^ flip;
        if (MAGNITUDE) {
            bits_type m = ((u & TOP ? 0 - u : u) ^ TOP) & (TOP | LOW);
            return (WIDTH < 32 ? (key_type)m - (key_type)(m & TOP ? TOP << 1 : 0) : (key_type)m) ^ flip;
        }
        return (key_type)x ^ flip;
    }
    bits_type magnitude = u & LOW;
    if (is_nan(x))
        return OMIT ? LOWEST : HIGHEST;
    bool negative = !MAGNITUDE && (u & TOP) && !(NUMERIC && magnitude == 0);
    return (negative ? (key_type)~magnitude : (key_type)magnitude) ^ flip;
}

// The value that has a key.
__device__ element value_of(key_type key) {
    bits_type u;
    if (IN == T_BOOL)
        return (element)(SMALLEST ? ~key : key);
    if (float_in && key == (OMIT ? LOWEST : HIGHEST)) {
        u = IN == T_F64 ? (bits_type)0x7ff8000000000000ull : IN == T_F32 ? 0x7fc00000 : IN == T_F16 ? 0x7e00 : 0x7fc0;
    } else {
        if (SMALLEST)
            key = ~key;
        if (!float_in)
            u = (bits_type)key ^ (IN == T_U8 || IN == T_U16 || IN == T_U32 || IN == T_U64 ? TOP : 0);
        else
            u = (key < 0 ? (bits_type)key ^ LOW : (bits_type)key) & (TOP | LOW);
    }
#if IN == T_F64
    return __longlong_as_double((i64)u);
#elif IN == T_F32
    return __uint_as_float(u);
#else
    return (element)u;
#endif
}

// Nodes are copied whole: what would be a hole before eight bytes is written too, or a checker would see it read.
#define FILLED ((KIND == ARG && WIDE_KEY == 0 && !NARROW) || (KIND == SUM && OMIT && ACC == T_F32))

struct node {
#if KIND == SUM || KIND == PROD
    acc value;
#elif KIND == COUNT
    number zeros;
#elif KIND == EXTREME
    key_type key;
#elif KIND == ARG
    key_type key;
#else
    double mean, m2;
#endif
#if FILLED
    int filled;
#endif
#if KIND == ARG
    number index; // -1: nothing yet
#endif
#if KIND == VAR || (OMIT && (KIND == SUM || KIND == COUNT))
#define COUNTED 1
    number count; // of elements that are no NaN
#else
#define COUNTED 0
#endif
};

__device__ node nothing() {
    node n;
#if KIND == SUM || KIND == PROD
    n.value = (acc)(KIND == PROD);
#elif KIND == COUNT
    n.zeros = 0;
#elif KIND == VAR
    n.mean = n.m2 = 0;
#else
    n.key = LOWEST;
#if KIND == ARG
    n.index = -1;
#endif
#endif
#if FILLED
    n.filled = 0;
#endif
#if COUNTED
    n.count = 0;
#endif
    return n;
}

__device__ acc mapped(element x) {
#if IN >= T_F16 || ACC >= T_F32
    acc v = load_as<acc, IN>(x);
    return MAP == 1 ? (acc)(ACC == T_F32 ? (double)fabsf((float)v) : fabs((double)v)) : MAP == 2 ? v * v : v;
#else
    i64 v = load_as<i64, IN>(x);
    return (acc)(MAP == 1 && v < 0 ? 0 - v : v);
#endif
}

// Takes in an element; index is its number.
__device__ void take(node &n, element x, i64 index) {
    bool counts = !(OMIT && is_nan(x));
#if KIND == SUM
    n.value = counts ? n.value + mapped(x) : n.value;
#elif KIND == PROD
    n.value = counts ? n.value * mapped(x) : n.value;
#elif KIND == COUNT
    n.zeros += IN == T_F16 || IN == T_BF16 ? ((unsigned)x & 0x7fff) == 0 : x == 0;
#elif KIND == EXTREME
    key_type key = key_of(x);
    n.key = key > n.key ? key : n.key;
#elif KIND == ARG
    key_type key = key_of(x);
    if (counts && (key > n.key || (key == n.key && (place_number)index < (place_number)n.index))) {
        n.key = key;
        n.index = (number)index;
    }
#endif
#if COUNTED
    n.count += counts;
#endif
}

#if KIND == SUM && !OMIT
// A sum that begins with its first term in place of +0; a zero has that one's sign until it is settled, for +0 is the sum of zeros of any sign that begins with +0.
__device__ node begun(element x) {
    node n = nothing();
    n.value = mapped(x);
    return n;
}
__device__ void settle(node &n) { n.value = n.value + (acc)0; }
#endif

// The same for elements that come in the order of their numbers.
__device__ void take_next(node &n, element x, number index) {
#if KIND == ARG
    key_type key = key_of(x);
    if (!(OMIT && is_nan(x)) && (key > n.key || n.index < 0)) {
        n.key = key;
        n.index = index;
    }
#else
    take(n, x, index);
#endif
}

// n = n with m after it.
__device__ void merge(node &n, const node &m) {
#if KIND == SUM
    n.value = n.value + m.value;
#elif KIND == PROD
    n.value = n.value * m.value;
#elif KIND == COUNT
    n.zeros += m.zeros;
#elif KIND == EXTREME
    key_type mine = n.key, other = m.key; // by value: the compiler chose between the addresses and loaded a third time
    n.key = other > mine ? other : mine;
#elif KIND == ARG
    if (m.key > n.key || (m.key == n.key && (place_number)m.index < (place_number)n.index)) {
        n.key = m.key;
        n.index = m.index;
    }
#else
    // Chan, Golub, LeVeque 1979, each operation rounded, in this order
    if (m.count == 0)
        return;
    if (n.count == 0) {
        n = m;
        return;
    }
    double na = (double)n.count, nb = (double)m.count, share = nb / (double)(n.count + m.count), delta = m.mean - n.mean;
    n.mean = n.mean + delta * share;
    n.m2 = (n.m2 + m.m2) + (delta * delta) * (na * share);
#endif
#if COUNTED
    n.count += m.count;
#endif
}

// The root over k elements as an element of out.
__device__ result finished(const node &n, i64 k, double ddof) {
#if COUNTED
    i64 count = n.count;
#else
    i64 count = k;
#endif
#if KIND == SUM || KIND == PROD
    if (OPERATION == OP_NORM2)
        return store_as<OUT>(sqrt((double)n.value));
    if (OPERATION == OP_MEAN)
        return ACC == T_F32 ? store_as<OUT>((float)((double)n.value / (double)count)) : store_as<OUT>((double)n.value / (double)count);
    return store_as<OUT>((whole_acc)n.value);
#elif KIND == COUNT
    if (OPERATION == OP_ANY)
        return store_as<OUT>((u64)(count > n.zeros));
    if (OPERATION == OP_ALL)
        return store_as<OUT>((u64)(n.zeros == 0));
    return store_as<OUT>(count - (i64)n.zeros);
#elif KIND == EXTREME
    if (OPERATION == OP_NORM_INF && (k == 0 || (float_in && OMIT && n.key == LOWEST)))
        return store_as<OUT>((u64)0);
    if (OPERATION == OP_NORM_INF && !float_in) {
        bits_type u = ((bits_type)n.key ^ (IN == T_BOOL ? 0 : TOP)) & (IN == T_BOOL ? 1 : TOP | LOW);
        return store_as<OUT>((u64)u);
    }
    element x = value_of(n.key);
#if IN == T_F64
    return store_as<OUT>((double)x);
#elif IN >= T_F16
    return store_as<OUT>(load_as<float, IN>(x));
#elif IN == T_BOOL || IN == T_U8 || IN == T_U16 || IN == T_U32 || IN == T_U64
    return store_as<OUT>((u64)x);
#else
    return store_as<OUT>((i64)x);
#endif
#elif KIND == ARG
    return store_as<OUT>((i64)n.index);
#else
    const double divisor = (double)count - ddof;
    const bool easy = n.m2 == 0 && divisor > 0; // the division's slow way is for zeros too
    double v = (easy ? 1 : n.m2) / (divisor > 0 ? divisor : 0);
    v = easy ? 0 : v;
    if (count == 0)
        v = __longlong_as_double(0x7ff8000000000000ll);
    return store_as<OUT>(OPERATION == OP_STD ? sqrt(v) : v);
#endif
}
#endif
