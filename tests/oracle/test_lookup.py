# SPDX-License-Identifier: Apache-2.0
"""Lookups against np.take and np.interp, and against the formulas of tessera.h section 9.

Proves: gathers keep every bit for all table and index types, axes, layouts and policies; the first bad index is the one named;
interpolations bit for bit by the header's operations, and the cubic one near Keys' kernel."""
import numpy as np

from harness import OracleTest, everywhere, exact, examples, given, seeds, st, tess, unittest
from test_transpose import random_bits

INDEX_TYPES = tess.INTEGERS
NUMPY_MODE = {"clip": "clip", "wrap": "wrap"}


class Gather(OracleTest):
    @examples(300)
    @given(seeds, st.sampled_from(tess.TYPES), st.sampled_from(INDEX_TYPES), st.sampled_from(tess.OUTSIDE))
    def test_take(self, seed, name, index_type, outside):
        rng = np.random.default_rng(seed)
        ndim, index_ndim = int(rng.integers(1, 4)), int(rng.integers(0, 4))
        shape = rng.integers(1, 6, ndim).tolist()
        axis = int(rng.integers(ndim))
        shape[axis] = n = int(rng.choice([1, 2, 5, 100, 128]))
        table = random_bits(rng, shape, name)
        info = np.iinfo(tess.NUMPY[index_type])
        low, high = (0, n - 1) if outside == "error" else (max(info.min, -3 * n), min(info.max, 4 * n))
        index = rng.integers(low, min(high, info.max), rng.integers(1, 9, index_ndim), endpoint=True).astype(tess.NUMPY[index_type])
        if outside != "error" and index.size > 2 and index_ndim:
            index.ravel()[:2] = info.min, info.max
        raw = tess.bare(table)
        wide = np.array([int(i) % n if outside == "wrap" else min(max(int(i), 0), n - 1) for i in index.ravel()], np.int64).reshape(index.shape)
        expected = np.take(raw, wide, axis=axis)
        if outside == "fill":
            gone = np.array([not 0 <= int(i) < n for i in index.ravel()]).reshape(index.shape)
            at = np.expand_dims(gone, tuple(range(axis)) + tuple(range(axis + gone.ndim, axis + gone.ndim + ndim - axis - 1)))
            expected = np.where(at, tess.bare(exact.store(np.float64(-2.5), name)), expected)
        elif outside in NUMPY_MODE and index.itemsize <= 2:  # NumPy wraps by subtracting n again and again
            self.assertTrue(np.array_equal(wide, np.take(np.arange(n), index, mode=NUMPY_MODE[outside])))
        t, i = exact.scattered(table, rng), exact.scattered(index, rng)

        def call(context, strategy):
            out = tess.new(expected.shape, name)
            out = exact.scattered(out, rng) if rng.integers(2) else out
            return tess.lookup(t, i, out=out, axis=axis - ndim * int(rng.integers(2)), outside=outside, fill=-2.5, context=context, strategy=strategy)
        self.assert_bits(everywhere("lookup", rng, call), expected, f"{name}[{index_type}] {shape} {axis} {index.shape} {outside}")

    @examples(40)
    @given(seeds, st.sampled_from(["u8", "u16", "f32", "f64", "c128"]), st.sampled_from(["u8", "u16", "i32", "i64"]))
    def test_large_enough_for_threads(self, seed, name, index_type):
        rng = np.random.default_rng(seed)
        n = int(rng.choice([3, 16, 200, 256, 4096]))
        table = random_bits(rng, (n,), name)
        index = rng.integers(0, min(n, np.iinfo(tess.NUMPY[index_type]).max + 1), 150001).astype(tess.NUMPY[index_type])
        got = everywhere("lookup", rng, lambda context, strategy: tess.lookup(table, index, context=context, strategy=strategy))
        self.assert_bits(got, table[index], f"{name}[{index_type}] {n}")

    @examples(60)
    @given(seeds, st.sampled_from(INDEX_TYPES))
    def test_the_first_bad_index_is_named(self, seed, index_type):
        """By every row and thread count, whichever thread meets another bad one sooner."""
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 100))
        size = int(rng.choice([1, 7, 1000, 140000]))
        index = rng.integers(0, n, (size, 1)).astype(tess.NUMPY[index_type])
        info = np.iinfo(index.dtype)
        first = int(rng.integers(size))
        choices = [info.max, n] if info.min == 0 else [info.max, info.min, -1, n]
        bad = choices[rng.integers(len(choices))]
        index[first] = bad
        index[first + 1::3] = info.max
        for row in [None] + tess.strategies("lookup"):
            context = tess.Context(threads=int(rng.integers(1, 6)))
            try:
                tess.lookup(np.arange(n, dtype=np.float32), index, context=context, strategy=row)
                self.fail("no error")
            except tess.TessError as error:
                if row and error.status == "STRATEGY":
                    continue
                self.assertEqual(error.status, "INDEX", str(error))
                for word in (bad, first, n - 1):
                    self.assertIn(str(word), error.detail)
            finally:
                context.close()

    def test_empty(self):
        for outside in tess.OUTSIDE:
            self.assertEqual(tess.lookup(np.zeros((0,), np.float32), np.zeros((0, 3), np.int32), outside=outside).shape, (0, 3))
            self.assertEqual(tess.lookup(np.zeros((4, 0), np.float32), np.array([1, 3]), outside=outside).shape, (2, 0))
        filled = tess.lookup(np.zeros((0,), np.float32), np.array([1, -3]), outside="fill", fill=2)
        self.assertEqual(filled.tolist(), [2, 2])
        for outside in ("clip", "wrap"):
            self.assert_status("EMPTY", lambda: tess.lookup(np.zeros((0,), np.float32), np.array([0]), outside=outside))

    def test_refusals(self):
        table = np.arange(4, dtype=np.float32)
        self.assert_status("TYPE", lambda: tess.lookup(table, np.array([True])))
        self.assert_status("TYPE", lambda: tess.lookup(table, np.array([1j]), interpolation="linear"))
        self.assert_status("TYPE", lambda: tess.lookup(table, np.array([1]), out_type="f64"))
        self.assert_status("AXIS", lambda: tess.lookup(table, np.array([1]), out=table[:1].copy(), axis=1), "axis", 1)
        self.assert_status("SHAPE", lambda: tess.lookup(table, np.array([1]), out=np.zeros(2, np.float32)))
        self.assert_status("OVERLAP", lambda: tess.lookup(table, np.array([1, 2]), out=table[1:3]))
        self.assert_status("INDEX", lambda: tess.lookup(table, np.array([2 ** 64 - 1], np.uint64)), 2 ** 64 - 1)


