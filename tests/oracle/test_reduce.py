# SPDX-License-Identifier: Apache-2.0
"""Reductions against NumPy, math.fsum and the definition of docs/numerics.md.

Proves: values as NumPy's for every operation, type, set of axes and layout; sums, means, variances and norms bit for bit the tree, whichever row,
instruction set, thread count or layout; exact sums correctly rounded; segments each a reduction of their own."""
import math
from fractions import Fraction

import numpy as np

from harness import OracleTest, everywhere, exact, examples, given, seeds, st, tess, unittest

REAL = [t for t in tess.TYPES if t not in tess.COMPLEX]
BITWISE = ["sum", "mean", "var", "std", "min", "max", "argmin", "argmax", "any", "all", "count_nonzero", "norm1", "norm2", "norm_inf", "prod"]


def draw_shape(rng, largest=12):
    ndim = int(rng.integers(0, 5))
    shape = [int(rng.integers(1, largest + 1)) for _ in range(ndim)]
    count = int(rng.integers(0, ndim + 1))
    axes = None if rng.integers(4) == 0 else rng.permutation(ndim)[:count].tolist()
    if axes is not None:
        axes = [a - ndim if rng.integers(2) else a for a in axes]
    return shape, axes


def with_nans(rng, x):
    raw = tess.bare(x)
    if isinstance(x, tess.Bits):
        raw[rng.random(raw.shape) < 0.2] = 0x7FC1
    elif raw.dtype.kind in "fc":
        raw[rng.random(raw.shape) < 0.2] = np.nan
    return x


