// SPDX-License-Identifier: Apache-2.0
// gpu_lanes_anywhere.cuh - pieces of rows on their way to lanes and back, where rows begin anywhere: whole words, moved into place in registers.
//
// A lane loads the words in which its piece begins; the word behind them is the next lane's first one, so each row has a piece more than its columns fill, which loads what
// the last columns lie in. Results are moved up by as many bytes as a row of them begins behind a word, the bytes that come in from below are the lane's before, and
// the piece more stores those that are left. So of a warp the first two lanes write nothing, which do not know their windows' left ends, and the last two.
//
// -DTAIL columns of a row's last piece. After gpu_lanes3d.cu's V, ROWS, BYTES.

enum { LAP_LEFT = 2, LAP_RIGHT = 2 };
struct piece {
    unsigned word[BYTES / 4];
};

struct source {
    i64 first;        // the lane's first column in its row number 0 of plane 0
    int x, top, step; // its number, that row's, bytes from row to row

    __device__ __forceinline__ source(const element *in, const frame &f, int column, int y)
        : first(opaque((i64)(in + column) + (i64)((int)f.in_y * SIZE) * y)), x(opaque(column)), top(opaque(y)), step((int)f.in_y * SIZE) {}
    // Words as far as they lie in the array's memory: memory checkers look at where a load ends.
    __device__ __forceinline__ void load_within(piece &p, i64 at, const frame &f) const {
        const i64 y = (f.n_y - 1) * f.in_y * SIZE, z = (f.n_z - 1) * f.in_z * SIZE, in = first - (i64)step * top - x * SIZE;
        const i64 begin = in + (y < 0 ? y : 0) + (z < 0 ? z : 0), end = in + f.n_x * SIZE + (y > 0 ? y : 0) + (z > 0 ? z : 0);
#pragma unroll
        for (int k = 0; k < BYTES / 4; k++) {
            const i64 word = (at & ~(i64)3) + 4 * k;
            p.word[k] = 0;
            if (word >= begin && word + 4 <= end) {
                p.word[k] = *(const unsigned *)word;
            } else {
#pragma unroll
                for (int i = 0; i < 4 / SIZE; i++)
                    if (word + i * SIZE >= begin && word + i * SIZE < end)
                        p.word[k] |= (unsigned)(stored<SIZE == 1 ? T_U8 : T_U16>::type)((const element *)word)[i] << 8 * SIZE * i;
            }
        }
    }
    template <bool INSIDE> __device__ __forceinline__ void ask(piece &p, i64 plane, int r, const frame &f) const {
        if (INSIDE) {
            const i64 at = (first + plane + (i64)step * r) & ~(i64)3;
#pragma unroll
            for (int k = 0; k < BYTES / 4; k++) {
                words<4> w;
                load_now(w, (const char *)(at + 4 * k));
                p.word[k] = w.word[0];
            }
            return;
        }
        const int y = row_at(top + r, f);
        if (y >= 0)
            load_within(p, first + plane + (i64)step * (y - top), f);
        else
            fill(p.word, f);
    }
    template <bool INSIDE> __device__ __forceinline__ void take(work (&one)[V], const piece &p, i64 plane, int r, const frame &f) const {
        const unsigned begins = (unsigned)first + (unsigned)plane + (unsigned)step * (INSIDE ? r : row_at(top + r, f) - top);
        const unsigned next = __shfl_down_sync(0xffffffff, p.word[0], 1);
        unsigned moved[BYTES / 4];
#pragma unroll
        for (int k = 0; k < BYTES / 4; k++)
            moved[k] = __funnelshift_r(p.word[k], k + 1 < BYTES / 4 ? p.word[k + 1 < BYTES / 4 ? k + 1 : k] : next, 8 * begins);
#pragma unroll
        for (int i = 0; i < V; i++)
            one[i] = value_of(moved, i);
    }
    // All words of the rows lie between the array's first row and its last.
    __device__ __forceinline__ bool inside(const frame &f) const { return top >= 1 && top + ROWS <= (int)f.n_y - 1; }
};

struct sink {
    int x, left; // the lane's first column, rows to write

    __device__ __forceinline__ sink(const frame &f, int column, int rows) : x(opaque(column)), left(opaque(rows)) {}
    __device__ __forceinline__ bool ends(const frame &f) const { return x == 0 || x + 2 * V > (int)f.m_x; }
    __device__ __forceinline__ void mend(work (&window)[LEFT + V + RIGHT], const frame &f) const {
        const work ghost = load_as<work, IN>(ghost_of(f));
        const int there = (int)f.m_x - x; // columns from the lane's first one on
#pragma unroll
        for (int i = 0; i < LEFT; i++)
            window[i] = x != 0 ? window[i] : BOUNDARY == BOUNDARY_CONSTANT ? ghost : window[in_window(LEFT + turned_back(BOUNDARY, LEFT - 1 - i))];
#pragma unroll
        for (int i = 1; i < V + RIGHT; i++)
            if (BOUNDARY == BOUNDARY_CONSTANT) {
                window[LEFT + i] = i < there ? window[LEFT + i] : ghost;
            } else {
                if (i >= TAIL)
                    window[LEFT + i] = there != TAIL ? window[LEFT + i] : window[in_window(LEFT + TAIL - 1 - turned_back(BOUNDARY, i - TAIL))];
                if (i >= V + TAIL)
                    window[LEFT + i] = there != V + TAIL ? window[LEFT + i] : window[in_window(LEFT + V + TAIL - 1 - turned_back(BOUNDARY, i - V - TAIL))];
            }
    }
    template <bool ENDS> __device__ __forceinline__ void put(char *to, const work (&done)[V], int r, const frame &f) const {
        enum { OF = sizeof(result), WORDS = V * OF / 4 };
        const packed<V> v(done);
        const unsigned behind = OF < 4 ? (unsigned)(u64)to & 3 : 0, before = OF < 4 ? __shfl_up_sync(0xffffffff, v.word[WORDS - 1], 1) : 0;
        char *word = to - behind;
#pragma unroll
        for (int k = 0; k < WORDS; k++) {
            const unsigned moved = OF < 4 ? __funnelshift_l(k ? v.word[k ? k - 1 : 0] : before, v.word[k], 8 * behind) : v.word[k];
            const int begin = x * OF + 4 * k - (int)behind, end = (int)f.m_x * OF; // bytes of the row
            if (!ENDS || (begin >= 0 && begin + 4 <= end)) {
                if (r < left)
                    ((unsigned *)word)[k] = moved;
            } else if (r < left) {
#pragma unroll
                for (int i = 0; i < (OF < 4 ? 4 / OF : 0); i++)
                    if (begin + i * OF >= 0 && begin + i * OF < end)
                        ((stored<OF == 1 ? T_U8 : T_U16>::type *)word)[k * (4 / OF) + i] = moved >> 8 * OF * i;
            }
        }
    }
};
