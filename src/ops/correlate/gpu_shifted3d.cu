// SPDX-License-Identifier: Apache-2.0
// gpu_shifted3d.cu - production: a list of three 1-D masks over volumes whose rows begin anywhere, the last mask along rows, in one pass over memory.
//
// As separable3d where x comes last (its PLACE 2): a block marches along z, a plane passes through the masks along y and z in the first half of a turn, and through
// that along x in the second half of the next one; a thread has a vector of V columns of R rows. R is a multiple of V, so rows that lie R apart begin equally far
// behind a vector, and of all threads of a block row number r does. With the steps of rows known (STEP_IN, STEP_OUT) one number a plane says where all rows
// begin: one of V pieces of code, in which every shift is a constant, so that it costs no instruction:
//     in    rows are copied by whole vectors from whole sectors on and stand in shared memory as far behind a sector as in global memory; a thread reads the
//           vectors in which its columns begin and end
//     out   each row's results are those of the columns from a whole vector on, whose windows lie that much further left between the halves: whole vectors are stored
//
// Ghost cells: constants stand for them where the first half ends (CONSTANT=1); else elements that the boundary names are laid beside what has arrived, a turn before it
// is needed.
//
// -DKY, -DKZ; -DR rows a thread; -DALONG vectors along x, each by one of -DLANES threads, -DDOWN along y, of -DTHREADS; -DSTAGES planes in shared memory;
// -DSTEP_IN from row to row of the input, in bytes modulo a sector's 32; -DSTEP_OUT of the output, in elements modulo V; -DRAISED: of u8 their 2^24th parts are read, by
// weights along y that come times 2^24.
#include "ops/correlate/gpu_bytes.cuh"
#include "ops/correlate/gpu_copies.cuh"

enum {
    V = 16 / sizeof(work),
    VECTOR = 16 / SIZE,
    SECTOR = 32,
    UNIT = V * SIZE,       // bytes of a thread's columns in a row of input
    UNITS = SECTOR / UNIT, // of a sector
    MID_LEFT = up_to(LEFT + V - 1, V),
    MID_RIGHT = up_to(RIGHT, V),
    COLUMNS = ALONG * V,
    FINISHED = COLUMNS - MID_LEFT - MID_RIGHT,
    ROWS = DOWN * R + KY - 1,
    VECTORS = (SECTOR - SIZE + COLUMNS * SIZE + 15) / 16, // that a row may lie in
    ROW = up_to((ALONG + UNITS) * UNIT, SECTOR),          // bytes
    PLANE = ROWS * ROW,
    HIGH = THREADS / VECTORS, // rows that are copied together
    MINE = (ROWS + HIGH - 1) / HIGH,
    MID = DOWN * R * COLUMNS,
    BESIDE = LEFT + LEFT + RIGHT, // columns outside that windows reach: LEFT before a row, the others behind it
    ARRIVED = CONSTANT ? 1 : 2    // planes that have when a turn begins
};
static_assert(R % V == 0 && VECTORS <= THREADS && MINE < 32 && STAGES > ARRIVED, "rows of all threads begin alike");

// The compiler would else compute it anew in every turn.
__device__ __forceinline__ int opaque(int i) { return __shfl_sync(0xffffffff, i, threadIdx.x % 32); }

__device__ __forceinline__ void copy_vector_if(int there, unsigned to, const char *from) {
    asm volatile("{\n .reg .pred p;\n setp.ne.s32 p, %0, 0;\n @p cp.async.cg.shared.global [%1], [%2], 16;\n}" ::"r"(there), "r"(to), "l"(from)
                 : "memory");
}

// A thread's part in copying planes: a vector of every HIGH-th row.
struct plane_feed {
    unsigned own;              // in shared memory, in the ring's first plane
    i64 from;                  // bytes from the plane to the first row's vector, or one behind it
    int flags, half;           // bit k: row number k of the thread is there; where in a sector the vector begins
    int safe_from, safe_until; // planes whose vectors all lie in the array's memory: mostly all but the first and the last one
    u64 first, end;            // of the array in memory