class AgainstTheDefinition(OracleTest):
    def compare(self, rng, operation, x, out_type, **options):
        expected = exact.reduce(operation, x, out_type=out_type, **options)
        layouts = [x, exact.scattered(x, rng)]

        def call(context, strategy):
            out = tess.new(expected.shape, out_type)
            out = exact.scattered(out, rng) if rng.integers(2) else out
            return tess.reduce(operation, layouts[rng.integers(2)], out=out, context=context, strategy=strategy, **options)
        self.assert_bits(everywhere("reduce", rng, call), expected, f"{operation} {tess.type_of(x)}->{out_type} {x.shape} {options}")

    @examples(400)
    @given(seeds, st.sampled_from(BITWISE), st.sampled_from(REAL))
    def test_any_axes(self, seed, operation, name):
        rng = np.random.default_rng(seed)
        shape, axes = draw_shape(rng)
        x = exact.random_array(rng, shape, name)
        if operation == "prod" and name in tess.FLOATS and tess.bare(x).size > 3000:
            return
        out_type = tess.result_type(operation, name) if rng.integers(2) else REAL[rng.integers(len(REAL))]
        options = dict(axes=axes, keepdims=bool(rng.integers(2)))
        if operation in ("var", "std"):
            options["ddof"] = float(rng.integers(0, 3))
        if rng.integers(3) == 0:
            x = with_nans(rng, x)
            options["nan"] = ["propagate", "omit"][rng.integers(2)]
        self.compare(rng, operation, x, out_type, **options)

    @examples(60)
    @given(seeds, st.sampled_from(["sum", "mean", "norm2", "count_nonzero"]), st.sampled_from(tess.COMPLEX))
    def test_complex(self, seed, operation, name):
        rng = np.random.default_rng(seed)
        shape, axes = draw_shape(rng)
        self.compare(rng, operation, exact.random_array(rng, shape, name), tess.result_type(operation, name), axes=axes)

    @examples(40)
    @given(seeds, st.sampled_from(["sum", "mean", "var", "norm1", "norm2", "argmax", "min"]),
           st.sampled_from(["f32", "f64", "f16", "bf16", "i32", "u8", "i64"]))
    def test_many_leaves(self, seed, operation, name):
        """Reductions over several leaves of 8192 and over the threading threshold, reduced axis first, last and split."""
        rng = np.random.default_rng(seed)
        k = int(rng.choice([8191, 8192, 8193, 16384, 24577, 70001, 131072, 200003]))
        kept = int(rng.choice([1, 2, 3])) if k > 30000 else int(rng.choice([1, 5, 17]))
        x = exact.random_array(rng, (kept, k), name)
        which = int(rng.integers(3))
        axes = [1]
        if which == 1:
            x = tess.Bits(np.ascontiguousarray(x.array.T), name) if isinstance(x, tess.Bits) else np.ascontiguousarray(x.T)
            axes = [0]
        elif which == 2 and k % 8 == 0:
            raw = tess.bare(x).reshape(kept, 8, k // 8).transpose(1, 0, 2).copy()
            x, axes = (tess.Bits(raw, name) if isinstance(x, tess.Bits) else raw), [0, 2]
        self.compare(rng, operation, x, tess.result_type(operation, name), axes=axes)

    @examples(80)
    @given(seeds, st.sampled_from(["sum", "mean", "var", "min", "max", "argmin", "any", "all", "count_nonzero", "norm1", "norm_inf"]),
           st.sampled_from(REAL))
    def test_segments(self, seed, operation, name):
        rng = np.random.default_rng(seed)
        shape = rng.integers(1, 9, int(rng.integers(1, 4))).tolist()
        axis = int(rng.integers(len(shape)))
        shape[axis] = n = int(rng.integers(1, 200))
        cuts = np.sort(rng.integers(0, n + 1, int(rng.integers(1, 12))))
        if operation in ("min", "max", "argmin"):
            cuts = np.unique(cuts)
        offsets = cuts.astype([np.int32, np.int64][rng.integers(2)])
        x = exact.random_array(rng, shape, name)
        out_type = tess.result_type(operation, name)
        raw = tess.bare(x)
        pieces = []
        for a, b in zip(cuts[:-1], cuts[1:]):
            piece = raw.take(range(a, b), axis=axis)
            pieces.append(tess.bare(exact.reduce(operation, tess.Bits(piece, name) if name == "bf16" else piece, axes=[axis], keepdims=True,
                                                 out_type=out_type)))
        empty = raw.take([], axis=axis).astype(tess.NUMPY[out_type])
        expected = np.concatenate(pieces, axis=axis) if pieces else empty
        hostile = exact.scattered(x, rng)
        got = everywhere("reduce", rng, lambda context, strategy: tess.reduce(
            operation, hostile, axes=[axis], offsets=offsets, out_type=out_type, context=context, strategy=strategy))
        self.assert_bits(got, expected, f"{operation} {name} {shape} {axis} {offsets}")


class AgainstNumpy(OracleTest):
    @examples(200)
    @given(seeds, st.sampled_from(REAL[:-3] + ["f32", "f64"]))
    def test_values(self, seed, name):
        """Small integers: every sum is exact, so NumPy must agree to the bit in double."""
        rng = np.random.default_rng(seed)
        shape, axes = draw_shape(rng)
        x = exact.random_array(rng, shape, name, small=True)
        v = exact.values_of(x)
        axis = None if axes is None else tuple(axes)
        hostile = exact.scattered(x, rng)
        arguments = dict(axes=axes, keepdims=True)
        wide = v.astype(np.float64)
        for operation, expected in (
                ("sum", np.sum(wide, axis=axis, keepdims=True)), ("min", np.min(v, axis=axis, keepdims=True)),
                ("max", np.max(v, axis=axis, keepdims=True)), ("any", np.any(v, axis=axis, keepdims=True)),
                ("all", np.all(v, axis=axis, keepdims=True)), ("count_nonzero", np.count_nonzero(v, axis=axis, keepdims=True)),
                ("mean", np.mean(wide, axis=axis, keepdims=True)), ("norm1", np.sum(np.abs(wide), axis=axis, keepdims=True)),
                ("norm_inf", np.max(np.abs(wide), axis=axis, keepdims=True)),
                ("norm2", np.sqrt(np.sum(wide * wide, axis=axis, keepdims=True)))):
            got = tess.reduce(operation, hostile, out_type="f64", **arguments)
            self.assertTrue(np.array_equal(got, np.asarray(expected, np.float64)), f"{operation} {name} {shape} {axes}")
        for ddof in (0, 1):
            with np.errstate(all="ignore"), np.testing.suppress_warnings() as quiet:
                quiet.filter(RuntimeWarning)
                expected = np.var(wide, axis=axis, keepdims=True, ddof=ddof)
            got = tess.reduce("var", hostile, out_type="f64", ddof=float(ddof), **arguments)
            np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)

    @examples(100)
    @given(seeds)
    def test_nan_omit(self, seed):
        rng = np.random.default_rng(seed)
        shape, axes = draw_shape(rng)
        x = with_nans(rng, exact.random_array(rng, shape, ["f32", "f64"][rng.integers(2)], small=True))
        axis = None if axes is None else tuple(axes)
        with np.testing.suppress_warnings() as quiet:
            quiet.filter(RuntimeWarning)
            for operation, function in (("sum", np.nansum), ("min", np.nanmin), ("max", np.nanmax), ("mean", np.nanmean), ("var", np.nanvar),
                                        ("std", np.nanstd)):
                got = tess.reduce(operation, x, axes=axes, nan="omit", out_type="f64")
                if axis == ():  # no axis at all: NumPy's nanmin refuses, but each element is its own group
                    expected = {"sum": np.nan_to_num(x), "var": x * 0, "std": x * 0}.get(operation, x)
                else:
                    expected = function(x.astype(np.float64), axis=axis)
                np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12, err_msg=f"{operation} {shape} {axes}")

    @examples(60)
    @given(seeds)
    def test_reduceat(self, seed):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 300))
        cuts = np.unique(np.append(rng.integers(0, n, int(rng.integers(1, 20))), n))
        x = exact.random_array(rng, (n,), "i64")
        got = tess.reduce("sum", x, axes=[0], offsets=cuts)
        self.assertTrue(np.array_equal(got, np.add.reduceat(x, cuts[:-1])))
        self.assertTrue(np.array_equal(tess.reduce("max", x, axes=[0], offsets=cuts), np.maximum.reduceat(x, cuts[:-1])))

    @examples(60)
    @given(seeds, st.sampled_from(tess.COMPLEX))
    def test_complex_products_and_moduli(self, seed, name):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 30))
        x = exact.random_array(rng, (n,), name)
        v = x.astype(np.complex128)
        u = 2.0 ** -24 if name == "c64" else 2.0 ** -53
        got = tess.reduce("prod", x)
        self.assertLessEqual(abs(got - np.prod(v)), 4 * (n + 8) * u * np.prod(np.abs(v)) + 1e-38)
        for operation, expected in (("norm1", np.abs(v).sum()), ("norm_inf", np.abs(v).max()), ("norm2", np.linalg.norm(v))):
            np.testing.assert_allclose(tess.reduce(operation, x, out_type="f64"), expected, rtol=(n + 40) * u)


