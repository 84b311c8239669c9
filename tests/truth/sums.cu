// SPDX-License-Identifier: Apache-2.0
// Reductions and scans: halves that go idle, strides that meet in banks, shuffles.

// Neighbours first: lanes that work lie 2, 4, 8, ... apart.
extern "C" __global__ void sum_neighbours(const int *in, int *out) {
    __shared__ int part[256];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        if (t % (2 * step) == 0)
            part[t] += part[t + step];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = part[0];
}
// The first lanes work, on words that lie apart: conflicts instead of idle lanes.
extern "C" __global__ void sum_strided(const int *in, int *out) {
    __shared__ int part[256];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        int at = 2 * step * t;
        if (at < 256)
            part[at] += part[at + step];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = part[0];
}
extern "C" __global__ void sum_halves(const int *in, int *out) {
    __shared__ int part[256];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 512 + t] + in[blockIdx.x * 512 + 256 + t];
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (t < step)
            part[t] += part[t + step];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = part[0];
}
extern "C" __global__ void sum_shuffles(const int *in, int *out, int n) {
    __shared__ int part[32];
    int sum = 0, t = threadIdx.x;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (t % 32 == 0)
        part[t / 32] = sum;
    __syncthreads();
    if (t < 32) {
        sum = t < (int)blockDim.x / 32 ? part[t] : 0;
        for (int d = 16; d > 0; d /= 2)
            sum += __shfl_xor_sync(~0u, sum, d);
        if (t == 0)
            out[blockIdx.x] = sum;
    }
}

// Each lane adds the one `step` before it (Hillis and Steele 1986).
extern "C" __global__ void scan_steps(const int *in, int *out) {
    __shared__ int line[2][256];
    int t = threadIdx.x, from = 0;
    line[0][t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        line[1 - from][t] = line[from][t] + (t >= step ? line[from][t - step] : 0);
        from = 1 - from;
        __syncthreads();
    }
    out[blockIdx.x * 256 + t] = line[from][t];
}
// Up and down a tree (Blelloch 1990), in place: strides that double, with and without a word of padding for every 32.
template <int PAD> __device__ void scan_tree_body(const int *in, int *out) {
    __shared__ int line[256 + 256 / 32];
    auto at = [](int i) { return PAD ? i + i / 32 : i; };
    int t = threadIdx.x;
    line[at(t)] = in[blockIdx.x * 256 + t];
    line[at(t + 128)] = in[blockIdx.x * 256 + t + 128];
    for (int step = 1, n = 128; n > 0; n /= 2, step *= 2) {
        __syncthreads();
        if (t < n)
            line[at(step * (2 * t + 2) - 1)] += line[at(step * (2 * t + 1) - 1)];
    }
    if (t == 0)
        line[at(255)] = 0;
    for (int n = 1, step = 128; n < 256; n *= 2, step /= 2) {
        __syncthreads();
        if (t < n) {
            int low = at(step * (2 * t + 1) - 1), high = at(step * (2 * t + 2) - 1), left = line[low];
            line[low] = line[high];
            line[high] += left;
        }
    }
    __syncthreads();
    out[blockIdx.x * 256 + t] = line[at(t)];
    out[blockIdx.x * 256 + t + 128] = line[at(t + 128)];
}
extern "C" __global__ void scan_tree(const int *in, int *out) { scan_tree_body<0>(in, out); }
extern "C" __global__ void scan_tree_padded(const int *in, int *out) { scan_tree_body<1>(in, out); }
extern "C" __global__ void scan_shuffles(const int *in, int *out) {
    __shared__ int sums[8];
    int t = threadIdx.x, i = blockIdx.x * 256 + t, x = in[i];
    for (int d = 1; d < 32; d *= 2) {
        int y = __shfl_up_sync(~0u, x, d);
        x += t % 32 >= d ? y : 0;
    }
    if (t % 32 == 31)
        sums[t / 32] = x;
    __syncthreads();
    for (int w = 0; w < t / 32; w++)
        x += sums[w];
    out[i] = x;
}
// A network that sorts (Batcher 1968) in shared memory.
extern "C" __global__ void sort_bitonic(const unsigned *in, unsigned *out) {
    __shared__ unsigned line[512];
    int t = threadIdx.x;
    line[t] = in[blockIdx.x * 512 + t];
    line[t + 256] = in[blockIdx.x * 512 + t + 256];
    for (int size = 2; size <= 512; size *= 2)
        for (int step = size / 2; step > 0; step /= 2) {
            __syncthreads();
            int low = 2 * t - (t & (step - 1)), high = low + step;
            unsigned a = line[low], b = line[high];
            if ((a > b) == ((low & size) == 0)) {
                line[low] = b;
                line[high] = a;
            }
        }
    __syncthreads();
    out[blockIdx.x * 512 + t] = line[t];
    out[blockIdx.x * 512 + t + 256] = line[t + 256];
}
