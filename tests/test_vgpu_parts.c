/* SPDX-License-Identifier: Apache-2.0
 * test_vgpu_parts.c - barriers of a part of a block (bar.sync a, n; bar.arrive; bar.red) put in order what they order and nothing else: in shared and in
 * global memory, by any order of the warps. */
#include "vgpu.h"

/* What each of four warps does, word by word: r and w read and write a word a lane, the same for all warps; s, a and p with a barrier's number wait at it, arrive,
 * and reduce there, two warps each; S is bar.sync 9 of all four by its number, B of the whole block; y is bar.warp.sync. */
typedef struct meeting {
    const char *does[4];
    bool races;
} meeting;

static const meeting meetings[] = {
    {{"w", "r"}, true},
    {{"w s1", "s1 r"}, false},
    {{"w p1", "p1 r"}, false},
    {{"r s1", "s1 w"}, false},
    {{"s1 w", "r s1"}, false},
    {{"s1 w", "s1 r"}, true},
    {{"w y", "y r"}, true}, /* lanes of either warp have met, the warps have not */
    {{"w p1 s3", "p1 s3"}, false},
    /* two different barriers */
    {{"w s1", "s2 r", "s1", "s2"}, true},
    {{"r s1", "s2 w", "s1", "s2"}, true},
    {{"w s1", "s2 r", "s1 s3", "s3 s2"}, false}, /* by way of two others */
    {{"w s1", "s2 r", "s3 s1", "s3 s2"}, true},  /* who met too early */
    {{"w s1", "s1 s2", "s2 r"}, false},
    {{"w s1", "s2 s1", "s2 r"}, true},
    {{"w s1", "s1 s3 s1", "s3 s1 r"}, false}, /* the same barrier twice */
    {{"s1", "s1 s3 s1 w", "s3 s1 s2", "r s2"}, true},
    /* who arrives does not wait */
    {{"w a1", "s1 r"}, false},
    {{"a1 w", "s1 r"}, true},
    {{"a1 r", "s1 w"}, true},
    {{"s1 w", "a1 r"}, true},
    {{"s1 w", "r a1"}, false},
    {{"w a1", "s1 a2", "s2 r"}, false},
    {{"w a1", "a2 s1", "s2 r"}, true},
    /* a producer and its consumer: one buffer, filled and emptied */
    {{"s2 w a1 s2 w a1", "a2 s1 r a2 s1 r"}, false},
    {{"s2 w a1 w s3", "a2 s1 r s3"}, true},
    {{"w a1 s2 w a1", "s1 a2 r s1 r"}, true}, /* emptied before it was read */
    {{"w a1", "s1 r w a2", "s2 r w a3", "s3 r w"}, false},
    {{"w a1", "s1 r w a2", "s2 r w a3 r", "s3 w"}, true},
    /* all of the block */
    {{"w S", "S r", "S", "S"}, false},
    {{"w B", "B r", "B", "B"}, false},
    {{"w s1 B", "s1 B", "B w", "B"}, false},
    {{"w B s1 w", "B s1", "B r", "B"}, true},
};

/* Several readers, of whom one is not in order: the observer of global memory keeps the last one only. */
static const meeting readers[] = {
    {{"r", "r y w"}, true},
    {{"r s1", "s1 r y w", "r"}, true},
    {{"r s1", "r s2", "s1 s2 y w"}, false},
    {{"r s1", "r s3", "s1 s2 y w", "s2 s3"}, true},
};

