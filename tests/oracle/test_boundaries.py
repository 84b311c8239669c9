# SPDX-License-Identifier: Apache-2.0
"""What docs/boundaries.md says is true: the pictures are Tessera's, and the names and notes about SciPy and NumPy are theirs.

The tables are read from the page itself, so a wrong name or a wrong picture in it fails here."""
import os
import re

import numpy as np
from scipy import ndimage, signal

from harness import OracleTest, tess, unittest

PAGE = open(os.path.join(tess.ROOT, "docs", "boundaries.md"), encoding="utf-8").read()


def rows_of(heading):
    """The cells of the first table after a heading, without its head."""
    lines = PAGE[PAGE.index(heading):].splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("|"))
    table = []
    for line in lines[start + 2:]:
        if not line.startswith("|"):
            break
        table.append([c.replace("\\|", "|").strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]])
    return table


def names(cell):
    return re.findall(r"`([^`]+)`", cell)


def extended(boundary, values, reach, constant):
    """The array with its ghost cells, as a mask with a single one sees them."""
    n = len(values)
    seen = []
    for shift in range(-reach, n + reach):  # element `shift` appears at output 0 when the mask's one stands at reach + shift
        width = 2 * max(abs(shift), reach) + 1
        mask = np.zeros(width)
        mask[width // 2 + shift] = 1
        seen.append(tess.correlate(values, mask, boundary=boundary, constant=constant)[0])
    return seen


LETTERS = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0, "v": 7.0, "0": 0.0}


class Dictionary(OracleTest):
    def test_pictures_and_names(self):
        rows = rows_of("## The six boundaries")
        self.assertEqual([names(r[0])[0] for r in rows], tess.BOUNDARIES)
        for row in rows:
            boundary = names(row[0])[0]
            left, middle, right = [[LETTERS[c] for c in part.split()] for part in names(row[1])[0].split("|")]
            values = np.array(middle)
            picture = left + middle + right
            self.assertEqual(extended(boundary, values, len(left), LETTERS["v"]), picture, boundary)
            cval = LETTERS["v"] if boundary == "constant" else 0.0
            mode = names(row[2])[0]
            mask = np.zeros(7)
            for k in range(7):
                mask[:] = 0
                mask[k] = 1
                self.assertEqual(ndimage.correlate1d(values, mask, mode=mode, cval=cval).tolist(), picture[k:k + 4], mode)
            options = {"constant_values": cval} if boundary in ("zero", "constant") else {}
            self.assertEqual(np.pad(values, 3, mode=names(row[3])[0], **options).tolist(), picture, row[3])

    def test_bouncing(self):
        for row in rows_of("### Bouncing"):
            boundary = names(row[0])[0]
            left, middle, right = [[LETTERS[c] for c in part.split()] for part in names(row[1])[0].split("|")]
            self.assertEqual(extended(boundary, np.array(middle), len(left), 0), left + middle + right, boundary)

    def test_bouncing_of_others(self):
        x, mask = np.array([1.0, 2.0]), np.zeros(19)
        mask[0] = 1  # reads 9 to the left: the pattern a b b a repeated from the array leftwards
        self.assertEqual(ndimage.correlate1d(x, mask, mode="reflect").tolist(), tess.correlate(x, mask, boundary="reflect").tolist())
        for mode, boundary, n, right in (("wrap", "wrap", 2, 3), ("reflect", "mirror", 3, 8), ("symmetric", "reflect", 2, 8)):
            values = np.arange(1.0, n + 1)
            for reach in range(12):
                self.assertEqual(np.pad(values, reach, mode=mode).tolist(), extended(boundary, values, reach, 0))
            if np.__version__.startswith("1.24."):
                ours = extended(boundary, values, right, 0)[right - 1:]
                self.assertNotEqual(np.pad(values, (1, right), mode=mode).tolist(), ours)
        for n in range(2, 7):  # where scipy's N-d reflect stops being its 1-d one
            x = np.arange(1.0, n + 1) ** 2
            for reach in range(1, 6 * n):
                mask = np.zeros(2 * reach + 1)
                mask[0] = 1
                one, many = ndimage.correlate1d(x, mask, mode="reflect"), ndimage.correlate(x, mask, mode="reflect")
                self.assertEqual(tess.correlate(x, mask, boundary="reflect").tolist(), one.tolist())
                if reach < 4 * n:
                    self.assertEqual(one.tolist(), many.tolist())

    def test_other_names_of_scipy(self):
        x, mask = np.arange(1.0, 6), np.arange(1.0, 10)
        for other, name in (("grid-mirror", "reflect"), ("grid-wrap", "wrap"), ("grid-constant", "constant")):
            self.assertEqual(ndimage.correlate1d(x, mask, mode=other).tolist(), ndimage.correlate1d(x, mask, mode=name).tolist())
        for name, ours in (("fill", "zero"), ("symm", "reflect"), ("wrap", "wrap")):
            x2, mask2 = np.arange(20.0).reshape(4, 5), np.arange(9.0).reshape(3, 3)
            self.assertEqual(signal.convolve2d(x2, mask2, "same", boundary=name).tolist(), tess.convolve(x2, mask2, boundary=ours).tolist())

    def test_defaults(self):
        x, mask = np.arange(1.0, 6), np.ones(3)
        self.assertEqual(ndimage.correlate(x, mask).tolist(), tess.correlate(x, mask, boundary="reflect").tolist())
        self.assertEqual(np.convolve(x, mask, "same").tolist(), tess.convolve(x, mask).tolist())

    def test_corners(self):
        x = np.arange(1.0, 7).reshape(2, 3)
        corner = np.zeros((3, 3))
        corner[0, 0] = 1
        self.assertEqual(tess.correlate(x, corner, boundary="nearest")[0, 0], x[0, 0])
        self.assertEqual(tess.correlate(x, corner, boundary="constant", constant=9)[0].tolist(), [9, 9, 9])


