// SPDX-License-Identifier: Apache-2.0
// gpu_complex.cuh - gpu_node.cuh for complex elements: sums and products of pairs, sums of moduli and of their squares, the largest modulus, zeros counted.
//
// It stands in for gpu_node.cuh, with the same names and the same -D; -DIN is T_C64 or T_C128, -DACC one of them or, where moduli are added, T_F64. The
// order of the operations is the CPU's (node.c, cpu_map.c): parts are added apart; a product leaves 1 + 0i out, so that it is an identity for
// infinities too.
#ifndef TESS_REDUCE_NODE_CUH
#define TESS_REDUCE_NODE_CUH
#include "ops/reduce/gpu_tree.cuh"

#define T_C64 14
#define T_C128 15

template <typename R> struct alignas(2 * sizeof(R)) pair { R re, im; };
template <> struct stored<T_C64> { typedef pair<float> type; };
template <> struct stored<T_C128> { typedef pair<double> type; };
typedef stored<IN>::type element;
typedef stored<OUT>::type result;
#if KIND == COUNT || KIND == EXTREME
typedef double acc; // not used
#else
typedef stored<ACC>::type acc;
#endif

__device__ double added(double a, double b) { return a + b; }
template <typename R> __device__ pair<R> added(pair<R> a, pair<R> b) { return {a.re + b.re, a.im + b.im}; }
__device__ double times(double a, double b) { return a * b; }
template <typename R> __device__ pair<R> times(pair<R> a, pair<R> b) {
    if (b.re == 1 && b.im == 0)
        return a;
    if (a.re == 1 && a.im == 0)
        return b;
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
__device__ pair<float> times(pair<float> a, pair<float> b) { // by choices: threads that went three ways took 20 instructions, all of them 14
    const float re = a.re * b.re - a.im * b.im, im = a.re * b.im + a.im * b.re;
    const bool just_a = b.re == 1 && b.im == 0, just_b = a.re == 1 && a.im == 0;
    return {just_a ? a.re : just_b ? b.re : re, just_a ? a.im : just_b ? b.im : im};
}

// What an operation does not ask for is not there: nodes go through shuffles and shared memory whole. `filled`: as in gpu_node.cuh.
#define COUNTED (OMIT && (KIND == SUM || KIND == COUNT))
#define FILLED (OMIT && KIND == SUM && ACC == T_C128)

struct node {
#if KIND == EXTREME
    i64 key; // a modulus has the bits of its key, NaN the greatest, nothing the lowest (cpu_order.c)
#elif KIND == COUNT
    i64 zeros;
#else
    acc value;
#endif
#if COUNTED
    i64 count; // of elements that are no NaN
#endif
#if FILLED
    i64 filled;
#endif
};

__device__ void set(double &v, double re) { v = re; }
template <typename R> __device__ void set(pair<R> &v, double re) {
    v.re = (R)re;
    v.im = 0;
}

__device__ node nothing() {
    node n;
#if KIND == EXTREME
    n.key = -0x7fffffffffffffffll - 1;
#elif KIND == COUNT
    n.zeros = 0;
#else
    set(n.value, KIND == PROD);
#endif
#if COUNTED
    n.count = 0;
#endif
#if FILLED
    n.filled = 0;
#endif
    return n;
}

template <typename R> __device__ void load(pair<R> &v, element x) {
    v.re = (R)x.re;
    v.im = (R)x.im;
}
__device__ void load(double &v, element x) {
    double squares = (double)x.re * (double)x.re + (double)x.im * (double)x.im;
    v = MAP == 1 ? sqrt(squares) : squares;
}

__device__ void take(node &n, element x, i64 index) {
    bool counts = !(OMIT && (x.re != x.re || x.im != x.im));
#if KIND == COUNT
    n.zeros += x.re == 0 && x.im == 0;
#else
    acc v;
    if (counts) {
        load(v, x);
#if KIND == EXTREME
        const i64 key = v != v ? 0x7fffffffffffffffll : __double_as_longlong(v);
        n.key = key > n.key ? key : n.key;
#else
        n.value = KIND == PROD ? times(n.value, v) : added(n.value, v);
#endif
    }
#endif
#if COUNTED
    n.count += counts;
#endif
}

__device__ void take_next(node &n, element x, i64 index) { take(n, x, index); }

#if KIND == SUM && !OMIT
// As in gpu_node.cuh.
__device__ node begun(element x) {
    node n;
    load(n.value, x);
    return n;
}
__device__ void settle(node &n) { n.value = added(n.value, nothing().value); }
#endif

__device__ void merge(node &n, const node &m) {
#if KIND == EXTREME
    const i64 mine = n.key, other = m.key;
    n.key = other > mine ? other : mine;
#elif KIND == COUNT
    n.zeros += m.zeros;
#else
    n.value = KIND == PROD ? times(n.value, m.value) : added(n.value, m.value);
#endif
#if COUNTED
    n.count += m.count;
#endif
}

#if OUT == T_C64 || OUT == T_C128
const int PART = OUT == T_C64 ? T_F32 : T_F64;
template <typename R> __device__ result put(pair<R> v) { return {store_as<PART>(v.re), store_as<PART>(v.im)}; }
template <typename V> __device__ result put(V v) { return {store_as<PART>(v), 0}; }
#else
template <typename R> __device__ result put(pair<R> v) { return store_as<OUT>(v.re); } // not reached: a complex value has a complex result
template <typename V> __device__ result put(V v) { return store_as<OUT>(v); }
#endif

__device__ double shared_out(double v, i64 count) { return v / (double)count; }
template <typename R> __device__ pair<R> shared_out(pair<R> v, i64 count) {
    return {(R)((double)v.re / (double)count), (R)((double)v.im / (double)count)};
}
__device__ double root(double v) { return sqrt(v); }
template <typename R> __device__ double root(pair<R> v) { return (double)v.re; } // not reached

__device__ result finished(const node &n, i64 k, double ddof) {
#if COUNTED
    const i64 count = n.count;
#else
    const i64 count = k;
#endif
#if KIND == EXTREME
    return put(n.key < 0 ? 0 : __longlong_as_double(n.key)); // the key of NaN is one of its bit patterns
#elif KIND == COUNT
    if (OPERATION == OP_ANY)
        return put((u64)(count > n.zeros));
    if (OPERATION == OP_ALL)
        return put((u64)(n.zeros == 0));
    return put(count - n.zeros);
#else
    if (OPERATION == OP_NORM2)
        return put(root(n.value));
    if (OPERATION == OP_MEAN)
        return put(shared_out(n.value, count));
    return put(n.value);
#endif
}
#endif
