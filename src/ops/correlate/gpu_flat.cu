// SPDX-License-Identifier: Apache-2.0
// gpu_flat.cu - production: small masks over small images of any width: an image without gaps is one run of memory, and a row further down only a number further on.
//
// Rows that begin anywhere want another shift each, and where most warps meet an end of a row, all of them wait there. Here nothing knows of rows. A block takes a stretch
// of an image, which with the rows beside it is one run: it comes to shared memory as it lies, in vectors. Outputs are vectors of the run of outputs as they lie, too. A lane
// goes down LANES vectors at a time, which is a row but for SKEW elements: from step to step its columns move by so many, and so each row of the mask finds its window so many
// further on than the one above. All of that is known when the kernel is compiled: the window of a row's elements is wider by (KY - 1) * |SKEW|, and nothing is shifted.
//
// What is computed so is wrong where a window passes the end of a row, in LEFT + RIGHT outputs a row. They are computed once more, by the boundary's rule, and written over
// what was there; the rows above and below the image stand in shared memory as the boundary says.
//
// Sums of u8 by f32: weights times 2^24 (-DRAISED=1, gpu_bytes.cuh). Small integers by bytes (-DWORK=T_I32): four taps an instruction, each row of the mask filled with zeros.
//
// -DROW elements of a row; -DMENDED rows of ends a thread; -DKY, -DBEFORE_Y; -DV outputs of a lane's vector; -DTILE lanes of a block side by side: LANES, or of wide images fewer, row by row; -DDOWN strips of them; -DBLOCKS, -DRAISED.
#include "ops/correlate/gpu_copies.cuh"

#include "ops/correlate/gpu_bytes.cuh"

__host__ __device__ constexpr int down_to(int n, int step) { return n >= 0 ? n / step * step : -up_to(-n, step); }
__host__ __device__ constexpr int larger(int a, int b) { return a > b ? a : b; }

enum {
    LANES = (ROW + V / 2) / V,
    SKEW = LANES * V - ROW,
    TILED = TILE < LANES,
    THREADS = (TILE * DOWN + 31) / 32 * 32,
    VECTOR = 16 / SIZE,              // elements
    BACK = up_to(BEFORE_Y * ROW, V), // where a lane's first row lies: whole vectors before its outputs, and AWAY elements behind that
    AWAY = BACK - BEFORE_Y * ROW,
    MOST_SKEW = (KY - 1) * SKEW,
    LOW = down_to(AWAY - LEFT - larger(0, MOST_SKEW), V), // what is read of a row, from there
    HIGH = up_to(AWAY + V + RIGHT + larger(0, -MOST_SKEW), V),
    WORDS = (HIGH - LOW) * SIZE / 4,
    FIRST = AWAY - LEFT - LOW, // the first element for the mask's first row
    STEP = LANES * V,
    PITCH = TILED ? up_to(TILE * V + HIGH - LOW - V, V) : STEP, // in shared memory
    SIDES = (LEFT > 0) + (RIGHT > 0),                           // ends of rows beside which outputs meet what lies beyond
    ENDS = LEFT + RIGHT,                                        // such outputs of a row
    BESIDE = TILED ? 1 : larger(larger(LEFT, RIGHT), 1),        // outputs of a row that a thread computes once more, of MENDED rows
    COLUMNS = BESIDE + LEFT + RIGHT,                            // which they meet
    ON_THE_WAY = SIZE > 1 && KX <= 3 && KY <= 3 ? 8 : 0, // vectors that a thread has in registers on their way to shared memory; 0: they are copied
#if WORK == T_I32
    GROUPS = (KX + 3) / 4,
    TAPS = KY * GROUPS
#else
    TAPS = KX * KY
#endif
};
static_assert(V * SIZE >= 4 && V * SIZE <= 16, "a lane's elements are one vector");
typedef tap_list<TAPS> weights;

// Places count from `lead` elements before the image on, where a vector begins on both sides; the image ends at `end`. In shared memory are places [low, high).
struct run {
    int lead, end, low, high;
};

// The element that stands i elements behind the image's first, rows above and below it included.
__device__ __forceinline__ element element_at(const element *in, const frame &f, int i) {
    const int y = (i + 8 * ROW) / ROW - 8, at = resolve(y, (int)f.n_y, f.edge);
    return at < 0 ? ghost_of(f) : in[at * ROW + (i - y * ROW)];
}

