# SPDX-License-Identifier: Apache-2.0
"""Proves that files larger than a GPU's memory go through the command: under TESSERA_GPU_MEMORY every operation writes the CPU's bytes, slab by slab, on the
virtual GPU and on a card where there is one; and that what cannot be cut is refused with a sentence and leaves no file."""
import random

import files


class Larger(files.Case):
    def setUp(self):
        super().setUp()
        told = self.ok("devices").decode()
        if "nvrtc    none" in told:
            self.skipTest("no compiler for kernels here")
        self.engines = ["virtual"] + ["cuda"] * ("gpu      none" not in told)
        number = random.Random(7)
        self.put("image.npy", files.npy([number.uniform(-1, 1) for _ in range(150 * 208)], "<f4", (150, 208)))
        self.put("volume.npy", files.npy([number.uniform(-1, 1) for _ in range(24 * 20 * 64)], "<f4", (24, 20, 64)))
        self.put("bytes.npy", files.npy([number.randrange(256) for _ in range(400 * 333)], "|u1", (400, 333)))
        self.put("table.npy", files.npy([number.uniform(-1, 1) for _ in range(500)], "<f4", (500,)))
        self.put("index.npy", files.npy([number.randrange(500) for _ in range(30000)], "<i4", (30000,)))

    def capped(self, cap, *words):
        """All arrays of the work take more than the cap; the bytes are the CPU's."""
        self.ok(*words, "-o", "cpu.npy", "--engine", "cpu")
        for engine in self.engines:
            self.ok(*words, "-o", "gpu.npy", "--engine", engine, env={"TESSERA_GPU_MEMORY": cap})
            self.assertEqual(self.get("gpu.npy"), self.get("cpu.npy"), (engine, words))

    def test_correlate(self):
        self.capped("96K", "correlate", "image.npy", "--mask", "1 2 1; 2 4 3; 1 2 1")
        self.capped("96K", "convolve", "image.npy", "--mask", "gaussian:1", "--boundary", "reflect")
        self.capped("96K", "correlate", "bytes.npy", "--mask", "laplace", "--boundary", "wrap", "--extent", "full")
        self.capped("200K", "correlate", "volume.npy", "--mask", "gaussian:0.6", "--boundary", "mirror")

    def test_reduce(self):
        self.capped("104K", "reduce", "sum", "image.npy")
        self.capped("64K", "reduce", "var", "image.npy", "--axis", "0")
        self.capped("64K", "reduce", "argmax", "bytes.npy", "--axis", "1")

    def test_transpose(self):
        self.capped("64K", "transpose", "image.npy")
        self.capped("64K", "transpose", "volume.npy", "--axes", "2,0,1")

    def test_lookup(self):
        self.capped("64K", "lookup", "table.npy", "index.npy")

    def test_refused(self):
        for engine in self.engines:
            self.fails(1, "correlate", "image.npy", "--mask", "1 2 1; 2 4 3; 1 2 1", "--accuracy", "fft", "-o", "x.npy", "--engine", engine,
                       env={"TESSERA_GPU_MEMORY": "64K", "TESSERA_CACHE": "none"}, has="TESSERA_GPU_MEMORY")


if __name__ == "__main__":
    files.main()
