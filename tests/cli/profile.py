# SPDX-License-Identifier: Apache-2.0
"""Proves what `tessera profile` promises: the JSON of docs/json.md with counts that are known, outputs saved and compared, arrays from files, exit codes, one line for
every mistake; with a compiler also CUDA C++ with templates, structures, macros and headers."""
import json
import os
import struct

import files

PTX = os.path.join(files.TOP, "tests", "ptx")
TILE = "transpose_tile<<<(2, 2), (32, 8)>>>(in:f32[64*64]=%s, out:f32[64*64], 64, 64)"

KERNELS = r"""
#include <cstdio>
#include <stdint.h>
#include "shift.h"
namespace deep { template <typename T, int N> __global__ void scale(T *a, T f) { a[threadIdx.x] = a[threadIdx.x] * f + (T)(N + SHIFT + OTHER); } }
struct Mixed { float a; int n; double d; };
__global__ void mixed(Mixed m, float *out) { out[0] = m.a; out[1] = m.n; out[2] = m.d; }
__global__ void contract(const float *a, float *out) { out[0] = a[0] * a[1] + a[2]; }
__global__ void column(float *out) {
    __shared__ float tile[32][32];
    for (int i = 0; i < 32; i++)
        tile[i][threadIdx.x] = i;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x][3];
}
__global__ void tell() { printf("thread %d\n", threadIdx.x); }
__global__ void beyond(uint8_t *out) { out[threadIdx.x + 1] = 1; }
"""


def read(*path):
    with open(os.path.join(files.TOP, *path)) as file:
        return file.read()


def fnv(data):
    h = 0xcbf29ce484222325
    for byte in data:
        h = (h ^ byte) * 0x100000001b3 % 2**64
    return "%016x" % h


FIELDS = """extern "C" __global__ void fields(const float *in, float *out) {
    __shared__ float tile[128][4];
    int t = threadIdx.x;
    for (int k = 0; k < 4; k++)
        tile[t][k] = in[k * 128 + t];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 4; k++)
        sum = sum * 2 + tile[127 - t][k];
    out[t] = sum;
}
"""


# More values than registers, carried around a loop; two blocks of 1024 threads leave 32 a thread.
MANY = """extern "C" __global__ void __launch_bounds__(1024, 2) many(const int *in, int *out, int n) {
    int x[48], sum = 0;
#pragma unroll
    for (int k = 0; k < 48; k++)
        x[k] = in[k * 64 + threadIdx.x];
#pragma unroll 1
    for (int turn = 0; turn < n; turn++)
#pragma unroll
        for (int k = 0; k < 48; k++)
            x[k] = x[k] * 5 + (x[(k + 7) % 48] ^ x[(k + 3) % 48]);
#pragma unroll
    for (int k = 0; k < 48; k++)
        sum = sum * 3 ^ x[k];
    out[threadIdx.x] = sum;
}
"""


