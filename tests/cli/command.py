# SPDX-License-Identifier: Apache-2.0
"""Proves that the command does on files what it says: each operation against values worked out here, between formats, through pipes, onto its own input."""
import json
import os
import pathlib
import struct
import time
import wave

import files


def ghost(i, n, boundary):
    """The element that stands at place i of a line of n, None for a fixed value: the drawings in tessera.h as code."""
    if 0 <= i < n:
        return i
    if boundary == "nearest":
        return min(max(i, 0), n - 1)
    if boundary == "wrap":
        return i % n
    if boundary == "reflect":
        i %= 2 * n
        return min(i, 2 * n - 1 - i)
    if boundary == "mirror":
        i %= max(2 * n - 2, 1)
        return min(i, 2 * n - 2 - i)
    return None


def correlate(a, h, w, mask, mh, mw, boundary, constant=0):
    out = []
    for y in range(h):
        for x in range(w):
            total = 0
            for j in range(mh):
                for i in range(mw):
                    p, q = ghost(y - mh // 2 + j, h, boundary), ghost(x - mw // 2 + i, w, boundary)
                    total += mask[j * mw + i] * (constant if p is None or q is None else a[p * w + q])
            out.append(total)
    return out


class Correlate(files.Case):
    def test_boundaries(self):
        a, mask = [(i * 37 + 11) % 101 - 50 for i in range(20)], [1, 2, 3, -1, 0, 4, 5, -2, 7, 1, 1, -3, 2, 2, 9]
        self.put("a.npy", files.npy(a, "<i4", (4, 5)))
        text = ";".join(" ".join(str(m) for m in mask[r * 5:r * 5 + 5]) for r in range(3))
        for boundary in ("zero", "nearest", "reflect", "mirror", "wrap"):
            self.ok("correlate", "a.npy", "--mask", text, "--boundary", boundary, "-o", "o.npy")
            self.assertEqual(self.array("o.npy"), (correlate(a, 4, 5, mask, 3, 5, boundary), "<i4", (4, 5)), boundary)
        for given in (["--constant", "7"], ["--boundary", "constant:7"], ["--boundary", "constant", "--constant", "7"]):
            self.ok("correlate", "a.npy", "--mask", text, *given, "-o", "o.npy")
            self.assertEqual(self.array("o.npy")[0], correlate(a, 4, 5, mask, 3, 5, "constant", 7))
        self.ok("convolve", "a.npy", "--mask", text, "-o", "o.npy", "-b", "wrap")
        self.assertEqual(self.array("o.npy")[0], correlate(a, 4, 5, mask[::-1], 3, 5, "wrap"))

    def test_extents_axes(self):
        self.put("a.npy", files.npy([1, 2, 3, 4, 5, 6], "<i4", (2, 3)))
        self.put("m.npy", files.npy([1, 10], "<i4", (2,)))
        for extent, shape, values in (("valid", (2, 2), [21, 32, 54, 65]), ("full", (2, 4), [10, 21, 32, 3, 40, 54, 65, 6]),
                                      ("same", (2, 3), [10, 21, 32, 40, 54, 65])):
            self.ok("correlate", "a.npy", "--mask", "m.npy", "--extent", extent, "-o", "o.npy")
            self.assertEqual(self.array("o.npy"), (values, "<i4", shape), extent)
        self.ok("correlate", "a.npy", "--mask", "m.npy", "--axes", "0", "-o", "o.npy", "--extent", "valid")
        self.assertEqual(self.array("o.npy"), ([41, 52, 63], "<i4", (1, 3)))
        self.ok("correlate", "a.npy", "--mask", "m.npy", "--axes", "-2", "-o", "o.npy", "--extent", "valid")
        self.assertEqual(self.array("o.npy"), ([41, 52, 63], "<i4", (1, 3)))
        self.ok("correlate", "a.npy", "--mask", "1 0 0", "--origin", "-1", "-o", "o.npy")
        self.assertEqual(self.array("o.npy")[0], [1, 2, 3, 4, 5, 6])

    def test_images(self):
        a = [(i * 53) % 256 for i in range(5 * 4 * 3)]
        self.put("a.png", files.png(a, 4, 5, 3))
        self.ok("correlate", "a.png", "--mask", "1 1 1; 1 1 1; 1 1 1 * 1/9", "-b", "reflect", "-t", "f64", "-o", "o.npy")
        out, kind, shape = self.array("o.npy")
        self.assertEqual((kind, shape), ("<f8", (5, 4, 3)))
        for c in range(3):
            for got, sums in zip(out[c::3], correlate(a[c::3], 5, 4, [1] * 9, 3, 3, "reflect")):
                self.assertAlmostEqual(got, sums / 9, 3)
        # box is the same mask, PNG rounds and saturates; 16 bits stay 16.
        self.ok("correlate", "a.png", "--mask", "box:3", "-b", "reflect", "-o", "b.png")
        self.ok("transpose", "b.png", "--axes", "0,1,2", "-o", "b.npy")
        for got, exact in zip(self.array("b.npy")[0], out):
            self.assertLessEqual(abs(got - exact), 0.5001)
        self.ok("correlate", "a.png", "--mask", "5", "-o", "b.png")
        self.ok("transpose", "b.png", "--axes", "0,1,2", "-o", "b.npy")
        self.assertEqual(self.array("b.npy")[0], [min(255, 5 * v) for v in a])
        self.ok("correlate", "a.png", "--mask", "-1", "-o", "b.png")
        self.ok("reduce", "max", "b.png")
        deep = [i * 5003 % 65536 for i in range(20)]
        self.put("d.png", files.png(deep, 4, 5, 1, 16))
        self.ok("correlate", "d.png", "--mask", "2", "-o", "e.png")
        self.ok("transpose", "e.png", "--axes", "0,1", "-o", "e.npy")
        self.assertEqual(self.array("e.npy"), ([min(65535, 2 * v) for v in deep], "<u2", (5, 4)))

    def test_separable(self):
        self.put("a.npy", files.npy([0.0] * 12 + [1.0] + [0.0] * 12, "<f8", (5, 5)))
        self.ok("convolve", "a.npy", "--mask", "gaussian:1", "-o", "g.npy", "-b", "reflect")
        out = self.array("g.npy")[0]
        self.assertAlmostEqual(sum(out), 1, 12)
        self.assertAlmostEqual(out[7], out[11], 15)
        self.ok("convolve", "a.npy", "--mask", "box:3x1", "-o", "g.npy")
        self.assertEqual([v > 0 for v in self.array("g.npy")[0]], [i in (7, 12, 17) for i in range(25)])

    def test_sound(self):
        values = [(i * 977) % 20001 - 10000 for i in range(400)]
        with wave.open(self.path("a.wav"), "wb") as w:
            w.setparams((2, 2, 11025, 0, "NONE", ""))
            w.writeframes(struct.pack("<400h", *values))
        for name in ("b.wav", "b.flac"):
            self.ok("correlate", "a.wav", "--mask", "0 0 1", "-o", name)
            self.ok("correlate", name, "--mask", "1 0 0", "-o", "c.wav")
            with wave.open(self.path("c.wav"), "rb") as w:
                self.assertEqual(w.getparams()[:4], (2, 2, 11025, 200))
                # one frame to the left and back again: the last frame is lost, the first has been replaced by silence
                self.assertEqual(list(struct.unpack("<400h", w.readframes(200)))[2:], values[2:])
        # what falls between two samples goes to the nearer one, or the even one: nothing is cut, which would shift all by half a step
        for channels in (1, 3):
            with wave.open(self.path("m.wav"), "wb") as w:
                w.setparams((channels, 2, 11025, 0, "NONE", ""))
                w.writeframes(struct.pack("<9000h", *(values * 23)[:9000]))
            for more in ([], ["-t", "f64"]):
                self.ok("correlate", "m.wav", "--mask", "1/4", "--axes", "0", "-o", "n.wav", *more)
                with wave.open(self.path("n.wav"), "rb") as w:
                    self.assertEqual(list(struct.unpack("<9000h", w.readframes(9000))), [round(v / 4) for v in (values * 23)[:9000]])
        self.ok("transpose", "a.wav", "--axes", "0,1", "-t", "i16", "-o", "x.npy")
        self.fails(4, "transpose", "x.npy", "--axes", "0,1", "-o", "y.wav", has="--rate")
        self.ok("transpose", "x.npy", "--axes", "0,1", "-o", "y.wav", "--rate", "8000")


class Others(files.Case):
    def test_reduce(self):
        self.put("a.npy", files.npy([3, 1, 2, -5, 0, 4], "<i2", (2, 3)))
        for op, text in (("sum", "5"), ("prod", "0"), ("min", "-5"), ("max", "4"), ("mean", "0.8333333333333334"), ("argmin", "3"), ("argmax", "5"),
                         ("any", "true"), ("all", "false"), ("count_nonzero", "5"), ("norm1", "15"), ("norm_inf", "5")):
            self.assertEqual(self.ok("reduce", op, "a.npy"), (text + "\n").encode(), op)
        self.assertEqual(self.ok("reduce", "sum", "a.npy", "--axis", "1"), b"6 -1\n")
        self.assertEqual(self.ok("reduce", "max", "a.npy", "--axis", "-2", "--keepdims"), b"3 1 4\n")
        self.assertEqual(self.ok("reduce", "var", "a.npy", "--ddof", "1"), b"10.166666666666666\n")
        self.ok("reduce", "sum", "a.npy", "--axis", "0", "-o", "o.npy", "-t", "f32")
        self.assertEqual(self.array("o.npy"), ([-2.0, 1.0, 6.0], "<f4", (3,)))
        self.put("off.npy", files.npy([0, 1, 3], "<i8", (3,)))
        self.assertEqual(self.ok("reduce", "sum", "a.npy", "--axis", "1", "--offsets", "off.npy"), b"3 3\n-5 4\n")
        self.put("n.npy", files.npy([1.5, float("nan"), 2.25], "<f4", (3,)))
        self.assertEqual(self.ok("reduce", "sum", "n.npy"), b"nan\n")
        self.assertEqual(self.ok("reduce", "sum", "n.npy", "--nan", "omit"), b"3.75\n")
        told = json.loads(self.ok("reduce", "mean", "n.npy", "--json"))
        self.assertEqual((told["values"], told["shape"], told["type"], told["operation"]), (["nan"], [], "f32", "mean"))
        self.put("b.npy", files.npy([1e16, 1.0, -1e16], "<f8", (3,)))
        self.assertEqual(self.ok("reduce", "sum", "b.npy", "--exact"), b"1\n")
        self.put("l.npy", files.npy([-2**63], "<i8", (1,)))
        for op in ("norm1", "norm_inf"):
            self.assertEqual(self.ok("reduce", op, "l.npy"), b"9223372036854775808\n", op)
        self.put("e.npy", files.npy([], "<f4", (0,)))
        self.assertEqual(self.ok("reduce", "sum", "e.npy"), b"0\n")
        self.fails(1, "reduce", "max", "e.npy")

    def test_numbers(self):
        """Whole numbers in full; others in the fewest digits that give the type's value back."""
        for kind, values, text in (("<f2", [0.1, 1 / 3, 65504.0, 2.0**-24, 1 + 2.0**-10, 0.25 - 2.0**-13], "0.1 0.3333 65504 6e-08 1.001 0.2499"),
                                   ("<f4", [0.1, 1e9, 100.0, -1e30, 16777216.0, -0.0], "0.1 1000000000 100 -1e+30 16777216 -0"),
                                   ("<f8", [0.1, 1 / 3, 1e6, 5e-324, float("-inf")], "0.1 0.3333333333333333 1000000 5e-324 -inf")):
            self.put("v.npy", files.npy(values, kind, (1, len(values))))
            self.assertEqual(self.ok("reduce", "max", "v.npy", "--axis", "0").decode(), text + "\n", kind)

    def test_transpose(self):
        self.put("a.npy", files.npy(list(range(24)), "<u4", (2, 3, 4)))
        self.ok("transpose", "a.npy", "-o", "o.npy")
        self.assertEqual(self.array("o.npy"), ([i + 4 * j + 12 * k for i in range(4) for j in range(3) for k in range(2)], "<u4", (4, 3, 2)))
        self.ok("transpose", "a.npy", "--axes", "1,-1,0", "-o", "o.npy", "-t", "f32")
        self.assertEqual(self.array("o.npy"), ([float(j * 4 + i + 12 * k) for j in range(3) for i in range(4) for k in range(2)], "<f4", (3, 4, 2)))
        self.put("f.npy", files.npy(list(range(6)), ">f8", (2, 3), fortran=True))
        self.ok("transpose", "f.npy", "-o", "o.npy")
        self.assertEqual(self.array("o.npy"), ([0, 1, 2, 3, 4, 5], "<f8", (3, 2)))
        for kind, given, to, expected in (("<u8", [0, 1, 2**64 - 1], "u64", [0, 1, 2**64 - 1]), ("<i8", [-2**63, -1, 2**63 - 1], "u64", [0, 0, 2**63 - 1]),
                                          ("<u8", [2**64 - 1, 2**53 + 1, 3], "i64", [2**63 - 1, 2**53 + 1, 3]), ("<f8", [-2.5, 2.5, 300.0], "u8", [0, 2, 255]),
                                          ("<f8", [1e300, float("inf"), -1.0], "f32", [float("inf"), float("inf"), -1.0]), ("|b1", [True, False, True], "i8", [1, 0, 1]),
                                          ("<f2", [0.5, -2.0, 65504.0], "bool", [True, True, True]), ("<i4", [7, -9, 2**24 + 1], "f32", [7.0, -9.0, 2.0**24])):
            self.put("v.npy", files.npy(given, kind, (3,)))
            self.ok("transpose", "v.npy", "-o", "o.npy", "-t", to)
            self.assertEqual(self.array("o.npy")[0], expected, (kind, to))
        self.put("a.png", files.png(list(range(30)), 5, 2, 3))
        self.ok("transpose", "a.png", "-o", "b.png")
        self.ok("transpose", "b.png", "--axes", "0,1,2", "-o", "b.npy")
        self.assertEqual(self.array("b.npy"), ([15 * y + 3 * x + c for x in range(5) for y in range(2) for c in range(3)], "|u1", (5, 2, 3)))

    def test_conversion(self):
        """--type where no arithmetic is done: the value, rounded once, and its sign."""
        special = [-0.0, 0.0, 2.5, float("inf"), float("-inf")]
        for of in ("f2", "f4", "f8"):
            self.put("in.npy", files.npy(special, "<" + of, (5,)))
            for to, name in (("f2", "f16"), ("f4", "f32"), ("f8", "f64")):
                self.ok("transpose", "in.npy", "-o", "out.npy", "--type", name)
                self.assertEqual(self.get("out.npy"), files.npy(special, "<" + to, (5,)), of + " to " + to)
            self.ok("transpose", "in.npy", "-o", "wide.npy", "--type", "c128")
            self.ok("transpose", "wide.npy", "-o", "out.npy", "--type", "c64")
            parts = struct.unpack("<10f", self.get("out.npy")[-40:])
            self.assertEqual([str(x) for x in parts], [str(x) for v in special for x in (v, 0.0)])
        self.put("in.npy", files.npy([-0.0], "<f4", (1,)).replace(b"<f4", b"<c8") + struct.pack("<f", -0.0))
        self.ok("transpose", "in.npy", "-o", "out.npy", "--type", "c128")
        self.assertEqual(self.get("out.npy")[-16:], struct.pack("<2d", -0.0, -0.0))
        self.put("in.npy", files.npy([-2**63, 2**63 - 1, 0], "<i8", (3,)))
        self.ok("transpose", "in.npy", "-o", "out.npy", "--type", "i16")
        self.assertEqual(self.array("out.npy")[0], [-2**15, 2**15 - 1, 0])

    def test_lookup(self):
        self.put("t.npy", files.npy([10, 11, 20, 21, 30, 31], "<u2", (3, 2)))
        self.put("i.npy", files.npy([2, 0, 0, 1], "<i4", (2, 2)))
        self.ok("lookup", "t.npy", "i.npy", "-o", "o.npy")
        self.assertEqual(self.array("o.npy"), ([30, 31, 10, 11, 10, 11, 20, 21], "<u2", (2, 2, 2)))
        self.put("j.npy", files.npy([1, 0, 0], "<u1", (3,)))
        self.ok("lookup", "t.npy", "j.npy", "--axis", "1", "-o", "o.npy")
        self.assertEqual(self.array("o.npy"), ([11, 10, 10, 21, 20, 20, 31, 30, 30], "<u2", (3, 3)))
        self.put("k.npy", files.npy([-1, 3], "<i8", (2,)))
        for given, values in ((["--outside", "clip"], [10, 11, 30, 31]), (["--outside", "wrap"], [30, 31, 10, 11]),
                              (["--outside", "fill", "--fill", "9"], [9, 9, 9, 9])):
            self.ok("lookup", "t.npy", "k.npy", "-o", "o.npy", *given)
            self.assertEqual(self.array("o.npy")[0], values)
        self.put("x.npy", files.npy([0.5, 1.75], "<f4", (2,)))
        self.put("y.npy", files.npy([0.0, 10.0, 20.0], "<f4", (3,)))
        self.ok("lookup", "y.npy", "x.npy", "-o", "o.npy")
        self.assertEqual(self.array("o.npy")[0], [5.0, 17.5])
        self.ok("lookup", "y.npy", "x.npy", "-o", "o.npy", "--interpolate", "nearest")
        self.assertEqual(self.array("o.npy")[0], [10.0, 20.0])

    def test_tonemap_keeps_alpha(self):
        a = [7, 200, 50, 128] * 6
        self.put("a.png", files.png(a, 3, 2, 4))
        self.ok("lookup", "invert", "a.png", "-o", "b.png")
        self.ok("transpose", "b.png", "--axes", "0,1,2", "-o", "b.npy")
        self.assertEqual(self.array("b.npy")[0], [248, 55, 205, 128] * 6)

    def test_every_format(self):
        a = [i * 9 % 256 for i in range(6 * 7 * 3)]
        self.put("a.png", files.png(a, 7, 6, 3))
        for name in ("b.tif", "b.tiff", "b.png", "B.NPY"):
            self.ok("transpose", "a.png", "-o", name)
            self.ok("transpose", name, "--axes", "1,0,2", "-o", "c.npy")
            self.assertEqual(self.array("c.npy"), (a, "|u1", (6, 7, 3)), name)

    def test_pipes(self):
        a = files.npy(list(range(6)), "<f4", (2, 3))
        self.put("a.npy", a)
        out = self.ok("transpose", "-", "-o", "-", stdin=a)
        self.assertEqual(files.from_npy(out), ([0, 3, 1, 4, 2, 5], "<f4", (3, 2)))
        self.assertEqual(self.ok("reduce", "sum", "-", stdin=out), b"15\n")
        self.assertEqual(self.ok("reduce", "max", "-", stdin=files.png([1, 2, 3, 4], 2, 2)), b"4\n")
        os.mkfifo(self.path("fifo"))
        done = files.subprocess.Popen([files.TESSERA, "transpose", "a.npy", "-o", "fifo"], cwd=self.folder.name)
        self.assertEqual(self.get("fifo"), out)
        self.assertEqual(done.wait(20), 0)
        self.fails(2, "lookup", "-", "-", "-o", "o.npy", stdin=a)
        self.fails(4, "transpose", "-", "-o", "/dev/full", stdin=a, has="No space left")

    def test_onto_itself(self):
        values = list(range(-3000, 3000))
        for words, expected in ((["transpose", "a.npy"], [values[r * 100 + c] for c in range(100) for r in range(60)]),
                                (["correlate", "a.npy", "--mask", "0 0 1", "-b", "wrap"], [values[r * 100 + (c + 1) % 100] for r in range(60) for c in range(100)]),
                                (["reduce", "sum", "a.npy", "--axis", "0", "-t", "i16"], None),
                                (["lookup", "a.npy", "a.npy", "--outside", "wrap"], None)):
            for link in (False, True):
                self.put("a.npy", files.npy(values, "<i2", (60, 100)))
                if link:
                    os.rename(self.path("a.npy"), self.path("b.npy"))
                    os.symlink("b.npy", self.path("a.npy"))
                self.ok(*words, "-o", "a.npy")
                if expected:
                    self.assertEqual(self.array("a.npy")[0], expected, words)
                if link:
                    self.assertTrue(os.path.islink(self.path("a.npy")))
                    os.remove(self.path("a.npy"))
                    os.remove(self.path("b.npy"))


class About(files.Case):
    def test_words(self):
        self.assertIn(b"tessera 0.", self.ok("--version"))
        for words in (["help"], ["--help"], ["-h"], ["help", "reduce"], ["reduce", "--help"], ["explain", "--help"], ["list"], ["list", "reduce"], ["devices"]):
            self.assertGreater(len(self.ok(*words)), 60, words)
        rows = json.loads(self.ok("list", "--json"))
        for operation in ("correlate", "reduce", "transpose", "lookup"):
            names = [r["name"] for r in rows if r["operation"] == operation and r["target"] == "cpu"]
            self.assertEqual(names[-1], operation + "/reference")
            self.assertGreater(len(names), 2)
        cpu = json.loads(self.ok("devices", "--json"))["cpu"]
        for index in pathlib.Path("/sys/devices/system/cpu/cpu%d/cache" % min(os.sched_getaffinity(0))).glob("index*"):
            if (index / "level").read_text().strip() == "3":  # what the processor shares, not what a socket has
                self.assertEqual("%dK" % (cpu["l3"] >> 10), (index / "size").read_text().strip())

    def test_explain_runs_nothing(self):
        self.put("a.npy", files.npy([1.0] * 6, "<f4", (2, 3)))
        before = self.listing()
        for words in (["reduce", "sum", "a.npy"], ["correlate", "a.npy", "--mask", "box:3"], ["transpose", "a.npy", "-o", "no/such/place.npy"],
                      ["lookup", "a.npy", "a.npy"]):
            self.assertIn(b"strategy", self.ok("explain", *words))
            told = json.loads(self.ok("explain", *words, "--json"))
            self.assertIn(told["strategy"], [c["strategy"] for c in told["candidates"] if c["verdict"] == "chosen"])
        self.assertEqual(self.listing(), before)
        self.fails(2, "explain", "list")
        self.fails(2, "explain")

    def test_choices(self):
        self.put("a.npy", files.npy([float(i % 7) / 3 for i in range(30000)], "<f4", (100, 300)))
        results = set()
        for more in ([], ["--threads", "1"], ["--isa", "baseline"], ["-s", "correlate/reference"], ["-j", "3", "--engine", "cpu"]):
            told = json.loads(self.ok("correlate", "a.npy", "--mask", "1 2 1; 2 4 2; 1 2 1 * 1/16", "-o", "o.npy", "--json", *more))
            results.add(self.get("o.npy"))
            self.assertEqual((told["shape"], told["type"]), ([100, 300], "f32"))
            if "baseline" in more:
                self.assertEqual(told["isa"], "baseline")
            if "-s" in more:
                self.assertEqual(told["strategy"], "correlate/reference")
        self.assertEqual(len(results), 1)
        told = json.loads(self.ok("reduce", "sum", "a.npy", "--json", env={"TESSERA_STRATEGY": "reduce/reference"}))
        self.assertEqual(told["strategy"], "reduce/reference")

    def test_ladder_bench_tune(self):
        told = json.loads(self.ok("ladder", "lookup", "--engine", "cpu", "--json", "--seconds", "0.01"))
        rungs = told["ladders"][0]["rungs"]
        self.assertEqual(rungs[0]["strategy"], "lookup/reference")
        self.assertTrue(all(r.get("same_bits", True) for r in rungs))
        self.assertGreater(sum("seconds" in r for r in rungs), 2)
        # Every strategy of the CPU has a problem on the ladder, those that work in place too, and is listed under no other.
        told = json.loads(self.ok("ladder", "--engine", "cpu", "--json", "--seconds", "0.001"))
        rungs = [r for ladder in told["ladders"] for r in ladder["rungs"]]
        self.assertTrue(all(r["same_bits"] and r["seconds"] > 0 for r in rungs))
        self.assertEqual({r["strategy"] for r in rungs}, {r["name"] for r in json.loads(self.ok("list", "--json")) if r["target"] == "cpu"})
        page = self.ok("ladder", "transpose", "--html", "--seconds", "0.01").decode()
        self.assertTrue(page.startswith("<!DOCTYPE html>") and "transpose/reference" in page and "http" not in page)
        told = json.loads(self.ok("bench", "lookup", "--json", "--seconds", "0.01"))
        self.assertGreater(told["limits"]["copy_bytes_per_s"], 0)
        self.assertEqual({r["operation"] for r in told["results"]}, {"lookup"})
        self.assertTrue(all(r["fraction_of_limit"] > 0 for r in told["results"]))
        # Each work has a limit of its own, measured in turns with it, from which its share comes.
        self.assertTrue(all(r["limit_seconds"] > 0 for r in told["results"]))
        self.assertEqual(len({r["limit_seconds"] for r in told["results"]}), len(told["results"]))
        self.assertTrue(all(r["chosen"] and r["runs"] >= 5 for r in told["results"]))
        # One workload by a part of its name, every strategy that can run it, each once, the chosen one first; the reference is left out.
        told = json.loads(self.ok("bench", "--only", "256 x 256, in cache", "--rows", "--rounds", "7", "--pages", "ordinary", "--json", "--seconds", "0.001"))
        self.assertEqual([r["workload"] for r in told["results"] if r["chosen"]], ["transpose f32 256 x 256, in cache"])
        rows = [r["strategy"] for r in told["results"]]
        self.assertTrue(told["results"][0]["chosen"] and len(rows) > 1 and len(set(rows)) == len(rows) and "transpose/reference" not in rows, rows)
        self.assertTrue(all(r["bound"] == "cache" and r["least_seconds"] <= r["seconds"] for r in told["results"]))
        self.assertEqual((told["pages"], told["results"][0]["runs"] >= 7), ("ordinary", True))
        calls = json.loads(self.ok("bench", "small", "--json", "--seconds", "0.01"))
        self.assertEqual(len(calls), 8)
        self.assertTrue(all(0 < c["plan_seconds"] and 0 < c["call_seconds"] for c in calls))
        listed = json.loads(self.ok("list", "workloads", "--json"))
        self.assertEqual(len({w["name"] for w in listed}), len(listed))
        self.assertEqual([w["perm"] for w in listed if w["name"] == "transpose f32 256 x 256, in cache"], [[1, 0]])
        wisdom = self.path("wisdom")
        self.put("a.npy", files.npy([1.0] * 70000, "<f4", (700, 100)))
        self.assertEqual(self.ok("tune", "transpose", "a.npy", env={"TESSERA_WISDOM": wisdom}), b"")
        self.assertIn(b"transpose", self.get("wisdom"))
        again = self.ok("tune", "transpose", "a.npy", "--seconds", "0.01", "--json", env={"TESSERA_WISDOM": wisdom})
        self.assertEqual(again, self.get("wisdom"))
        told = json.loads(self.ok("explain", "transpose", "a.npy", "--json", env={"TESSERA_WISDOM": wisdom}))
        self.assertIn("wisdom", told["because"])

    def test_progress(self):
        """A bar on a terminal when work takes over a second; none with --quiet, none where stderr is no terminal."""
        import pty
        import threading
        self.put("a.npy", files.npy([1.0] * 200000, "<f4", (200000,)))  # without an fma instruction this takes seconds anywhere
        words = [files.TESSERA, "correlate", "a.npy", "--mask", "box:9001", "--isa", "baseline", "-o", "o.npy", "-j", "1", "--json"]
        for quiet in ([], ["--quiet"]):
            try:
                master, slave = pty.openpty()
            except OSError as error:
                self.skipTest("no terminal can be made here: %s" % error)
            shown = []

            def drain():
                try:
                    while True:
                        data = os.read(master, 4096)
                        if not data:
                            break
                        shown.append(data)
                except OSError:
                    pass
            thread = threading.Thread(target=drain)
            thread.start()
            started = files.subprocess.Popen(words + quiet, cwd=self.folder.name, stdout=slave, stderr=slave, env={**self.environment, "TERM": "xterm", "NO_COLOR": "1"})
            os.close(slave)
            if quiet:
                time.sleep(1.5)  # in which the bar appeared before
                started.terminate()
            self.assertEqual(started.wait(100) == 0, not quiet)
            thread.join(10)
            os.close(master)
            text = b"".join(shown)
            if quiet:
                self.assertEqual(text, b"")
            else:
                self.assertIn(b"%", text)
                self.assertNotIn(b"\x1b", text)
                self.assertRegex(text, rb"%\r +\r\{[^\r]*\}\r\n$")  # wiped before anything is printed beside it


if __name__ == "__main__":
    files.main()