    __device__ __forceinline__ plane_feed(const void *ring, const element *in, const frame &f, int top, int left) {
        enum { FAR = 64 }; // elements, more than vectors of a row reach beyond it
        const int vector = threadIdx.x % VECTORS, down = threadIdx.x / VECTORS, n_x = (int)f.n_x, n_y = (int)f.n_y, n_z = (int)f.n_z;
        own = opaque((unsigned)__cvta_generic_to_shared(ring) + down * ROW + vector * 16);
        half = opaque(vector % 2 * 16);
        from = ((i64)(top + down) * f.in_y + left) * SIZE + vector / 2 * SECTOR;
        const bool there = down < HIGH && left + (vector + 1) * VECTOR > 0 && left - (SECTOR / SIZE - 1) + vector * VECTOR < n_x;
        int bits = 0;
#pragma unroll
        for (int k = 0; k < MINE; k++)
            bits |= (there && k * HIGH + down < ROWS && !outside(top + k * HIGH + down, n_y)) << k;
        flags = opaque(bits);
        const i64 y = (n_y - 1) * f.in_y, z = (f.n_z - 1) * f.in_z;
        first = (u64)(in + (y < 0 ? y : 0) + (z < 0 ? z : 0)) & ~15ull;
        end = (u64)(in + n_x + (y > 0 ? y : 0) + (z > 0 ? z : 0));
        const bool far_y = f.in_y >= FAR || f.in_y <= -FAR, far_z = f.in_z >= FAR || f.in_z <= -FAR, inside = far_y && top > 0 && top + ROWS < n_y;
        safe_from = inside ? 0 : 1;
        safe_until = inside ? n_z : far_z ? n_z - 1 : 0;
    }
    // Plane number z of the array, which begins at `plane`, to number `slot` of the ring.
    __device__ __forceinline__ void copy(int slot, int z, const char *plane, const frame &f) const {
        const i64 step = HIGH * f.in_y * SIZE;
        const char *row = plane + from;
        unsigned to = own + slot * PLANE;
        asm volatile("" : "+l"(row), "+r"(to)); // once, and not for every copy
        if (z >= safe_from && z < safe_until) {
#pragma unroll
            for (int k = 0; k < MINE; k++) {
                copy_vector_if(flags & 1 << k, to + k * (HIGH * ROW), (const char *)((u64)row & ~(u64)(SECTOR - 1) | half));
                row += step;
            }
            return;
        }
#pragma unroll 1
        for (int k = 0; k < MINE; k++) {
            const u64 at = (u64)row & ~(u64)(SECTOR - 1) | half;
            if (flags >> k & 1 && at >= first && at < end) {
                if (at + 16 <= end) {
                    copy_vector(to, (const void *)at);
                } else { // the array's last vector: memory checkers look at where a copy ends
                    element *e = (element *)__cvta_shared_to_generic(to);
#pragma unroll 1
                    for (int i = 0; i < VECTOR; i++)
                        e[i] = at + (i + 1) * SIZE <= end ? ((const element *)at)[i] : element{};
                }
            }
            row += step;
            to += HIGH * ROW;
        }
    }
};

