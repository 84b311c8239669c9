// SPDX-License-Identifier: Apache-2.0
// gpu_segment_finish.cuh - the second launch of gpu_tree_segments.cu: the nodes of the leaves of long ones are paired.
//
// It goes below `struct segments`. Leaf l of segment s left its node at place s + the number of the chunk that it begins in (gpu_segment.cuh), so those of a
// segment are neighbours: a warp for each chunk in which a second leaf begins, the whole block where there are many.
// Of a segment with more leaves than FEW a warp's threads would have too many each.
enum { FEW = 1024 };

extern "C" __global__ void __launch_bounds__(32 * WARPS) finish(result *out, const i64 *offsets, const node *partial, const segments p) {
    __shared__ i64 many, many_chunk;
    const int lane = threadIdx.x % 32;
    const i64 blocks = (p.chunks - 1 + WARPS - 1) / WARPS, output = blockIdx.x / blocks;
    const i64 chunk = blockIdx.x % blocks * WARPS + threadIdx.x / 32 + 1;
    i64 at_in, at_out, segment;
    place_of(p, output, at_in, at_out);
    partial += output * (p.chunks + p.segments) - 1; // the second leaf's chunk is at hand, and the first leaf comes before it
    if (threadIdx.x == 0)
        many = -1;
    __syncthreads();
    if (chunk < p.chunks && piece_in(p, offsets, chunk, LEAF, segment) == 1) {
        const i64 k = offsets[segment + 1] - offsets[segment], count = (k + LEAF - 1) / LEAF;
        if (count <= FEW) {
            i64 each = 8;
            while (each * 32 < count)
                each *= 2;
            const node *from = partial + chunk + segment + lane * each;
            i64 here = count - lane * each < each ? count - lane * each : each;
            node mine = each > 8 && here > 0 ? paired_stretch(from, here) : paired_eight(from, here);
            pair_lanes(mine, (count + each - 1) / each);
            if (lane == 0)
                out[at_out + segment * p.out_step] = finished(mine, k, p.ddof);
        } else if (lane == 0) { // the only one of the block: no other one can have its second leaf in the block's next chunks
            many = segment;
            many_chunk = chunk;
        }
    }
    __syncthreads();
    if (many < 0)
        return;
    const i64 k = offsets[many + 1] - offsets[many];
    node whole = paired<32 * WARPS, true>(partial + many_chunk + many, (k + LEAF - 1) / LEAF);
    if (threadIdx.x == 0)
        out[at_out + many * p.out_step] = finished(whole, k, p.ddof);
}