class Ptx(files.Case):
    """Without any software of NVIDIA's."""

    def profile(self, name, launch, *words, code=0):
        done = self.run_it("profile", os.path.join(PTX, name), launch, "--json", *words)
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(done.stdout)

    def test_json(self):
        p = self.profile("transpose.sm_90.ptx", TILE % "ramp")
        self.assertEqual((p["kernel"], p["grid"], p["block"], p["faults"], p["counters_audited"]), ("transpose_tile", [2, 2, 1], [32, 8, 1], [], None))
        expected = {"global_ld_requests": 128, "global_ld_sectors": 512, "global_st_requests": 128, "global_st_sectors": 512, "shared_ld_wavefronts": 4096,
                    "shared_st_wavefronts": 128, "shared_atom_wavefronts": 0, "local_sectors": 0, "constant_requests": 0, "branches_divergent": 0, "flops_f32": 0,
                    "barriers": 32}
        self.assertEqual({k: p["counters"][k] for k in expected}, expected)
        for name, total in p["counters"].items():
            self.assertEqual(sum(line[name] for line in p["lines"]), total, name)
        for name, total in p["counters"].items():
            if name != "local_sectors":
                self.assertEqual(sum(line.get(name, 0) for line in p["ptx_lines"]), total, name)
        load = [line for line in p["ptx_lines"] if line["opcode"].startswith("ld.shared")]
        self.assertEqual([(line["shared_ld_wavefronts"], os.path.basename(line["file"])) for line in load], 4 * [(1024, "transpose.cu")])
        text = read("tests", "ptx", "transpose.sm_90.ptx").split("\n")
        for line in p["ptx_lines"]:
            self.assertIn(line["opcode"], text[line["ptx_line"] - 1])
        out = struct.pack("<4096f", *[x * 64 + y for y in range(64) for x in range(64)])
        self.assertEqual(p["outputs"], [{"argument": 1, "type": "f32", "count": 4096, "hash": fnv(out)}])
        worst = p["worst"][0]
        self.assertEqual((worst["kind"], worst["sample"]["space"], worst["sample"]["access"]), ("bank conflict", "shared", "load"))
        self.assertEqual({b - a for a, b in zip(worst["sample"]["addresses"], worst["sample"]["addresses"][1:])}, {128})
        terms = {t["name"]: t for t in p["prediction"]["terms"]}
        slowest = max(terms.values(), key=lambda t: t["seconds"])
        self.assertEqual((p["prediction"]["card"], p["prediction"]["limiter"]), ("H200", slowest["name"]))
        self.assertAlmostEqual(p["prediction"]["seconds"], sum(t["seconds"] ** 3 for t in terms.values()) ** (1 / 3) + p["prediction"]["launch_seconds"], delta=1e-13)
        self.assertEqual(terms["memory"]["amount"], 2 * 4 * 4096)
        described = read("docs", "json.md")
        for name in [*p, *p["prediction"], *worst, *worst["sample"], *p["outputs"][0]]:
            self.assertIn(name, described)
        again = self.profile("transpose.sm_90.ptx", TILE % "ramp", "--threads", "3")
        self.assertEqual(p, again)

    def test_cards(self):
        seconds = {c: self.profile("transpose.sm_90.ptx", TILE % "ramp", "--card", c)["prediction"]["seconds"] for c in ("H200", "A100", "RTX4090", "T4")}
        self.assertGreater(seconds["T4"], seconds["H200"])
        cards = read("src", "profile", "cards.txt")
        mine = "# mine\n" + cards[cards.index("card T4"):].replace("card T4", "card mine")
        self.put("mine.txt", mine.encode())
        p = self.profile("transpose.sm_90.ptx", TILE % "ramp", "--card", "mine.txt")
        self.assertEqual((p["prediction"]["card"], p["prediction"]["seconds"]), ("mine", seconds["T4"]))

    def test_files(self):
        values = [float(i * 37 % 101) for i in range(4096)]
        turned = [values[x * 64 + y] for y in range(64) for x in range(64)]
        self.put("a.npy", files.npy(values, "<f4", (64, 64)))
        self.put("f.npy", files.npy([values[r * 64 + c] for c in range(64) for r in range(64)], "<f4", (64, 64), True))
        self.put("t.npy", files.npy(turned, "<f4", (4096,)))
        self.put("w.npy", files.npy(turned[:-1] + [-1.0], "<f4", (64, 64)))
        self.put("d.npy", files.npy(values, "<f8", (64, 64)))
        for name in ("a.npy", "f.npy"):
            self.profile("transpose.sm_90.ptx", TILE % name, "-o", "0=o.npy", "-o1=p.npy", "--expect", "0=t.npy")
            for out in ("o.npy", "p.npy"):  # the output number 0, the argument number 1
                self.assertEqual(self.array(out), (turned, "<f4", (4096,)))
        done = self.run_it("profile", os.path.join(PTX, "transpose.sm_90.ptx"), TILE % "a.npy", "--expect", "0=w.npy")
        self.assertEqual(done.returncode, 5)
        self.assertEqual(done.stderr, b"tessera: 1 of 4096 elements differ from w.npy, the first is element 4095\n")
        source = os.path.join(PTX, "transpose.sm_90.ptx")
        self.fails(3, "profile", source, TILE % "nix.npy", has="nix.npy")
        self.fails(3, "profile", source, TILE % "d.npy", has=["f64", "f32"])
        self.fails(3, "profile", source, TILE.replace("in:f32[64*64]", "in:f32[8]") % "a.npy", has=["4096", "8"])
        self.fails(3, "profile", "nix.ptx", TILE % "ramp", has="nix.ptx")
        self.fails(3, "profile", ".", TILE % "ramp", has="folder")
        self.fails(2, "profile", source, TILE % "ramp", "-o", "x.npy", has="INDEX=FILE")
        self.fails(2, "profile", source, TILE % "ramp", "-o", "0=x.png", has=".npy")
        self.fails(2, "profile", source, TILE % "ramp", "--check", "--no-check", has="exclude")
        self.fails(2, "profile", source, has="FILE 'LAUNCH'")
        self.fails(1, "profile", source, TILE % "ramp", "--card", "GTX", has="H200 A100")
        self.fails(3, "profile", source, TILE % "ramp", "--card", "missing.txt", has="missing.txt")
        self.fails(1, "profile", source, TILE[:20], has=["at its end", "expected"])
        self.fails(1, "profile", source, "transpose<<<1, 2>>>()", has="transpose_tile_pad")
        self.fails(4, "profile", source, TILE % "ramp", "--json", "--html", "no/where.html", has="no/where.html")
        done = self.run_it("profile", source, TILE % "ramp", "-o", "7=x.npy")
        self.assertEqual((done.returncode, b"1 output" in done.stderr), (2, True))
        self.put("broken.ptx", b".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() { frob.f32 %r1; }\n")
        self.fails(1, "profile", "broken.ptx", "k<<<1, 1>>>()", has=["broken.ptx", "line 4", "frob"])

    def test_types(self):
        for kind, code in (("u8", "u1"), ("i8", "i1"), ("u16", "u2"), ("i16", "i2"), ("u32", "u4"), ("i32", "i4"), ("u64", "u8"), ("i64", "i8"), ("f16", "f2"),
                           ("f32", "f4"), ("f64", "f8"), ("bf16", "u2")):
            self.put("keep.ptx", b".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) { ret; }\n")
            self.ok("profile", "keep.ptx", "k<<<1, 1>>>(inout:%s[300]=ramp)" % kind, "-o", "0=o.npy")
            values, descr, _ = self.array("o.npy")
            size = 8 * int(code[1:])
            if code[0] == "f":
                expected = list(range(300))
            elif kind == "bf16":
                expected = [struct.unpack("<I", struct.pack("<f", i))[0] for i in range(300)]
                expected = [(v + 0x7fff + (v >> 16 & 1)) >> 16 for v in expected]
            else:
                expected = [(i + (2**size // 2 if code[0] == "i" else 0)) % 2**size - (2**size // 2 if code[0] == "i" else 0) for i in range(300)]
            self.assertEqual((values, descr.lstrip("<|")), (expected, code), kind)
            self.ok("profile", "keep.ptx", "k<<<1, 1>>>(inout:%s[300]=o.npy)" % kind, "--expect", "0=o.npy")

    def test_faults(self):
        p = self.profile("faults.sm_90.ptx", "race_bad<<<1, 64>>>(out:i32[64])", code=5)
        fault = p["faults"][0]
        self.assertEqual((fault["kind"], fault["kernel"], fault["block"], fault["space"]), ("race", "race_bad", [0, 0, 0], "shared"))
        self.assertLessEqual({"count", "thread", "file", "line", "other_line", "address", "message"}, set(fault))
        self.assertEqual((os.path.basename(fault["file"]), sorted([fault["line"], fault["other_line"]])), ("faults.cu", [32, 33]))
        self.assertIn("; in part of 256 bytes (race_bad, block 0 0 0", fault["message"])
        self.profile("faults.sm_90.ptx", "race_good<<<1, 64>>>(out:i32[64])")
        self.profile("faults.sm_90.ptx", "race_bad<<<1, 64>>>(out:i32[64])", "--no-check")


    def test_seed(self):
        """Eight warps write one word: which one is the last depends on the order of warps, which the seed shuffles; the same seed gives the same order."""
        self.put("last.ptx", b".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out) { .reg .b32 %r<3>; .reg .b64 %d; ld.param.u64 %d, [out];\n"
                 b" mov.u32 %r1, %tid.x; shr.u32 %r1, %r1, 5; st.global.u32 [%d], %r1; ret; }\n")
        last = []
        for seed in (1, 2, 3, 4, 5, 6, 1):
            self.ok("profile", "last.ptx", "k<<<1, 256>>>(out:u32[1])", "--seed", str(seed), "-o", "0=o.npy")
            last.append(self.array("o.npy")[0][0])
        self.assertGreater(len(set(last)), 2, last)
        self.assertEqual(last[0], last[-1])

    def test_options_of_faults(self):
        """Races in global memory when asked for, leaks and endless kernels, each beside a twin."""
        meet = "blocks_meet<<<4, 64>>>(out:i32[64])"
        self.profile("device.sm_90.ptx", meet)
        fault = self.profile("device.sm_90.ptx", meet, "--check-global", code=5)["faults"][0]
        self.assertEqual((fault["kind"], fault["block"], fault["space"]), ("race in global memory", [1, 0, 0], "global"))
        self.assertRegex(fault["message"], r"; in the allocation at 0x[0-9a-f]+ of 256 bytes \(blocks_meet")
        self.profile("device.sm_90.ptx", "blocks_apart<<<4, 64>>>(out:i32[256])", "--check-global")
        leak = self.profile("device.sm_90.ptx", "heap<<<2, 64>>>(out:u64[128], out:i32[64], 0)", code=5)["faults"]
        self.assertEqual([(f["kind"], f["count"], f["block"], f["thread"]) for f in leak], [("leak", 128, [0, 0, 0], [0, 0, 0])])
        self.assertIn("64 bytes that malloc gave at 0x", leak[0]["message"])
        self.assertIn("own = (int *)malloc(64)", read("tests", "ptx", "device.cu").split("\n")[leak[0]["line"] - 1])
        self.profile("device.sm_90.ptx", "heap<<<2, 64>>>(0, out:i32[64], 0)")
        self.profile("device.sm_90.ptx", "heap<<<2, 64>>>(out:u64[128], out:i32[64], 0)", "--no-check")
        self.put("loop.ptx", b".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u32 n) { .reg .b32 %r<3>; .reg .pred %p; ld.param.u32 %r1, [n];\n"
                 b"L: sub.u32 %r1, %r1, 1; setp.ne.u32 %p, %r1, 0;\n@%p bra L;\n ret; }\n")
        for turns, code in ((900, 0), (1100, 5)):
            done = self.run_it("profile", "loop.ptx", "k<<<1, 32>>>(%d)" % turns, "--step-limit", "1000", "--json")
            self.assertEqual((done.returncode, [f["kind"] for f in json.loads(done.stdout)["faults"]]), (code, ["step limit"] if code else []))
        source = os.path.join(PTX, "device.sm_90.ptx")
        self.fails(2, "profile", source, meet, "--no-check", "--check-global", has="exclude")
        self.fails(2, "profile", source, meet, "--step-limit", "0", has="1 to")


class Compiled(files.Case):
    def setUp(self):
        super().setUp()
        self.put("k.cu", KERNELS.encode())
        self.put("shift.h", b"#define SHIFT 1\n")
        done = self.run_it("profile", "k.cu", "column<<<1, 32>>>(out:f32[32])", "-D", "OTHER=0")
        if b"no compiler" in done.stderr:
            self.skipTest("no NVRTC here")

    def profile(self, launch, *words, code=0):
        done = self.run_it("profile", "k.cu", launch, "--json", "-DOTHER=10", *words)
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(done.stdout)

    def test_source(self):
        self.profile("deep::scale<float, 3><<<1, 32>>>(inout:f32[32]=ramp, 2)", "-o", "0=o.npy")
        self.assertEqual(self.array("o.npy")[0], [2 * i + 14 for i in range(32)])
        self.profile("mixed<<<1, 1>>>({3, 4, 2.5}, out:f32[3])", "-o", "0=o.npy")
        self.assertEqual(self.array("o.npy")[0], [3, 4, 2.5])
        p = self.profile("column<<<1, 32>>>(out:f32[32])")
        line = next(i for i, text in enumerate(KERNELS.split("\n"), 1) if "[threadIdx.x][3]" in text)
        self.assertEqual((p["worst"][0]["line"], p["worst"][0]["file"]), (line, "k.cu"))
        self.assertEqual([x["shared_ld_wavefronts"] for x in p["lines"] if x["line"] == line], [32])
        text = self.ok("profile", "k.cu", "column<<<1, 32>>>(out:f32[32])", "-DOTHER=0").decode()
        self.assertIn("32-way bank conflict", text)
        self.assertRegex(text, r"%d +\S+ .* out\[threadIdx.x\] = tile" % line)

    def test_audit(self):
        """Four words beside each other are one access in machine code; the conflict that PTX has is none."""
        self.put("f.cu", FIELDS.encode())
        done = self.run_it("profile", "f.cu", "fields<<<1, 128>>>(in:f32[512]=ramp, out:f32[128])", "--json")
        p = json.loads(done.stdout)
        self.assertEqual((p["counters"]["shared_ld_wavefronts"], p["counters_audited"]["shared_ld_wavefronts"]), (64, 16))
        self.assertEqual([x["audit"] for x in p["lines"] if x["shared_ld_requests"]], ["merged"])
        self.assertEqual([x["audited"]["shared_ld_conflicts"] for x in p["lines"] if x["audited"]], [0] * sum(1 for x in p["lines"] if x["audited"]))
        self.assertEqual([w["kind"] for w in p["worst"]], [])
        text = self.ok("profile", "f.cu", "fields<<<1, 128>>>(in:f32[512]=ramp, out:f32[128])").decode()
        self.assertIn("one wider access; shared wavefronts 64 -> 16", text)
        self.assertGreater(p["counters_audited"]["constant_requests"], p["counters"]["constant_requests"])  # the parameters are loaded
        self.assertNotIn("dropped", {x["audit"] for x in p["lines"]})
        self.assertNotIn("not there", text)

    def test_audit_of_loops(self):
        """What is kept in local memory around a loop is counted every turn; the lines add up to the totals, and a null `audited` means that nothing differs."""
        self.put("m.cu", MANY.encode())
        requests = {}
        for turns in (0, 1, 2, 7):
            p = json.loads(self.ok("profile", "m.cu", "many<<<1, 64>>>(in:i32[3072]=random:1, out:i32[64], %d)" % turns, "--json"))
            total = p["counters_audited"]
            requests[turns] = [total["local_ld_requests"], total["local_st_requests"], total["branches_uniform"]]
            self.assertEqual((p["counters"]["local_ld_requests"], p["counters"]["local_st_requests"]), (0, 0))
            self.assertIn("spills", {x["audit"] for x in p["lines"]})
            for x in p["lines"]:
                own = {name: x[name] for name in total}
                if x["audit"] == "kept":
                    self.assertNotEqual(x["audited"], own, x["line"])
                else:
                    self.assertIsNotNone(x["audited"], x["line"])
            for name in total:
                self.assertEqual(sum((x["audited"] or x)[name] for x in p["lines"]), total[name], name)
        a_turn = [b - a for a, b in zip(requests[1], requests[2])]
        self.assertEqual([b - a for a, b in zip(requests[2], requests[7])], [5 * n for n in a_turn])
        self.assertGreater(min(a_turn[:2]), 2 * 10)  # of two warps
        self.assertEqual(a_turn[2], 2)

    def test_example(self):
        """examples/transpose.cu shows what it says."""
        found, seconds = {}, {}
        for kernel in ("naive", "tile", "padded"):
            launch = kernel + "<<<(8, 8), (32, 8)>>>(in:f32[250*250]=ramp, out:f32[250*250], 250)"
            p = json.loads(self.ok("profile", os.path.join(files.TOP, "examples", "transpose.cu"), launch, "--json"))
            found[kernel] = {w["kind"] for w in p["worst"]}
            seconds[kernel] = {t["name"]: t["seconds"] for t in p["prediction"]["terms"]}
            self.assertEqual(p["faults"], [])
        self.assertIn("uncoalesced", found["naive"])
        self.assertIn("bank conflict", found["tile"])
        self.assertFalse(found["padded"] & {"uncoalesced", "bank conflict"})
        self.assertLess(seconds["padded"]["L2"], seconds["naive"]["L2"] / 3)
        self.assertLess(seconds["padded"]["shared memory and L1"], seconds["tile"]["shared memory and L1"] / 8)

    def test_fmad(self):
        self.put("a.npy", files.npy([1 + 2.0**-12, 1 + 2.0**-12, -1 - 2.0**-11], "<f4", (3,)))
        for given, expected in ((["--fmad=true"], 2.0**-24), ([], 2.0**-24), (["--fmad=false"], 0.0)):
            self.profile("contract<<<1, 1>>>(in:f32[3]=a.npy, out:f32[1])", "-o", "0=o.npy", *given)
            self.assertEqual(self.array("o.npy")[0], [expected], given)

    def test_program(self):
        """A whole program, as nvcc takes it: the host's part is left out, and the lines of the report are those of the file."""
        self.put("program.cu", b"#include <iostream>\n#include <vector>\nusing namespace std;\n\n__global__ void twice(float *x, int n) {\n"
                 b"    int i = threadIdx.x;\n    if (i < n)\n        x[i] = 2 * x[i];\n}\n\nint main() {\n    vector<float> x(8, 1);\n    float *d;\n"
                 b"    cudaMalloc(&d, 32);\n    twice<<<1, 8>>>(d, 8);\n    cout << x[0] << endl;\n}\n")
        told = json.loads(self.ok("profile", "program.cu", "twice<<<1, 8>>>(inout:f32[8]=ones, 8)", "-o", "0=o.npy", "--json"))
        self.assertEqual(self.array("o.npy")[0], [2.0] * 8)
        self.assertEqual([line["line"] for line in told["lines"] if line["global_st_requests"]], [8])
        # Types and tables of the host that the compiler does not know go too, one for want of the other.
        self.put("types.cu", b"#include <string>\n#include <map>\n#include <functional>\n__global__ void twice(float *x) { x[threadIdx.x] *= 2; }\n"
                 b"struct Case {\n    std::string name;\n    int n;\n};\nstatic const Case cases[] = {{\"small\", 8}};\nstd::map<std::string, int> seen;\n"
                 b"void go(float *x) { twice<<<1, 8>>>(x); }\ntypedef void (*Go)(float *);\nstatic const Go table[] = {go};\nint main() { table[0](0); }\n")
        self.ok("profile", "types.cu", "twice<<<1, 8>>>(inout:f32[8]=ones)", "-o", "0=o.npy")
        self.assertEqual(self.array("o.npy")[0], [2.0] * 8)
        # What a kernel wants of them is told by the compiler's first words, its own mistakes by its last.
        self.put("wants.cu", b"#include <string>\nstruct Case {\n    std::string name;\n    int n;\n};\n__global__ void k(int *p) { *p = sizeof(Case); }\n")
        self.fails(1, "profile", "wants.cu", "k<<<1, 1>>>(out:i32[1])", has=["wants.cu(3)", "string"])
        self.put("both.cu", b"#include <string>\nstd::string s;\n__global__ void k(int *p) { *p = 1 }\n")
        self.fails(1, "profile", "both.cu", "k<<<1, 1>>>(out:i32[1])", has=["both.cu(3)", "types left out"])
        self.put("wrong.cu", b"__global__ void k(int *p) {\n    *p = 1\n}\nint main() { return 0; }\n")
        self.fails(1, "profile", "wrong.cu", "k<<<1, 1>>>(out:i32[1])", has='wrong.cu(3): error: expected a ";"')

    def test_headers(self):
        """What kernels take from headers that NVRTC does not have, beside the toolkit's own, in files of kernels and in programs."""
        used = ("INT32_MAX == 2147483647 && UINT64_C(1) << 40 == 1099511627776ull && SIZE_MAX == UINT64_MAX && SHRT_MIN == -32768 && LONG_MAX == INT64_MAX && "
                "FLT_TRUE_MIN > 0 && M_PI > 3.14 && INFINITY > FLT_MAX && isnan(NAN) && far[1] > FLT_MAX && std::sqrt(4.0f) == 2 && std::abs(-2) == 2")
        kernel = f"#include <cuda_fp16.h>\n__constant__ float far[2] = {{NAN, INFINITY}};\n__global__ void k(int *p) {{ *p = {used}; }}\n"
        headers = "".join(f"#include <{name}>\n" for name in ("cstdint", "climits", "cfloat", "cmath", "cooperative_groups.h"))
        program = ("#include <limits>\n#include <type_traits>\n#include <algorithm>\n#include <curand.h>\n#include <curand_kernel.h>\n#include <cuda_profiler_api.h>\n"
                   "__global__ void m(int *p) { curandState s; curand_init(1, 0, 0, &s); *p = std::numeric_limits<int>::max() == INT_MAX && "
                   "std::is_same<int, int>::value && std::max(1, 2) == 2 && curand_uniform(&s) > 0; }\nint main() { m<<<1, 1>>>(0); }\n")
        for text, name in ((headers + kernel, "k"), (headers + kernel + program, "k"), (headers + kernel + program, "m")):
            self.put("uses.cu", text.encode())
            self.ok("profile", "uses.cu", f"{name}<<<1, 1>>>(out:i32[1])", "-o", "0=o.npy")
            self.assertEqual(self.array("o.npy")[0], [1])

    def test_fast_math(self):
        self.put("fast.cu", b"__global__ void k(const float *x, float *y) { y[0] = x[0] / 3.0f; y[1] = x[1] * 0.5f; }\n")
        self.put("a.npy", files.npy([1.0, 2.0**-126], "<f4", (2,)))
        for given, flushed, approximate in (([], 2.0**-127, 0), (["--fast-math"], 0.0, 1)):
            told = json.loads(self.ok("profile", "fast.cu", "k<<<1, 1>>>(in:f32[2]=a.npy, out:f32[2])", "-o", "0=o.npy", "--json", *given))
            self.assertEqual(self.array("o.npy")[0][1], flushed)
            self.assertEqual(told["counters"]["approximate"], approximate)

    def test_ladder(self):
        """Every rung of every operation runs on the virtual GPU, with the CPU's bits, the counts that its formulas say, and a time by the model."""
        told = json.loads(self.ok("ladder", "--engine", "virtual", "--json"))
        rungs = [r for ladder in told["ladders"] for r in ladder["rungs"]]
        ran = {r["strategy"]: r for r in rungs if "counted" in r}
        strategies = json.loads(self.ok("list", "--json"))
        self.assertLessEqual({r["strategy"] for r in rungs if r["rung"]}, set(ran))
        self.assertEqual({r["strategy"].split("/")[0] for r in ran.values() if r["rung"]}, {"correlate", "lookup", "reduce", "transpose"})
        self.assertEqual({s["name"] for s in strategies if s["target"] == "gpu"} - {r["strategy"] for r in rungs}, set())
        for name, r in ran.items():
            self.assertTrue(r["same_bits"], name)
            totals = r["counted"]["counters"]
            if r["counted"]["launches_left_out"] == 0:
                self.assertEqual(sum(launch["counters"]["global_ld_sectors"] for launch in r["counted"]["launches"]), totals["global_ld_sectors"])
            self.assertEqual(r["larger"]["seconds"] > 0, True, name)
            if r["rung"]:
                self.assertTrue(r["counted"]["prediction_holds"], name)
                self.assertTrue(r["larger"]["prediction_agrees"], name)
            if "measured_seconds" in r and abs(r["larger"]["seconds"] / r["measured_seconds"] - 1) > 0.25:
                self.assertIn("not_modelled", r)
        conflicts = {name: r["counted"]["counters"]["shared_ld_conflicts"] + r["counted"]["counters"]["shared_st_conflicts"] for name, r in ran.items()}
        self.assertGreater(conflicts["transpose/tile32"], 0)
        self.assertEqual(conflicts["transpose/tile_pad32"], 0)
        self.assertGreater(ran["transpose/tile_pad32"]["gain"], 0)
        self.assertGreater(ran["transpose/micro"]["measured_fraction_of_limit"], 0.8)
        text = self.ok("ladder", "reduce", "--engine", "virtual").decode()
        self.assertRegex(text, r"\n +10 reduce/shared +same bits +as predicted +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +[+-][0-9]+ % +[0-9]+ % +x[0-9.]+ ")
        alone = json.loads(self.ok("ladder", "transpose", "--engine", "virtual", "--json", env={"TESSERA_LIBNVRTC": "/nix.so", "XDG_CACHE_HOME": "/nix"}))
        for r in alone["ladders"][0]["rungs"]:  # no compiler and no cache: the shipped PTX
            self.assertLessEqual(r["rung"] > 0, "counted" in r, r["strategy"])  # some of the other rows have theirs shipped too
            if "counted" in r:
                self.assertEqual({k: v for k, v in r["counted"]["counters"].items()}, ran[r["strategy"]]["counted"]["counters"])
            else:
                self.assertRegex(r["cannot"], "no CUDA compiler|works in place")
        self.fails(1, "ladder", "--engine", "cuda", has="libcuda", env={"TESSERA_LIBCUDA": "/nix.so"})

    def test_printed(self):
        self.assertEqual(self.profile("tell<<<1, 2>>>()")["printed"], "thread 0\nthread 1\n")

    def test_mistakes(self):
        p = self.profile("beyond<<<1, 32>>>(out:u8[32])", code=5)
        fault = p["faults"][0]
        self.assertEqual((fault["kind"], fault["thread"], fault["space"], fault["file"]), ("out of bounds", [31, 0, 0], "global", "k.cu"))
        self.put("bad.cu", b"__global__ void k() {\n    int x = nothing;\n}\n")
        self.fails(1, "profile", "bad.cu", "k<<<1, 32>>>()", has=["bad.cu(2): error", '"nothing" is undefined'])
        self.fails(1, "profile", "k.cu", "scale<<<1, 32>>>(out:f32[32], 1)", "-DOTHER=0", has=["scale", "column"])
        self.fails(1, "profile", "k.cu", "column<<<1, 32>>>(out:f32[32])", "-DOTHER=0", has="TESSERA_LIBNVRTC", env={"TESSERA_LIBNVRTC": "/nix.so"})
        self.put("sub.cu", b'#include "deep.h"\nextern "C" __global__ void k(int *a) { *a = DEEP; }\n')
        os.mkdir(self.path("inc"))
        self.put("inc/deep.h", b"#define DEEP 5\n")
        self.ok("profile", "sub.cu", "k<<<1, 1>>>(out:i32[1])", "-I", "inc", "-o", "0=o.npy")
        self.assertEqual(self.array("o.npy")[0], [5])


if __name__ == "__main__":
    files.main()