// Vectors on their way to shared memory through registers, where memory binds and sums leave room for them, as measured: all loads, then all stores. Else cp.async, beside
// which the assembler has idle loads.
template <int BYTES> struct on_the_way {
    words<BYTES> v[larger(ON_THE_WAY, 1)];
    static constexpr int EACH = THREADS * BYTES / SIZE; // elements from one of a thread's to its next
    // As many as begin in the `left` elements from the thread's first on.
    __device__ __forceinline__ void lay(element *to, int left) const {
#pragma unroll
        for (int i = 0; i < ON_THE_WAY; i++)
            if (i * EACH < left)
                *(words<BYTES> *)(to + i * EACH) = v[i];
    }
};

// Vectors of the image as they lie; element by element what stands in the first and last vector with others, and rows beyond the image; zeros behind those.
__device__ __forceinline__ void bring(element *room, const element *in, const frame &f, const run &r) {
    const int from = max(r.low, up_to(r.lead, VECTOR)), to = max(from, min(r.high, r.end / VECTOR * VECTOR)), thread = threadIdx.x,
              needed = max(to, min(r.high, up_to(r.end + (KY - 1 - BEFORE_Y) * ROW + RIGHT, VECTOR)));
    const element *vector = in + (from - r.lead + thread * VECTOR);
    if constexpr (ON_THE_WAY > 0) {
        element *at = room + (from - r.low + thread * VECTOR);
        for (int left = to - from - thread * VECTOR; left > 0; left -= ON_THE_WAY * THREADS * VECTOR) {
            on_the_way<16> some;
#pragma unroll
            for (int i = 0; i < ON_THE_WAY; i++)
                if (i * some.EACH < left)
                    load_now(some.v[i], vector + i * some.EACH);
            some.lay(at, left);
            at += ON_THE_WAY * THREADS * VECTOR;
            vector += ON_THE_WAY * THREADS * VECTOR;
        }
    } else {
        unsigned at = (unsigned)__cvta_generic_to_shared(room) + (from - r.low + thread * VECTOR) * SIZE;
        for (int p = from + thread * VECTOR; p < to; p += THREADS * VECTOR) {
            copy_vector(at, vector);
            at += THREADS * 16;
            vector += THREADS * VECTOR;
        }
        end_copies();
    }
#pragma unroll 4
    for (int p = r.low + thread; p < from; p += THREADS)
        room[p - r.low] = element_at(in, f, p - r.lead);
#pragma unroll 4
    for (int p = to + thread; p < needed; p += THREADS)
        room[p - r.low] = element_at(in, f, p - r.lead);
    for (int p = needed + thread * VECTOR; p < r.high; p += THREADS * VECTOR)
        *(uint4 *)(room + (p - r.low)) = make_uint4(0, 0, 0, 0);
    if (ON_THE_WAY == 0)
        await_copies<0>();
}

__device__ __forceinline__ void copy_own(unsigned to, const element *from) {
    if (V * SIZE == 16)
        copy_vector(to, from);
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(V * SIZE < 16 ? V * SIZE : 8) : "memory");
}

// To a thread's next vector of a tile.
__device__ __forceinline__ void walk(const element *&from, int &across) {
    const int ACROSS = PITCH / V, ON = THREADS % ACROSS;
    const bool next = across >= ACROSS - ON;
    across += next ? ON - ACROSS : ON;
    from += THREADS / ACROSS * STEP + ON * V + (next ? STEP - ACROSS * V : 0);
}