def wraps(x, n):
    return x - n * np.floor(x / n)


class Interpolate(OracleTest):
    def compute(self, table_type, index_type):
        wide = {"f64", "c128", "u32", "i32", "u64", "i64"}
        return "f64" if wide & {table_type, index_type} else "f32"

    @examples(250)
    @given(seeds, st.sampled_from([t for t in tess.TYPES if t not in tess.COMPLEX]), st.sampled_from(tess.FLOATS),
           st.sampled_from(["nearest", "linear", "none"]), st.sampled_from(["clip", "wrap", "fill"]))
    def test_nearest_and_linear(self, seed, table_type, index_type, interpolation, outside):
        """Coordinates are multiples of 1/8, so that wrapping them is exact; inside, any."""
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 60))
        table = exact.random_array(rng, (n,), table_type)
        C = tess.NUMPY[self.compute(table_type, index_type)]
        x = rng.integers(-16 * n, 24 * n, 100) / 8
        if outside == "clip":
            x = np.where(rng.random(100) < 0.5, rng.random(100) * (n - 1), x)
            x[:4] = np.nan, np.inf, -np.inf, n - 1
        index = exact.store(x, index_type)
        index = tess.Bits(index, "bf16") if index_type == "bf16" else index
        x = exact.values_of(index).astype(C)
        y = exact.values_of(table).astype(C)
        inside = (x >= 0) & (x <= n - 1)
        if outside == "clip":
            x = np.where(np.isnan(x), C.type(0), np.clip(x, C.type(0), C.type(n - 1)))
        elif outside == "wrap":
            x = wraps(x, C.type(n))
        else:
            x = np.where(inside, x, C.type(0))
        if interpolation == "nearest":
            value = y[np.floor(x + C.type(0.5)).astype(np.int64) % n] if outside == "wrap" else y[np.minimum(np.floor(x + C.type(0.5)).astype(np.int64), n - 1)]
        else:
            low = np.floor(x).astype(np.int64)
            high = (low + 1) % n if outside == "wrap" else np.minimum(low + 1, n - 1)
            value = exact.fma(x - low.astype(C), y[high] - y[low], y[low], "f32" if C == np.float32 else "f64").astype(C)
        if outside == "fill":
            value = np.where(inside, value, C.type(-2.5))
        out_type = [t for t in tess.TYPES if t not in tess.COMPLEX][rng.integers(13)]
        expected = exact.store(value, out_type)
        if outside == "fill":
            expected = np.where(inside, tess.bare(expected), tess.bare(exact.store(np.float64(-2.5), out_type)))
        got = everywhere("lookup", rng, lambda context, strategy: tess.lookup(
            exact.scattered(table, rng), exact.scattered(index, rng), out_type=out_type, outside=outside, fill=-2.5, interpolation=interpolation,
            context=context, strategy=strategy))
        self.assert_bits(got, expected, f"{table_type}[{index_type}]->{out_type} {n} {interpolation} {outside}")

    @examples(60)
    @given(seeds)
    def test_numpy_interp(self, seed):
        """Linear inside the table: np.interp computes slope * (x - i) + y0; each is within 3 u of the larger neighbour of the exact value."""
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 50))
        table = rng.standard_normal(n)
        x = rng.random(200) * (n - 1)
        got = tess.lookup(table, x, interpolation="linear")
        size = np.maximum(np.abs(table[np.floor(x).astype(int)]), np.abs(table[np.minimum(np.floor(x).astype(int) + 1, n - 1)]))
        self.assertTrue((np.abs(got - np.interp(x, np.arange(n), table)) <= 12 * 2.0 ** -53 * size).all())
        got = tess.lookup(table, x * 3 - n, interpolation="linear", outside="clip")
        np.testing.assert_allclose(got, np.interp(x * 3 - n, np.arange(n), table), rtol=0, atol=12 * 2.0 ** -53 * np.abs(table).max())

    @examples(120)
    @given(seeds, st.sampled_from(["f32", "f64", "u8", "i32", "f16", "bf16"]), st.sampled_from(["f32", "f64"]),
           st.sampled_from(["error", "clip", "wrap", "fill"]))
    def test_keys_cubic(self, seed, table_type, index_type, outside):
        """Keys (IEEE TASSP 29, 1981), a = -1/2: bit for bit the header's operations, and they are near his kernel. That has four weights below
        1.2, cubics of t in [0, 1] with coefficients of at most 5/2: some 20 roundings err by less than 40 u of the sum of the entries."""
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 40))
        table = exact.random_array(rng, (n,), table_type)
        x = rng.random(150) * (n - 1) if outside == "error" else rng.integers(-16 * n, 24 * n, 150) / 8
        x[:2] = 0, n - 1
        x = x.astype(tess.NUMPY[index_type])
        C = self.compute(table_type, index_type)
        kind = tess.NUMPY[C]
        y = exact.values_of(table).astype(kind)
        inside = (x >= 0) & (x <= n - 1)
        v = np.clip(x, 0, n - 1) if outside == "clip" else wraps(x.astype(np.float64), n) if outside == "wrap" else np.where(inside, x, 0)
        low = np.floor(v).astype(np.int64)
        t = (v - low).astype(kind)
        p0, p1, p2, p3 = (y[(low + j) % n if outside == "wrap" else np.clip(low + j, 0, n - 1)] for j in (-1, 0, 1, 2))

        def fma(a, b, c):
            return exact.fma(a, b, c, C).astype(kind)
        c1, c2, c3 = p2 - p0, fma(-5, p1, fma(4, p2, fma(2, p0, -p3))), fma(3, p1 - p2, p3 - p0)
        expected = fma(t / 2, fma(t, fma(t, c3, c2), c1), p1)
        expected = np.where(t == 0, p1, expected)
        expected = np.where(inside, expected, kind.type(-2.5)) if outside == "fill" else expected
        got = everywhere("lookup", rng, lambda context, strategy: tess.lookup(
            table, x, out_type=C, outside=outside, fill=-2.5, interpolation="cubic", context=context, strategy=strategy))
        self.assert_bits(got, expected.astype(kind), f"{table_type}[{index_type}] {n} {outside}")

        def keys(s):
            s = np.abs(s)
            return np.where(s < 1, (1.5 * s - 2.5) * s * s + 1, np.where(s < 2, ((-0.5 * s + 2.5) * s - 4) * s + 2, 0))
        entries = [p.astype(np.float64) for p in (p0, p1, p2, p3)]
        kernel = sum(e * keys(t.astype(np.float64) - j) for e, j in zip(entries, (-1, 0, 1, 2)))
        kernel = np.where(inside, kernel, -2.5) if outside == "fill" else kernel
        u = 2.0 ** -24 if C == "f32" else 2.0 ** -53
        self.assertTrue((np.abs(got - kernel) <= 40 * u * (sum(np.abs(e) for e in entries) + 2.5)).all(), f"{table_type} {n} {outside}")

    @examples(40)
    @given(seeds, st.sampled_from(tess.COMPLEX), st.sampled_from(["nearest", "linear", "cubic"]))
    def test_complex_tables_go_by_their_parts(self, seed, name, interpolation):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 40))
        table = exact.random_array(rng, (n,), name)
        x = (rng.random(100) * (n - 1)).astype(np.float32 if name == "c64" else np.float64)
        got = tess.lookup(table, x, interpolation=interpolation)
        self.assert_bits(got.real.copy(), tess.lookup(table.real.copy(), x, interpolation=interpolation))
        self.assert_bits(got.imag.copy(), tess.lookup(table.imag.copy(), x, interpolation=interpolation))

    def test_axes_and_rank(self):
        rng = np.random.default_rng(3)
        table = exact.random_array(rng, (3, 9, 4), "f32")
        x = (rng.random((2, 5)) * 8).astype(np.float32)
        for interpolation in ("nearest", "linear", "cubic"):
            got = everywhere("lookup", rng, lambda context, strategy: tess.lookup(
                table, x, axis=1, interpolation=interpolation, context=context, strategy=strategy))
            self.assertEqual(got.shape, (3, 2, 5, 4))
            for i in range(3):
                for j in range(4):
                    self.assert_bits(got[i, :, :, j].copy(), tess.lookup(table[i, :, j], x, interpolation=interpolation))

    def test_outside(self):
        table = np.array([10, 20, 40], np.float32)
        self.assert_status("INDEX", lambda: tess.lookup(table, np.array([0, 2, 2.5, np.nan], np.float32)), "[2]", "2.5", "0..2")
        self.assert_status("INDEX", lambda: tess.lookup(table, np.array([np.nan], np.float32)), "nan")
        x = np.array([-1, 2.5, np.nan, np.inf, -np.inf], np.float32)
        self.assertEqual(tess.lookup(table, x, outside="clip").tolist(), [10, 40, 10, 40, 10])
        self.assertEqual(tess.lookup(table, x, outside="fill", fill=7).tolist(), [7] * 5)
        self.assertEqual(tess.lookup(table, x[:2], outside="wrap").tolist(), [40, 25])
        self.assertTrue(np.isnan(tess.lookup(table, x[2:3], outside="wrap"))[0])
        self.assertEqual(tess.lookup(table.astype(np.int16), x[2:3], outside="wrap").tolist(), [0])


if __name__ == "__main__":
    unittest.main()
