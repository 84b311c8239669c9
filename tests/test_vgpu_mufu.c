/* SPDX-License-Identifier: Apache-2.0
 * test_vgpu_mufu.c - .approx and .full operations give the bits of an H200. What the card gave (driver 580, CUDA 13.0, 2026-11-20) is kept as FNV hashes over
 * the results' words: powers of two swept through all their fractions or every 61st, and the same random bit patterns through every operation.
 * tests/ptx/card/mufu_sweep.cu prints these tables on a card. */
#include "vgpu.h"
#include "vgpu/mufu.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WHOLE_SWEEPS 0 /* ten times slower there, and arithmetic has nothing to find */
#else
#define WHOLE_SWEEPS 1
#endif

static const char *name(int op) {
    static const char *const mnemonics[] = {
#define OP(name, mnemonic, operands, flow, semantics) mnemonic,
#include "vgpu/ptx.def"
    };
    return mnemonics[op];
}

static uint64_t fnv(uint64_t hash, uint32_t word) { return (hash ^ word) * 0x100000001b3u; }
static const uint64_t start_of_hash = 0xcbf29ce484222325u;

static uint32_t bits(float x) {
    uint32_t u;
    memcpy(&u, &x, 4);
    return u;
}
static float number(uint32_t u) {
    float x;
    memcpy(&x, &u, 4);
    return x;
}

