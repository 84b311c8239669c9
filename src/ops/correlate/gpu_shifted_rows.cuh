// SPDX-License-Identifier: Apache-2.0
// gpu_shifted_rows.cuh - the rows of gpu_patch.cuh's patches where each begins anywhere: vectors are loaded and stored as they lie in memory, and moved into place between the
// lanes of a warp.
//
// Lanes' columns are a vector apart, so all lanes of a warp find a row equally far behind a whole vector, and another row otherwise. A lane loads the one vector in which
// its columns begin. As many bytes as they lie behind it stand in the next lane's: the words of both are moved down by two, by one and by bytes, as that number says.
// Results are moved up likewise, with the words of the lane before. So a warp's last lanes lack columns, and its first one has nobody before it: warps overlap by them.
//
// V columns of elements are one vector of 4, 8 or 16 bytes. Lanes have no edges of warps: -DDIRECT is not met.
#include "ops/correlate/gpu_shifted_words.cuh"

const int VECTOR = V * SIZE, OUT_SIZE = sizeof(result), OUT_VECTOR = V * OUT_SIZE < 16 ? V * OUT_SIZE : 16;
const bool MOVED_OUT = V * OUT_SIZE >= 4; // else there are no words to move, and elements are stored
const int UNIT = SIZE < 4 ? 1 : SIZE / 4; // words of an element
static_assert(VECTOR == 4 || VECTOR == 8 || VECTOR == 16, "a lane's columns are one vector");

__host__ __device__ constexpr int lanes_for(int elements) { return (elements + V - 1) / V; }
// A lane's own columns begin NEAR before its outputs': as many as cost no further lane at the warp's end. The first lane's first result is nobody's, so what stands before
// its own columns may be missing.
const int NEAR = LEFT == 0 || LAPPED ? 0 : lanes_for(V - 1 + LEFT - 1 + RIGHT) < lanes_for(V - 1 + LEFT + RIGHT) ? LEFT - 1 : LEFT;
const int LW = LAPPED ? 0 : ((LEFT - NEAR) * SIZE + 3) / 4, RW = LAPPED ? 0 : ((NEAR + RIGHT) * SIZE + 3) / 4, FIRST = LW * 4 / SIZE - (LEFT - NEAR);
const int WORDS = LW + VW + RW; // of a window
const int LAP_LEFT = 1 + (LAPPED ? lanes_for(LEFT) : 0), LAP_RIGHT = LAPPED ? 1 + lanes_for(RIGHT) : lanes_for(V - 1 + NEAR + RIGHT);

struct row_words {
    unsigned word[VW];
};

// Where a lane's own elements lie.
struct columns {
    int x;
};
__device__ __forceinline__ columns columns_of(int lane, int first) { return {first + lane * V}; }
__device__ __forceinline__ bool columns_inside(int first, const frame &f) {
    return first - NEAR - (V - 1) >= 0 && first - NEAR + 32 * V <= (int)f.n_x && first + LAP_LEFT * V - (V - 1) >= 0 &&
           first + (32 - LAP_RIGHT) * V <= (int)f.m_x;
}
__device__ __forceinline__ bool columns_idle(int first, const frame &f) { return first + LAP_LEFT * V - (V - 1) >= (int)f.m_x; }

// A lane's words of a row, loaded as they lie, become its V columns.
__device__ __forceinline__ void put_in_place(row_words &row, unsigned away) {
    const int NEXT = words_beside(VECTOR, SIZE);
    unsigned lies[VW + NEXT];
#pragma unroll
    for (int i = 0; i < VW; i++)
        lies[i] = row.word[i];
#pragma unroll
    for (int i = 0; i < NEXT; i++)
        lies[VW + i] = __shfl_down_sync(0xffffffff, row.word[i], 1);
    move_down<VW, VECTOR, SIZE>(row.word, lies, away);
}

// The words of a row's window: the lane's own, and those beside.
__device__ __forceinline__ void gather(unsigned (&word)[WORDS], const row_words &row, int) {
#pragma unroll
    for (int i = 0; i < VW; i++)
        word[LW + i] = row.word[i];
#pragma unroll
    for (int i = 0; i < LW; i++)
        word[i] = __shfl_up_sync(0xffffffff, row.word[VW - LW + i], 1);
#pragma unroll
    for (int i = 0; i < RW; i++)
        word[LW + VW + i] = __shfl_down_sync(0xffffffff, row.word[i % VW], 1 + i / VW);
}

