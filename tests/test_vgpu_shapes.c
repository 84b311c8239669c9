/* SPDX-License-Identifier: Apache-2.0
 * test_vgpu_shapes.c - loads and stores remember how the lanes' addresses lay when they were last executed. Here they change from turn to turn of a
 * loop: results are those of a plain simulation, sectors and words those of a plain count, and all counters the sum of launches of one turn each, which
 * have nothing to remember. Races among four warps are those that looking lane by lane finds. */
#include "vgpu.h"

enum { TURNS = 400, LANES = 32, SPACE = 8192, ABSENT = -1 };

static const char text_of_width[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                                    ".const .align 16 .b8 bank[8192];\n"
                                    ".visible .entry walk(.param .u64 data, .param .u64 table, .param .u64 out, .param .u32 from, .param .u32 to) {\n"
                                    ".reg .pred %%p<3>; .reg .b32 %%r<12>; .reg .b64 %%d<12>; .reg .b%d %%v<6>;\n"
                                    ".shared .align 16 .b8 room[8192];\n"
                                    "ld.param.u64 %%d1, [data]; ld.param.u64 %%d2, [table]; ld.param.u64 %%d3, [out];\n"
                                    "ld.param.u32 %%r1, [from]; ld.param.u32 %%r2, [to];\n"
                                    "mov.u32 %%r3, %%tid.x; mov.u32 %%r4, room; mov.u64 %%d4, bank;\n"
                                    "next:\n"
                                    "mad.lo.s32 %%r5, %%r1, 32, %%r3; mul.wide.s32 %%d5, %%r5, 4; add.s64 %%d5, %%d5, %%d2;\n"
                                    "ld.global.u32 %%r6, [%%d5];\n"
                                    "setp.ne.s32 %%p1, %%r6, -1;\n"
                                    "cvt.s64.s32 %%d6, %%r6; add.s64 %%d7, %%d1, %%d6; add.s64 %%d8, %%d3, %%d6; add.s64 %%d9, %%d4, %%d6;\n"
                                    "add.s32 %%r7, %%r4, %%r6; xor.b32 %%r8, %%r6, 64; add.s32 %%r8, %%r4, %%r8;\n"
                                    "@%%p1 ld.global.u%d %%v1, [%%d7];\n"
                                    "@%%p1 ld.const.u%d %%v2, [%%d9];\n"
                                    "cvt.u%d.u32 %%v3, %%r5; add.u%d %%v4, %%v1, %%v3;\n"
                                    "@%%p1 st.shared.u%d [%%r7], %%v4;\n"
                                    "@%%p1 ld.shared.u%d %%v5, [%%r8];\n"
                                    "add.u%d %%v5, %%v5, %%v2;\n"
                                    "@%%p1 st.global.u%d [%%d8], %%v5;\n"
                                    "add.s32 %%r1, %%r1, 1; setp.lt.s32 %%p2, %%r1, %%r2; @%%p2 bra next;\n"
                                    "ret; }\n";

static uint32_t seed;
static uint32_t pick(uint32_t below) {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

/* Offsets of one turn: often a form seen before, elsewhere; sometimes with other lanes. */
static void make_turn(int32_t *at, const int32_t *before, int width) {
    uint32_t form = pick(8), mask = pick(3) ? UINT32_MAX : pick(2) ? (1u << (1 + pick(31))) - 1 : pick(1 << 24) << 8 | 1u << pick(32);
    int32_t base = width * (int32_t)pick((uint32_t)(SPACE / 2 / width)), step = width * (int32_t)pick(24), order = (int32_t)pick(32);
    for (int l = 0; l < LANES; l++) {
        int32_t o = form == 0 ? base + l * width : form == 1 ? base : form == 2 ? base + l * step : form == 3 ? base + width * (l ^ order) : 0;
        if (form == 4)
            o = base + width * (l / 16 * 16 + l % 2);
        else if (form == 5)
            o = width * (int32_t)pick((uint32_t)(SPACE / width));
        else if (form >= 6) /* the form of the turn before, moved by some elements */
            o = before[l] == ABSENT ? ABSENT : (before[l] + width * order) % SPACE;
        at[l] = form >= 6 ? o : mask >> l & 1 ? o % SPACE : ABSENT;
    }
}

static uint64_t value_of(const unsigned char *at, int width) {
    uint64_t v = 0;
    memcpy(&v, at, (size_t)width);
    return v;
}

static uint64_t distinct(const int32_t *at, int shift) {
    uint64_t count = 0;
    for (int l = 0; l < LANES; l++) {
        bool first = at[l] != ABSENT;
        for (int k = 0; k < l; k++)
            first &= at[k] == ABSENT || at[k] >> shift != at[l] >> shift;
        count += first;
    }
    return count;
}

/* Words wanted of the fullest bank: what a load of 4 bytes a lane takes. */
static uint64_t wavefronts(const int32_t *at) {
    uint64_t most = 0;
    for (int bank = 0; bank < 32; bank++) {
        int32_t in_bank[LANES];
        uint64_t words = 0;
        for (int l = 0; l < LANES; l++)
            in_bank[l] = at[l] != ABSENT && at[l] / 4 % 32 == bank ? at[l] : ABSENT;
        words = distinct(in_bank, 2);
        most = words > most ? words : most;
    }
    return most;
}

static void launch(vgpu_bench *b, const uint64_t *arrays, int from, int to, tess_vgpu_counters *sum) {
    b->param_bytes = 0;
    for (int i = 0; i < 3; i++)
        VGPU_PARAM(b, uint64_t, arrays[i]);
    VGPU_PARAM(b, int32_t, from);
    VGPU_PARAM(b, int32_t, to);
    tess_vgpu_launch_options o = {.block = {LANES}, .count = true};
    vgpu_launch(b, "walk", o);
    vgpu_no_faults(b);
    for (size_t i = 0; i < sizeof *sum / sizeof(uint64_t); i++)
        ((uint64_t *)sum)[i] += ((const uint64_t *)&b->total)[i];
}

static void walk(int width, tess_isa isa) {
    static int32_t table[TURNS][LANES];
    static unsigned char data[SPACE], bank[SPACE], room[SPACE], want[SPACE], got[SPACE];
    char text[4096];
    int bits = 8 * width;
    vgpu_bench b;
    snprintf(text, sizeof text, text_of_width, bits, bits, bits, bits, bits, bits, bits, bits, bits);
    vgpu_begin(&b, text, isa, 1);
    seed = (uint32_t)(width + 1);
    for (int i = 0; i < SPACE; i++) {
        data[i] = (unsigned char)pick(256);
        bank[i] = (unsigned char)pick(256);
        want[i] = 0;
        room[i] = 0xa5; /* what shared memory begins with */
    }
    tess_vgpu_counters plain = {0}, whole = {0}, parts = {0};
    for (int t = 0; t < TURNS; t++) {
        make_turn(table[t], table[t ? t - 1 : 0], width);
        int active = 0;
        for (int l = 0; l < LANES; l++)
            active += table[t][l] != ABSENT;
        for (int l = LANES - 1; l >= 0; l--)
            if (table[t][l] != ABSENT) {
                uint64_t v = value_of(data + table[t][l], width) + (uint64_t)(t * LANES + l);
                memcpy(room + table[t][l], &v, (size_t)width);
            }
        for (int l = LANES - 1; l >= 0; l--)
            if (table[t][l] != ABSENT) {
                uint64_t v = value_of(room + (table[t][l] ^ 64), width) + value_of(bank + table[t][l], width);
                memcpy(want + table[t][l], &v, (size_t)width);
            }
        if (!active)
            continue;
        plain.global_st_requests++;
        plain.global_st_sectors += distinct(table[t], 5);
        plain.global_st_tags += distinct(table[t], 7);
        plain.global_st_bytes += (uint64_t)width * distinct(table[t], 0);
        plain.constant_requests += distinct(table[t], 0);
        plain.shared_st_wavefronts += wavefronts(table[t]);
    }
    uint64_t arrays[] = {vgpu_array(&b, data, SPACE), vgpu_array(&b, table, sizeof table), vgpu_array(&b, got, SPACE)};
    assert_tess_ok(tess_vgpu_symbol_write(b.module, "bank", 0, bank, SPACE));
    memset(got, 0, sizeof got);
    assert_tess_ok(tess_vgpu_copy_in(b.machine, arrays[2], got, SPACE));
    launch(&b, arrays, 0, TURNS, &whole);
    vgpu_fetch(&b, got, arrays[2], SPACE);
    assert_memory_equal(got, want, SPACE);
    assert_int_equal(whole.global_st_requests, plain.global_st_requests);
    assert_int_equal(whole.global_st_sectors, plain.global_st_sectors);
    assert_int_equal(whole.global_st_tags, plain.global_st_tags);
    assert_int_equal(whole.global_st_bytes, plain.global_st_bytes);
    assert_int_equal(whole.constant_requests, plain.constant_requests);
    if (width == 4)
        assert_int_equal(whole.shared_st_wavefronts, plain.shared_st_wavefronts);
    for (int t = 0; t < TURNS; t++)
        launch(&b, arrays, t, t + 1, &parts);
    assert_int_equal(whole.global_ld_sectors, parts.global_ld_sectors);
    assert_int_equal(whole.global_ld_tags, parts.global_ld_tags);
    assert_int_equal(whole.global_ld_bytes, parts.global_ld_bytes);
    assert_int_equal(whole.global_ld_elements, parts.global_ld_elements);
    assert_int_equal(whole.global_st_sectors_ideal, parts.global_st_sectors_ideal);
    assert_int_equal(whole.shared_ld_requests, parts.shared_ld_requests);
    assert_int_equal(whole.shared_ld_wavefronts, parts.shared_ld_wavefronts);
    assert_int_equal(whole.shared_ld_wavefronts_ideal, parts.shared_ld_wavefronts_ideal);
    assert_int_equal(whole.shared_ld_conflicts, parts.shared_ld_conflicts);
    assert_int_equal(whole.shared_ld_bytes, parts.shared_ld_bytes);
    assert_int_equal(whole.shared_st_wavefronts, parts.shared_st_wavefronts);
    assert_int_equal(whole.shared_st_bytes, parts.shared_st_bytes);
    vgpu_end(&b);
}

static void test_shapes(void **state) {
    (void)state;
    static const tess_isa sets[] = {TESS_ISA_BASELINE, TESS_ISA_AVX2, TESS_ISA_AVX512, TESS_ISA_NEON};
    static const tess_isa_slot slots[] = {TESS_SLOT_BASELINE, TESS_SLOT_AVX2, TESS_SLOT_AVX512, TESS_SLOT_NEON};
    for (int s = 0; s < TESS_COUNT(sets); s++)
        for (int width = 4; width <= 8 && tess_cpu_has_slot(slots[s]); width += 4)
            walk(width, sets[s]);
}

/* ---- races: what is seen for all words of an access at once is what looking lane by lane sees ---- */

enum { THREADS = 128, WARPS = THREADS / LANES, ROOM = 256 };

static const char race_text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                                ".visible .entry race(.param .u64 table, .param .u32 to) {\n"
                                ".reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %d<4>;\n"
                                ".shared .align 16 .b8 room[1024];\n"
                                "ld.param.u64 %d1, [table]; ld.param.u32 %r1, [to];\n"
                                "mov.u32 %r2, %tid.x; mov.u32 %r3, room; mov.u32 %r4, 0;\n"
                                "shl.b32 %r5, %r2, 2; add.s32 %r5, %r5, %r3; st.shared.u32 [%r5], %r1; st.shared.u32 [%r5+512], %r1;\n"
                                "bar.sync 0;\n"
                                "next:\n"
                                "mad.lo.s32 %r5, %r4, 128, %r2; mul.wide.s32 %d2, %r5, 8; add.s64 %d2, %d2, %d1;\n"
                                "ld.global.u32 %r6, [%d2]; ld.global.u32 %r7, [%d2+4];\n"
                                "setp.ne.s32 %p1, %r6, -1; setp.ne.s32 %p2, %r7, -1;\n"
                                "add.s32 %r6, %r6, %r3; add.s32 %r7, %r7, %r3;\n"
                                "@%p1 st.shared.u32 [%r6], %r1;\n"
                                "@%p2 ld.shared.u32 %r8, [%r7];\n"
                                "bar.sync 0;\n"
                                "add.s32 %r4, %r4, 1; setp.lt.s32 %p3, %r4, %r1; @%p3 bra next;\n"
                                "ret; }\n";

typedef struct word_past {
    int writer, writer_turn, reader[2], reader_turn[2];
} word_past;

/* Counts lane by lane; warps run one after the other from barrier to barrier, and the one that comes last goes on first. races[1]: within a warp. */
static void simulate(int32_t (*table)[THREADS][2], uint64_t *races) {
    static word_past words[ROOM];
    for (int i = 0; i < ROOM; i++)
        words[i] = (word_past){-1, -1, {-1, -1}, {-1, -1}};
    for (int t = 0; t < TURNS; t++)
        for (int turn = 0; turn < WARPS; turn++)
            for (int load = 0; load < 2; load++)
                for (int l = 0; l < LANES; l++) {
                    int me = (2 * WARPS - 1 - t % WARPS + turn) % WARPS * LANES + l;
                    if (table[t][me][load] == ABSENT)
                        continue;
                    word_past *w = &words[table[t][me][load] / 4];
                    bool same_warp = w->writer / LANES == me / LANES;
                    if (w->writer_turn == t && w->writer != me && (load || !same_warp)) /* one store writes one value here */
                        races[same_warp]++;
                    for (int k = 0; k < 2 && !load; k++)
                        if (w->reader_turn[k] == t && w->reader[k] != me)
                            races[w->reader[k] / LANES == me / LANES]++;
                    if (!load) {
                        w->writer = me;
                        w->writer_turn = t;
                        continue;
                    }
                    if (w->reader[0] != me) {
                        w->reader[1] = w->reader[0];
                        w->reader_turn[1] = w->reader_turn[0];
                    }
                    w->reader[0] = me;
                    w->reader_turn[0] = t;
                }
}

static void test_races(void **state) {
    (void)state;
    static const tess_isa sets[] = {TESS_ISA_BASELINE, TESS_ISA_AVX2, TESS_ISA_AVX512, TESS_ISA_NEON};
    static const tess_isa_slot slots[] = {TESS_SLOT_BASELINE, TESS_SLOT_AVX2, TESS_SLOT_AVX512, TESS_SLOT_NEON};
    static int32_t table[TURNS][THREADS][2];
    seed = 9;
    for (int t = 0; t < TURNS; t++)
        for (int load = 0; load < 2; load++)
            for (int first = 0; first < THREADS; first += LANES) {
                uint32_t mask = pick(3) ? UINT32_MAX : pick(1 << 24) << 8 | pick(256), form = pick(t % 4 ? 4 : 8), order = pick(32),
                         base = pick(ROOM);
                for (int l = 0; l < LANES; l++) {
                    uint32_t lane = (uint32_t)l, own = (uint32_t)first; /* the first forms keep to the warp's own words */
                    uint32_t word = form == 0   ? own + lane
                                    : form == 1 ? own + (lane ^ order)
                                    : form == 2 ? own + lane / 2
                                    : form == 3 ? own + order
                                    : form == 4 ? base + lane
                                    : form == 5 ? base
                                    : form == 6 ? base + lane * 3
                                                : pick(ROOM);
                    table[t][first + l][load] = mask >> l & 1 ? (int32_t)(4 * (word % ROOM)) : ABSENT;
                }
            }
    uint64_t want[2] = {0, 0};
    simulate(table, want);
    assert_true(want[0] > 1000 && want[1] > 1000);
    for (int s = 0; s < TESS_COUNT(sets); s++) {
        if (!tess_cpu_has_slot(slots[s]))
            continue;
        vgpu_bench b;
        uint64_t got[2] = {0, 0};
        vgpu_begin(&b, race_text, sets[s], 1);
        uint64_t at = vgpu_array(&b, table, sizeof table);
        VGPU_PARAM(&b, uint64_t, at);
        VGPU_PARAM(&b, int32_t, TURNS);
        tess_vgpu_launch_options o = {.block = {THREADS}, .check = true};
        vgpu_launch(&b, "race", o);
        for (int i = 0; i < tess_vgpu_fault_count(b.run); i++) {
            const tess_vgpu_fault *f = tess_vgpu_fault_at(b.run, i);
            assert_true(f->kind == TESS_VGPU_RACE || f->kind == TESS_VGPU_WARP_RACE);
            got[f->kind == TESS_VGPU_WARP_RACE] += f->count;
        }
        assert_int_equal(got[0], want[0]);
        assert_int_equal(got[1], want[1]);
        vgpu_end(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shapes), cmocka_unit_test(test_races)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