/* From `first` on, so many powers of two, every so many-th fraction; .ftz but for tanh. */
static const struct {
    int op;
    uint32_t first;
    int binades;
    uint32_t step;
    uint64_t hash;
} sweeps[] = {
    {PTX_OP_RCP, 0x3f800000, 1, 1, 0xfa72a6c698274964},   {PTX_OP_RSQRT, 0x3f800000, 2, 1, 0xbdf1cb386ee78bc2},
    {PTX_OP_SQRT, 0x3f800000, 2, 1, 0x50712c001bd4eb00},  {PTX_OP_EX2, 0x32800000, 1, 61, 0xc3beec2c7e464507},
    {PTX_OP_EX2, 0x33000000, 1, 61, 0xc3beec2c7e464507},  {PTX_OP_EX2, 0x33800000, 1, 61, 0xc3beec2c7e464507},
    {PTX_OP_EX2, 0x34000000, 1, 61, 0x9de3383f7ed20f16},  {PTX_OP_EX2, 0x34800000, 1, 61, 0x54bbee080596d7ac},
    {PTX_OP_EX2, 0x35000000, 1, 61, 0xc1f5cc23b31fda06},  {PTX_OP_EX2, 0x35800000, 1, 61, 0x1b1f3d331e549834},
    {PTX_OP_EX2, 0x36000000, 1, 61, 0xa0e0002149ae8e92},  {PTX_OP_EX2, 0x36800000, 1, 61, 0x53d734c010c5f317},
    {PTX_OP_EX2, 0x37000000, 1, 61, 0x4bb0de238277179f},  {PTX_OP_EX2, 0x37800000, 1, 61, 0x4aef1899a8ce96ad},
    {PTX_OP_EX2, 0x38000000, 1, 61, 0x522befaeb23086fb},  {PTX_OP_EX2, 0x38800000, 1, 61, 0xe0c270234df12515},
    {PTX_OP_EX2, 0x39000000, 1, 61, 0x4be2fadb7009bfa0},  {PTX_OP_EX2, 0x39800000, 1, 61, 0x1809c8883e8585b3},
    {PTX_OP_EX2, 0x3a000000, 1, 61, 0x76b1a3aeb83bb074},  {PTX_OP_EX2, 0x3a800000, 1, 61, 0xf05efaae3afd7be7},
    {PTX_OP_EX2, 0x3b000000, 1, 61, 0xd97df6de9c4e92ee},  {PTX_OP_EX2, 0x3b800000, 1, 61, 0xc4b329af78f03ff1},
    {PTX_OP_EX2, 0x3c000000, 1, 61, 0x572b6834210cc912},  {PTX_OP_EX2, 0x3c800000, 1, 61, 0x20d9f2b1e1e4564b},
    {PTX_OP_EX2, 0x3d000000, 1, 61, 0x40fb4d10a19c89ab},  {PTX_OP_EX2, 0x3d800000, 1, 61, 0xaa1c028a12dd207c},
    {PTX_OP_EX2, 0x3e000000, 1, 61, 0x57bbe925842930d6},  {PTX_OP_EX2, 0x3e800000, 1, 61, 0x7eae12b0805875fa},
    {PTX_OP_EX2, 0x3f000000, 1, 61, 0x35da063c756e744d},  {PTX_OP_EX2, 0x3f800000, 1, 1, 0x3f0f3852f2fa7edb},
    {PTX_OP_EX2, 0x40000000, 1, 61, 0x72fb172c2c83f2a6},  {PTX_OP_EX2, 0x40800000, 1, 61, 0x530bd59b7b53c397},
    {PTX_OP_EX2, 0x41000000, 1, 61, 0xa9188012d5631e03},  {PTX_OP_EX2, 0x41800000, 1, 61, 0x33bfe7038704e889},
    {PTX_OP_EX2, 0x42000000, 1, 61, 0xe1fadd90acbaf79a},  {PTX_OP_EX2, 0x42800000, 1, 61, 0x0e8140dd84bc4e01},
    {PTX_OP_EX2, 0x43000000, 1, 61, 0x5012efe5be464507},  {PTX_OP_EX2, 0xbd800000, 1, 61, 0x80f2d3a979e48e12},
    {PTX_OP_EX2, 0xbe000000, 1, 61, 0x1e2d551b0d5e026f},  {PTX_OP_EX2, 0xbe800000, 1, 61, 0x47c20786a337706f},
    {PTX_OP_EX2, 0xbf000000, 1, 61, 0x6b0a1360911fc415},  {PTX_OP_EX2, 0xbf800000, 1, 61, 0x50832691a6c9de00},
    {PTX_OP_EX2, 0xc0000000, 1, 61, 0x55db26518dcb2209},  {PTX_OP_EX2, 0xc0800000, 1, 61, 0x1cfda5fa21b6f05e},
    {PTX_OP_EX2, 0xc1000000, 1, 61, 0x603409bf5f050d03},  {PTX_OP_EX2, 0xc1800000, 1, 61, 0xb406872a96e9ba37},
    {PTX_OP_EX2, 0xc2000000, 1, 61, 0xd3045f3da53bac1b},  {PTX_OP_EX2, 0xc2800000, 1, 61, 0x2c9f157118bfc4c7},
    {PTX_OP_EX2, 0xc3000000, 1, 61, 0x8a85e7cb25c64507},  {PTX_OP_LG2, 0x3e800000, 1, 61, 0x4c6b33ee342bb538},
    {PTX_OP_LG2, 0x3f000000, 1, 61, 0x41cb81be184cc6b9},  {PTX_OP_LG2, 0x3f800000, 1, 1, 0x5ca43d6b0d176848},
    {PTX_OP_LG2, 0x40000000, 1, 61, 0x25de0e2634322e3b},  {PTX_OP_LG2, 0x40800000, 1, 61, 0x489a8daf8e71f84c},
    {PTX_OP_LG2, 0x50000000, 1, 61, 0x39a5f058a9431a67},  {PTX_OP_SIN, 0x38800000, 1, 61, 0x3ea8037894fd9acc},
    {PTX_OP_SIN, 0x39000000, 1, 61, 0xbd9818c2b2aaee1e},  {PTX_OP_SIN, 0x39800000, 1, 61, 0x826dda64cfaf38ab},
    {PTX_OP_SIN, 0x3a000000, 1, 61, 0xef7fd81f9f5756fd},  {PTX_OP_SIN, 0x3a800000, 1, 61, 0xa2934f1c43b75585},
    {PTX_OP_SIN, 0x3b000000, 1, 61, 0x5acd1d2fa9666e90},  {PTX_OP_SIN, 0x3b800000, 1, 61, 0x6ddd04bfe3c5cf71},
    {PTX_OP_SIN, 0x3c000000, 1, 61, 0xb1aced51daf85f50},  {PTX_OP_SIN, 0x3c800000, 1, 61, 0x656f37d1516622b8},
    {PTX_OP_SIN, 0x3d000000, 1, 61, 0x0ca31ada8e971960},  {PTX_OP_SIN, 0x3d800000, 1, 61, 0x2736b11c3d8dbd58},
    {PTX_OP_SIN, 0x3e000000, 1, 61, 0x67fd757fbed4d22b},  {PTX_OP_SIN, 0x3e800000, 1, 61, 0xd8c06daa36e4a299},
    {PTX_OP_SIN, 0x3f000000, 1, 61, 0xcf1f7097b9d4deb3},  {PTX_OP_SIN, 0x3f800000, 1, 1, 0xffc89f2c26d596ea},
    {PTX_OP_SIN, 0x40000000, 1, 61, 0xead06c25b57a7ce9},  {PTX_OP_SIN, 0x40800000, 1, 61, 0xf735b2fb326a191d},
    {PTX_OP_SIN, 0x41000000, 1, 61, 0x9c5b6d1fd66f6d69},  {PTX_OP_SIN, 0x41800000, 1, 61, 0x4aae971736b12255},
    {PTX_OP_SIN, 0x42000000, 1, 61, 0x74209eb7e8190681},  {PTX_OP_SIN, 0x42800000, 1, 61, 0x642b2c1a9486f083},
    {PTX_OP_SIN, 0x43000000, 1, 61, 0xe9f818ce29b4490c},  {PTX_OP_COS, 0x38800000, 1, 61, 0x1e283e11331cf31c},
    {PTX_OP_COS, 0x39000000, 1, 61, 0x30ce4ef512032ebd},  {PTX_OP_COS, 0x39800000, 1, 61, 0x84073be70209ef06},
    {PTX_OP_COS, 0x3a000000, 1, 61, 0xb29ad9e3fa344c6b},  {PTX_OP_COS, 0x3a800000, 1, 61, 0x64d685512e89ac07},
    {PTX_OP_COS, 0x3b000000, 1, 61, 0x7289962a66999cfa},  {PTX_OP_COS, 0x3b800000, 1, 61, 0x69a16c1adc35968e},
    {PTX_OP_COS, 0x3c000000, 1, 61, 0x447d9e9d489301c4},  {PTX_OP_COS, 0x3c800000, 1, 61, 0x5f38ea37272077ea},
    {PTX_OP_COS, 0x3d000000, 1, 61, 0x60aa90e19846b740},  {PTX_OP_COS, 0x3d800000, 1, 61, 0x97a4117b4f246e92},
    {PTX_OP_COS, 0x3e000000, 1, 61, 0x7025f03c18c857c0},  {PTX_OP_COS, 0x3e800000, 1, 61, 0x37cbe167f70bb600},
    {PTX_OP_COS, 0x3f000000, 1, 61, 0x1e3e14ebe765f360},  {PTX_OP_COS, 0x3f800000, 1, 61, 0xfbd502240c5661c9},
    {PTX_OP_COS, 0x40000000, 1, 61, 0xf7765484a117c6e9},  {PTX_OP_COS, 0x40800000, 1, 61, 0x5dba363457c6e2a3},
    {PTX_OP_COS, 0x41000000, 1, 61, 0x3f4c41189ffa0813},  {PTX_OP_COS, 0x41800000, 1, 61, 0xe0b1f4eb1771b5e5},
    {PTX_OP_COS, 0x42000000, 1, 61, 0x6213f013418b8a06},  {PTX_OP_COS, 0x42800000, 1, 61, 0xd8beaf9862b1a8c6},
    {PTX_OP_COS, 0x43000000, 1, 61, 0x5ad113e5cdfe2c02},  {PTX_OP_TANH, 0x38800000, 1, 61, 0x4b413ea6439260a4},
    {PTX_OP_TANH, 0x39000000, 1, 61, 0xca7bd3a4b51260a4}, {PTX_OP_TANH, 0x39800000, 1, 61, 0x898df1825a9260a4},
    {PTX_OP_TANH, 0x3a000000, 1, 61, 0x9f0aaab1201260a4}, {PTX_OP_TANH, 0x3a800000, 1, 61, 0x554a938fcd9260a4},
    {PTX_OP_TANH, 0x3b000000, 1, 61, 0x797e4925471260a4}, {PTX_OP_TANH, 0x3b800000, 1, 61, 0x77ee4b5e179b3fcc},
    {PTX_OP_TANH, 0x3c000000, 1, 61, 0x68a43388ce85deae}, {PTX_OP_TANH, 0x3c800000, 1, 61, 0xa4e047617ef3db06},
    {PTX_OP_TANH, 0x3d000000, 1, 61, 0x05fa251e76db7ec1}, {PTX_OP_TANH, 0x3d800000, 1, 61, 0xd464170e4646a04d},
    {PTX_OP_TANH, 0x3e000000, 1, 61, 0xb987dbd4988fcae0}, {PTX_OP_TANH, 0x3e800000, 1, 61, 0xe5151aef0572e266},
    {PTX_OP_TANH, 0x3f000000, 1, 1, 0xecb8e846da554505},  {PTX_OP_TANH, 0x3f800000, 1, 1, 0x84573e3df0ccdcc5},
    {PTX_OP_TANH, 0x40000000, 1, 1, 0xbfc31f94c1f848c5},  {PTX_OP_TANH, 0x40800000, 1, 61, 0x5f56cb76286ac997},
    {PTX_OP_TANH, 0x41000000, 1, 61, 0xc3beec2c7e464507}, {PTX_OP_TANH, 0x41800000, 1, 61, 0xc3beec2c7e464507},
};

