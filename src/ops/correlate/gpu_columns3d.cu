// SPDX-License-Identifier: Apache-2.0
// gpu_columns3d.cu - production: a list of three 1-D masks over volumes, the last one along rows, in one pass over memory: a thread has one column of R rows.
//
// As separable3d where x comes last (its PLACE 2): a block marches along z, a plane passes through the masks along y and z in the first half of a turn, and through
// that along x in the second half of the next one. There a thread has a vector of columns in both halves, which wants rows that begin alike. Here threads side by side have
// columns side by side in the first half, which reads nothing beside its column, so each row may stand elsewhere in shared memory, and that frees both ends:
//     in    a row is copied by whole vectors from whole sectors on, wherever it begins: it stands as far behind a sector there as in global memory
//     mid   a finished row is laid down as far behind a vector as its outputs will be, so the second half reads, and stores, whole vectors
// And a column of R rows reads R + KY - 1 elements for R outputs, each widened once, where a tile of few rows reads two to three times as many as it finishes.
//
// Ghost cells of the pass along x stand between the passes: the constant itself, or what the elements that the boundary names give, which stand behind each row.
//
// -DKY, -DKZ; -DR rows a thread; -DTHREADS (whole warps); -DFINISHED columns that come out; -DSTAGES planes in shared memory;
// -DRAISED: of u8 their 2^24th parts are read, by weights along y that come times 2^24.
#include "ops/correlate/gpu_copies.cuh"
#include "ops/correlate/gpu_bytes.cuh"

enum {
    V = 16 / sizeof(work), // columns of a thread along x, and rows that are there at once
    WARPS = THREADS / 32,
    VECTOR = 16 / SIZE,
    SECTOR = 32 / SIZE,
    REACH = LEFT + V - 1,              // columns before the first output, wherever it stands in its vector
    NEEDED = FINISHED + REACH + RIGHT, // columns of input
    VECTORS = (SECTOR - 1 + NEEDED + VECTOR - 1) / VECTOR,
    EACH = (VECTORS + 31) / 32, // copies of a row that a lane makes
    GHOSTS = 2 * LEFT + RIGHT,  // elements that stand for columns outside: LEFT before a row, the others behind it
    EXTRA = (GHOSTS + 31) / 32,
    GHOSTS_AT = VECTORS * VECTOR,
    ROW = (GHOSTS_AT + GHOSTS + SECTOR + SECTOR - 1) / SECTOR * SECTOR,
    ROWS = R + KY - 1,
    ROWS_UP = (ROWS + 3) / 4 * 4,
    PLANE = ROWS * ROW,
    MINE = (ROWS + WARPS - 1) / WARPS, // rows that a warp copies
    MID_LEFT = (LEFT + V - 1) / V * V,
    MID_RIGHT = (RIGHT + V - 1) / V * V,
    MID_WIDE = FINISHED + V + MID_LEFT + MID_RIGHT,
    MID_ROW = MID_WIDE > THREADS + 2 * V ? MID_WIDE : THREADS + 2 * V,
    MID = R * MID_ROW,
    TOGETHER = R / V % 2 ? 1 : 2, // of a thread's rows in the second half those that share a weight
    NONE = 1 << 31
};
static_assert(THREADS % 32 == 0 && NEEDED <= THREADS && FINISHED % V == 0 && R % V == 0, "whole warps, whole vectors, as many rows for each thread");

__device__ __forceinline__ work widened(const element *at) {
    if constexpr (SIZE >= 4) {
        return load_as<work, IN>(*at);
    } else {
        const unsigned word = SIZE == 1 ? *(const unsigned char *)at : *(const unsigned short *)at;
        return RAISED ? part_of_halves(word, 0) : cell(&word, 0);
    }
}

// The first `bytes` of a vector, and zeros behind them.
__device__ __forceinline__ void copy_begin(unsigned to, const char *from, int bytes) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}
// The same of the array's last vector, which ends behind the array: memory checkers look at where a copy would end, not at how much of it is read.
__device__ __forceinline__ void lay_begin(unsigned to, const element *from, int there) {
    element *at = (element *)__cvta_shared_to_generic(to);
#pragma unroll 1
    for (int i = 0; i < VECTOR; i++)
        at[i] = i < there ? from[i] : element{};
}
// Where the last element in memory ends.
__device__ __forceinline__ u64 end_of(const element *in, const frame &f) {
    const i64 rows = (f.n_y - 1) * f.in_y, planes = (f.n_z - 1) * f.in_z;
    return (u64)(in + f.n_x + (rows > 0 ? rows : 0) + (planes > 0 ? planes : 0));
}

