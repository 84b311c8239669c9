# SPDX-License-Identifier: Apache-2.0
"""Proves: NumPy's arrays of any layout go in without a copy and come out as NumPy's; out= is written in place; what cannot be taken is refused with the right
exception. All of it once more with a NumPy whose table of functions is not known."""
import ctypes
import os
import subprocess
import sys
import unittest
import unittest.mock

import numpy as np

if "TESSERA_HIDE_NUMPY" in os.environ:
    (np._core if hasattr(np, "_core") else np.core).multiarray._ARRAY_API = None
import tessera  # noqa: E402


class Numpy(unittest.TestCase):
    def test_kinds_of_results(self):
        x = np.arange(6, dtype="f4").reshape(2, 3)
        self.assertIs(type(tessera.sum(x)), np.float32)
        self.assertIs(type(tessera.argmax(x)), np.int64)
        self.assertIs(type(tessera.all(x)), np.bool_)
        self.assertIs(type(tessera.sum(x.astype("f2"))), np.float16)
        self.assertIs(type(tessera.sum(x.astype("c8"))), np.complex64)
        self.assertIs(type(tessera.sum(x, axis=1)), np.ndarray)
        self.assertIs(type(tessera.sum(x, keepdims=True)), np.ndarray)
        self.assertIs(type(tessera.lookup(x[0], np.array(1))), np.float32)
        self.assertIs(type(tessera.sum([1, 2])), np.int64)
        self.assertIs(type(tessera.sum(np.float32(3))), np.float32)

        class Sub(np.ndarray):
            pass
        self.assertIs(type(tessera.sum(x.view(Sub), axis=0)), np.ndarray)

    def test_strides_that_are_not_whole_elements(self):
        mixed = np.zeros(5, [("a", "u1"), ("b", "f4")])
        mixed["b"] = range(5)
        self.assertEqual(mixed["b"].strides, (5,))
        self.assertEqual(tessera.sum(mixed["b"]), 10)
        with self.assertRaisesRegex(ValueError, "out has strides that are not whole elements"):
            tessera.transpose(np.zeros(5, "f4"), out=mixed["b"])

    def test_arrays_as_they_lie(self):
        x = np.arange(24.0).reshape(4, 6)
        empty, tagged = np.zeros((3, 0))[::-1], np.dtype("f8", metadata={"unit": "m"})
        for y in (x, x[::-1], x[:, ::-2], x[1:3, 2:2], x.T, np.broadcast_to(x[0], (3, 6)), np.asfortranarray(x), empty, x.astype(tagged), np.array(5.0),
                  x[..., None], np.lib.stride_tricks.as_strided(x, (5, 5), (8, 8)), x.astype("c16").imag, np.frombuffer(b"\0" + x.tobytes(), "f8", 9, 1)):
            for again in range(2):  # the second time its type is known
                self.assertEqual(tessera.transpose(y).tolist(), y.T.tolist())
                self.assertEqual(tessera.sum(y), y.sum())
        with self.assertRaisesRegex(TypeError, "other byte order"):
            tessera.sum(x.astype(">f8"))
        locked = x.copy()
        locked.setflags(write=False)
        for out in (locked, np.broadcast_to(x[0], (4, 6)), np.broadcast_arrays(x[0], x)[0], np.frombuffer(x.tobytes()).reshape(4, 6)):
            with self.assertRaisesRegex(ValueError, "out is read-only"):
                tessera.transpose(x.T, out=out)
        self.assertIs(type(tessera.max(np.float32([1, 2]))), np.float32)
        self.assertIs(type(tessera.any(x)), np.bool_)

    @unittest.skipIf("TESSERA_HIDE_NUMPY" in os.environ, "runs within itself")
    def test_all_of_this_with_another_numpy(self):
        ran = subprocess.run([sys.executable, os.path.abspath(__file__)], env={**os.environ, "TESSERA_HIDE_NUMPY": "1"}, capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stderr)

    def test_out(self):
        x, out = np.arange(6.0).reshape(2, 3), np.full((3, 2), -1.0)
        self.assertIs(tessera.transpose(x, out=out), out)
        self.assertEqual(out.tolist(), x.T.tolist())
        row = np.zeros((2, 8))[:, ::3]
        self.assertIs(tessera.correlate(x, [1.0], out=row), row)
        self.assertEqual(row.tolist(), x.tolist())
        small = np.zeros(3, "u1")
        tessera.sum(x * 100, axis=0, out=small)
        self.assertEqual(small.tolist(), [255, 255, 255])
        square = np.arange(9).reshape(3, 3)
        tessera.transpose(square, out=square)
        self.assertEqual(square[0].tolist(), [0, 3, 6])
        out.flags.writeable = False
        for bad, error, text in ((out, ValueError, "out is read-only"), (b"12345678", ValueError, "out is read-only"), ([1], TypeError, "out is no array"),
                                 (np.zeros((2, 2)), ValueError, r"out|shape|size"), (x.reshape(-1)[::-1].reshape(3, 2), ValueError, "overlap")):
            with self.assertRaisesRegex(error, text):
                tessera.transpose(x, out=bad)

    def test_dtype(self):
        x = np.array([1, 2, 300])
        for given in ("float32", np.float32, np.dtype("f4")):
            self.assertIs(type(tessera.sum(x, dtype=given)), np.float32)
        self.assertEqual(tessera.sum(x, dtype=np.uint8), 255)
        self.assertIs(type(tessera.sum(x, dtype=float)), np.float64)
        self.assertIs(type(tessera.sum(x, dtype=complex)), np.complex128)
        with self.assertRaisesRegex(TypeError, "dtype 'U7' is none of Tessera's"):
            tessera.sum(x, dtype="U7")
        with self.assertRaises(TypeError):
            tessera.sum(np.ones(3) * 1j, dtype=float)

    def test_dtype_is_what_numpy_takes(self):
        x = np.array([1, 2, 200])
        for given in ("f4", "<f4", "single", "d", "B", "u8", "?", np.half, np.longlong, np.uintc, np.dtype("i2"), ctypes.c_float, float, bool, x.dtype):
            self.assertEqual(tessera.correlate(x, [1], dtype=given).dtype, np.dtype(given), given)
        self.assertEqual(tessera.correlate(x.astype("f4"), np.ones(1, "f4"), compute="d").dtype, np.float32)
        for bad in ("f16", "S4", "f4,f4", "M8[s]", "nonsense", object, 5):
            with self.assertRaisesRegex(TypeError, "is none of Tessera's"):
                tessera.sum(x, dtype=bad)
        with unittest.mock.patch.dict(sys.modules, {"numpy": None}):
            self.assertEqual(tessera.sum(memoryview(b"abc"), dtype="uint16"), 294)
            with self.assertRaisesRegex(TypeError, "dtype 'u2' is none of Tessera's"):
                tessera.sum(memoryview(b"abc"), dtype="u2")

    def test_bfloat16_that_numpy_lacks(self):
        with unittest.mock.patch.dict(sys.modules, {"ml_dtypes": None}), self.assertRaisesRegex(TypeError, "ml_dtypes"):
            tessera.sum(np.arange(4.0), dtype="bfloat16")

    def test_bfloat16(self):
        try:
            import ml_dtypes
        except ImportError:
            self.skipTest("ml_dtypes is not installed")
        x = np.arange(4).astype(ml_dtypes.bfloat16)
        self.assertEqual(tessera.sum(x).dtype, x.dtype)
        result = tessera.correlate(x, [1, 1])
        self.assertEqual((result.dtype, result.tolist()), (x.dtype, [0, 1, 3, 5]))


if __name__ == "__main__":
    unittest.main()