static void test_sweeps(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof sweeps / sizeof *sweeps; i++) {
        if (sweeps[i].step == 1 && !WHOLE_SWEEPS)
            continue;
        uint64_t hash = start_of_hash;
        for (uint32_t k = 0; k < (uint32_t)sweeps[i].binades << 23; k += sweeps[i].step)
            hash = fnv(hash, bits(tess_vgpu_approx(sweeps[i].op, number(sweeps[i].first + k), true)));
        if (hash != sweeps[i].hash)
            fail_msg("%s from %08x: not the card's results", name(sweeps[i].op), sweeps[i].first);
    }
}

/* The first 65536 of 2^18 are every upper half of a float, the others a xorshift generator's upper words; 2^18 more are divisors. */
enum { PATTERNS = 1 << 18 };
static uint32_t patterns[2 * PATTERNS];
static void make_patterns(void) {
    uint64_t s = 88172645463325252u;
    for (uint32_t i = 0; i < 2 * PATTERNS; i++) {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        patterns[i] = i < 65536 ? i << 16 : (uint32_t)(s >> 32);
    }
}

static const struct {
    int op;
    bool flush;
    uint64_t hash;
} operations[] = {
    {PTX_OP_RCP, true, 0x9d0b1cd0507eb9e5},    {PTX_OP_RCP, false, 0xc9ab6dcb9dcccafd}, {PTX_OP_RSQRT, true, 0xb21edb0462c0bbca},
    {PTX_OP_RSQRT, false, 0x946b21cc84533fd5}, {PTX_OP_SQRT, true, 0xed939d7bf5a26578}, {PTX_OP_SQRT, false, 0x4daf7db3e4dd383d},
    {PTX_OP_EX2, true, 0x60c783b44edda4a7},    {PTX_OP_EX2, false, 0x2df714975a0bd668}, {PTX_OP_LG2, true, 0xeb2392abd9530a00},
    {PTX_OP_LG2, false, 0x87579a1d2f182477},   {PTX_OP_SIN, true, 0x9c1fdbb55c841cee},  {PTX_OP_SIN, false, 0x9c1fdbb55c841cee},
    {PTX_OP_COS, true, 0x76d88285f35f3c2c},    {PTX_OP_COS, false, 0x76d88285f35f3c2c}, {PTX_OP_TANH, false, 0xbdab842e51cac713},
};

