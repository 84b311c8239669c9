// SPDX-License-Identifier: Apache-2.0
// gpu_prepared_slices.cu - production, slices of a few elements at compact coordinates, as a colour map's: records prepared first, a thread a whole slice.
//
// A thread an element (gpu_points.cu) finds the place of each point once for every element, by way of a division, converts two or four neighbours and looks at the
// ends. Here `prepare` writes a record an element, those of a slice side by side, and a thread places its points once, reads their records by vectors of up to
// 16 bytes, and has the slice. Slices of 2, 4, 8 or 16 bytes go out as they are; others are laid down in shared memory, from where the warp writes its
// points in order by vectors of -DVECTOR bytes. What lies outside is seen to at the end.
//
// -DRAW=1, LINEAR between entries of 1 or 2 bytes: a record is the entry and the next one as they lie, so that all of a small slice's is one read from few lines of the first-level
// cache. What binds is the number of lines that the lanes of a request meet there, not what they then compute.
//
// -DEACH elements of a slice, of -DSIZE bytes, -DPARTS=2: halves of complex elements. -DGROUPS points a thread, 32 apart; -DTHREADS a block; -DLINES as in gpu_lines.cuh.
#include "ops/lookup/gpu_place.cuh"

#if METHOD == NEAREST
typedef to_type prepared_entry;
#elif RAW
typedef bits_of<2 * sizeof(from_type)>::type prepared_entry; // the next one above; integers with a sign are 2^7 or 2^15 more
const unsigned BIAS = FROM == T_I8 ? 1u << 7 : FROM == T_I16 ? 1u << 15 : 0;
#else
typedef record prepared_entry;
#endif

const int BYTES = EACH * SIZE;
const bool WHOLE = BYTES == 2 || BYTES == 4 || BYTES == 8 || BYTES == 16; // a slice is a vector
const int RECORD = EACH * sizeof(prepared_entry);
// Bytes from slice to slice of the records, and of the vectors that they are read by.
const int PITCH = RECORD > 8 ? (RECORD + 15) / 16 * 16 : RECORD > 4 ? 8 : RECORD > 2 ? 4 : RECORD;
const int READ = PITCH < 16 ? PITCH : 16;
const int SLOTS = PITCH / sizeof(prepared_entry); // the last element fills what is left

union slice_records {
    words<READ> all[PITCH / READ];
    prepared_entry part[EACH];
    unsigned word[PITCH < 4 ? 1 : PITCH / 4];
};
union slice {
    bits_of<WHOLE ? BYTES : 1>::type all;
    to_type part[EACH];
};

struct prepared_table {
    i64 n, step, inner, line, lines; // entries, bytes between them, between elements of a slice and between lines; lines
};

extern "C" __global__ void __launch_bounds__(256) prepare(const char *table, char *records, const prepared_table p) {
    const i64 item = blockIdx.x * 256ll + threadIdx.x, entry = item / SLOTS;
    if (entry >= p.n * p.lines)
        return;
    const int c = min((int)(item % SLOTS), EACH - 1);
    const char *line = table + entry / p.n * p.line + c * p.inner;
    prepared_entry *to = (prepared_entry *)records + item;
#if METHOD == NEAREST
    *to = result_of(entry_value(line, entry % p.n, p.step));
#elif RAW
    typedef bits_of<sizeof(from_type)>::type bits;
    const unsigned here = *(const bits *)(line + entry % p.n * p.step) ^ BIAS, next = *(const bits *)(line + neighbour(entry % p.n, 1, p.n) * p.step) ^ BIAS;
    *to = (prepared_entry)(here | next << 8 * sizeof(bits));
#else
    *to = record_at(line, entry % p.n, p.n, p.step);
#endif
}

#if RAW
// A number at byte `at` of a record's words. An integer below 2^16 becomes a float, and BASE more, by being its last bits.
#if FROM >= T_F16
const real BASE = 0;
#else
const real BASE = (COMPUTE == T_F64 ? (real)0x1p52 : (real)0x1p23) + BIAS;
#endif
__device__ __forceinline__ real number_at(const slice_records &r, int at) {
    const unsigned word = r.word[at / 4];
#if FROM >= T_F16
    return load_as<real, FROM>((from_type)(word >> at % 4 * 8));
#elif COMPUTE == T_F64
    return __hiloint2double(0x43300000, (int)__byte_perm(word, 0, sizeof(from_type) == 1 ? 0x4440 + at % 4 : at % 4 ? 0x4432 : 0x4410));
#else
    return __uint_as_float(__byte_perm(word, 0x4b000000, sizeof(from_type) == 1 ? 0x7440 + at % 4 : at % 4 ? 0x7432 : 0x7410));
#endif
}
#endif