// N bytes where they are `there`, else zeros, without a branch. (ptxas may still move the load to where it is first used.)
template <int N> __device__ __forceinline__ void load_if(unsigned there, unsigned *word, const void *at) {
    if constexpr (N == 16)
        asm volatile("{.reg .pred p; setp.ne.u32 p, %5, 0; mov.u32 %0, 0; mov.u32 %1, 0; mov.u32 %2, 0; mov.u32 %3, 0; "
                     "@p ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];}"
                     : "=&r"(word[0]), "=&r"(word[1]), "=&r"(word[2]), "=&r"(word[3])
                     : "l"(at), "r"(there));
    else if constexpr (N == 8)
        asm volatile("{.reg .pred p; setp.ne.u32 p, %3, 0; mov.u32 %0, 0; mov.u32 %1, 0; @p ld.global.nc.v2.u32 {%0, %1}, [%2];}"
                     : "=&r"(word[0]), "=&r"(word[1])
                     : "l"(at), "r"(there));
    else if constexpr (N == 4)
        asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; mov.u32 %0, 0; @p ld.global.nc.u32 %0, [%1];}" : "=&r"(word[0]) : "l"(at), "r"(there));
    else if constexpr (N == 2)
        asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; mov.u32 %0, 0; @p ld.global.nc.u16 %0, [%1];}" : "=&r"(word[0]) : "l"(at), "r"(there));
    else
        asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; mov.u32 %0, 0; @p ld.global.nc.u8 %0, [%1];}" : "=&r"(word[0]) : "l"(at), "r"(there));
}

// The rows of a patch: all are asked for at once. How far the next row's columns lie behind a vector.
template <bool INSIDE> struct row_source {
    unsigned away, step;
};
// Of a patch that meets an end of the array. What a vector has beyond a row's end are bytes of another row or between two: nobody meets them. Only vectors that reach
// beyond the array's first or last byte are made of their elements. The elements that stand beside a row are brought by as many lanes, one each, and dealt out.
template <> struct row_source<false> {
    unsigned away, step;
    unsigned brought[ROWS][UNIT];
    int x, beside, more;            // the lane's first column; the column that stands in place of the one that it brings, -1: a constant; how many more outputs there are than elements
    bool rows_there, ends, corners; // of the warp: all rows are elements; columns are not all; vectors may reach beyond the array
};

// The column beside the row for which lane number `lane` brings an element.
__device__ __forceinline__ int column_beside(int lane, const frame &f) { return lane < LEFT ? lane - LEFT : (int)f.n_x + lane - LEFT; }
__device__ __forceinline__ bool reaches_beyond(const char *vector, const element *in, const frame &f) {
    const element *last = in + (i64)(f.n_y - 1) * f.in_y, *low = f.in_y < 0 ? last : in, *high = (f.in_y < 0 ? in : last) + f.n_x;
    return vector < (const char *)low || vector + VECTOR > (const char *)high;
}

template <bool INSIDE>
__device__ __forceinline__ void ask(row_words (&rows)[ROWS], row_source<INSIDE> &s, const element *in, const frame &f, int top, const columns &c, int lane,
                                    int first) {
    const int x = c.x - NEAR;
    const char *own = (const char *)(in + (i64)top * f.in_y + x);
    const i64 step = f.in_y * SIZE;
    s.away = behind<VECTOR>(own);
    s.step = (unsigned)step;
    if constexpr (INSIDE) {
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            load_words<VECTOR>(rows[r].word, own - behind<VECTOR>(own));
            own += step;
        }
    } else {
        s.x = x;
        s.more = max(0, (int)(f.m_x - f.n_x));
        s.beside = resolve_x(column_beside(lane, f), (int)f.n_x, f.edge);
        s.rows_there = __all_sync(0xffffffff, top >= 0 && top + ROWS <= (int)f.n_y);
        s.ends = __any_sync(0xffffffff, first - NEAR - (V - 1) < 0 || first - NEAR + 32 * V > (int)f.n_x);
        s.corners = __any_sync(0xffffffff, s.ends && (top <= 0 || top + ROWS >= (int)f.n_y || max(f.in_y, -f.in_y) < max(f.n_x, (i64)(2 * V))));
        const bool meets = x + V > 0 && x - (V - 1) < (int)f.n_x, brings = s.ends && s.beside >= 0 && lane < LEFT + RIGHT + s.more;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            bool there = true;
            if (!s.rows_there) {
                const int y = resolve(top + r, (int)f.n_y, f.edge);
                there = y >= 0;
                own = (const char *)(in + (i64)max(y, 0) * f.in_y + x);
            }
            const char *vector = own - behind<VECTOR>(own);
            bool mine = there && meets;
            if (s.corners)
                mine = mine && !reaches_beyond(vector, in, f);
            load_if<VECTOR>(mine, rows[r].word, vector);
            if (LEFT + RIGHT > 0)
                load_if<SIZE>(there && brings, s.brought[r], own + (i64)(s.beside - x) * SIZE);
            own += step;
        }
    }
}