static void test_operations(void **state) {
    (void)state;
    make_patterns();
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        uint64_t hash = start_of_hash;
        for (int k = 0; k < PATTERNS; k++)
            hash = fnv(hash, bits(tess_vgpu_approx(operations[i].op, number(patterns[k]), operations[i].flush)));
        if (hash != operations[i].hash)
            fail_msg("%s%s: not the card's results", name(operations[i].op), operations[i].flush ? ".ftz" : "");
    }
    uint64_t approx = start_of_hash, full = start_of_hash, flush = start_of_hash, rcp = start_of_hash, rsqrt = start_of_hash;
    for (int k = 0; k < PATTERNS; k++) {
        float a = number(patterns[k]), b = number(patterns[k + PATTERNS]);
        approx = fnv(approx, bits(tess_vgpu_divide(a, b, false, false)));
        full = fnv(full, bits(tess_vgpu_divide(a, b, true, false)));
        flush = fnv(flush, bits(tess_vgpu_divide(a, b, false, true)));
        rcp = fnv(rcp, tess_vgpu_mufu_rcp64(patterns[k]));
        rsqrt = fnv(rsqrt, tess_vgpu_mufu_rsqrt64(patterns[k]));
    }
    assert_int_equal(approx, 0x3ffc23cd38544d62);
    assert_int_equal(full, 0x46fb334d2de6c33b);
    assert_int_equal(flush, 0x6365ce6a7e85f36e);
    assert_int_equal(rcp, 0xe1ace339baef555e);
    assert_int_equal(rsqrt, 0xe9abbb896929ef1d);
}

static void test_halves(void **state) {
    (void)state;
    static const struct {
        int op;
        ptx_type type;
        bool flush;
        uint64_t hash;
    } halves[] = {
        {PTX_OP_EX2, PTX_F16, false, 0x80729ac6ad55e21a},
        {PTX_OP_TANH, PTX_F16, false, 0xad1f254087177b9d},
        {PTX_OP_EX2, PTX_BF16, true, 0x70809a4dea78138a},
        {PTX_OP_TANH, PTX_BF16, false, 0x483e97475bf5a09},
    };
    for (int i = 0; i < 4; i++) {
        uint64_t hash = start_of_hash;
        for (uint32_t k = 0; k < 65536; k++)
            hash = fnv(hash, tess_vgpu_approx_half(halves[i].op, (uint16_t)k, halves[i].type, halves[i].flush));
        if (hash != halves[i].hash)
            fail_msg("%s on 16-bit floats, number %d: not the card's results", name(halves[i].op), i);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sweeps), cmocka_unit_test(test_operations), cmocka_unit_test(test_halves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
