# SPDX-License-Identifier: Apache-2.0
"""Proves: arrays on a card come in by __cuda_array_interface__ and are computed there, with the bits of the CPU. Needs a card and its driver; the memory
is taken from the driver itself, so no array library is needed."""
import ctypes
import sys
import unittest

import numpy as np

import tessera


class Driver:
    """The few functions of libcuda that hold an array on the first card."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *arguments):
        status = getattr(self.cuda, name)(*arguments)
        if status:
            raise OSError(f"{name} returned {status}")

    def array(self, value):
        return OnCard(self, value)


class OnCard:
    def __init__(self, driver, value):
        self.driver, self.dtype, self.shape = driver, value.dtype, value.shape
        self.nbytes, pointer = value.nbytes, ctypes.c_uint64()
        driver.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(max(value.nbytes, 1)))
        self.pointer = pointer
        driver.call("cuMemcpyHtoD_v2", pointer, ctypes.c_void_p(value.ctypes.data), ctypes.c_size_t(value.nbytes))

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (self.pointer.value, False), "version": 3, "strides": None}

    def get(self):
        self.driver.call("cuCtxSynchronize")
        value = np.empty(self.shape, self.dtype)
        self.driver.call("cuMemcpyDtoH_v2", ctypes.c_void_p(value.ctypes.data), self.pointer, ctypes.c_size_t(self.nbytes))
        return value

    def __del__(self):
        self.driver.call("cuMemFree_v2", self.pointer)


class Cuda(unittest.TestCase):
    def test_the_operations(self):
        random = np.random.default_rng(1)
        x = random.random((300, 500)).astype("f4")
        mask, index, table = random.random((3, 3)).astype("f4"), random.integers(0, 300, 1000), random.random(300).astype("f4")
        places, positions = random.random(1000).astype("f4"), np.sort(random.random(300))
        cases = (("sum", (x,), {"axis": 0}), ("sum", (x,), {"axis": 1}), ("max", (x,), {"axis": 0}), ("transpose", (x,), {}),
                 ("correlate", (x, mask), {"boundary": "reflect"}), ("lookup", (table, index), {}),
                 ("lookup", (table, places), {"positions": positions, "outside": "clip"}))
        ran = 0
        for name, arrays, words in cases:
            function = getattr(tessera, name)
            want = function(*arrays, **words)
            out = driver.array(np.zeros_like(want))
            try:
                self.assertIs(function(*(driver.array(a) for a in arrays), out=out, **words), out)
            except (tessera.EngineError, ValueError, TypeError) as error:
                print(f"note: {name} {words}: {error}", flush=True)
                continue
            self.assertEqual(out.get().tobytes(), want.tobytes(), (name, words))
            ran += 1
        print(f"note: {ran} of {len(cases)} calls ran on the card, with the CPU's bits", flush=True)
        self.assertGreater(ran, 0)

    def test_out_is_needed(self):
        with self.assertRaisesRegex(TypeError, "out is needed"):
            tessera.sum(driver.array(np.ones((2, 3), "f4")), axis=0)


if __name__ == "__main__":
    try:
        driver = Driver()
    except OSError as error:
        print(f"no card: {error}")
        sys.exit(77)
    unittest.main()