class Exact(OracleTest):
    @examples(80)
    @given(seeds)
    def test_sum_is_fsum(self, seed):
        """Values over the whole range of exponents with cancellation: the exact sum, rounded once."""
        rng = np.random.default_rng(seed)
        n = int(rng.integers(0, 400))
        x = rng.standard_normal(n) * 2.0 ** rng.integers(-1070, 1000, n) if rng.integers(2) else rng.standard_normal(n) * 2.0 ** rng.integers(-60, 60, n)
        x = np.concatenate([x, -x[rng.random(n) < 0.9], rng.choice([5e-324, 1.0, 1e300], 3)])
        rng.shuffle(x)
        expected = np.float64(math.fsum(x))
        got = everywhere("reduce", rng, lambda context, strategy: tess.reduce("sum", x, exact=True, context=context, strategy=strategy))
        self.assertEqual(got, expected)
        self.assertEqual(tess.reduce("sum", exact.scattered(x, rng), exact=True), expected)
        self.assertEqual(tess.reduce("norm1", x, exact=True), math.fsum(np.abs(x)))
        self.assertEqual(tess.reduce("mean", x, exact=True), expected / len(x))

    @examples(60)
    @given(seeds)
    def test_rounded_once_to_f32(self, seed):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 50))
        x = np.append((rng.standard_normal(n) * 2.0 ** rng.integers(-30, 10, n)), [1.0, 2.0 ** -24, 2.0 ** -80])
        total = sum(map(Fraction, x.tolist()))
        near = np.float32(float(total))
        candidates = [near, np.nextafter(near, np.float32(-np.inf)), np.nextafter(near, np.float32(np.inf))]
        best = min(candidates, key=lambda c: (abs(Fraction(float(c)) - total), int(np.float32(c).view(np.uint32)) & 1))
        self.assertEqual(tess.reduce("sum", x, exact=True, out_type="f32"), best)

    def test_infinities(self):
        for values, expected in (([1, np.inf], np.inf), ([-np.inf, 3], -np.inf), ([np.inf, -np.inf], np.nan), ([np.nan, 1], np.nan),
                                 ([1e308, 1e308, -1e308], 1e308), ([1e308] * 3, np.inf), ([], 0.0)):
            got = tess.reduce("sum", np.array(values, np.float64), exact=True)
            self.assertTrue(got == expected or (got != got and expected != expected), f"{values} {got}")

    def test_order_does_not_matter(self):
        rng = np.random.default_rng(8)
        x = rng.standard_normal(100000).astype(np.float32) * np.float32(2) ** rng.integers(-20, 20, 100000).astype(np.float32)
        once = tess.reduce("sum", x, exact=True, out_type="f64")
        self.assertEqual(once, math.fsum(x))
        self.assertEqual(tess.reduce("sum", rng.permutation(x), exact=True, out_type="f64"), once)