// The same of a tile, row by row: whole lanes' vectors. Mostly all of them lie in the image, and a thread's places walk; or a copying lane has its own column of rows DOWN apart, whose places are constants, and
// then some of what stands beside (through registers that is slower).
__device__ __forceinline__ void bring_tile(element *room, const element *in, const frame &f, const run &r, int rows) {
    const int ACROSS = PITCH / V, MORE = ACROSS - TILE, thread = threadIdx.x;
    const unsigned to = (unsigned)__cvta_generic_to_shared(room);
    if (r.low >= r.lead && r.low + (rows - 1) * STEP + PITCH <= r.end) {
        const element *image = in + (r.low - r.lead);
        if constexpr (ON_THE_WAY > 0) {
            int across = thread % ACROSS;
            const element *from = image + (thread / ACROSS * STEP + across * V);
            element *at = room + thread * V;
            for (int left = rows * PITCH - thread * V; left > 0; left -= ON_THE_WAY * THREADS * V) {
                on_the_way<V * SIZE> some;
#pragma unroll
                for (int i = 0; i < ON_THE_WAY; i++) {
                    if (i * some.EACH < left)
                        load_now(some.v[i], from);
                    walk(from, across);
                }
                some.lay(at, left);
                at += ON_THE_WAY * THREADS * V;
            }
        } else {
            const int first = thread / TILE, own = (thread - first * TILE) * V;
            const element *from = image + first * STEP + own;
            unsigned at = to + (first * PITCH + own) * SIZE;
#pragma unroll 8
            for (int row = first; row < rows; row += DOWN) {
                copy_own(at, from);
                at += DOWN * PITCH * SIZE;
                from += DOWN * STEP;
            }
#pragma unroll 1
            for (int number = thread; number < rows * MORE; number += THREADS) {
                const int row = number / larger(MORE, 1), column = TILE * V + (number - row * MORE) * V;
                copy_own(to + (row * PITCH + column) * SIZE, image + row * STEP + column);
            }
        }
    } else {
        const int needed = r.end + (KY - 1 - BEFORE_Y) * ROW + RIGHT;
        for (int number = thread; number < rows * ACROSS; number += THREADS) {
            const int row = number / ACROSS, p = r.low + row * STEP + (number - row * ACROSS) * V;
            if (p >= r.lead && p + V <= r.end) {
                copy_own(to + number * (V * SIZE), in + (p - r.lead));
            } else {
#pragma unroll 1
                for (int i = 0; i < V; i++)
                    room[number * V + i] = p + i < needed ? element_at(in, f, p + i - r.lead) : (element)0;
            }
        }
    }
    end_copies();
    await_copies<0>();
}

__device__ __forceinline__ void read_words(unsigned (&word)[WORDS], const element *at) {
    const unsigned *words = (const unsigned *)(at + LOW);
    const int EACH = V * SIZE / 4;
#pragma unroll
    for (int i = 0; i < WORDS; i += EACH) {
        if constexpr (EACH == 4) {
            const uint4 v = *(const uint4 *)(words + i);
            word[i] = v.x, word[i + 1] = v.y, word[i + 2] = v.z, word[i + 3] = v.w;
        } else if constexpr (EACH == 2) {
            const uint2 v = *(const uint2 *)(words + i);
            word[i] = v.x, word[i + 1] = v.y;
        } else {
            word[i] = words[i];
        }
    }
}

// A row of elements, and what rows of the mask make of it, the last one first: every sum moves to its next place.
#if WORK == T_I32
__device__ __forceinline__ work part(const unsigned *word, int i) { return cell(word, i); }
__device__ __forceinline__ work tap(const weights &taps, int ky, int kx) { return (signed char)(taps.w[ky * GROUPS + kx / 4] >> kx % 4 * 8); }
__device__ __forceinline__ int multiply_add(int a, int b, int c) { return a * b + c; }
struct element_row {
    unsigned word[WORDS];
    __device__ __forceinline__ void make_ready(int) {}
    __device__ __forceinline__ void add(work (&sum)[KY][V], const weights &taps, int ky) const {
#pragma unroll
        for (int g = 0; g < GROUPS; g++)
#pragma unroll
            for (int i = 0; i < V; i++) {
                const int from = FIRST + i + 4 * g - ky * SKEW; // beyond the words there are only taps of 0
                sum[ky][i] = dot(from < 4 * WORDS ? four_bytes(word, from) : 0, taps.w[ky * GROUPS + g],
                                 g    ? sum[ky][i]
                                 : ky ? sum[ky - 1 < 0 ? 0 : ky - 1][i]
                                      : 0);
            }
    }
};
#else
__device__ __forceinline__ work part(const unsigned *word, int i) { return RAISED ? part_of_byte(word, i) : cell(word, i); }
__device__ __forceinline__ work tap(const weights &taps, int ky, int kx) { return taps.w[ky * KX + kx]; }
struct element_row {
    unsigned word[WORDS];
    work value[WORDS * 4 / SIZE];
    // Elements become f32 only when the first row of the mask wants them: registers are few.
    __device__ __forceinline__ void make_ready(int ky) {
        const int from = FIRST - ky * SKEW, end = from + LEFT + V + RIGHT;
#pragma unroll
        for (int i = 0; i < WORDS * 4 / SIZE; i++)
            if (i >= from && i < end && (ky == KY - 1 || i < from - SKEW || i >= end - SKEW))
                value[i] = part(word, i);
    }
    __device__ __forceinline__ void add(work (&sum)[KY][V], const weights &taps, int ky) const {
#pragma unroll
        for (int kx = 0; kx < KX; kx++)
#pragma unroll
            for (int i = 0; i < V; i++)
                sum[ky][i] = multiply_add(value[FIRST + i + kx * GROUP - ky * SKEW], taps.w[ky * KX + kx],
                                          kx ? sum[ky][i]
                                          : ky ? sum[ky - 1 < 0 ? 0 : ky - 1][i]
                                               : (work)0);
    }
};
#endif

