# SPDX-License-Identifier: Apache-2.0
"""Transposes against np.transpose: all permutations of up to five axes, every element size, any layout on both sides, in place, every bit kept."""
import itertools

import numpy as np

from harness import OracleTest, everywhere, exact, examples, given, seeds, st, tess, unittest


def random_bits(rng, shape, name):
    """Any bit pattern, signalling NaNs too (bool: 0 and 1)."""
    size = tess.NUMPY[name].itemsize
    count = int(np.prod(shape, dtype=np.int64))
    raw = rng.integers(0, 2 if name == "bool" else 256, count * size, dtype=np.uint8).view(tess.NUMPY[name]).reshape(shape)
    return tess.Bits(raw, name) if name == "bf16" else raw


class Transpose(OracleTest):
    def test_all_permutations(self):
        rng = np.random.default_rng(0)
        for ndim, shape in ((0, ()), (1, (7,)), (2, (5, 9)), (3, (4, 1, 6)), (4, (3, 5, 2, 4)), (5, (2, 3, 1, 4, 2))):
            x = random_bits(rng, shape, "i32")
            for perm in itertools.permutations(range(ndim)):
                self.assert_bits(tess.transpose(x, list(perm)), np.transpose(x, perm).copy(), perm)
            self.assert_bits(tess.transpose(x), x.T.copy())
            self.assert_bits(tess.transpose(x, [p - ndim for p in range(ndim)]), x)

    @examples(200)
    @given(seeds, st.sampled_from(tess.TYPES))
    def test_layouts(self, seed, name):
        rng = np.random.default_rng(seed)
        ndim = int(rng.integers(0, 6))
        largest = {0: 1, 1: 300, 2: 90, 3: 24}.get(ndim, 7)
        shape = rng.integers(0 if rng.integers(9) == 0 else 1, largest + 1, ndim).tolist()
        perm = rng.permutation(ndim).tolist()
        x = random_bits(rng, shape, name)
        hostile = exact.scattered(x, rng) if rng.integers(2) else x
        expected = tess.bare(x).transpose(perm).copy()

        def call(context, strategy):
            out = tess.new(expected.shape, name)
            return tess.transpose(hostile, perm, out=exact.scattered(out, rng) if rng.integers(2) else out, context=context, strategy=strategy)
        self.assert_bits(everywhere("transpose", rng, call), expected, f"{name} {shape} {perm}")

    @examples(60)
    @given(seeds, st.sampled_from(["u8", "i16", "f32", "f64", "c128"]))
    def test_large_enough_for_threads(self, seed, name):
        rng = np.random.default_rng(seed)
        rows, columns = (int(v) for v in rng.integers(200, 700, 2))
        x = random_bits(rng, (rows, columns), name)
        got = everywhere("transpose", rng, lambda context, strategy: tess.transpose(x, [1, 0], context=context, strategy=strategy))
        self.assert_bits(got, x.T.copy(), f"{name} {rows} {columns}")

    @examples(150)
    @given(seeds, st.sampled_from(["u8", "u16", "f32", "f64", "c128"]))
    def test_in_place(self, seed, name):
        """batch x rows x columns x run, rows and columns exchanged where they lie."""
        rng = np.random.default_rng(seed)
        batch, run = (int(rng.choice([1, 1, 2, 3])) for _ in range(2))
        rows, columns = (int(v) for v in rng.integers(1, 70, 2))
        if rng.integers(2):
            columns = rows
        x = random_bits(rng, (batch, rows, columns, run), name)
        expected = np.ascontiguousarray(x.transpose(0, 2, 1, 3))

        def call(context, strategy):
            y = x.copy()
            return tess.transpose(y, [0, 2, 1, 3], out=y.reshape(expected.shape), context=context, strategy=strategy)
        self.assert_bits(everywhere("transpose", rng, call), expected, f"{name} {x.shape}")

    def test_in_place_of_neighbouring_groups(self):
        rng = np.random.default_rng(2)
        x = random_bits(rng, (2, 3, 4, 5), "i16")
        for perm in ([2, 3, 0, 1], [1, 2, 3, 0], [3, 0, 1, 2], [0, 2, 3, 1], [1, 0, 2, 3], [0, 1, 2, 3]):
            y = x.copy()
            expected = np.ascontiguousarray(x.transpose(perm))
            self.assert_bits(tess.transpose(y, perm, out=y.reshape(expected.shape)), expected, perm)
        y = x.copy()
        self.assert_status("OVERLAP", lambda: tess.transpose(y, [3, 2, 1, 0], out=y.reshape(5, 4, 3, 2)))

    def test_refusals(self):
        x = np.zeros((3, 4), np.float32)
        self.assert_status("AXIS", lambda: tess.transpose(x, [0, 0], out=x.copy()), "perm")
        self.assert_status("AXIS", lambda: tess.transpose(x, [0, 2], out=x.copy()), "perm", 2)
        self.assert_status("AXIS", lambda: tess.transpose(x, [0], out=x.copy()))
        self.assert_status("SHAPE", lambda: tess.transpose(x, [1, 0], out=x.copy()), 4, 3)
        self.assert_status("TYPE", lambda: tess.transpose(x, [1, 0], out=np.zeros((4, 3), np.int32)))
        big = np.zeros(24, np.float32)
        self.assert_status("OVERLAP", lambda: tess.transpose(big[:12].reshape(3, 4), [1, 0], out=big[6:18].reshape(4, 3)))
        halves = np.zeros((4, 8), np.float32)
        tess.transpose(halves[:, :4], [1, 0], out=halves[:, 4:])  # disjoint though interleaved

    def test_rank_32(self):
        """NumPy's limit; the library's own, 64, is tested in C."""
        x = np.arange(6, dtype=np.int32).reshape((1,) * 15 + (2,) + (1,) * 14 + (3, 1))
        self.assert_bits(tess.transpose(x), x.T.copy())


if __name__ == "__main__":
    unittest.main()
