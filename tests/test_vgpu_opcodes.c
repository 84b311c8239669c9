/* SPDX-License-Identifier: Apache-2.0
 * test_vgpu_opcodes.c - single instructions against values worked out by hand from the PTX manual: edges of integers, all roundings, flushing,
 * saturation, NaN, conversions, 16-bit floats. Each runs with all 32 lanes and with lane 5 alone, on every instruction set. And: what is wrong or not
 * supported is refused, naming line, column and word. */
#include "vgpu.h"

typedef struct opcode_case {
    const char *ptx;        /* operands: d, a, b, c of 16, 32, 64 bits as %dh %d %dl and so on; predicate %p */
    uint64_t a, b, c, want; /* want: all of %dl, or %d in the low word when %dl was not written */
} opcode_case;

#define F(x) 0x##x##u
static const opcode_case cases[] = {
    /* integers */
    {"add.s32 %d, %a, %b", 0x7fffffff, 1, 0, 0x80000000},
    {"add.sat.s32 %d, %a, %b", 0x7fffffff, 1, 0, 0x7fffffff},
    {"sub.sat.s32 %d, %a, %b", 0x80000000, 1, 0, 0x80000000},
    {"mul.hi.s32 %d, %a, %b", 0xffffffff, 2, 0, 0xffffffff},
    {"mul.hi.u32 %d, %a, %b", 0xffffffff, 2, 0, 1},
    {"mul.wide.s32 %dl, %a, %b", 0xffffffff, 3, 0, 0xfffffffffffffffd},
    {"mul.wide.u32 %dl, %a, %b", 0xffffffff, 3, 0, 0x2fffffffd},
    {"mad.wide.s32 %dl, %a, %b, %cl", 0xfffffffe, 3, 0x100000000, 0xfffffffa},
    {"mul24.lo.s32 %d, %a, %b", 0x00ffffff, 5, 0, 0xfffffffb},
    {"sad.s32 %d, %a, %b, %c", 0xfffffffe, 3, 10, 15},
    {"div.s32 %d, %a, %b", 0xfffffff9, 2, 0, 0xfffffffd},
    {"div.u32 %d, %a, %b", 0xffffffff, 0x1, 0, 0xffffffff},
    {"rem.u32 %d, %a, %b", 0xffffffff, 0x1, 0, 0x0},
    {"div.s32 %d, %a, %b", 0xffffffff, 0x1, 0, 0xffffffff},
    {"rem.s32 %d, %a, %b", 0xffffffff, 0x1, 0, 0x0},
    {"div.u32 %d, %a, %b", 0xffffffff, 0xffffffff, 0, 0x1},
    {"rem.u32 %d, %a, %b", 0xffffffff, 0xffffffff, 0, 0x0},
    {"div.s32 %d, %a, %b", 0xffffffff, 0xffffffff, 0, 0x1},
    {"rem.s32 %d, %a, %b", 0xffffffff, 0xffffffff, 0, 0x0},
    {"div.u32 %d, %a, %b", 0xffffffff, 0xfffffffe, 0, 0x1},
    {"rem.u32 %d, %a, %b", 0xffffffff, 0xfffffffe, 0, 0x1},
    {"div.s32 %d, %a, %b", 0xffffffff, 0xfffffffe, 0, 0x0},
    {"rem.s32 %d, %a, %b", 0xffffffff, 0xfffffffe, 0, 0xffffffff},
    {"div.u32 %d, %a, %b", 0xfffffffe, 0xffffffff, 0, 0x0},
    {"rem.u32 %d, %a, %b", 0xfffffffe, 0xffffffff, 0, 0xfffffffe},
    {"div.s32 %d, %a, %b", 0xfffffffe, 0xffffffff, 0, 0x2},
    {"rem.s32 %d, %a, %b", 0xfffffffe, 0xffffffff, 0, 0x0},
    {"div.u32 %d, %a, %b", 0xffffffff, 0x3, 0, 0x55555555},
    {"rem.u32 %d, %a, %b", 0xffffffff, 0x3, 0, 0x0},
    {"div.s32 %d, %a, %b", 0xffffffff, 0x3, 0, 0x0},
    {"rem.s32 %d, %a, %b", 0xffffffff, 0x3, 0, 0xffffffff},
    {"div.u32 %d, %a, %b", 0x80000000, 0xffffffff, 0, 0x0},
    {"rem.u32 %d, %a, %b", 0x80000000, 0xffffffff, 0, 0x80000000},
    {"div.s32 %d, %a, %b", 0x80000000, 0xffffffff, 0, 0x80000000},
    {"rem.s32 %d, %a, %b", 0x80000000, 0xffffffff, 0, 0x0},
    {"div.u32 %d, %a, %b", 0x80000000, 0x3, 0, 0x2aaaaaaa},
    {"rem.u32 %d, %a, %b", 0x80000000, 0x3, 0, 0x2},
    {"div.s32 %d, %a, %b", 0x80000000, 0x3, 0, 0xd5555556},
    {"rem.s32 %d, %a, %b", 0x80000000, 0x3, 0, 0xfffffffe},
    {"div.u32 %d, %a, %b", 0x7fffffff, 0x80000000, 0, 0x0},
    {"rem.u32 %d, %a, %b", 0x7fffffff, 0x80000000, 0, 0x7fffffff},
    {"div.s32 %d, %a, %b", 0x7fffffff, 0x80000000, 0, 0x0},
    {"rem.s32 %d, %a, %b", 0x7fffffff, 0x80000000, 0, 0x7fffffff},
    {"div.u32 %d, %a, %b", 0x3039, 0x0, 0, 0xffffffff},
    {"rem.u32 %d, %a, %b", 0x3039, 0x0, 0, 0x3039},
    {"div.s32 %d, %a, %b", 0x3039, 0x0, 0, 0xffffffff},
    {"rem.s32 %d, %a, %b", 0x3039, 0x0, 0, 0x3039},
    {"div.u32 %d, %a, %b", 0x80000001, 0x2, 0, 0x40000000},
    {"rem.u32 %d, %a, %b", 0x80000001, 0x2, 0, 0x1},
    {"div.s32 %d, %a, %b", 0x80000001, 0x2, 0, 0xc0000001},
    {"rem.s32 %d, %a, %b", 0x80000001, 0x2, 0, 0xffffffff},
    {"div.u32 %d, %a, %b", 0xaaaaaaaa, 0x55555555, 0, 0x2},
    {"rem.u32 %d, %a, %b", 0xaaaaaaaa, 0x55555555, 0, 0x0},
    {"div.s32 %d, %a, %b", 0xaaaaaaaa, 0x55555555, 0, 0xffffffff},
    {"rem.s32 %d, %a, %b", 0xaaaaaaaa, 0x55555555, 0, 0xffffffff},
    {"div.u32 %d, %a, %b", 0xfffffffb, 0xfffffffd, 0, 0x0},
    {"rem.u32 %d, %a, %b", 0xfffffffb, 0xfffffffd, 0, 0xfffffffb},
    {"div.s32 %d, %a, %b", 0xfffffffb, 0xfffffffd, 0, 0x1},
    {"rem.s32 %d, %a, %b", 0xfffffffb, 0xfffffffd, 0, 0xfffffffe},
    {"rem.s32 %d, %a, %b", 0xfffffff9, 2, 0, 0xffffffff},
    {"shl.b32 %d, %a, %b", 1, 32, 0, 0},
    {"shr.s32 %d, %a, %b", 0x80000000, 99, 0, 0xffffffff},
    {"shr.u64 %dl, %al, %b", 0x8000000000000000, 63, 0, 1},
    {"abs.s32 %d, %a", 0x80000000, 0, 0, 0x80000000},
    {"min.s32 %d, %a, %b", 0xffffffff, 1, 0, 0xffffffff},
    {"min.u32 %d, %a, %b", 0xffffffff, 1, 0, 1},
    {"bfe.s32 %d, %a, %b, %c", 0x00000f00, 8, 4, 0xffffffff},
    {"bfe.u32 %d, %a, %b, %c", 0xabcd1234, 4, 8, 0x23},
    {"bfe.u32 %d, %a, %b, %c", 0xabcd1234, 28, 8, 0xa},
    {"bfi.b32 %d, %a, %b, 8, 4", 0xf, 0xffff00ff, 0, 0xffff0fff},
    {"bfind.u32 %d, %a", 0, 0, 0, 0xffffffff},
    {"bfind.s32 %d, %a", 0xfffffff0, 0, 0, 3},
    {"bfind.shiftamt.u32 %d, %a", 1, 0, 0, 31},
    {"brev.b32 %d, %a", 1, 0, 0, 0x80000000},
    {"clz.b32 %d, %a", 0, 0, 0, 32},
    {"popc.b64 %d, %al", 0xff00ff00ff00ff00, 0, 0, 32},
    {"lop3.b32 %d, %a, %b, %c, 0x96", 0xff00ff00, 0xf0f0f0f0, 0xcccccccc, 0xff00ff00 ^ 0xf0f0f0f0 ^ 0xcccccccc},
    {"lop3.b32 %d, %a, %b, %c, 0xca", 0xff00ff00, 0x12345678, 0x9abcdef0, 0x12bc56f0},
    {"prmt.b32 %d, %a, %b, 0x7610", 0x33221100, 0x77665544, 0, 0x77661100},
    {"prmt.b32 %d, %a, %b, 0x9810", 0x00008070, 0, 0, 0xff008070},
    {"shf.l.wrap.b32 %d, %a, %b, 36", 0x12345678, 0x9abcdef0, 0, 0xabcdef01},
    {"shf.r.clamp.b32 %d, %a, %b, 40", 0x12345678, 0x9abcdef0, 0, 0x9abcdef0},
    {"dp4a.s32.s32 %d, %a, %b, %c", 0xff01ff02, 0x01010101, 10, 11},
    {"dp4a.u32.u32 %d, %a, %b, %c", 0xff01ff02, 0x01010101, 10, 523},
    {"cvt.pack.sat.u8.s32.b32 %d, %a, %b, %c", 300, (uint32_t)-7, 0x12345678, 0x5678ff00},
    {"cvt.pack.sat.s8.s32.b32 %d, %a, %b, %c", (uint32_t)-300, 7, 0x12345678, 0x56788007},
    {"selp.b32 %d, %a, %b, %p", 7, 8, 1, 7},
    {"add.cc.u32 %d, %a, %b; addc.u32 %d, %c, 0", 0xffffffff, 1, 5, 6},
    {"sub.cc.u32 %d, %a, %b; subc.u32 %d, %c, 0", 0, 1, 5, 4},
    {"fns.b32 %d, %a, %b, %c", 0xaa, 2, 2, 5}, /* the second one from bit 2 on: 3, 5 */
    {"fns.b32 %d, %a, %b, %c", 0xaa, 3, 1, 3},
    {"fns.b32 %d, %a, %b, %c", 0xaa, 3, 0, 3},
    {"fns.b32 %d, %a, %b, %c", 0xaa, 2, 0, 0xffffffff},
    {"fns.b32 %d, %a, %b, %c", 0xaa, 4, 0xfffffffe, 1}, /* down: 3, 1 */
    {"fns.b32 %d, %a, %b, %c", 0xaa, 0, 5, 0xffffffff},
    {"bmsk.clamp.b32 %d, %a, %b", 4, 8, 0, 0xff0},
    {"bmsk.clamp.b32 %d, %a, %b", 28, 99, 0, 0xf0000000},
    {"bmsk.clamp.b32 %d, %a, %b", 32, 1, 0, 0},
    {"bmsk.wrap.b32 %d, %a, %b", 36, 40, 0, 0xff0},
    {"szext.clamp.u32 %d, %a, %b", 0x12345678, 12, 0, 0x678},
    {"szext.clamp.s32 %d, %a, %b", 0xf8, 8, 0, 0xfffffff8},
    {"szext.clamp.s32 %d, %a, %b", 0x80000001, 40, 0, 0x80000001},
    {"szext.wrap.s32 %d, %a, %b", 0xf8, 40, 0, 0xfffffff8},
    {"vabsdiff4.u32.u32.u32 %d, %a, %b, %c", 0x05ff0280, 0x0801027f, 9, 0x03fe0001},
    {"vabsdiff4.u32.u32.u32.add %d, %a, %b, %c", 0x05ff0280, 0x0801027f, 9, 0x10b},
    {"vabsdiff4.u32.s32.s32 %d, %a, %b, %c", 0x05ff0280, 0x0801027f, 0, 0x030200ff},
    {"sub.cc.u32 %d, %a, %b; addc.u32 %d, %c, 0", 0, 1, 5, 5}, /* the bit is the adder's: set where nothing is borrowed */
    {"sub.cc.u32 %d, %a, %b; addc.u32 %d, %c, 0", 1, 1, 5, 6},
    {"sub.cc.u32 %d, %a, %b; subc.cc.u32 %d, %a, %a; subc.u32 %d, %c, 0", 0, 1, 5, 4},
    {"sub.cc.u64 %dl, %al, %bl; addc.u64 %dl, %cl, 0", 3, 2, 5, 6},
    {"mad.lo.cc.u32 %d, %a, %b, %c; madc.hi.u32 %d, %a, %b, 0", 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
    /* f32 and its roundings: 1 + 2^-24, 1 - 2^-25 */
    {"add.f32 %d, %a, %b", F(3f800000), F(33800000), 0, F(3f800000)},
    {"add.rp.f32 %d, %a, %b", F(3f800000), F(33800000), 0, F(3f800001)},
    {"add.rz.f32 %d, %a, %b", F(bf800000), F(b3800000), 0, F(bf800000)},
    {"add.rm.f32 %d, %a, %b", F(bf800000), F(b3800000), 0, F(bf800001)},
    {"div.rn.f32 %d, %a, %b", F(3f800000), F(40400000), 0, F(3eaaaaab)},
    {"div.rz.f32 %d, %a, %b", F(3f800000), F(40400000), 0, F(3eaaaaaa)},
    {"rcp.rp.f32 %d, %a", F(40400000), 0, 0, F(3eaaaaab)},
    {"sqrt.rm.f32 %d, %a", F(40000000), 0, 0, F(3fb504f3)},
    {"sqrt.rp.f32 %d, %a", F(40000000), 0, 0, F(3fb504f4)},
    {"fma.rn.f32 %d, %a, %b, %c", F(3f800001), F(3f800001), F(bf800002), F(28800000)},
    {"mul.f32 %d, %a, %b", F(00800000), F(3f000000), 0, F(00400000)},
    {"mul.ftz.f32 %d, %a, %b", F(00800000), F(3f000000), 0, 0},
    {"mul.ftz.f32 %d, %a, %b", F(80400000), F(4f000000), 0, F(80000000)},
    {"add.sat.f32 %d, %a, %b", F(3f800000), F(3f800000), 0, F(3f800000)},
    {"add.sat.f32 %d, %a, %b", F(7fc00000), F(3f800000), 0, 0},
    {"add.f32 %d, %a, %b", F(7f800000), F(ff800000), 0, F(7fffffff)},
    {"mul.f32 %d, %a, %b", F(ffc12345), F(3f800000), 0, F(7fffffff)},
    {"min.f32 %d, %a, %b", F(7fc00000), F(3f800000), 0, F(3f800000)},
    {"min.f32 %d, %a, %b", F(00000000), F(80000000), 0, F(80000000)},
    {"max.f32 %d, %a, %b", F(80000000), F(00000000), 0, F(00000000)},
    {"max.NaN.f32 %d, %a, %b", F(7fc00000), F(3f800000), 0, F(7fffffff)},
    {"neg.f32 %d, %a", F(7fc00000), 0, 0, F(ffc00000)},
    {"copysign.f32 %d, %a, %b", F(80000000), F(40000000), 0, F(c0000000)},
    {"ex2.approx.ftz.f32 %d, %a", F(40400000), 0, 0, F(41000000)},
    {"lg2.approx.f32 %d, %a", F(41000000), 0, 0, F(40400000)},
    {"rsqrt.approx.f32 %d, %a", F(40800000), 0, 0, F(3f000000)},
    {"set.lt.f32.f32 %d, %a, %b", F(3f800000), F(40000000), 0, F(3f800000)},
    {"set.gt.u32.f32 %d, %a, %b", F(3f800000), F(40000000), 0, 0},
    /* f64 */
    {"add.rm.f64 %dl, %al, %bl", 0x3ff0000000000000, 0xbc30000000000000, 0, 0x3fefffffffffffff},
    {"add.rn.f64 %dl, %al, %bl", 0x3ff0000000000000, 0xbc30000000000000, 0, 0x3ff0000000000000},
    {"sqrt.rn.f64 %dl, %al", 0xbff0000000000000, 0, 0, 0x7ff8000000000000},
    {"mul.rz.f64 %dl, %al, %bl", 0x7fe0000000000000, 0x4000000000000000, 0, 0x7fefffffffffffff},
    {"rcp.approx.ftz.f64 %dl, %al", 0x4000000000000000, 0, 0, 0x3fe0000000000000},
    /* conversions */
    {"cvt.rni.s32.f32 %d, %a", F(40200000), 0, 0, 2},
    {"cvt.rni.s32.f32 %d, %a", F(40600000), 0, 0, 4},
    {"cvt.rzi.s32.f32 %d, %a", F(bfe66666), 0, 0, 0xffffffff},
    {"cvt.rmi.s32.f32 %d, %a", F(bf8ccccd), 0, 0, 0xfffffffe},
    {"cvt.rpi.s32.f32 %d, %a", F(3f8ccccd), 0, 0, 2},
    {"cvt.rzi.s32.f32 %d, %a", F(7fc00000), 0, 0, 0},
    {"cvt.rzi.s32.f32 %d, %a", F(4f800000), 0, 0, 0x7fffffff},
    {"cvt.rzi.u32.f32 %d, %a", F(bf800000), 0, 0, 0},
    {"cvt.rzi.u64.f64 %dl, %al", 0x43f0000000000000, 0, 0, 0xffffffffffffffff},
    {"cvt.rn.f32.s64 %d, %al", 0x7fffffffffffffff, 0, 0, F(5f000000)},
    {"cvt.rz.f32.u32 %d, %a", 0xffffffff, 0, 0, F(4f7fffff)},
    {"cvt.rp.f32.s32 %d, %a", 0x01000001, 0, 0, F(4b800001)},
    {"cvt.rn.f32.f64 %d, %al", 0x7ff0000000000001, 0, 0, F(7fffffff)},
    {"cvt.rn.f32.f64 %d, %al", 0x47f0000000000000, 0, 0, F(7f800000)},
    {"cvt.rz.f32.f64 %d, %al", 0x47f0000000000000, 0, 0, F(7f7fffff)},
    {"cvt.rn.f32.f64 %d, %al", 0x3690000000000001, 0, 0, 1},
    {"cvt.f64.f32 %dl, %a", F(00000001), 0, 0, 0x36a0000000000000},
    {"cvt.rni.f32.f32 %d, %a", F(c0200000), 0, 0, F(c0000000)},
    {"cvt.sat.f32.f32 %d, %a", F(40000000), 0, 0, F(3f800000)},
    {"cvt.s32.s8 %d, %a", 0x80, 0, 0, 0xffffff80},
    {"cvt.u32.u8 %d, %a", 0x1ff, 0, 0, 0xff},
    {"cvt.sat.u8.s32 %d, %a", 0xffffffff, 0, 0, 0},
    {"cvt.sat.s8.s32 %d, %a", 300, 0, 0, 127},
    {"cvt.s64.s16 %dl, %ah", 0x8000, 0, 0, 0xffffffffffff8000},
    /* 16-bit floats: 1 + 2^-11 is a tie, 65520 overflows, subnormals */
    {"cvt.rn.f16.f32 %dh, %a; cvt.u32.u16 %d, %dh", F(3f801000), 0, 0, 0x3c00},
    {"cvt.rn.f16.f32 %dh, %a; cvt.u32.u16 %d, %dh", F(3f803000), 0, 0, 0x3c02},
    {"cvt.rn.f16.f32 %dh, %a; cvt.u32.u16 %d, %dh", F(477ff000), 0, 0, 0x7c00},
    {"cvt.rn.f16.f32 %dh, %a; cvt.u32.u16 %d, %dh", F(33800000), 0, 0, 0x0001},
    {"cvt.rn.bf16.f32 %dh, %a; cvt.u32.u16 %d, %dh", F(3f808000), 0, 0, 0x3f80},
    {"cvt.rn.bf16.f32 %dh, %a; cvt.u32.u16 %d, %dh", F(3f818000), 0, 0, 0x3f82},
    {"cvt.rn.f16x2.f32 %d, %a, %b", F(3f800000), F(40000000), 0, 0x3c004000},
    {"cvt.f32.f16 %d, %ah", 0x0001, 0, 0, F(33800000)},
    {"cvt.f32.f16 %d, %ah", 0xfc00, 0, 0, F(ff800000)},
    {"add.rn.f16x2 %d, %a, %b", 0x3c007bff, 0x3c007bff, 0, 0x40007c00},
    {"fma.rn.f16x2 %d, %a, %b, %c", 0x3c013c01, 0x3c013c01, 0xbc02bc00, 0x00101800},
    {"max.bf16x2 %d, %a, %b", 0x3f80bf80, 0x4000c000, 0, 0x4000bf80},
    {"setp.lt.f16 %p, %ah, %bh; selp.u32 %d, 1, 0, %p", 0x8000, 0x0000, 0, 0},
    {"set.lt.f16.f16 %dh, %ah, %bh; cvt.u32.u16 %d, %dh", 0x3c00, 0x4000, 0, 0x3c00},
    {"set.gtu.f16.f16 %dh, %ah, %bh; cvt.u32.u16 %d, %dh", 0x3c00, 0x7e00, 0, 0x3c00},
    {"set.ne.f16.f16 %dh, %ah, %bh; cvt.u32.u16 %d, %dh", 0x3c00, 0x7e00, 0, 0},
    {"set.eq.ftz.f16.f16 %dh, %ah, %bh; cvt.u32.u16 %d, %dh", 0x0001, 0x8002, 0, 0x3c00},
    {"set.eq.f16.f16 %dh, %ah, %bh; cvt.u32.u16 %d, %dh", 0x0001, 0x8002, 0, 0},
    {"set.ge.bf16.bf16 %dh, %ah, %bh; cvt.u32.u16 %d, %dh", 0x3f80, 0x3f80, 0, 0x3f80},
    {"set.nan.u16.bf16 %dh, %ah, %bh; cvt.u32.u16 %d, %dh", 0x3f80, 0x7fc0, 0, 0xffff},
    {"set.num.ftz.u32.f16 %d, %ah, %bh", 0x3c00, 0x3c00, 0, 0xffffffff},
    {"set.lt.f16x2.f16x2 %d, %a, %b", 0x3c004000, 0x40003c00, 0, 0x3c000000},
    {"set.lt.xor.bf16x2.bf16x2 %d, %a, %b, %p", 0x3f804000, 0x40003f80, 1, 0x00003f80},
    {"setp.lt.f16x2 %p|%q, %a, %b; selp.u32 %d, 1, 0, %p; selp.u32 %e, 2, 0, %q; add.u32 %d, %d, %e", 0x3c004000, 0x40003c00, 0, 2},
    {"setp.lt.ftz.f16 %p|%q, %ah, %bh; selp.u32 %d, 1, 0, %p; selp.u32 %e, 2, 0, %q; add.u32 %d, %d, %e", 0x0001, 0x0002, 0, 2},
    {"setp.eq.and.bf16x2 %p|%q, %a, %b, !%p; selp.u32 %d, 1, 0, %p; selp.u32 %e, 2, 0, %q; add.u32 %d, %d, %e", 0x3f803f80, 0x3f803f80, 0, 3},
    {"fma.rn.relu.f16x2 %d, %a, %b, %c", 0x3c00bc00, 0x3c003c00, 0, 0x3c000000},
    {"fma.rn.relu.bf16 %dh, %ah, %bh, %ch; cvt.u32.u16 %d, %dh", 0xbf80, 0x3f80, 0x7fc0, 0x7fff},
    {"cvt.rn.relu.f16.f32 %dh, %a; cvt.u32.u16 %d, %dh", F(bf800000), 0, 0, 0},
    {"cvt.rz.relu.bf16x2.f32 %d, %a, %b", F(3f818fff), F(c0000000), 0, 0x3f810000},
    {"cvt.rna.tf32.f32 %d, %a", F(3f801000), 0, 0, F(3f802000)},
    {"cvt.rna.tf32.f32 %d, %a", F(bf800fff), 0, 0, F(bf800000)},
    {"cvt.rn.tf32.f32 %d, %a", F(3f801000), 0, 0, F(3f800000)},
    {"cvt.rn.tf32.f32 %d, %a", F(3f803000), 0, 0, F(3f804000)},
    {"cvt.rn.tf32.f32 %d, %a", F(7f7fffff), 0, 0, F(7f800000)},
    {"cvt.rz.tf32.f32 %d, %a", F(3f803fff), 0, 0, F(3f802000)},
    {"cvt.rn.relu.tf32.f32 %d, %a", F(bf803000), 0, 0, 0},
    /* halves of words, choices, bytes by mode */
    {"add.u16x2 %d, %a, %b", 0xffff0001, 0x00020003, 0, 0x00010004},
    {"min.s16x2 %d, %a, %b", 0xffff0005, 0x00010003, 0, 0xffff0003},
    {"max.u16x2 %d, %a, %b", 0xffff0005, 0x00010007, 0, 0xffff0007},
    {"max.relu.s16x2 %d, %a, %b", 0xfffffff5, 0x8001fff7, 0, 0},
    {"min.relu.s32 %d, %a, %b", 5, 0xfffffff0, 0, 0},
    {"slct.b32.s32 %d, %a, %b, %c", 7, 8, 0, 7},
    {"slct.u64.s32 %dl, %al, %bl, %c", 7, 8, 0x80000000, 8},
    {"slct.f32.f32 %d, %a, %b, %c", 7, 8, F(80000000), 7},
    {"slct.f32.f32 %d, %a, %b, %c", 7, 8, F(7fc00000), 8},
    {"slct.ftz.b16.f32 %dh, %ah, %bh, %c; cvt.u32.u16 %d, %dh", 7, 8, F(80000001), 7},
    {"prmt.b32.f4e %d, %a, %b, %c", 0x33221100, 0x77665544, 3, 0x66554433},
    {"prmt.b32.b4e %d, %a, %b, %c", 0x33221100, 0x77665544, 1, 0x66770011},
    {"prmt.b32.rc8 %d, %a, %b, %c", 0x33221100, 0, 6, 0x22222222},
    {"prmt.b32.ecl %d, %a, %b, %c", 0x33221100, 0, 2, 0x33222222},
    {"prmt.b32.ecr %d, %a, %b, %c", 0x33221100, 0, 1, 0x11111100},
    {"prmt.b32.rc16 %d, %a, %b, %c", 0x33221100, 0, 3, 0x33223322},
    {"ld.param.L2::128B.u32 %d, [pa]; prefetchu.L1 [%o]; pmevent 1", 9, 0, 0, 9},
    {"setp.lt.and.u32 %p|%q, %a, %b, %p; selp.u32 %d, 1, 0, %q", 5, 3, 1, 1},
    {"setp.neu.f32 %p, %a, %a; selp.u32 %d, 1, 0, %p", F(7fc00000), 0, 0, 1},
    {"setp.ne.f32 %p, %a, %a; selp.u32 %d, 1, 0, %p", F(7fc00000), 0, 0, 0},
    {"testp.subnormal.f32 %p, %a; selp.u32 %d, 1, 0, %p", F(00000001), 0, 0, 1},
    {"mov.b64 {%d, %e}, %al; mov.b64 %dl, {%e, %d}", 0x1111111122222222, 0, 0, 0x2222222211111111},
};

static const char head[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 out, .param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u32 lanes) {\n"
    " .reg .pred %p, %q, %r;\n .reg .b16 %ah, %bh, %ch, %dh;\n .reg .b32 %a, %b, %c, %d, %e, %t;\n .reg .b64 %al, %bl, %cl, %dl, %o, %i;\n"
    " ld.param.u64 %al, [pa]; ld.param.u64 %bl, [pb]; ld.param.u64 %cl, [pc]; ld.param.u64 %o, [out];\n"
    " cvt.u32.u64 %a, %al; cvt.u32.u64 %b, %bl; cvt.u32.u64 %c, %cl; cvt.u16.u32 %ah, %a; cvt.u16.u32 %bh, %b; cvt.u16.u32 %ch, %c;\n"
    " mov.u32 %t, %laneid; mul.wide.u32 %i, %t, 8; add.u64 %o, %o, %i; setp.ne.u32 %p, %c, 0;\n"
    " mov.b64 %dl, 0; mov.b32 %d, 0;\n ld.param.u32 %e, [lanes]; shr.u32 %e, %e, %t; and.b32 %e, %e, 1; setp.eq.u32 %r, %e, 0;\n @%r exit;\n ";

static void run_case(const opcode_case *c, tess_isa isa) {
    vgpu_bench b;
    char text[4096];
    uint64_t got[32];
    bool wide = strstr(c->ptx, "%dl") != NULL;
    snprintf(text, sizeof text, "%s%s;\n%s st.global.u64 [%%o], %%dl;\n}\n", head, c->ptx, wide ? "" : " cvt.u64.u32 %dl, %d;\n");
    vgpu_begin(&b, text, isa, 1);
    uint64_t out = vgpu_array(&b, NULL, sizeof got);
    for (int k = 0; k < 2; k++) {
        uint32_t lanes = k ? 1u << 5 : 0xffffffffu;
        assert_tess_ok(tess_vgpu_fill(b.machine, out, 0x77, sizeof got));
        VGPU_PARAM(&b, uint64_t, out);
        VGPU_PARAM(&b, uint64_t, c->a);
        VGPU_PARAM(&b, uint64_t, c->b);
        VGPU_PARAM(&b, uint64_t, c->c);
        VGPU_PARAM(&b, uint32_t, lanes);
        vgpu_launch(&b, "k", (tess_vgpu_launch_options){.block = {32}});
        vgpu_no_faults(&b);
        vgpu_fetch(&b, got, out, sizeof got);
        for (int l = 0; l < 32; l++) {
            uint64_t want = lanes >> l & 1 ? c->want : 0x7777777777777777;
            if (got[l] != want)
                fail_msg("%s with %llx, %llx, %llx: lane %d has %llx, not %llx", c->ptx, (unsigned long long)c->a, (unsigned long long)c->b,
                         (unsigned long long)c->c, l, (unsigned long long)got[l], (unsigned long long)want);
        }
    }
    vgpu_end(&b);
}

static void test_opcodes(void **state) {
    (void)state;
    static const tess_isa sets[] = {TESS_ISA_BASELINE, TESS_ISA_AVX2, TESS_ISA_AVX512, TESS_ISA_NEON};
    static const tess_isa_slot slots[] = {TESS_SLOT_BASELINE, TESS_SLOT_AVX2, TESS_SLOT_AVX512, TESS_SLOT_NEON};
    for (int s = 0; s < 4; s++)
        for (int i = 0; i < TESS_COUNT(cases) && tess_cpu_has_slot(slots[s]); i++)
            run_case(&cases[i], sets[s]);
}

static void test_refusals(void **state) {
    (void)state;
    static const struct {
        const char *body, *says;
    } wrong[] = {
        {"frobnicate.u32 %a, %b;", "line 5, column 1, at \"frobnicate\""},
        {"add.u33 %a, %b, %c;", "line 5, column 5, at \"u33\""},
        {"add.u32 %a, %zz, %c;", "there is no register \"%zz\""},
        {"add.u32 %a, %b;", "at \"add.u32\": 2 operands are too few"},
        {"add.u32 %a, %b, %c, %c;", "too many"},
        {"add.u32 %l, %b, %c;", "32 bits into a register of 64"},
        {"add.u64 %l, %b, %l;", "an operand of 32 bits where 64 are needed"},
        {"add.u32 %p, %b, %c;", "a predicate and a number"},
        {"add.f32.u32 %a, %b, %c;", "this form of the opcode is not supported"},
        {"bra nowhere;", "there is no label \"nowhere\""},
        {"L: L: bra L;", "twice"},
        {"call f;", "there is no function \"f\""},
        {"ld.global.u32 %a, [%h];", "an address register has 32 or 64 bits"},
        {"ld.global.v2.u32 %a, [%l];", "1 registers for a vector of 2"},
        {"st.const.u32 [%l], %a;", "constant memory cannot be written"},
        {"st.param.u32 [x], %a;", "cannot be written"},
        {"ld.param.u64 %l, [x+4];", "outside the 4 bytes of parameters"},
        {"mov.u32 %a, 0f12;", "is not a number"},
        {"mov.u32 %a, 99999999999999999999;", "is not a number"},
        {"wgmma.fence.sync.aligned;", "not an opcode that is supported"},
        {"tex.2d.v4.f32.f32 {%a,%a,%a,%a}, [x, {%b,%c}];", "not an opcode that is supported"},
        {"add.u32 %a, %b, %c", "',' or ';' was expected"},
        {"@%a add.u32 %a, %b, %c;", "the guard is not a predicate register"},
        {".frob 3;", "not supported inside a function"},
        {"bar.red.popc.u32 %a, 0;", "three or four operands"},
    };
    tess_vgpu_machine *machine;
    assert_tess_ok(tess_vgpu_open(&machine, NULL));
    for (int i = 0; i < TESS_COUNT(wrong); i++) {
        char text[1024];
        tess_vgpu_module *module = (tess_vgpu_module *)&module;
        snprintf(text, sizeof text,
                 ".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u32 x) { .reg .b16 %%h; .reg .b32 %%a, %%b, %%c; .reg .b64 %%l; "
                 ".reg .pred %%p;\n%s\n}\n",
                 wrong[i].body);
        assert_tess_fails(tess_vgpu_load(machine, text, &module), TESS_ERR_ARGUMENT);
        assert_null(module);
        if (!strstr(tess_detail(), wrong[i].says) || !strstr(tess_detail(), "PTX line "))
            fail_msg("%s: \"%s\" does not say \"%s\"", wrong[i].body, tess_detail(), wrong[i].says);
    }
    tess_vgpu_close(machine);
}

/* What one function needs and is not there leaves the others usable; who calls it cannot run either. Kernels of the machine: used() calls the function,
 * table() holds a pointer to it, which is found when it is called. */
static void test_refused_alone(void **state) {
    (void)state;
    static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                               ".func (.param .b32 r) bad(.param .b32 x) {\n.reg .b32 %a;\n.loc 1 7 3\n{ tex.2d.v4.f32.f32 {%a, %a,\n%a, %a}, [%a, "
                               "{%a, %a}]; // }\n}\nret;\n}\n"
                               ".global .align 8 .u64 held[1] = { bad };\n"
                               ".entry good(.param .u64 p) { .reg .b64 %l; ld.param.u64 %l, [p]; st.global.u32 [%l], 5; ret; }\n"
                               ".entry form(.param .u64 p) { .reg .b32 %a;\n.loc 1 12 3\nadd.f32.u32 %a, %a, %a; ret; }\n"
                               ".entry used(.param .u64 p) { .param .b32 a, b; call (a), bad, (b); ret; }\n"
                               ".entry table(.param .u64 p) { .reg .b64 %l; .param .b32 a, b; st.param.u32 [b], 1; ld.global.u64 %l, [held]; call "
                               "(a), %l, (b), proto; ret; }\n"
                               ".file 1 \"kernels.cu\"\n";
    static const struct {
        const char *kernel, *says;
    } refused[] = {
        {"form", "form cannot run here: kernels.cu:12, PTX line 16, column 1, at \"add.f32.u32\": this form of the opcode is not supported"},
        {"used", "used cannot run here: kernels.cu:7, PTX line 7, column 3, at \"tex\": not an opcode that is supported (textures)"}};
    vgpu_bench b;
    uint32_t got = 0;
    vgpu_begin(&b, text, TESS_ISA_AUTO, 1);
    uint64_t at = vgpu_array(&b, NULL, 4);
    for (int i = 0; i < TESS_COUNT(refused); i++) {
        tess_vgpu_run *run;
        tess_vgpu_launch_options options = {.params = &at, .param_bytes = 8};
        assert_tess_fails(tess_vgpu_launch(b.module, refused[i].kernel, &options, &run), TESS_ERR_ARGUMENT);
        assert_string_equal(tess_detail(), refused[i].says);
    }
    VGPU_PARAM(&b, uint64_t, at);
    vgpu_launch(&b, "table", (tess_vgpu_launch_options){.block = {1}});
    assert_int_equal(tess_vgpu_fault_count(b.run), 1);
    assert_non_null(strstr(tess_vgpu_fault_at(b.run, 0)->message, "call of bad, which cannot run here: PTX line 7"));
    VGPU_PARAM(&b, uint64_t, at);
    vgpu_launch(&b, "good", (tess_vgpu_launch_options){.block = {1}});
    vgpu_no_faults(&b);
    vgpu_fetch(&b, &got, at, 4);
    assert_int_equal(got, 5);
    vgpu_end(&b);
}

/* Code of headers counts for the line of the program that used it, through several headers, too. */
static void test_inlined_lines(void **state) {
    (void)state;
    static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 p) {\n.reg .b32 %a;\n"
                               ".loc 1 5 1\nmov.u32 %a, 1;\n"
                               ".loc 2 100 4, function_name $L1, inlined_at 1 6 9\nmov.u32 %a, 2;\n"
                               ".loc 3 40 2, function_name $L2, inlined_at 2 100 4\nmov.u32 %a, 3;\n"
                               ".loc 3 50 2, function_name $L2+7, inlined_at 3 40 2\nmov.u32 %a, 4;\n"
                               ".loc 2 100 4, function_name $L1, inlined_at 1 8 9\nmov.u32 %a, 5;\n"
                               ".loc 3 40 2, function_name $L2, inlined_at 2 100 4\nmov.u32 %a, 6;\n"
                               "ret;\n}\n.file 1 \"k.cu\"\n.file 2 \"one.h\"\n.file 3 \"two.h\"\n";
    static const int lines[] = {5, 6, 6, 6, 8, 8, 8};
    vgpu_bench b;
    tess_vgpu_line line;
    int count = 0;
    vgpu_begin(&b, text, TESS_ISA_AUTO, 1);
    VGPU_PARAM(&b, uint64_t, 0);
    vgpu_launch(&b, "k", (tess_vgpu_launch_options){.block = {1}, .count = true});
    for (; tess_vgpu_line_at(b.run, count, &line); count++) {
        assert_true(count < TESS_COUNT(lines));
        assert_int_equal(line.source_line, lines[count]);
        assert_true(line.file_length == 4 && memcmp(line.file, "k.cu", 4) == 0);
    }
    assert_int_equal(count, TESS_COUNT(lines));
    vgpu_end(&b);
}

/* Every beginning of a good module, and the module with each of its bytes spoilt in turn, is either read or refused: nothing is read or written outside. */
static void test_spoilt(void **state) {
    (void)state;
    char *text = vgpu_read("faults.sm_90.ptx");
    size_t size = strlen(text) < 3000 ? strlen(text) : 3000;
    uint64_t random = 11;
    int read = 0;
    tess_vgpu_machine *machine;
    assert_tess_ok(tess_vgpu_open(&machine, NULL));
    text[size] = 0;
    for (size_t i = 0; i < 2 * size; i += 3) {
        char *copy = strdup(text);
        tess_vgpu_module *module;
        if (i < size)
            copy[i] = 0;
        else
            copy[i - size] = (char)hostile_between(&random, 32, 126);
        if (tess_vgpu_load(machine, copy, &module) == TESS_OK)
            read++;
        tess_vgpu_unload(module);
        free(copy);
    }
    assert_true(read > 0);
    tess_vgpu_close(machine);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_opcodes), cmocka_unit_test(test_refusals), cmocka_unit_test(test_refused_alone),
                                       cmocka_unit_test(test_inlined_lines), cmocka_unit_test(test_spoilt)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