// Vectors of outputs STEP apart. The image's first and last, which have less, wait in `partial`.
struct lines {
    result *to, *partial;
    int place, most; // from the image's begin on; of a whole vector
    __device__ __forceinline__ void put(const work (&sum)[V]) {
        const packed<V> v(sum);
        if ((unsigned)place <= (unsigned)most)
            v.store(to);
        else if (place > -V && place < most + V)
            v.store(partial + (place < 0 ? 0 : V));
        to += STEP;
        place += STEP;
    }
};

// A single element: of u8 in sums of f32 (RAISED) its 2^24th part.
__device__ __forceinline__ work single(element e) {
    unsigned word[1];
    put(word, 0, e);
#if WORK == T_F32
    if (RAISED)
        return part_of_halves(word[0], 0);
#endif
    return part(word, 0);
}

// Outputs beside an end of a row, from column x on, by the boundary's rule, which says what COLUMNS they meet.
struct beside_end {
    int column[COLUMNS], least, most; // of those that are elements
    work ghost;
    __device__ __forceinline__ beside_end(const frame &f, int x) : least(ROW), most(0), ghost(single(ghost_of(f))) {
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) {
            column[c] = resolve_x(x - LEFT + c, ROW, f.edge);
            least = column[c] < 0 ? least : min(least, column[c]);
            most = max(most, column[c]);
        }
    }
    // MENDED rows of them from y on, of which those of places from `from` to before `to` are the block's; all that they meet is in shared memory, `row` the first.
    __device__ __forceinline__ void mend(const element *row, result *out, const weights &taps, int y, int x, int from, int to) const {
        work sum[MENDED][BESIDE] = {};
#pragma unroll
        for (int i = 0; i < MENDED + KY - 1; i++) {
            work value[COLUMNS];
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) {
                value[c] = single(row[max(column[c], least) + i * ROW]);
                value[c] = column[c] >= 0 ? value[c] : ghost;
            }
#pragma unroll
            for (int o = 0; o < MENDED; o++)
                if (i - o >= 0 && i - o < KY) {
#pragma unroll
                    for (int kx = 0; kx < KX; kx++)
#pragma unroll
                        for (int b = 0; b < BESIDE; b++)
                            sum[o][b] = multiply_add(value[b + kx * GROUP], tap(taps, i - o < 0 || i - o >= KY ? 0 : i - o, kx), sum[o][b]);
                }
        }
        const int place = y * ROW + x;
        result *at = out + place;
#pragma unroll
        for (int o = 0; o < MENDED; o++)
#pragma unroll
            for (int b = 0; b < BESIDE; b++) {
                const work one[1] = {sum[o][b]};
                if ((unsigned)(place + o * ROW + b - from) < (unsigned)(to - from))
                    at[o * ROW + b] = packed<1>(one).r[0];
            }
    }
};

// One output, by the boundary's rule, from the array.
__device__ __forceinline__ void mend_one(const element *in, result *out, const frame &f, const weights &taps, int y, int x) {
    int column[KX];
    element given[KY][KX];
#pragma unroll
    for (int kx = 0; kx < KX; kx++)
        column[kx] = resolve_x(x + kx * GROUP - LEFT, ROW, f.edge);
#pragma unroll
    for (int ky = 0; ky < KY; ky++) {
        const int at = resolve(y - BEFORE_Y + ky, (int)f.n_y, f.edge);
#pragma unroll
        for (int kx = 0; kx < KX; kx++)
            given[ky][kx] = column[kx] >= 0 && at >= 0 ? in[at * ROW + column[kx]] : ghost_of(f);
    }
    work sum[1] = {};
#pragma unroll
    for (int ky = 0; ky < KY; ky++)
#pragma unroll
        for (int kx = 0; kx < KX; kx++)
            sum[0] = multiply_add(single(given[ky][kx]), tap(taps, ky, kx), sum[0]);
    out[y * ROW + x] = packed<1>(sum).r[0];
}