static void put_words(char *text, size_t room, const char *does, bool global) {
    for (size_t n = strlen(text); *does; n = strlen(text)) {
        char kind = *does++, number = kind != ' ' && *does && *does != ' ' ? *does++ : 0;
        const char *space = global ? "global" : "shared";
        switch (kind) {
        case 'r': snprintf(text + n, room - n, " ld.%s.u32 %%r, [%s];\n", space, global ? "%g" : "%a"); break;
        case 'w': snprintf(text + n, room - n, " st.%s.u32 [%s], %%r;\n", space, global ? "%g" : "%a"); break;
        case 's': snprintf(text + n, room - n, " bar.sync %c, 64;\n", number); break;
        case 'a': snprintf(text + n, room - n, " bar.arrive %c, 64;\n", number); break;
        case 'p': snprintf(text + n, room - n, " barrier.cta.red.aligned.popc.u32 %%r, %c, 64, %%p;\n", number); break;
        case 'S': snprintf(text + n, room - n, " barrier.sync 9, 128;\n"); break;
        case 'B': snprintf(text + n, room - n, " bar.sync 0;\n"); break;
        case 'y': snprintf(text + n, room - n, " bar.warp.sync 0xffffffff;\n"); break;
        default: break;
        }
    }
}

static void check(const meeting *m, bool global, uint64_t seed) {
    char text[4096];
    snprintf(text, sizeof text,
             ".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 to) {\n .shared .align 4 .b8 s[128]; .reg .pred %%p;\n"
             " .reg .u32 %%r, %%a, %%lane, %%warp; .reg .u64 %%g, %%w;\n mov.u32 %%r, %%tid.x;\n and.b32 %%lane, %%r, 31;\n shr.u32 %%warp, %%r, 5;\n"
             " shl.b32 %%lane, %%lane, 2;\n mov.u32 %%a, s;\n add.u32 %%a, %%a, %%lane;\n ld.param.u64 %%g, [to];\n cvt.u64.u32 %%w, %%lane;\n"
             " add.u64 %%g, %%g, %%w;\n setp.eq.u32 %%p, %%warp, 0;\n @%%p st.shared.u32 [%%a], 0;\n bar.sync 0;\n");
    for (int k = 0; k < 4; k++) {
        size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, " setp.ne.u32 %%p, %%warp, %d;\n @%%p bra L%d;\n", k, k);
        put_words(text, sizeof text, m->does[k] ? m->does[k] : "", global);
        n = strlen(text);
        snprintf(text + n, sizeof text - n, " bra END;\nL%d:\n", k);
    }
    size_t n = strlen(text);
    snprintf(text + n, sizeof text - n, "END:\n bar.sync 15, 128;\n ret;\n}\n");
    vgpu_bench b;
    vgpu_begin(&b, text, TESS_ISA_AUTO, 1);
    int zero[32] = {0};
    uint64_t at = vgpu_array(&b, zero, sizeof zero);
    VGPU_PARAM(&b, uint64_t, at);
    /* Two blocks for shared memory: what a block did is none of the next one's business. */
    vgpu_launch(&b, "k", (tess_vgpu_launch_options){.grid = {global ? 1 : 2}, .block = {128}, .check = true, .check_global = global, .seed = seed});
    bool raced = false;
    for (int i = 0; i < tess_vgpu_fault_count(b.run); i++) {
        const tess_vgpu_fault *f = tess_vgpu_fault_at(b.run, i);
        if (f->kind != (global ? TESS_VGPU_GLOBAL_RACE : TESS_VGPU_RACE))
            fail_msg("\"%s\" \"%s\": another fault: %s", m->does[0], m->does[1], f->message);
        raced = true;
    }
    if (raced != m->races)
        fail_msg("\"%s\" \"%s\" \"%s\" \"%s\" in %s memory, seed %d: %s", m->does[0], m->does[1], m->does[2] ? m->does[2] : "",
                 m->does[3] ? m->does[3] : "", global ? "global" : "shared", (int)seed, raced ? "a race that is none" : "no race found");
    vgpu_end(&b);
}

static void test_parts(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 6; seed++) {
        for (int i = 0; i < TESS_COUNT(meetings); i++) {
            check(&meetings[i], false, seed);
            check(&meetings[i], true, seed);
        }
        for (int i = 0; i < TESS_COUNT(readers); i++)
            check(&readers[i], false, seed);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
