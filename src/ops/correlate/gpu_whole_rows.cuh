// SPDX-License-Identifier: Apache-2.0
// gpu_whole_rows.cuh - the rows of gpu_patch.cuh's patches where each begins at a multiple of 16 bytes: a vector of V elements a lane, the edges of warps loaded as well.
//
// DIRECT=1: what lies beside is loaded too, as vectors of V, and no lane asks another. That costs more of the first-level cache and less of everything
// else: better for single rows.
const int LAP_LEFT = LAPPED ? (LEFT + V - 1) / V : 0, LAP_RIGHT = LAPPED ? (RIGHT + V - 1) / V : 0; // lanes at a warp's ends that write nothing
#if DIRECT
const int BESIDE_LEFT = (LEFT + V - 1) / V, BESIDE_RIGHT = (RIGHT + V - 1) / V; // vectors
const int COUNT = (BESIDE_LEFT + 1 + BESIDE_RIGHT) * V, REACH = larger(BESIDE_LEFT, BESIDE_RIGHT) * V, FIRST = BESIDE_LEFT * V - LEFT;
const int WORDS = COUNT * SIZE / 4; // of a window
static_assert(V * SIZE % 4 == 0, "vectors are whole words");
#else
const int H = LAPPED || LEFT + RIGHT == 0 ? 0 : larger(power_above(larger(LEFT, RIGHT)), 4 / SIZE), REACH = H;
const int LW = LAPPED ? 0 : (LEFT * SIZE + 3) / 4, RW = LAPPED ? 0 : (RIGHT * SIZE + 3) / 4,
          FIRST = LW * 4 / SIZE - LEFT; // of the window's words: the first element's place
const int COUNT = V + H;                // elements that a lane loads: its own, and edges
const int WORDS = LW + VW + RW;
static_assert(V * SIZE % 4 == 0 && (LAPPED || H <= 16 / SIZE), "what lies beside a warp is more than a vector");
#endif

struct row_words {
    unsigned word[COUNT * SIZE / 4];
};

// Where a lane's elements lie: its own from column x on, and (not DIRECT) the edge of its warp that is nearer to it.
struct columns {
    int x, edge;
};
__device__ __forceinline__ columns columns_of(int lane, int first) { return {first + lane * V, lane < 16 ? first - REACH : first + 32 * V}; }

// The row at `at` inside the array.
__device__ __forceinline__ void load_inside(row_words &row, const char *own, const char *edge) {
#if DIRECT
#pragma unroll
    for (int g = 0; g < COUNT / V; g++)
        load_words<V * SIZE>(row.word + g * VW, own + (g - BESIDE_LEFT) * (V * SIZE));
#else
    load_words<V * SIZE>(row.word, own);
    if (H)
        load_words<larger(H, 1) * SIZE>(row.word + VW, edge);
#endif
}

// Where the elements of a row stand that a lane loads, each by the boundary's rule: the same in every row. -1: a constant.
struct resolved {
    int at[COUNT];
};
__device__ __forceinline__ resolved resolve_columns(const frame &f, const columns &c) {
    resolved found;
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
#if DIRECT
        const int x = c.x - BESIDE_LEFT * V + i;
#else
        const int x = i < V ? c.x + i : c.edge + i - V;
#endif
        found.at[i] = resolve_x(x, (int)f.n_x, f.edge);
    }
    return found;
}

// N elements from column x on, which stand at at[0], at[1], ... ; a row that is not there is of constants.
template <int N> __device__ __forceinline__ void load_resolved(unsigned *word, const element *row, bool there, const frame &f, int x, const int *at) {
    if (there && x >= 0 && x + N <= (int)f.n_x && N % V == 0) {
        load_words<N * SIZE>(word, (const char *)(row + x));
    } else {
        const element ghost = ghost_of(f);
#pragma unroll
        for (int i = 0; i < N; i++) {
            const element e = row[at[i] < 0 ? 0 : at[i]];
            put(word, i, there && at[i] >= 0 ? e : ghost);
        }
    }
}

__device__ __forceinline__ void load_anywhere(row_words &row, const element *in, const frame &f, int y, const columns &c, const resolved &found) {
    y = resolve(y, (int)f.n_y, f.edge);
    const element *at = in + (i64)(y < 0 ? 0 : y) * f.in_y;
    const bool there = y >= 0;
#if DIRECT
#pragma unroll
    for (int g = 0; g < COUNT / V; g++)
        load_resolved<V>(row.word + g * VW, at, there, f, c.x + (g - BESIDE_LEFT) * V, found.at + g * V);
#else
    load_resolved<V>(row.word, at, there, f, c.x, found.at);
    if (H)
        load_resolved<larger(H, 1)>(row.word + VW, at, there, f, c.edge, found.at + V);
#endif
}

// The words of a row's window: the lane's own, and those beside.
__device__ __forceinline__ void gather(unsigned (&word)[WORDS], const row_words &row, int lane) {
#if DIRECT
#pragma unroll
    for (int i = 0; i < WORDS; i++)
        word[i] = row.word[i];
#else
#pragma unroll
    for (int i = 0; i < VW; i++)
        word[LW + i] = row.word[i];
#pragma unroll
    for (int i = 0; i < LW; i++) {
        const int away = (LW - i + VW - 1) / VW, at = i - LW; // lanes; words before the lane's own
        unsigned beside = __shfl_up_sync(0xffffffff, row.word[at + away * VW], away);
#pragma unroll
        for (int l = 0; l < away; l++)
            beside = lane == l ? row.word[COUNT * SIZE / 4 + at + l * VW] : beside;
        word[i] = beside;
    }
#pragma unroll
    for (int i = 0; i < RW; i++) {
        const int away = i / VW + 1;
        unsigned beside = __shfl_down_sync(0xffffffff, row.word[i % VW], away);
#pragma unroll
        for (int l = 0; l < away; l++)
            beside = lane == 31 - l ? row.word[VW + i - l * VW] : beside;
        word[LW + VW + i] = beside;
    }
#endif
}

// Whether lanes from column `first` on, those at a warp's ends included, find all that they load and store.
__device__ __forceinline__ bool columns_inside(int first, const frame &f) {
    return first >= REACH && first + 32 * V + REACH <= (int)f.n_x && first + (32 - LAP_RIGHT) * V <= (int)f.m_x;
}
__device__ __forceinline__ bool columns_idle(int first, const frame &f) { return first + LAP_LEFT * V >= (int)f.m_x; }

// The rows of a patch: all at once where it lies inside, else each when it is taken.
template <bool INSIDE> using row_source = resolved;
template <bool INSIDE>
__device__ __forceinline__ void ask(row_words (&rows)[ROWS], resolved &found, const element *in, const frame &f, int top, const columns &c, int,
                                    int) {
    if (INSIDE) {
        const char *own = (const char *)(in + (i64)top * f.in_y + c.x), *edge = own + (c.edge - c.x) * SIZE;
        const i64 step = f.in_y * SIZE;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            load_inside(rows[r], own, edge);
            own += step;
            edge += step;
        }
    } else {
        found = resolve_columns(f, c);
    }
}
template <bool INSIDE>
__device__ __forceinline__ void take(row_words &row, resolved &found, int r, const element *in, const frame &f, int top, const columns &c) {
    if (!INSIDE)
        load_anywhere(row, in, f, top + r, c, found);
}

template <bool INSIDE> __device__ __forceinline__ void write_row(char *to, const columns &c, const frame &f, const work (&value)[V], bool mine) {
    if (mine)
        write<V, INSIDE>((result *)to, c.x, (int)f.m_x, value);
}