// `steps` of the lanes.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) flat(const element *in, result *out, const frame f, int steps, const weights taps) {
    extern __shared__ uint4 memory[];
    __shared__ alignas(16) result partial[2 * V];
    element *room = (element *)memory;
    find_array(f, block_place().z, in, out);
    const int strip = threadIdx.x / TILE, lane = threadIdx.x - strip * TILE, span = steps * DOWN * STEP, column = block_place().x * (TILE * V),
              begin = block_place().y * span + column;
    run r;
    r.lead = ((unsigned)(u64)in & 15) / SIZE;
    r.end = (int)f.n_y * ROW + r.lead;
    r.low = TILED ? begin - BACK + LOW : (begin - BACK + LOW) & -VECTOR;
    r.high = up_to(begin - BACK + span + (KY - 1) * STEP - V + HIGH, VECTOR);
    if (TILED)
        bring_tile(room, in, f, r, steps * DOWN + KY - 1);
    else
        bring(room, in, f, r);
    __syncwarp(); // lanes at an end may have gone another way
    __syncthreads();
    const int place = begin + strip * steps * STEP + lane * V;
    out -= r.lead;
    if (strip < DOWN && place < r.end && (!TILED || column + lane * V < STEP)) {
        const element *at = TILED ? room + (strip * steps * PITCH + lane * V - LOW) : room + (place - BACK - r.low);
        work sum[KY][V];
        lines to = {out + place, partial, place - r.lead, r.end - r.lead - V};
        // One text for all rows, also for the first and last, which meet only some rows of the mask: a longer one is waited for.
#pragma unroll 1
        for (int i = 0; i < steps + KY - 1; i++) {
            element_row row;
            read_words(row.word, at);
#pragma unroll
            for (int ky = KY - 1; ky >= 0; ky--) {
                row.make_ready(ky);
                if ((unsigned)(i - ky) < (unsigned)steps) {
                    row.add(sum, taps, ky);
                    if (ky == KY - 1)
                        to.put(sum[KY - 1]);
                }
            }
            at += PITCH;
        }
        const int head = r.lead / V * V, last = r.end / V * V; // vectors, if they are incomplete
        if (r.lead > head && place == head)
            for (int i = r.lead; i < head + V; i++)
                out[i] = partial[i - head];
        if (r.end > last && last >= place && last < place + steps * STEP && (last - place) % STEP == 0)
            for (int i = last; i < r.end; i++)
                out[i] = partial[V + i - last];
    }
    __syncwarp();
    __syncthreads();
    if (TILED) { // a row of the tile meets one end of a row of the image at most
        const int wide = min(TILE * V, STEP - column);
        for (int number = threadIdx.x; number < steps * DOWN * ENDS; number += THREADS) {
            const int from = begin + number / larger(ENDS, 1) * STEP, end = (from + wide - 1 - r.lead + RIGHT) / ROW,
                      flat = end * ROW - RIGHT + number % larger(ENDS, 1), i = flat + r.lead;
            if (i >= max(from, r.lead) && i < min(from + wide, r.end))
                mend_one(in, out + r.lead, f, taps, flat / ROW, flat % ROW);
        }
        return;
    }
    // Of either end the rows that the block has outputs of, the last group where it lies among them all. Mostly one warp is enough: blocks take turns in which one. The columns
    // of `wrap` are far, which shows in a block's first and last rows.
    const int from = max(begin - r.lead, 0), to = min(begin + span, r.end) - r.lead, groups = ((to - from) / ROW + 1 + MENDED) / MENDED;
    for (int number = (threadIdx.x + block_place().z * 32) % THREADS; number < groups * SIDES; number += THREADS) {
        const bool right = LEFT == 0 || number % larger(SIDES, 1) == 1;
        const int x = right ? ROW - BESIDE : 0, least = (from - x - BESIDE + ROW) / ROW, end = (to - x + ROW - 1) / ROW,
                  y = max(min(least + number / larger(SIDES, 1) * MENDED, end - MENDED), least), first = (y - BEFORE_Y) * ROW + r.lead - r.low;
        const beside_end one(f, x);
        if (y + MENDED <= end && first + one.least >= 0 && first + (MENDED + KY - 2) * ROW + one.most < r.high - r.low) {
            one.mend(room + first, out + r.lead, taps, y, x, from, to);
        } else {
#pragma unroll 1
            for (int o = 0; o < min(MENDED, end - y) * BESIDE; o++) {
                const int row = y + o / BESIDE, column = x + o % BESIDE, place = row * ROW + column;
                if (place >= from && place < to)
                    mend_one(in, out + r.lead, f, taps, row, column);
            }
        }
    }
}