// Where the rows of the planes in shared memory begin, in bytes from the ring's first one; where they come from, in elements from their plane's first one.
struct row_places {
    alignas(16) int at[STAGES][ROWS_UP];
    int from[ROWS];
};

// Planes one after another, columns from x on.
struct plane_feed {
    const element *in;
    unsigned ring; // in shared memory
    int x;
    bool inside; // all vectors of the tile are, and all rows elements

    // The plane at `plane`, to number `slot` of the ring. A warp copies a row, the next warp the next one.
    __device__ __forceinline__ void copy(row_places &places, int slot, const element *plane, const frame &f) const {
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        int place = slot * (PLANE * SIZE) + warp * (ROW * SIZE);
        asm volatile("" : "+l"(plane), "+r"(place)); // once, and not for every row
        if (inside) {
            const unsigned to = ring + place + lane * 16;
#pragma unroll
            for (int k = 0; k < MINE; k++)
                if (ROWS % WARPS == 0 || k < MINE - 1 || warp < ROWS % WARPS) {
                    const u64 row = (u64)(plane + places.from[k * WARPS + warp]);
                    const char *from = (const char *)(row & ~31ull) + lane * 16;
                    if (lane == 0)
                        places.at[slot][k * WARPS + warp] = place + k * (WARPS * ROW * SIZE) + ((int)row & 31);
#pragma unroll
                    for (int g = 0; g < EACH; g++)
                        if ((g + 1) * 32 <= VECTORS || g * 32 + lane < VECTORS)
                            copy_vector(to + k * (WARPS * ROW * SIZE) + g * 512, from + g * 512);
                }
        } else {
#pragma unroll 1
            for (int r = warp; r < ROWS; r += WARPS) {
                const int row = places.from[r], away = row == (int)NONE ? 0 : (int)(u64)(plane + row) & 31;
                if (lane == 0)
                    places.at[slot][r] = place + away;
                if (row != (int)NONE)
                    copy_edge(place + away, plane + row, away, f);
                place += WARPS * ROW * SIZE;
            }
        }
    }
    // A row of a tile that meets an end of the array. A vector that begins before the row is copied whole: what it has before the row nobody needs.
    __device__ __forceinline__ void copy_edge(int place, const element *row, int away, const frame &f) const {
        const int lane = threadIdx.x % 32, n_x = (int)f.n_x, begin = x + lane * VECTOR - away / SIZE;
        const unsigned to = ring + place - away + lane * 16;
        const char *from = (const char *)row - away + lane * 16;
#pragma unroll
        for (int g = 0; g < EACH; g++) {
            const int first = begin + g * 32 * VECTOR, there = min(n_x - first, (int)VECTOR);
            if (g * 32 + lane >= VECTORS || first <= -VECTOR || there <= 0)
                continue;
            if (there < VECTOR && (u64)from + g * 512 + 16 > end_of(in, f))
                lay_begin(to + g * 512, (const element *)(from + g * 512), there);
            else
                copy_begin(to + g * 512, from + g * 512, there * SIZE);
        }
        if (f.edge.least < 0)
            return;
#pragma unroll
        for (int e = 0; e < EXTRA; e++) {
            const int ghost = e * 32 + lane, column = ghost < LEFT ? ghost - LEFT : n_x + ghost - LEFT;
            if (ghost < GHOSTS && column >= x && column < x + NEEDED && column < (int)f.m_x + RIGHT)
                copy_element<SIZE>(ring + place + (GHOSTS_AT + ghost) * SIZE, row + resolve(column, n_x, f.edge) - x);
        }
    }
    // Plane number z of the array. Constants pass for every column where the first half ends: of such a plane nothing is copied.
    __device__ __forceinline__ void ask(row_places &places, int slot, int z, const frame &f) const {
        z = outside(z, f.n_z) ? resolve(z, (int)f.n_z, f.edge) : z;
        if (z >= 0)
            copy(places, slot, in + (i64)z * f.in_z, f);
        else if (threadIdx.x < ROWS)
            places.at[slot][threadIdx.x] = slot * (PLANE * SIZE) + threadIdx.x * (ROW * SIZE);
        end_copies();
    }
};