// The element at row r of the tile and column `column` of the array, outside of it, of a plane that has arrived.
__device__ __forceinline__ void lay_ghost(char *plane, const element *from, unsigned begins, const frame &f, int top, int left, int r, int column) {
    const unsigned step = (unsigned)f.in_y * SIZE;
    const int at_y = resolve(top + r, (int)f.n_y, f.edge), at_x = resolve(column, (int)f.n_x, f.edge), y = at_y - top, x = at_x - left;
    element one;
    if (y >= 0 && y < ROWS && x >= 0 && x < COLUMNS)
        one = *(const element *)(plane + y * ROW + (begins + y * step) % SECTOR + x * SIZE);
    else
        one = from[at_y * f.in_y + at_x];
    *(element *)(plane + r * ROW + (begins + r * step) % SECTOR + (column - left) * SIZE) = one;
}
__device__ __forceinline__ void lay_ghosts(char *plane, const element *from, unsigned begins, const frame &f, int top, int left) {
    const int n_x = (int)f.n_x, n_y = (int)f.n_y;
#pragma unroll 1
    for (int i = threadIdx.x; i < ROWS * BESIDE; i += THREADS) {
        const int r = i / (BESIDE ? BESIDE : 1), g = i - r * BESIDE, column = g < LEFT ? g - LEFT : n_x + g - LEFT;
        if (column >= left && column < min(left + COLUMNS, (int)f.m_x + RIGHT))
            lay_ghost(plane, from, begins, f, top, left, r, column);
    }
    const int above = max(0, -top), below = max(0, top + ROWS - n_y);
#pragma unroll 1
    for (int i = threadIdx.x; i < (above + below) * COLUMNS; i += THREADS) {
        const int number = i / COLUMNS, column = left + i - number * COLUMNS;
        if (!outside(column, n_x))
            lay_ghost(plane, from, begins, f, top, left, number < above ? number : ROWS - above - below + number, column);
    }
}

// A thread's columns, which begin S elements behind a unit, as WORK.
template <int S> __device__ __forceinline__ void read_columns(work (&one)[V], const char *at) {
    if constexpr (UNIT < 4) {
        const unsigned word[1] = {*(const unsigned short *)at | (S ? (unsigned)*(const unsigned short *)(at + UNIT) << 16 : 0)};
#pragma unroll
        for (int i = 0; i < V; i++)
            one[i] = cell(word, S + i);
    } else {
        words<UNIT> unit[2];
        unit[0] = *(const words<UNIT> *)at;
        if (S)
            unit[1] = *(const words<UNIT> *)(at + UNIT);
        unsigned word[UNIT / 2];
#pragma unroll
        for (int i = 0; i < UNIT / 2; i++)
            word[i] = i < UNIT / 4 || S ? unit[i / (UNIT / 4)].word[i % (UNIT / 4)] : 0;
#pragma unroll
        for (int i = 0; i < V; i++)
            one[i] = RAISED ? part_of_byte(word, S + i) : cell(word, S + i);
    }
}