// The vector's elements that are there, one after another.
__device__ __forceinline__ void load_elements(row_words &row, const char *vector, int begin, const frame &f) {
#pragma unroll 1
    for (int i = V - 1; i >= 0; i--) {
        unsigned e[UNIT];
        load_if<SIZE>(begin + i >= 0 && begin + i < (int)f.n_x, e, vector + i * SIZE);
        if (SIZE < 4) {
#pragma unroll
            for (int w = VW - 1; w > 0; w--)
                row.word[w] = __funnelshift_l(row.word[w - 1], row.word[w], SIZE * 8);
            row.word[0] = row.word[0] << SIZE * 8 % 32 | e[0];
        } else {
#pragma unroll
            for (int w = 0; w < VW; w++)
                row.word[w] = w / UNIT == i ? e[w % UNIT] : row.word[w];
        }
    }
}

// What lane number `lane` brought goes to the lane and the place where it stands. Small elements come as often as a word holds them.
__device__ __forceinline__ void deal_out(row_words &row, const unsigned (&brought)[UNIT], int lane, int x, const frame &f) {
    const int EACH = SIZE < 4 ? 4 / SIZE : 1; // elements of a word, or one of more words
    const unsigned at = (unsigned)(column_beside(lane, f) - x), bits = SIZE < 4 ? ((1u << SIZE * 8 % 32) - 1) << at * SIZE % 4 * 8 : 0xffffffff;
#pragma unroll
    for (int k = 0; k < UNIT; k++) {
        const unsigned e = __shfl_sync(0xffffffff, brought[k], lane);
#pragma unroll
        for (int w = k; w < VW; w += UNIT) {
            const unsigned mask = at / EACH == (unsigned)(w / UNIT) ? bits : 0;
            row.word[w] = (row.word[w] & ~mask) | (e & mask);
        }
    }
}

template <bool INSIDE>
__device__ __forceinline__ void take(row_words &row, row_source<INSIDE> &s, int r, const element *in, const frame &f, int top, const columns &) {
    if constexpr (INSIDE) {
        put_in_place(row, s.away);
    } else {
        unsigned ghost[UNIT];
        int y = top + r;
#pragma unroll
        for (int i = 0; i < (SIZE < 4 ? 4 / SIZE : 1); i++)
            put(ghost, i, ghost_of(f));
        if (!s.rows_there) {
            y = resolve(y, (int)f.n_y, f.edge);
            s.away = behind<VECTOR>(in + (i64)max(y, 0) * f.in_y + s.x);
        }
        if (s.corners) {
            const char *vector = (const char *)(in + (i64)max(y, 0) * f.in_y + s.x) - s.away;
            if (y >= 0 && reaches_beyond(vector, in, f))
                load_elements(row, vector, s.x - (int)s.away / SIZE, f);
            __syncwarp();
        }
        put_in_place(row, s.away);
        if (LEFT + RIGHT > 0 && s.ends) {
            unsigned brought[UNIT];
#pragma unroll
            for (int k = 0; k < UNIT; k++)
                brought[k] = s.beside < 0 ? ghost[k] : SIZE == 1 ? s.brought[r][k] * 0x01010101 : SIZE == 2 ? s.brought[r][k] * 0x00010001 : s.brought[r][k];
#pragma unroll
            for (int e = 0; e < LEFT + RIGHT; e++)
                deal_out(row, brought, e, s.x, f);
#pragma unroll 1
            for (int e = 0; e < s.more; e++)
                deal_out(row, brought, LEFT + RIGHT + e, s.x, f);
        }
        if (y < 0) {
#pragma unroll
            for (int i = 0; i < VW; i++)
                row.word[i] = ghost[i % UNIT];
        }
    }
    s.away = (s.away + s.step) & (VECTOR - 1);
}

// V results of each lane, whose place is `to`: a lane that stores stores a vector, of its own and of the lane before, as far as its columns are there.
template <bool INSIDE> __device__ __forceinline__ void write_row(char *to, const columns &c, const frame &f, const work (&value)[V], bool mine) {
    packed<V> v(value);
    unsigned away = 0;
    if constexpr (MOVED_OUT) {
        const int COUNT = V * OUT_SIZE / 4, BEFORE_THEM = words_beside(OUT_VECTOR, OUT_SIZE);
        unsigned word[BEFORE_THEM + COUNT];
#pragma unroll
        for (int i = 0; i < BEFORE_THEM; i++)
            word[i] = __shfl_up_sync(0xffffffff, v.word[COUNT - BEFORE_THEM + i], 1);
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            word[BEFORE_THEM + i] = v.word[i];
        away = behind<OUT_VECTOR>(to);
        move_up<COUNT, OUT_VECTOR, OUT_SIZE>(v.word, word, away);
    }
    const int x = c.x - (int)away / OUT_SIZE, from = INSIDE ? 0 : max(0, -x), count = INSIDE ? V : min(V, (int)f.m_x - x) - from;
    to -= away;
    if (!mine)
        return;
    if (MOVED_OUT && (INSIDE || count == V)) {
        v.store(to);
    } else if (count > 0) {
#pragma unroll
        for (int i = 0; i < V; i++)
            if ((unsigned)(i - from) < (unsigned)count)
                ((result *)to)[i] = v.r[i];
    }
}