class Centres(OracleTest):
    def test_table(self):
        for width, centre, origins in rows_of("## Where the mask sits"):
            width, centre = int(width), int(re.match(r"\d+", centre)[0])
            low, high = (int(v) for v in origins.split(".."))
            x = np.arange(1.0, 12)
            for origin in range(-width - 1, width + 2):
                mask = np.zeros(width)
                if low <= origin <= high:
                    mask[centre + origin] = 1
                    self.assertEqual(tess.correlate(x, mask, origin=[origin]).tolist(), x.tolist())
                    self.assertEqual(ndimage.correlate1d(x, mask, origin=origin).tolist(), x.tolist())
                else:
                    self.assert_status("ARGUMENT", lambda: tess.correlate(x, mask, origin=[origin]), "origin", origin)
                    self.assertRaises(ValueError, ndimage.correlate1d, x, mask, origin=origin)

    def test_positive_origin_moves_features_to_the_right(self):
        x = np.zeros(7)
        x[3] = 1
        self.assertEqual(tess.correlate(x, np.array([0.0, 1, 0]), origin=[1]).argmax(), 4)
        self.assertEqual(ndimage.correlate1d(x, [0, 1, 0], origin=1).argmax(), 4)

    def test_same_of_the_signal_functions(self):
        x, mask = np.arange(1.0, 9) ** 2, np.arange(1.0, 5)
        ours = tess.convolve(x, mask, origin=[-1]).tolist()
        self.assertEqual(ours, signal.convolve(x, mask, "same").tolist())
        self.assertEqual(ours, np.convolve(x, mask, "same").tolist())
        ours = tess.correlate(x, mask).tolist()
        self.assertEqual(ours, signal.correlate(x, mask, "same").tolist())
        self.assertEqual(ours, np.correlate(x, mask, "same").tolist())
        # The example of MATLAB's manual page of conv, whose "same" begins at element width / 2 of the full result.
        self.assertEqual(tess.convolve(np.array([-1.0, 2, 3, -2, 0, 1, 2]), np.array([2.0, 4, -1, 1])).tolist(), [15, 5, -9, 7, 6, 7, -1])


class Notes(OracleTest):
    def test_complex_masks(self):
        x, mask = np.array([1 + 2j, 3, 1j, 2 - 1j]), np.array([1j, 2, 3 - 1j])
        ours = tess.correlate(x, mask.conj()).tolist()
        self.assertEqual(ours, ndimage.correlate1d(x, mask, mode="constant").tolist())
        self.assertEqual(ours, np.correlate(x, mask, "same").tolist())
        self.assertEqual(ours, signal.correlate(x, mask, "same", method="direct").tolist())
        self.assertEqual(tess.convolve(x, mask).tolist(), ndimage.convolve1d(x, mask, mode="constant").tolist())

    def test_extents(self):
        x, mask = np.arange(1.0, 4), np.ones(5)
        self.assertEqual(tess.convolve(x, mask, extent="full").shape, np.convolve(x, mask).shape)
        self.assertEqual(tess.convolve(x, mask, extent="valid").shape, (0,))
        self.assertEqual(np.convolve(x, mask, "valid").shape, (3,))
        self.assertEqual(np.convolve(x, mask, "same").shape, (5,))
        self.assertEqual(tess.convolve(x, mask, extent="same").shape, (3,))

    def test_scipy_sums_in_double(self):
        x, mask = np.array([2.0 ** 24, 1, 1], np.float32), np.ones(3, np.float32)
        self.assertEqual(ndimage.correlate1d(x, mask)[1], 2 ** 24 + 2)
        self.assertEqual(tess.correlate(x, mask, boundary="reflect")[1], 2 ** 24)
        self.assertEqual(tess.correlate(x, mask, boundary="reflect", compute="f64")[1], 2 ** 24 + 2)

    def test_scipy_drops_weights(self):
        x = np.full(3, 1e20)
        for weight, kept in ((2.2e-16, False), (2.3e-16, True)):
            self.assertEqual(ndimage.correlate(x, np.full(3, weight))[1] != 0, kept)
            self.assertGreater(tess.correlate(x, np.full(3, weight))[1], 0)

    def test_scipy_truncates(self):
        x = np.array([10, 11, 13], np.uint8)
        half = np.array([0.5])
        self.assertEqual(ndimage.correlate1d(x, half).tolist(), [5, 5, 6])
        self.assertEqual(tess.correlate(x, half).tolist(), [5, 6, 6])  # 5.5 and 6.5 to even

    def test_scipy_refuses_float16_and_copies_overlap(self):
        self.assertRaises(RuntimeError, ndimage.correlate1d, np.ones(3, np.float16), [1.0])
        self.assertEqual(tess.correlate(np.ones(3, np.float16), np.ones(1, np.float16)).tolist(), [1, 1, 1])
        x = np.arange(5.0)
        ndimage.correlate(x, [1.0, 1, 1], output=x)
        self.assert_status("OVERLAP", lambda: tess.correlate(x, np.ones(3), out=x), "out", "in")

    def test_numpy_wraps_small_integers(self):
        x = np.array([200, 100], np.uint8)
        self.assertEqual(np.convolve(x, x).tolist(), [(200 * 200) % 256, (2 * 200 * 100) % 256, (100 * 100) % 256])
        self.assertEqual(tess.convolve(x, x, extent="full").tolist(), [255, 255, 255])


if __name__ == "__main__":
    unittest.main()
