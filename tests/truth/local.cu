// SPDX-License-Identifier: Apache-2.0
// Local memory (a lane's own array, words interleaved by lane), and constant memory (one address at a time).

// The same index in all lanes: four sectors a word.
extern "C" __global__ void local_uniform(const int *in, int *out, int turns) {
    int own[16];
    for (int k = 0; k < 16; k++)
        own[k] = in[k * 32 + threadIdx.x];
    int at = 0;
    for (int k = 0; k < turns; k++) {
        own[at] += own[(at + 5) & 15];
        at = (at + 7) & 15;
    }
    out[threadIdx.x] = own[at] + own[(at + 1) & 15];
}
// Another index in every lane.
extern "C" __global__ void local_divergent(const int *in, int *out, int step) {
    int own[32];
    for (int k = 0; k < 32; k++)
        own[k] = in[k * 32 + threadIdx.x];
    int sum = 0;
    for (int k = 0; k < 8; k++)
        sum += own[(threadIdx.x * step + k) & 31] * (k + 1);
    own[threadIdx.x & 31] = sum;
    out[threadIdx.x] = own[in[threadIdx.x] & 31];
}
extern "C" __global__ void local_wide(const double *in, double *out, int at) {
    double own[8];
    for (int k = 0; k < 8; k++)
        own[k] = in[k * 32 + threadIdx.x];
    own[(at + threadIdx.x) & 7] += 1;
    out[threadIdx.x] = own[at & 7];
}
extern "C" __global__ void local_bytes(const unsigned char *in, unsigned char *out) {
    unsigned char own[64];
    for (int k = 0; k < 64; k++)
        own[k] = (unsigned char)(63 - k);
    unsigned char at = in[threadIdx.x] & 63;
    for (int k = 0; k < 4; k++)
        at = own[(at + threadIdx.x) & 63];
    out[threadIdx.x] = at;
}
// An insertion sort a lane: indices go apart, and so do the lanes.
extern "C" __global__ void local_sort(const int *in, int *out) {
    int own[12];
    for (int k = 0; k < 12; k++) {
        int x = in[k * 64 + threadIdx.x], at = k;
        while (at > 0 && own[at - 1] > x) {
            own[at] = own[at - 1];
            at--;
        }
        own[at] = x;
    }
    for (int k = 0; k < 12; k++)
        out[k * 64 + threadIdx.x] = own[k];
}

__constant__ int table[256] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4, 6, 2, 6, 4, 3, 3, 8, 3, 2, 7, 9, 5};
__constant__ double wide[64] = {2, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4, 5, 9, 0, 4, 5};
__constant__ float weights[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1};

// All lanes one address, by a loop's counter and by data.
extern "C" __global__ void constant_uniform(const int *in, int *out, int n) {
    int sum = 0;
    for (int k = 0; k < n; k++)
        sum += table[(k + in[0]) & 255] * (k + 1);
    out[threadIdx.x] = sum + (int)threadIdx.x;
}
// `ways` different addresses a warp: that many turns.
extern "C" __global__ void constant_divergent(int *out, int ways) { out[threadIdx.x] = table[threadIdx.x % ways * 8 & 255]; }
extern "C" __global__ void constant_wide(double *out, int ways) { out[threadIdx.x] = wide[threadIdx.x % ways & 63]; }
extern "C" __global__ void constant_lookup(const unsigned char *in, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = table[in[i]];
}
// A mask at fixed places becomes operands.
extern "C" __global__ void constant_mask(const float *in, float *out, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    float sum = 0;
    for (int dy = 0; dy < 3; dy++)
        for (int dx = 0; dx < 3; dx++) {
            int sx = min(max(x + dx - 1, 0), n - 1), sy = min(max(y + dy - 1, 0), n - 1);
            sum += in[sy * n + sx] * weights[dy * 3 + dx];
        }
    out[y * n + x] = sum;
}
// A structure by value, read at an index: parameters are constant memory.
struct offsets {
    int at[8];
};
extern "C" __global__ void parameter_array(offsets o, const int *in, int *out) { out[threadIdx.x] = in[(threadIdx.x + o.at[threadIdx.x & 7]) & 31]; }
