// SPDX-License-Identifier: Apache-2.0
// gpu_lanes_whole.cuh - pieces of rows on their way to lanes and back, where rows are whole vectors: a piece is one load and one store.
//
// The first and the last lane of a warp compute what its neighbours write. Beyond a row's ends there are no lanes: constants stand there or, by rules that turn back,
// columns that the last lane has.
//
// After gpu_lanes3d.cu's V, ROWS, BYTES.

enum { LAP_LEFT = 1, LAP_RIGHT = 1 };
typedef words<BYTES> piece;

// Where the lane's rows come from. INSIDE: all rows of all lanes are rows of the array.
struct source {
    i64 first;     // the lane's first column in its row number 0 of plane 0
    int top, step; // that row's number, bytes from row to row

    __device__ __forceinline__ source(const element *in, const frame &f, int x, int y)
        : first(opaque((i64)(in + x) + (i64)((int)f.in_y * SIZE) * y)), top(opaque(y)), step((int)f.in_y * SIZE) {}
    template <bool INSIDE> __device__ __forceinline__ void ask(piece &p, i64 plane, int r, const frame &f) const {
        if (INSIDE) {
            load_now(p, (const char *)(first + plane + (i64)step * r));
            return;
        }
        const int y = row_at(top + r, f);
        if (y >= 0)
            load_now(p, (const char *)(first + plane + (i64)step * (y - top)));
        else
            fill(p.word, f);
    }
    // The lane's columns of a row that has come.
    template <bool INSIDE> __device__ __forceinline__ void take(work (&one)[V], const piece &p, i64, int, const frame &) const {
#pragma unroll
        for (int i = 0; i < V; i++)
            one[i] = value_of(p.word, i);
    }
    __device__ __forceinline__ bool inside(const frame &f) const { return top >= 0 && top + ROWS <= (int)f.n_y; }
};

// What a lane does with finished rows.
struct sink {
    enum { LEAST = 1, LAST = 2, ONE = 4 };
    int lane; // whether it stands at a row's begin and end, and so many rows to write

    __device__ __forceinline__ sink(const frame &f, int x, int left)
        : lane(opaque((x == 0 ? LEAST : 0) + (x + V >= (int)f.m_x ? LAST : 0) + min(left, R) * ONE)) {}
    __device__ __forceinline__ bool ends(const frame &) const { return lane % ONE; }
    __device__ __forceinline__ void mend(work (&window)[LEFT + V + RIGHT], const frame &f) const {
        const work ghost = load_as<work, IN>(ghost_of(f));
#pragma unroll
        for (int i = 0; i < LEFT + V + RIGHT; i++) {
            const int beyond = i < LEFT ? LEFT - 1 - i : i - LEFT - V; // so many columns from the lane's
            const bool there = i < LEFT ? !(lane & LEAST) : i < LEFT + V || !(lane & LAST);
            const int turned = i < LEFT ? LEFT + turned_back(BOUNDARY, beyond) : LEFT + V - 1 - turned_back(BOUNDARY, beyond);
            window[i] = there ? window[i] : BOUNDARY == BOUNDARY_CONSTANT ? ghost : window[in_window(turned)];
        }
    }
    template <bool ENDS> __device__ __forceinline__ void put(char *to, const work (&done)[V], int r, const frame &) const {
        packed<V>(done).store_if(lane >= (r + 1) * ONE, to);
    }
};