class Promises(OracleTest):
    def test_ones_never_stick(self):
        """2^25 ones, where a running float32 sum stops at 2^24; every type, through a zero stride."""
        for name in ("f16", "bf16", "f32"):
            one = tess.bare(exact.store(np.float64(1), name)).reshape(1)
            ones = np.broadcast_to(one, (2 ** 25 + 1,))
            x = tess.Bits(ones, name) if name == "bf16" else ones
            self.assertEqual(tess.reduce("sum", x, out_type="f64"), 2 ** 25 + 1)
            self.assertEqual(tess.reduce("sum", x, out_type="f32"), 2 ** 25)
            self.assertEqual(tess.reduce("mean", x, out_type="f32"), 1)

    def test_empty(self):
        empty = np.zeros((3, 0), np.float32)
        for operation, value in (("sum", 0), ("prod", 1), ("any", 0), ("all", 1), ("count_nonzero", 0), ("norm1", 0), ("norm2", 0),
                                 ("norm_inf", 0), ("mean", np.nan), ("var", np.nan), ("std", np.nan)):
            got = tess.reduce(operation, empty, axes=[1], out_type="f64")
            np.testing.assert_array_equal(got, np.full(3, float(value)), operation)
        for operation in ("min", "max", "argmin", "argmax"):
            self.assert_status("EMPTY", lambda: tess.reduce(operation, empty, axes=[1]))
            self.assertEqual(tess.reduce(operation, empty, axes=[0]).shape, (0,))
        self.assert_status("EMPTY", lambda: tess.reduce("min", np.arange(4.0), axes=[0], offsets=np.array([0, 2, 2, 4])), "segment", 1)

    def test_ddof_beyond_the_count(self):
        """As NumPy: the divisor stops at 0, so a positive sum gives infinity and no sum NaN."""
        for values, ddof in (([1.0, 2.0], 2), ([1.0, 2.0], 3), ([1.0], 1), ([1.0], 5), ([2.0, 2.0], 2), ([], 0), ([1.0, 2.0, 4.0], 2.5)):
            with np.errstate(all="ignore"), np.testing.suppress_warnings() as quiet:
                quiet.filter(RuntimeWarning)
                for operation, function in (("var", np.var), ("std", np.std)):
                    np.testing.assert_allclose(tess.reduce(operation, np.array(values), ddof=float(ddof)), function(values, ddof=ddof), rtol=1e-15)

    def test_stability_of_the_variance(self):
        """NumPy's own hard case: a large mean over small deviations."""
        x = 1e9 + np.arange(10000) % 2
        self.assertAlmostEqual(float(tess.reduce("var", x)), 0.25, places=12)

    def test_signed_zeros_and_first_indices(self):
        x = np.array([0.0, -0.0, 0.0])
        self.assertTrue(np.signbit(tess.reduce("min", x)))
        self.assertFalse(np.signbit(tess.reduce("max", x[::-1])))
        self.assertEqual(tess.reduce("argmin", x), 0)
        self.assertEqual(tess.reduce("argmax", x[1:]), 0)
        self.assertEqual(tess.reduce("argmax", np.array([1, np.nan, 3, np.nan])), 1)
        self.assertEqual(tess.reduce("argmax", np.array([1, np.nan, 3, np.nan]), nan="omit"), 2)
        self.assertEqual(tess.reduce("argmin", np.array([np.nan, np.nan]), nan="omit"), -1)

    def test_arg_numbers_run_over_all_reduced_axes(self):
        rng = np.random.default_rng(11)
        x = exact.random_array(rng, (4, 5, 6), "i16")
        got = tess.reduce("argmax", x, axes=[2, 0])
        expected = x.transpose(1, 0, 2).reshape(5, 24).argmax(axis=1)
        self.assertEqual(got.tolist(), expected.tolist())

    def test_integer_sums_wrap_at_64_bits(self):
        x = np.array([2 ** 63 - 1, 1, 5], np.int64)
        self.assertEqual(int(tess.reduce("sum", x)), -2 ** 63 + 5)
        self.assertEqual(int(tess.reduce("sum", np.array([2 ** 64 - 1, 3], np.uint64))), 2)
        self.assertEqual(int(tess.reduce("norm1", np.array([-2 ** 63], np.int64))), 2 ** 63)
        self.assertEqual(int(tess.reduce("sum", np.array([200, 100], np.uint8), out_type="u8")), 255)


if __name__ == "__main__":
    unittest.main()