// The chains along y from row number Q of the thread's windows on; of the first row columns begin S elements behind units[0].
template <int S, int Q> __device__ __forceinline__ void pass_y(work (&value)[R][V], const char *const (&units)[UNITS], const tap_list<KY> &taps) {
    if constexpr (Q < R + KY - 1) {
        enum { AT = S + Q * (STEP_IN / SIZE), SHIFT = AT % V };
        work one[V];
        read_columns<SHIFT>(one, units[AT / V % UNITS] + Q * ROW);
        add_row(value, one, Q, taps);
        pass_y<S, Q + 1>(value, units, taps);
    }
}
// The chains along x of rows from number Q on, of which the first begins S elements behind a vector.
template <int S, int Q> __device__ __forceinline__ void pass_x(work (&done)[R][V], const work *from, const tap_list<KX> &taps) {
    if constexpr (Q < R) {
        enum { SHIFT = (S + Q * STEP_OUT) % V };
        work window[1][LEFT + V + RIGHT];
        read_between<MID_LEFT - LEFT - SHIFT, 0>(window, from + Q * COLUMNS);
        add_window(done[Q], window[0], taps);
        pass_x<S, Q + 1>(done, from, taps);
    }
}
#if WORK == T_F64
#define SHIFTS(CASE) CASE(0) CASE(1)
#else
#define SHIFTS(CASE) CASE(0) CASE(1) CASE(2) CASE(3)
#endif

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    shifted3d(const element *in, result *out, const frame f, const unsigned across, const int depth, const unsigned deep, const tap_list<KX> along_x,
              const tap_list<KY> along_y, const tap_list<KZ> along_z) {
    extern __shared__ uint4 memory[];
    char *ring = (char *)memory;
    work *mid = (work *)(ring + STAGES * PLANE);
    const unsigned line = blockIdx.x / across, number = blockIdx.z / deep;
    const int x = (blockIdx.x - line * across) * FINISHED, y = line * (DOWN * R), z = (blockIdx.z - number * deep) * depth;
    const int planes = min(depth, (int)f.m_z - z) + KZ - 1, front = z - f.before_z, left = x - MID_LEFT, top = y - f.before_y;
    const int along = threadIdx.x % LANES, down = min(threadIdx.x / LANES, DOWN - 1);
    const bool works = along < ALONG && threadIdx.x < LANES * DOWN, finishes = works && along < FINISHED / V;
    const work ghost = load_as<work, IN>(ghost_of(f));
    find_array(f, number, in, out);

    const plane_feed feed(ring, in, f, top, left);
    const bool reaches_y = top < 0 || top + ROWS > (int)f.n_y, reaches = reaches_y || left < 0 || left + COLUMNS > (int)f.n_x;
    if (reaches) { // rows of constants; elsewhere what nobody needs
#pragma unroll 1
        for (int i = threadIdx.x; i < STAGES * PLANE / SIZE; i += THREADS)
            ((element *)ring)[i] = ghost_of(f);
        __syncthreads();
    }
    // Where the tile's first row of plane 0 begins: its last bits.
    const unsigned origin = (unsigned)(u64)in + (unsigned)((top * f.in_y + left) * SIZE), plane_step = (unsigned)f.in_z * SIZE;
    int slot = 0, next = 0;
    // Asks for plane number n of the block's. Constants pass for every column where the first half ends: of such a plane nothing is copied.
    const auto ask = [&](int n) {
        int at = front + n;
        if (n < planes) {
            if ((unsigned)at >= (unsigned)f.n_z)
                at = resolve(at, (int)f.n_z, f.edge);
            if (!CONSTANT || at >= 0)
                feed.copy(next, at, (const char *)(in + at * f.in_z), f);
        }
        end_copies();
        next = next == STAGES - 1 ? 0 : next + 1;
    };
#pragma unroll 1
    for (int i = 0; i < STAGES - 1; i++)
        ask(i);

    // Which of the thread's columns between the halves are constants. Where all are they stand there from the beginning.
    enum { ALL_GHOSTS = (1 << V) - 1 };
    int ghosts = 0;
#pragma unroll
    for (int i = 0; i < V; i++)
        ghosts |= (CONSTANT && outside(left + along * V + i, f.n_x)) << i;
    ghosts = opaque(works ? ghosts : (int)ALL_GHOSTS);
    work *own_mid = mid + opaque((down * R * ALONG + min(along, ALONG - 1)) * V);
    if (CONSTANT && works && ghosts == ALL_GHOSTS) {
#pragma unroll 1
        for (int r = 0; r < 2 * R; r++)
#pragma unroll
            for (int i = 0; i < V; i++)
                own_mid[(r < R ? 0 : MID) + r % R * COLUMNS + i] = ghost;
    }
    const int own = opaque(down * R * ROW + along * UNIT), below = opaque((int)(down * R * f.in_y * SIZE));

    char *to = (char *)(out + (i64)z * f.out_z + (i64)(y + down * R) * f.out_y + x + along * V);
    const i64 step = f.out_y * (i64)sizeof(result);
    unsigned out_begins = (unsigned)((u64)out / sizeof(result)) + (unsigned)(z * f.out_z + y * f.out_y + x);
    const int rows = (int)f.m_y - y - down * R, column = x + along * V;
    // Bit V - 1 + i: column number i from the thread's first one on is an output.
    int outputs = 0;
#pragma unroll
    for (int i = 1 - V; i < V; i++)
        outputs |= (finishes && !outside(column + i, f.m_x)) << (V - 1 + i);
    outputs = opaque(outputs);
    const bool inner = rows >= R && outputs == (1 << (2 * V - 1)) - 1;

    work sum[KZ][R][V];
#pragma unroll
    for (int k = 0; k < KZ; k++)
#pragma unroll
        for (int r = 0; r < R; r++)
#pragma unroll
            for (int i = 0; i < V; i++)
                sum[k][r][i] = 0;
#pragma unroll 1
    for (int turn = 1 - ARRIVED; turn <= planes; turn++) {
        await_copies<STAGES - 1 - ARRIVED>();
        __syncthreads();
        if (turn >= 0)
            ask(turn + STAGES - 1);
        if (!CONSTANT && reaches && turn + 1 < planes) {
            const int at = resolve(front + turn + 1, (int)f.n_z, f.edge);
            lay_ghosts(ring + (turn < 0 || slot == STAGES - 1 ? 0 : slot + 1) * PLANE, in + at * f.in_z, origin + at * plane_step, f, top, left);
        }
        if (!CONSTANT && turn < 0)
            continue;
        if (turn >= KZ) {
            if (outputs) {
                work done[R][V];
                const work *before = own_mid + (turn & 1 ? 0 : MID);
#define CASE(s) \
    case s: pass_x<s, 0>(done, before, along_x); break;
                switch (out_begins % V) { SHIFTS(CASE) }
#undef CASE
                char *row = to;
                if (inner) {
#pragma unroll
                    for (int r = 0; r < R; r++) {
                        packed<V>(done[r]).store(row - ((unsigned)(u64)row & (V * sizeof(result) - 1)));
                        row += step;
                    }
                } else {
#pragma unroll
                    for (int r = 0; r < R; r++) {
                        const packed<V> v(done[r]);
                        const int moved = (int)((unsigned)(u64)row / sizeof(result) % V), some = r < rows ? outputs >> (V - 1 - moved) : 0;
                        result *at = (result *)row - moved;
#pragma unroll
                        for (int i = 0; i < V; i++)
                            if (some >> i & 1)
                                at[i] = v.r[i];
                        row += step;
                    }
                }
            }
            out_begins += (unsigned)f.out_z;
            to += f.out_z * (i64)sizeof(result);
        }
        if (turn < planes && ghosts != ALL_GHOSTS) {
            int at = front + turn;
            if (!CONSTANT && (unsigned)at >= (unsigned)f.n_z)
                at = resolve(at, (int)f.n_z, f.edge);
            const unsigned begins = origin + at * plane_step, unit = (begins + below) % SECTOR / UNIT;
            const char *plane = ring + slot * PLANE + own, *units[UNITS];
#pragma unroll
            for (int u = 0; u < UNITS; u++)
                units[u] = plane + (unit + u) % UNITS * UNIT;
            work value[R][V];
#define CASE(s) \
    case s: pass_y<s, 0>(value, units, along_y); break;
            switch (!CONSTANT || (unsigned)at < (unsigned)f.n_z ? begins / SIZE % V : V) {
                SHIFTS(CASE)
            default:
#pragma unroll
                for (int r = 0; r < R; r++)
#pragma unroll
                    for (int i = 0; i < V; i++)
                        value[r][i] = ghost;
            }
#undef CASE
            // From the oldest plane of outputs under way on, so that each sum's next place is free.
#pragma unroll
            for (int kz = KZ - 1; kz >= 0; kz--)
#pragma unroll
                for (int r = 0; r < R; r++)
#pragma unroll
                    for (int i = 0; i < V; i++) {
                        sum[kz][r][i] = multiply_add(value[r][i], along_z.w[kz], kz ? sum[kz - 1][r][i] : (work)0);
                        keep(sum[kz][r][i]);
                    }
            work *later = own_mid + (turn & 1 ? MID : 0);
#pragma unroll
            for (int r = 0; r < R; r++) {
                alignas(16) work some[V];
#pragma unroll
                for (int i = 0; i < V; i++)
                    some[i] = sum[KZ - 1][r][i];
                *(uint4 *)(later + r * COLUMNS) = *(const uint4 *)some;
            }
            if (CONSTANT && ghosts)
#pragma unroll
                for (int i = 0; i < V; i++)
                    if (ghosts >> i & 1)
#pragma unroll
                        for (int r = 0; r < R; r++)
                            later[r * COLUMNS + i] = ghost;
        }
        slot = slot == STAGES - 1 ? 0 : slot + 1;
    }
}
