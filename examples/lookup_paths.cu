// SPDX-License-Identifier: Apache-2.0
// Four ways to a table: __device__ memory, __constant__ memory, read-only loads, a copy in shared memory; with lanes that look up different entries, and
// lanes that look up the same one. To be looked at with `tessera profile`, on any machine:
//
//     tessera profile lookup_paths.cu 'bare<5, CONSTANT, DIVERGENT><<<32, 256>>>(out:f64[8192], 8192, 0)'
//     tessera profile lookup_paths.cu 'particles<5, CONSTANT, BROADCAST><<<32, 256>>>(out:f64[8192], 8192, 0)'
//
// The table: weights of particle-mesh codes. A particle at -1/2 <= x <= 1/2 from its nearest grid points is given to N + 1 points by a B-spline of order N (3 or
// 5): weight j is a polynomial of x, and entry [j][k] of the table its coefficient of x^k, over 48 (order 3) or 3840 (order 5).
//
// particles: what such a code does with it, 16 or 36 lookups a thread between sines. The sines take so long that they hide the path. bare: one lookup
// a thread and nothing else.
enum path { GLOBAL, CONSTANT, READ_ONLY, SHARED };
enum pattern { DIVERGENT, BROADCAST };

template <int N> struct weights {
    double entry[(N + 1) * (N + 1)];
};

// B-splines by their recursion, (m - 1) B_m(u) = u B_{m-1}(u) + (m - u) B_{m-1}(u - 1), on each piece a polynomial. With u = x + 1/2 + piece, and 2 (m - 1)
// put into the denominator, all coefficients are integers: S_m,j = (2x + 1 + 2j) S_{m-1,j} + (2m - 1 - 2j - 2x) S_{m-1,j-1}.
template <int N> __host__ __device__ constexpr weights<N> derive() {
    long long s[N + 1][N + 1] = {}, denominator = 1; // piece, power of x
    s[0][0] = 1;
    for (int m = 2; m <= N + 1; m++) {
        denominator *= 2 * (m - 1);
        for (int j = m - 1; j >= 0; j--) {
            long long next[N + 1] = {};
            for (int k = 0; k < m - 1; k++) {
                long long here = s[j][k], before = j > 0 ? s[j - 1][k] : 0;
                next[k] += (1 + 2 * j) * here + (2 * m - 1 - 2 * j) * before;
                next[k + 1] += 2 * here - 2 * before;
            }
            for (int k = 0; k <= N; k++)
                s[j][k] = next[k];
        }
    }
    weights<N> w = {};
    for (int j = 0; j <= N; j++) // the last piece belongs to the point farthest left
        for (int k = 0; k <= N; k++)
            w.entry[j * (N + 1) + k] = (double)s[N - j][k] / (double)denominator;
    return w;
}

__device__ weights<3> global_3 = derive<3>();
__device__ weights<5> global_5 = derive<5>();
__constant__ weights<3> constant_3 = derive<3>();
__constant__ weights<5> constant_5 = derive<5>();

template <int N, path PATH> __device__ double look_up(int at, const double *copy) {
    const double *global = N == 3 ? global_3.entry : global_5.entry;
    if (PATH == GLOBAL)
        return global[at];
    if (PATH == READ_ONLY)
        return __ldg(global + at);
    if (PATH == SHARED)
        return copy[at];
    return N == 3 ? constant_3.entry[at] : constant_5.entry[at];
}

// Each block copies the table; other paths have no need of it.
template <int N, path PATH> __device__ void make_copy(double *copy) {
    if (PATH == SHARED) {
        for (int k = threadIdx.x; k < (N + 1) * (N + 1); k += blockDim.x)
            copy[k] = look_up<N, GLOBAL>(k, nullptr);
        __syncthreads();
    }
}

// first is 0. The compiler must not know it: from a table that begins at a known place it would fetch two entries at once.
template <int N, path PATH, pattern PATTERN> __global__ void bare(double *out, int n, int first) {
    __shared__ double copy[(N + 1) * (N + 1)];
    int i = blockIdx.x * blockDim.x + threadIdx.x, size = (N + 1) * (N + 1);
    make_copy<N, PATH>(copy);
    if (i < n)
        out[i] = look_up<N, PATH>(first + (PATTERN == DIVERGENT ? i : i / 32) % size, copy);
}

template <int N, path PATH, pattern PATTERN> __global__ void particles(double *out, int n, int first) {
    __shared__ double copy[(N + 1) * (N + 1)];
    int i = blockIdx.x * blockDim.x + threadIdx.x, size = (N + 1) * (N + 1);
    make_copy<N, PATH>(copy);
    if (i >= n)
        return;
    double p[N + 1], sum = 0;
    p[0] = 1;
#pragma unroll
    for (int x = 1; x <= N; x++)
        p[x] = sin(x * (double)i * p[x - 1]);
#pragma unroll
    for (int x = 0; x <= N; x++) {
        double q = 0;
#pragma unroll
        for (int y = 0; y <= N; y++) {
            int at = x * (N + 1) + y;
            q += look_up<N, PATH>(first + (PATTERN == DIVERGENT ? (i + at) % size : at), copy) * p[y];
        }
        sum += q;
    }
    out[i] = sum;
}