// The chains along x of windows between the passes, of rows V apart.
__device__ __forceinline__ void pass_x(work (&done)[TOGETHER][V], const work *from, const tap_list<KX> &taps) {
    work window[TOGETHER][LEFT + V + RIGHT];
    read_between<MID_LEFT - LEFT, V * MID_ROW>(window, from);
    add_windows(done, window, taps);
}

// Results from column `first` on, those of them that there are.
__device__ __forceinline__ void write_some(result *to, int first, int m_x, const work (&value)[V]) {
    const packed<V> v(value);
    if (first >= 0 && first + V <= m_x) {
        v.store(to);
    } else {
#pragma unroll
        for (int i = 0; i < V; i++)
            if (!outside(first + i, m_x))
                to[i] = v.r[i];
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    columns3d(const element *in, result *out, const frame f, const unsigned across, const int depth, const unsigned deep, const tap_list<KX> along_x,
              const tap_list<KY> along_y, const tap_list<KZ> along_z) {
    extern __shared__ uint4 memory[];
    __shared__ row_places places;
    element *ring = (element *)memory;
    work *mid = (work *)(ring + STAGES * PLANE);
    const unsigned line = blockIdx.x / across, number = blockIdx.z / deep;
    const int x = (blockIdx.x - line * across) * FINISHED, y = line * R, z = (blockIdx.z - number * deep) * depth;
    const int planes = min(depth, (int)f.m_z - z) + KZ - 1, front = z - f.before_z, m_x = (int)f.m_x;
    const bool constant = f.edge.least < 0;
    const work ghost = load_as<work, IN>(ghost_of(f));
    find_array(f, number, in, out);

    const int left = x - REACH, top = y - f.before_y;
    const plane_feed feed = {in, (unsigned)__cvta_generic_to_shared(ring), left,
                             left - SECTOR + 1 >= 0 && left + VECTORS * VECTOR <= (int)f.n_x &&
                                 (!constant || (top >= 0 && top + ROWS <= (int)f.n_y))};
    for (int i = threadIdx.x; i < STAGES * ROWS_UP; i += THREADS) // four at a time are read
        places.at[0][i] = 0;
    for (int r = threadIdx.x; r < ROWS; r += THREADS) {
        const int at = resolve(top + r, (int)f.n_y, f.edge);
        places.from[r] = at < 0 ? (int)NONE : at * (int)f.in_y + left;
    }
    if (!feed.inside || top < 0 || top + ROWS > (int)f.n_y || front < 0) // rows of constants; elsewhere what nobody needs
#pragma unroll 1
        for (int i = threadIdx.x; i < STAGES * PLANE; i += THREADS)
            ring[i] = ghost_of(f);
#pragma unroll 1
    for (int i = threadIdx.x; i < 2 * MID; i += THREADS) // vectors of windows have more than their columns
        mid[i] = 0;
    __syncthreads();
#pragma unroll 1
    for (int i = 0; i < STAGES - 1; i++)
        if (i < planes)
            feed.ask(places, i, front + i, f);
        else
            end_copies();

    // The first half: the thread's column, where it is read, where it is laid down.
    const int mine = min((int)threadIdx.x, NEEDED - 1), column = left + mine;
    const bool is_outside = outside(column, f.n_x);
    int from = mine;
    if (is_outside && !constant && column >= -LEFT && column < (int)f.n_x + LEFT + RIGHT)
        from = GHOSTS_AT + (column < 0 ? column + LEFT : column - (int)f.n_x + LEFT);
    work *laid = mid + V + MID_LEFT - REACH + threadIdx.x;
    // The second half: a vector of columns, rows `group` and every V-th from there on. Rows so far apart begin alike in their vectors.
    const int group = threadIdx.x / (THREADS / V), vector = threadIdx.x - group * (THREADS / V);
    const i64 step = V * f.out_y * (i64)sizeof(result);
    const bool finishes = vector < FINISHED / V, all_rows = y + R <= (int)f.m_y;
    char *to = (char *)(out + (i64)z * f.out_z + (i64)(y + group) * f.out_y + x);
    unsigned begins = (unsigned)((u64)out / sizeof(result)) + (unsigned)x + (unsigned)y * (unsigned)f.out_y + (unsigned)z * (unsigned)f.out_z;

    work sum[KZ][R];
#pragma unroll
    for (int k = 0; k < KZ; k++)
#pragma unroll
        for (int r = 0; r < R; r++)
            sum[k][r] = 0;
    int slot = 0, next = STAGES - 1;
#pragma unroll 1
    for (int turn = 0; turn <= planes; turn++) {
        await_copies<STAGES - 2>();
        __syncthreads();
        if (turn + STAGES - 1 < planes)
            feed.ask(places, next, front + turn + STAGES - 1, f);
        else
            end_copies();
        next = next == STAGES - 1 ? 0 : next + 1;
        if (turn >= KZ) {
            if (finishes) {
                const work *before = mid + (turn & 1 ? 0 : MID) + group * MID_ROW + V + vector * V;
                const int shift = (int)((u64)to / sizeof(result)) & (V - 1), first = x - shift + vector * V;
                const bool all = all_rows && first >= 0 && first + V <= m_x;
                char *at = to + (vector * V - shift) * (int)sizeof(result);
#pragma unroll
                for (int k = 0; k < R / V; k += TOGETHER) {
                    work done[TOGETHER][V];
                    pass_x(done, before + k * (V * MID_ROW), along_x);
                    if (all) {
#pragma unroll
                        for (int t = 0; t < TOGETHER; t++)
                            packed<V>(done[t]).store(at + (k + t) * step);
                    } else {
#pragma unroll
                        for (int t = 0; t < TOGETHER; t++)
                            if (y + group + (k + t) * V < (int)f.m_y)
                                write_some((result *)(at + (k + t) * step), first, m_x, done[t]);
                    }
                }
            }
            to += f.out_z * (i64)sizeof(result);
        }
        if (turn < planes) {
            work value[R];
            const int *place = places.at[slot];
#pragma unroll
            for (int four = 0; four < R + KY - 1; four += 4) {
                const int4 rows = *(const int4 *)(place + four);
                const int row[4] = {rows.x, rows.y, rows.z, rows.w};
#pragma unroll
                for (int r = four; r < four + 4 && r < R + KY - 1; r++) {
                    const work one = widened((const element *)((const char *)(ring + from) + row[r - four]));
#pragma unroll
                    for (int o = 0; o < R; o++) {
                        const int ky = r - o;
                        if (ky >= 0 && ky < KY)
                            value[o] = multiply_add(one, along_y.w[ky], ky ? value[o] : (work)0);
                    }
                }
            }
            slot = slot == STAGES - 1 ? 0 : slot + 1;
            if (__builtin_expect(constant && outside(front + turn, f.n_z), 0)) {
#pragma unroll
                for (int r = 0; r < R; r++)
                    value[r] = ghost;
            }
            // From the oldest plane of outputs under way on, so that each sum's next place is free.
#pragma unroll
            for (int kz = KZ - 1; kz >= 0; kz--)
#pragma unroll
                for (int r = 0; r < R; r++) {
                    sum[kz][r] = multiply_add(value[r], along_z.w[kz], kz ? sum[kz - 1][r] : (work)0);
                    keep(sum[kz][r]);
                }
            if (turn >= KZ - 1) {
                work *row[V];
#pragma unroll
                for (int r = 0; r < V; r++)
                    row[r] = laid + (turn & 1 ? MID : 0) + (begins + r * (unsigned)f.out_y) % V;
                if (is_outside && constant) {
#pragma unroll
                    for (int r = 0; r < R; r++)
                        row[r % V][r * MID_ROW] = ghost;
                } else {
#pragma unroll
                    for (int r = 0; r < R; r++)
                        row[r % V][r * MID_ROW] = sum[KZ - 1][r];
                }
                begins += (unsigned)f.out_z;
            }
        }
    }
}
