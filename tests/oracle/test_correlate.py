# SPDX-License-Identifier: Apache-2.0
"""Correlate and convolve against SciPy, NumPy and the definition of tessera.h section 7.

Proves: the conventions (centre, origin, even widths, boundaries, extents, axes) are scipy.ndimage's, scipy.signal's and numpy's; integers are exact
modulo 2^64; every float result is the chain of fused multiply-adds bit for bit, from every row, instruction set and thread count."""
import warnings

import numpy as np
from scipy import ndimage, signal

from harness import OracleTest, everywhere, exact, examples, given, seeds, st, tess, unittest

SCIPY_MODE = {"zero": "constant", "constant": "constant", "nearest": "nearest", "reflect": "reflect", "mirror": "mirror", "wrap": "wrap"}
EXACT_TYPES = ["bool", "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f16", "bf16", "f32", "f64"]


def draw_case(rng, max_rank=3, max_size=12, max_width=7):
    """Shape of the input, axes and widths of the mask, origins."""
    ndim = int(rng.integers(1, max_rank + 1))
    shape = [int(rng.integers(1, max_size + 1)) for _ in range(ndim)]
    rank = int(rng.integers(1, ndim + 1))
    axes = rng.permutation(ndim)[:rank].tolist()
    widths = [int(rng.integers(1, max_width + 1)) for _ in range(rank)]
    origin = [int(rng.integers(-(w // 2), (w - 1) // 2 + 1)) for w in widths]
    return shape, axes, widths, origin


def full_rank(mask, axes, ndim):
    """The mask as SciPy wants it: one axis for each of the array's, in the array's order."""
    order = np.argsort(axes)
    shape = [1] * ndim
    for k, axis in enumerate(axes):
        shape[axis] = mask.shape[k]
    return np.transpose(mask, order).reshape(shape)


class AgainstScipy(OracleTest):
    @examples(250)
    @given(seeds)
    def test_small_integers_in_every_type(self, seed):
        """Sums of small integers are exact in every type and in SciPy's double, so the results must be equal."""
        rng = np.random.default_rng(seed)
        shape, axes, widths, origin = draw_case(rng)
        name = EXACT_TYPES[rng.integers(len(EXACT_TYPES))]
        mask_type = EXACT_TYPES[rng.integers(len(EXACT_TYPES))]
        x = exact.random_array(rng, shape, name, small=True)
        w = exact.random_array(rng, widths, mask_type, small=True)
        boundary = tess.BOUNDARIES[rng.integers(6)]
        v = float(rng.integers(-5, 6))
        both_unsigned = exact.compute_type(name, mask_type) == "u64"
        constant = abs(v) if both_unsigned else v
        flip = bool(rng.integers(2))
        function = tess.convolve if flip else tess.correlate
        oracle = ndimage.convolve if flip else ndimage.correlate
        x_hostile, w_hostile = exact.scattered(x, rng), exact.scattered(w, rng)

        def call(context, strategy):
            return function(x_hostile, w_hostile, out_type="f64", axes=axes, origin=origin, boundary=boundary, constant=constant,
                            context=context, strategy=strategy)
        origins = [0] * len(shape)
        for k, axis in enumerate(axes):
            origins[axis] = origin[k]
        values, weights = (exact.values_of(a).astype(np.float64) for a in (x, w))
        expected = oracle(values, full_rank(weights, axes, len(shape)), mode=SCIPY_MODE[boundary],
                          cval=constant if boundary == "constant" else 0.0, origin=origins)
        self.assertTrue(np.array_equal(everywhere("correlate", rng, call), expected), f"{name} {mask_type} {shape} {axes} {widths} {origin} {boundary}")

    @examples(120)
    @given(seeds)
    def test_one_axis(self, seed):
        """correlate1d and convolve1d along any axis, masks up to many times longer than the array."""
        rng = np.random.default_rng(seed)
        shape = rng.integers(1, 9, rng.integers(1, 4)).tolist()
        axis = int(rng.integers(len(shape)))
        width = int(rng.integers(1, 60))
        origin = int(rng.integers(-(width // 2), (width - 1) // 2 + 1))
        x, w = exact.random_array(rng, shape, "f64", small=True), exact.random_array(rng, [width], "f64", small=True)
        boundary = tess.BOUNDARIES[rng.integers(6)]
        for function, oracle in ((tess.correlate, ndimage.correlate1d), (tess.convolve, ndimage.convolve1d)):
            got = everywhere("correlate", rng, lambda context, strategy: function(
                x, w, axes=[axis], origin=[origin], boundary=boundary, constant=3.0, context=context, strategy=strategy))
            expected = oracle(x, w, axis=axis, mode=SCIPY_MODE[boundary], cval=3.0 if boundary == "constant" else 0.0, origin=origin)
            self.assertTrue(np.array_equal(got, expected), f"{shape} {axis} {width} {origin} {boundary}")

    @examples(100)
    @given(seeds, st.sampled_from(["f32", "f64"]))
    def test_floats_within_the_bound(self, seed, name):
        """|out - exact| <= (taps + 1) u sum |x w|: a chain of n fused operations errs by gamma_n (Higham, Accuracy and Stability, 2002, ch. 3), and so
        does SciPy's sum of rounded products in double, within n + 1 of its own u; 1 % covers the terms of second order."""
        rng = np.random.default_rng(seed)
        shape, axes, widths, origin = draw_case(rng)
        x, w = exact.random_array(rng, shape, name), exact.random_array(rng, widths, name)
        boundary = tess.BOUNDARIES[rng.integers(6)]
        origins = [0] * len(shape)
        for k, axis in enumerate(axes):
            origins[axis] = origin[k]
        arguments = dict(mode=SCIPY_MODE[boundary], cval=0.5 if boundary == "constant" else 0.0, origin=origins)
        weights = full_rank(w, axes, len(shape)).astype(np.float64)
        got = tess.correlate(x, w, axes=axes, origin=origin, boundary=boundary, constant=0.5)
        oracle = ndimage.correlate(x.astype(np.float64), weights, **arguments)
        size = ndimage.correlate(np.abs(x).astype(np.float64), np.abs(weights), **arguments)
        taps = int(np.prod(widths))
        u = 2.0 ** -24 if name == "f32" else 2.0 ** -53
        bound = 1.01 * ((taps + 1) * u + (taps + 2) * 2.0 ** -53) * size
        self.assertTrue((np.abs(got - oracle) <= bound).all())

    @examples(100)
    @given(seeds)
    def test_full_same_valid(self, seed):
        """scipy.signal's three extents with ghost cells of zero. Its "same" convolution starts at (width - 1) // 2 of the full one, scipy.ndimage's and
        ours at width // 2: an origin of -1 for even widths. Correlations agree as they are, but SciPy conjugates the second argument."""
        rng = np.random.default_rng(seed)
        ndim = int(rng.integers(1, 4))
        shape, widths = rng.integers(1, 9, ndim), rng.integers(1, 6, ndim)
        widths = np.minimum(widths, shape) if rng.integers(2) else widths
        x, w = exact.random_array(rng, shape, "f64", small=True), exact.random_array(rng, widths, "f64", small=True)
        complex_x, complex_w = (exact.random_array(rng, s, "c128", small=True) for s in (shape, widths))
        for a, b in ((x, w), (complex_x, complex_w)):
            self.assertTrue(np.array_equal(tess.convolve(a, b, extent="full"), signal.convolve(a, b, "full", method="direct")))
            self.assertTrue(np.array_equal(tess.correlate(a, b, extent="full"), signal.correlate(a, b.conj(), "full", method="direct")))
            if (widths <= shape).all():
                self.assertTrue(np.array_equal(tess.convolve(a, b, extent="valid"), signal.convolve(a, b, "valid", method="direct")))
                self.assertTrue(np.array_equal(tess.correlate(a, b, extent="valid"), signal.correlate(a, b.conj(), "valid", method="direct")))
                same = tess.convolve(a, b, origin=[-1 if v % 2 == 0 else 0 for v in widths])
                self.assertTrue(np.array_equal(same, signal.convolve(a, b, "same", method="direct")))
                self.assertTrue(np.array_equal(tess.correlate(a, b), signal.correlate(a, b.conj(), "same", method="direct")))

    @examples(60)
    @given(seeds)
    def test_numpy_convolve(self, seed):
        rng = np.random.default_rng(seed)
        n, m = (int(v) for v in rng.integers(1, 40, 2))
        name = ["i64", "i32", "u8", "f64", "c128"][rng.integers(5)]
        x, w = exact.random_array(rng, [n], name, small=True), exact.random_array(rng, [m], name, small=True)
        wide = {"u8": "u64", "i32": "i64"}.get(name, name)
        for mode in ("full", "valid", "same"):
            if mode != "full" and m > n:
                continue  # NumPy then exchanges its arguments
            got = tess.convolve(x, w, out_type=wide, extent=mode, origin=[-1] if mode == "same" and m % 2 == 0 else None)
            self.assertTrue(np.array_equal(got, np.convolve(x.astype(got.dtype), w.astype(got.dtype), mode)), f"{name} {n} {m} {mode}")
            if m <= n:
                got = tess.correlate(x, w.conj(), out_type=wide, extent=mode)
                self.assertTrue(np.array_equal(got, np.correlate(x.astype(got.dtype), w.astype(got.dtype), mode)), f"{name} {n} {m} {mode}")


class AgainstTheDefinition(OracleTest):
    def compare(self, seed, name, mask_type, small=False, **fixed):
        rng = np.random.default_rng(seed)
        shape, axes, widths, origin = draw_case(rng, max_size=20)
        extent = tess.EXTENTS[rng.integers(3)]
        arguments = dict(axes=axes, boundary=tess.BOUNDARIES[rng.integers(6)], constant=float(rng.integers(-3, 4)) / 2, extent=extent,
                         flip=bool(rng.integers(2)), origin=origin if extent == "same" else None)
        arguments.update(fixed)
        if 0 in tess.filtered_shape(shape, widths, axes, extent) and rng.integers(4):
            return
        x, w = exact.random_array(rng, shape, name, small), exact.random_array(rng, widths, mask_type, small)
        C = exact.compute_type(name, mask_type)
        pool = tess.TYPES if C not in tess.COMPLEX else tess.COMPLEX
        out_type = pool[rng.integers(len(pool))]
        expected = exact.correlate(x, w, out_type=out_type, **arguments)
        x_hostile, w_hostile = exact.scattered(x, rng), exact.scattered(w, rng)
        function = tess.convolve if arguments.pop("flip") else tess.correlate

        def call(context, strategy):
            out = tess.new(expected.shape, out_type)
            if rng.integers(2):
                out = exact.scattered(out, rng)
            return function(x_hostile, w_hostile, out=out, context=context, strategy=strategy, **arguments)
        self.assert_bits(everywhere("correlate", rng, call), expected, f"{name}*{mask_type}->{out_type} {shape} {widths} {arguments}")

    @examples(200)
    @given(seeds, st.sampled_from(["f32", "f16", "bf16", "u8", "i16"]), st.sampled_from(["f32", "f16", "bf16"]))
    def test_chain_f32(self, seed, name, mask_type):
        self.compare(seed, name, mask_type)

    @examples(120)
    @given(seeds, st.sampled_from(["f32", "f64", "i32", "u8"]), st.sampled_from(["f64"]))
    def test_chain_f64(self, seed, name, mask_type):
        self.compare(seed, name, mask_type)

    @examples(120)
    @given(seeds, st.sampled_from(["bool"] + tess.INTEGERS), st.sampled_from(["bool"] + tess.INTEGERS))
    def test_integers_modulo_2_64(self, seed, name, mask_type):
        self.compare(seed, name, mask_type)

    @examples(120)
    @given(seeds, st.sampled_from(tess.TYPES), st.sampled_from(tess.COMPLEX))
    def test_chain_complex(self, seed, name, mask_type):
        self.compare(seed, name, mask_type, small=exact.compute_type(name, mask_type) == "c128")

    @examples(60)
    @given(seeds, st.sampled_from(["f32", "u8", "i16", "f16"]))
    def test_wider_compute(self, seed, name):
        self.compare(seed, name, "f32", compute="f64")

    @examples(60)
    @given(seeds)
    def test_special_values(self, seed):
        """Infinities, NaN, signed zeros and subnormals, in f32, where the slow fma is right everywhere."""
        rng = np.random.default_rng(seed)
        special = np.array([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1e-30, -1e-30, 3e38, -3e38, 1.1754944e-38], np.float32)
        n, width = int(rng.integers(1, 30)), int(rng.integers(1, 6))
        often = rng.random((2, 64)) < 0.3
        x = np.where(often[0][:n], rng.choice(special, n), rng.choice([1e-30, -1e-20, 0, -0.0], n)).astype(np.float32)
        w = np.where(often[1][:width], rng.choice(special, width), rng.choice([1e-20, -1e-30, 2, -0.0], width)).astype(np.float32)
        boundary = tess.BOUNDARIES[rng.integers(6)]
        expected = exact.correlate(x, w, boundary=boundary, constant=-0.0)
        got = everywhere("correlate", rng, lambda context, strategy: tess.correlate(
            x, w, boundary=boundary, constant=-0.0, context=context, strategy=strategy))
        self.assert_bits(got, expected, f"{x} {w} {boundary}")

    @examples(80)
    @given(seeds)
    def test_separable(self, seed):
        """A list of 1-D masks is one pass after another, each rounded to the compute type."""
        rng = np.random.default_rng(seed)
        ndim = int(rng.integers(1, 4))
        shape = rng.integers(1, 14, ndim).tolist()
        count = int(rng.integers(1, ndim + 1))
        axes = rng.permutation(ndim)[:count].tolist()
        name = ["f32", "f64", "u8", "i32", "f16"][rng.integers(5)]
        mask_type = name if name in tess.FLOATS else ["i16", "u8"][rng.integers(2)]
        masks = [exact.random_array(rng, [int(rng.integers(1, 8))], mask_type, small=name == "f64") for _ in axes]
        extent, boundary, flip = tess.EXTENTS[rng.integers(3)], tess.BOUNDARIES[rng.integers(6)], bool(rng.integers(2))
        x = exact.random_array(rng, shape, name)
        C = exact.compute_type(name, mask_type)
        step = x
        with np.errstate(all="ignore"):
            step = exact.values_of(x).astype(tess.NUMPY[C])
            for axis, mask in zip(axes, masks):
                step = exact.correlate(step, exact.values_of(mask).astype(tess.NUMPY[C]), axes=[axis], boundary=boundary, constant=2.0,
                                       extent=extent, flip=flip, out_type=C)
        out_type = ["f32", "f64", "u8", "i16"][rng.integers(4)]
        expected = exact.store(step, out_type)
        if 0 in expected.shape:
            return
        hostile = exact.scattered(x, rng)
        got = everywhere("correlate", rng, lambda context, strategy: tess.separable(
            hostile, masks, axes=axes, out_type=out_type, boundary=boundary, constant=2.0, extent=extent, flip=flip, context=context,
            strategy=strategy))
        self.assert_bits(got, expected, f"{name} {mask_type} {shape} {axes} {[m.shape for m in masks]} {extent} {boundary} {flip}")


class Promises(OracleTest):
    def test_masks_far_longer_than_the_array(self):
        """The boundary bounces as often as needed: width 1001 over 1, 2, 3 and 7 elements."""
        rng = np.random.default_rng(1)
        w = exact.random_array(rng, [1001], "i64", small=True)
        for n in (1, 2, 3, 7):
            x = exact.random_array(rng, [n], "i64", small=True)
            for boundary in tess.BOUNDARIES:
                for flip in (False, True):
                    function = tess.convolve if flip else tess.correlate
                    expected = exact.correlate(x, w, boundary=boundary, constant=2, flip=flip)
                    self.assert_bits(everywhere("correlate", rng, lambda context, strategy: function(
                        x, w, boundary=boundary, constant=2, context=context, strategy=strategy)), expected, f"{n} {boundary}")

    def test_no_weight_is_dropped(self):
        """A weight of 1e-16 counts; scipy.ndimage's N-d filters leave out those of at most 2.2e-16."""
        x = np.full(9, 1e20)
        w = np.full((9,), 1e-16)
        self.assertTrue(np.allclose(tess.correlate(x, w, boundary="nearest"), 9e4, rtol=1e-15))
        self.assertEqual(ndimage.correlate(x, w, mode="nearest")[4], 0.0)

    def test_small_results_of_many_types_saturate(self):
        x = np.array([200, 100, 3], np.uint8)
        self.assertEqual(tess.correlate(x, np.array([2], np.uint8)).tolist(), [255, 200, 6])
        self.assertEqual(tess.correlate(x, np.array([-1], np.int8)).tolist(), [0, 0, 0])
        self.assertEqual(tess.correlate(x, np.array([-1], np.int8), out_type="i8").tolist(), [-128, -100, -3])
        self.assertEqual(tess.correlate(x, np.array([0.5], np.float32)).tolist(), [100, 50, 2])  # 1.5 to even

    def test_a_scalar_mask_is_a_factor(self):
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        self.assert_bits(tess.correlate(x, np.array(3, np.float32)), x * 3)

    def test_exact_rank_one_masks_give_the_same_integers(self):
        rng = np.random.default_rng(3)
        x = exact.random_array(rng, (17, 23), "i64")
        for v, h in (([1, 4, 6, 4, 1], [1, 0, -1]), ([3, -7, 2 ** 62], [5, 2 ** 61 + 1, 9])):
            with np.errstate(all="ignore"):
                mask = np.outer(np.array(v, np.int64), np.array(h, np.int64))
            for boundary in tess.BOUNDARIES:
                expected = exact.correlate(x, mask, boundary=boundary, constant=7)
                got = everywhere("correlate", rng, lambda context, strategy: tess.correlate(
                    x, mask, boundary=boundary, constant=7, context=context, strategy=strategy))
                self.assert_bits(got, expected, boundary)

    def test_fast_is_close_on_rank_one_floats(self):
        """FAST may run a rank-1 mask as two passes: each errs by (width + 1) u of the sums of magnitudes."""
        rng = np.random.default_rng(4)
        x = exact.random_array(rng, (40, 50), "f32")
        v, h = np.array([1, 6, 15, 20, 15, 6, 1], np.float32), np.array([1, 2, 0, -2, -1], np.float32)
        mask = np.outer(v, h)
        for boundary in tess.BOUNDARIES:
            direct = ndimage.correlate(x.astype(np.float64), mask.astype(np.float64), mode=SCIPY_MODE[boundary], cval=0)
            size = ndimage.correlate(np.abs(x).astype(np.float64), np.abs(mask).astype(np.float64), mode=SCIPY_MODE[boundary], cval=0)
            got = everywhere("correlate", rng, lambda context, strategy: tess.correlate(
                x, mask, boundary=boundary, accuracy="fast", context=context, strategy=strategy))
            self.assertTrue((np.abs(got - direct) <= 1.01 * (35 + 1 + 8 + 6) * 2.0 ** -24 * size).all(), boundary)

    def test_fft_is_close(self):
        """FFT: what SciPy's direct sums give, within the bound of docs/numerics.md."""
        rng = np.random.default_rng(5)
        for shape, width, kind, eps, c in (((700,), (90,), "f32", 2.0 ** -24, 6), ((60, 70), (12, 9), "f32", 2.0 ** -24, 6), ((700,), (301,), "f64", 2.0 ** -53, 11),
                                           ((9, 30, 31), (3, 5, 4), "f64", 2.0 ** -53, 11)):
            x, mask = exact.random_array(rng, shape, kind), exact.random_array(rng, width, kind)
            for boundary in tess.BOUNDARIES:
                direct = ndimage.convolve(x.astype(np.float64), mask.astype(np.float64), mode=SCIPY_MODE[boundary], cval=0)
                got = everywhere("correlate", rng, lambda context, strategy: tess.convolve(
                    x, mask, boundary=boundary, accuracy="fft", context=context, strategy=strategy))
                # at these sizes every tile has at most 65536 points, and a piece for each plane of a volume's mask; a pair of tiles meets at most all of x, each with its mirrors
                bound = (c * 16 + 2 * 3 + 3) * eps * np.abs(mask).sum() * np.sqrt(2 * 65536) * np.abs(x).max()
                self.assertTrue((np.abs(got - direct) <= bound).all(), boundary)

    def test_empty_arrays(self):
        w = np.ones((2, 2), np.float32)
        for shape in ((0, 5), (5, 0), (0, 0)):
            x = np.zeros(shape, np.float32)
            self.assertEqual(tess.correlate(x, w).shape, shape)
            self.assertEqual(tess.correlate(x, w, extent="valid").size, 0)
        self.assertEqual(tess.correlate(np.zeros(3, np.float32), np.ones(9, np.float32), extent="valid").shape, (0,))
        full = tess.correlate(np.zeros((0,), np.float32), np.ones(3, np.float32), extent="full")
        self.assertEqual(full.tolist(), [0, 0])
        constant = tess.correlate(np.zeros((0,), np.float32), np.ones(3, np.float32), extent="full", boundary="constant", constant=2)
        self.assertEqual(constant.tolist(), [6, 6])
        self.assert_status("EMPTY", lambda: tess.correlate(np.zeros((0,), np.float32), np.ones(3, np.float32), extent="full", boundary="wrap"))

    def test_broadcast_input(self):
        x = np.broadcast_to(np.arange(5, dtype=np.float32), (4, 5))
        rng = np.random.default_rng(5)
        w = exact.random_array(rng, (3, 3), "f32")
        got = everywhere("correlate", rng, lambda context, strategy: tess.correlate(x, w, boundary="mirror", context=context, strategy=strategy))
        self.assert_bits(got, exact.correlate(x, w, boundary="mirror"))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    unittest.main()