__device__ __forceinline__ to_type element_of(const slice_records &r, int c, const point &x) {
#if METHOD == NEAREST
    return r.part[c];
#elif RAW
    const int at = 2 * c * (int)sizeof(from_type);
    const real here = number_at(r, at), next = number_at(r, at + (int)sizeof(from_type)), first = here - BASE, beyond = fused(x.t, next - here, first);
    return result_of(FROM >= T_F16 && x.t == 0 ? first : beyond); // an infinity takes its neighbour along
#else
    return result_of(value_at(r.part[c], x.t));
#endif
}

__device__ __forceinline__ void read(slice_records &r, const char *records, spot_number at) {
#pragma unroll
    for (int k = 0; k < PITCH / READ; k++)
        load_now(r.all[k], records + (i64)at * PITCH + k * READ);
}

struct points_of {
    i64 count, blocks, out_line; // points, blocks a line, bytes between lines of out
    i64 table_line;              // bytes between lines of records
};

extern "C" __global__ void __launch_bounds__(THREADS, 1024 / THREADS)
    prepared_slices(const char *records, const index_type *index, char *out, u64 *bad, const i64 n, const points_of p, const uint4 fill) {
    __shared__ alignas(16) to_type laid[WHOLE ? 1 : GROUPS * THREADS * EACH];
    i64 chunk = blockIdx.x;
    if (LINES) {
        const unsigned line = blockIdx.x / (unsigned)p.blocks;
        chunk = blockIdx.x % (unsigned)p.blocks;
        records += line * p.table_line;
        out += line * p.out_line;
    }
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const i64 first = (chunk * (THREADS / 32) + warp) * (32 * GROUPS);
    to_type *mine = laid + (WHOLE ? 0 : warp * (32 * GROUPS * EACH));
    if (first >= p.count)
        return;
    const int left = (int)min(p.count - first, 32ll * GROUPS); // points of this warp
    index += first;
    out += first * BYTES;
    index_type v[GROUPS];
    point x[GROUPS];
    bool inside[GROUPS], wrong = false;
#pragma unroll
    for (int g = 0; g < GROUPS; g++)
        v[g] = index[min(g * 32 + lane, left - 1)];
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        inside[g] = find_point(v[g], (spot_number)n, x[g]);
        wrong = wrong || !inside[g];
    }
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        slice_records r;
        slice s;
        read(r, records, x[g].at);
#pragma unroll
        for (int c = 0; c < EACH; c++) {
            s.part[c] = element_of(r, c, x[g]);
            if (!WHOLE)
                mine[(g * 32 + lane) * EACH + c] = s.part[c];
        }
        if (WHOLE && g * 32 + lane < left)
            *(bits_of<WHOLE ? BYTES : 1>::type *)(out + (g * 32 + lane) * BYTES) = s.all;
    }
    if (!WHOLE) {
        __syncwarp();
        const int bytes = left * BYTES;
        const char *from = (const char *)mine;
#pragma unroll
        for (int at = 0; at < 32 * GROUPS * BYTES; at += 32 * VECTOR)
            if (at + lane * VECTOR + VECTOR <= bytes)
                *(bits_of<VECTOR>::type *)(out + at + lane * VECTOR) = *(const bits_of<VECTOR>::type *)(from + at + lane * VECTOR);
        for (int at = bytes / VECTOR * VECTOR + lane * SIZE; at < bytes; at += 32 * SIZE)
            *(bits_of<SIZE>::type *)(out + at) = *(const bits_of<SIZE>::type *)(from + at);
        __syncwarp();
    }
    if (OUTSIDE == CLIP || !wrong)
        return;
    for (int g = 0; g < GROUPS; g++) {
        const int at = g * 32 + lane;
        point place;
        if (at >= left)
            return;
        const index_type again = index[at];
        if (find_point(again, (spot_number)n, place))
            continue;
        if (OUTSIDE == ERROR) {
            note(bad, first + at);
            continue;
        }
        const bool number = OUTSIDE == FILL || wrapped_point(load_as<double, INDEX>(again), n, place);
        slice_records r;
        read(r, records, place.at);
        for (int c = 0; c < EACH; c++)
            ((to_type *)(out + at * BYTES))[c] = OUTSIDE == FILL ? fill_of(fill, PARTS == 2 && c % 2) : number ? element_of(r, c, place) : no_number();
    }
}
