# SPDX-License-Identifier: Apache-2.0
"""Proves: arrays of every kind go in without a copy and come out as the kind that came in; out= is written in place; what cannot be taken
is refused with the right exception and a sentence."""
import array
import ctypes
import os
import struct
import unittest
import unittest.mock

import numpy as np

os.environ["TESSERA_LIBCUDA"] = "/dev/null"  # the arrays on a device below are none: no card may be asked
import tessera  # noqa: E402

try:
    import torch
except ImportError:
    torch = None
try:
    import jax
except ImportError:
    jax = None


class Capsuled:
    """A producer of DLPack capsules that is no NumPy array itself."""

    def __init__(self, value, legacy=True):
        self.value, self.legacy, self.exports = value, legacy, 0

    def __dlpack__(self, **words):
        self.exports += 1
        if not self.legacy and not words.get("max_version"):
            raise BufferError("only versioned")
        return self.value.__dlpack__(**words)

    def __dlpack_device__(self):
        return self.value.__dlpack_device__()


class OnDevice:
    """What an array on a GPU looks like from outside; the pointer is never followed on the CPU."""

    def __init__(self, shape, typestr="<f4", strides=None):
        self.__cuda_array_interface__ = {"shape": shape, "typestr": typestr, "data": (4096, False), "version": 3, "strides": strides, "stream": None}


class Cards:
    """A driver as ctypes sees it: odd addresses of whole MiB are memory of card 3, others are not known."""

    def __init__(self, name):
        pass

    def cuPointerGetAttribute(self, value, attribute, pointer):
        if attribute != 9 or pointer.value >> 20 & 1 == 0:
            return 1
        value._obj.value = 3
        return 0


class OnOurCard:
    """An array whose library is NumPy, as if on a card: what interp asks of it, and nothing else."""

    __cuda_array_interface__ = None  # that there is one is enough

    def __init__(self, value):
        self.value, self.shape = value, value.shape

    def get(self):
        return self.value

    def __lt__(self, bound):
        return self.value < bound

    def __gt__(self, bound):
        return self.value > bound

    def __len__(self):
        return len(self.value)

    def __array_namespace__(self):
        return np


class OnCards(unittest.TestCase):
    def test_the_driver_says_which_card(self):
        from tessera import _arrays
        _arrays.pointer_attribute.cache_clear()
        with unittest.mock.patch.object(_arrays.ctypes, "CDLL", Cards):
            self.assertEqual(_arrays.card_of(5 << 20), 3)
            self.assertEqual(_arrays.card_of(6 << 20), 0)
            value = OnDevice((4,))
            value.__cuda_array_interface__["data"] = (7 << 20, False)
            self.assertEqual(_arrays.cuda_interface(value)[-1], 3)
        _arrays.pointer_attribute.cache_clear()
        self.assertEqual(_arrays.card_of(5 << 20), 0)  # no driver

    def test_the_driver_is_looked_for_where_the_library_looks(self):
        from tessera import _arrays
        asked = []

        def absent(name):
            asked.append(name)
            raise OSError(name)

        def last(name):
            asked.append(name)
            if len(asked) < len(_arrays.DRIVERS):
                raise OSError(name)
            return Cards(name)
        self.addCleanup(_arrays.pointer_attribute.cache_clear)
        _arrays.pointer_attribute.cache_clear()
        environment = {name: value for name, value in os.environ.items() if name != "TESSERA_LIBCUDA"}
        with unittest.mock.patch.object(_arrays.ctypes, "CDLL", last), unittest.mock.patch.dict(os.environ, environment, clear=True):
            self.assertEqual(_arrays.card_of(5 << 20), 3)
            places = tessera.devices().split("looked in ")  # what the library itself says when it finds none
        if len(places) > 1:
            folders = places[1].split("\n")[0].split(", ")[2:]
            self.assertEqual(asked, ["libcuda.so.1"] + [folder + "/libcuda.so.1" for folder in folders])
        asked.clear()
        _arrays.pointer_attribute.cache_clear()
        with unittest.mock.patch.object(_arrays.ctypes, "CDLL", absent), unittest.mock.patch.dict(os.environ, TESSERA_LIBCUDA="/no/such.so"):
            self.assertEqual(_arrays.card_of(5 << 20), 0)
        self.assertEqual(asked, ["/no/such.so"])  # and nothing else


class Plain(unittest.TestCase):
    def test_results_are_tessera_arrays_or_numbers(self):
        x = array.array("h", range(12))
        self.assertEqual(tessera.sum(x), 66)
        self.assertIsInstance(tessera.sum(x), int)
        self.assertIs(tessera.any(x), True)
        view = memoryview(x).cast("B").cast("h", (3, 4))
        total = tessera.sum(view, axis=0)
        self.assertIsInstance(total, tessera.Array)
        self.assertEqual((total.tolist(), total.shape, total.dtype, total.ndim, total.size, total.nbytes, len(total)),
                         ([12, 15, 18, 21], (4,), "int64", 1, 4, 32, 4))
        self.assertEqual(memoryview(total).format, "q")
        self.assertEqual(repr(total), "tessera.Array([12, 15, 18, 21], dtype='int64')")
        self.assertEqual(tessera.transpose(view).tolist(), [[0, 4, 8], [1, 5, 9], [2, 6, 10], [3, 7, 11]])
        self.assertEqual(tessera.sum(b"\x01\x02\xff"), 258)
        self.assertEqual(tessera.mean(bytearray(b"\x01\x02")), 1.5)
        self.assertEqual(tessera.sum(total), 66)

    def test_every_type_of_own_arrays(self):
        for dtype in ("?", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "c8", "c16"):
            x = np.arange(6).reshape(2, 3).astype(dtype)
            own = tessera.transpose(memoryview(x))
            self.assertEqual(own.tolist(), x.T.tolist(), dtype)
            self.assertEqual(np.asarray(own).dtype, x.dtype)
            if dtype != "?" or np.lib.NumpyVersion(np.__version__) >= "1.25.0":
                self.assertEqual(np.from_dlpack(own).tolist(), x.T.tolist())
        with self.assertRaises(TypeError):
            tessera.Array()
        with self.assertRaises(TypeError):
            len(tessera.transpose(memoryview(struct.pack("d", 2.5)).cast("d", ())))
        self.assertIn("shape=(100,)", repr(tessera.transpose(memoryview(bytes(100)))))

    def test_own_arrays_export(self):
        own = tessera.transpose(memoryview(bytes(4)))
        self.assertEqual(own.__dlpack_device__(), (1, 0))
        self.assertIn('"dltensor"', repr(own.__dlpack__()))
        self.assertIn('"dltensor_versioned"', repr(own.__dlpack__(max_version=(1, 0))))
        for words in ({"stream": 3}, {"dl_device": (2, 0)}, {"copy": True}):
            with self.assertRaises(BufferError):
                own.__dlpack__(**words)
        for words in ({"max_version": [1, 0]}, {"max_version": 1}, {"dl_device": "cpu"}):
            with self.assertRaisesRegex(TypeError, "a tuple of two integers is needed"):
                own.__dlpack__(**words)

    def test_take_from_all_elements(self):
        """Without an axis x counts as one: also buffers of formats that a memoryview cannot be cast to, with gaps, and capsules."""
        for code in ("c8", "c16", "f2", "?", "f4", "u1"):
            values = np.arange(6).reshape(2, 3).astype(code)
            capsules = () if code == "?" else (Capsuled(values), Capsuled(values.T[:, ::-1]))  # NumPy exports no bools
            for x in (tessera.transpose(memoryview(values.T)), memoryview(values), memoryview(values[::-1, ::2]), memoryview(values.T), values.T) + capsules:
                expected = np.asarray(x.value if isinstance(x, Capsuled) else x).reshape(-1)
                found = tessera.take(x, memoryview(np.array([0, -1, 2])))
                self.assertEqual(found.tolist(), expected[[0, -1, 2]].tolist())
        self.assertEqual(tessera.take(memoryview(np.array(7.0)), memoryview(np.array([0, 0]))).tolist(), [7.0, 7.0])
        self.assertEqual(tessera.take([[1, 2], [3, 4]], [3]).tolist(), [4])

    def test_own_arrays_tell_their_order(self):
        """A consumer that asks for the first axis fastest is refused, unless that is the same."""
        get, release = ctypes.pythonapi.PyObject_GetBuffer, ctypes.pythonapi.PyBuffer_Release
        get.argtypes, release.argtypes = [ctypes.py_object, ctypes.c_void_p, ctypes.c_int], [ctypes.c_void_p]
        view = ctypes.create_string_buffer(256)
        fortran, c, any_order = 0x40 | 0x18, 0x20 | 0x18, 0x80 | 0x18
        for shape, flags, given in (((2, 3), c, True), ((2, 3), any_order, True), ((2, 3), fortran, False), ((1, 3), fortran, True), ((3,), fortran, True)):
            own = tessera.transpose(memoryview(np.ones(shape[::-1])))
            if given:
                self.assertEqual(get(own, view, flags), 0)
                release(view)
            else:
                with self.assertRaises(BufferError):
                    get(own, view, flags)


class Refused(unittest.TestCase):
    def test_inputs(self):
        for value, text in (("abc", "x is no array"), (object(), "x is no array"), (None, "x is no array"), (np.array(["a"]), "format"),
                            (np.ones(2, ">f4"), "byte order"), (np.ones(2, "g"), "format"), (np.array([None]), "format"),
                            ([[1, 2], ["a", "b"]], "numbers are needed"), (np.datetime64("2020-01-01"), "a date"), (np.timedelta64(3, "s"), "a date"),
                            (np.array(["2020-01-01"], "M8[D]"), r"x has elements of the type datetime64\[D\]"), (np.ones(2, "m8[s]"), "timedelta64")):
            with self.assertRaisesRegex(TypeError, text):
                tessera.sum(value)
        with self.assertRaisesRegex(TypeError, "x holds dates"):
            tessera.interp(np.array([1], "m8[s]"), [0.0, 2.0], [0.0, 1.0])

    def test_masked_elements(self):
        """They are no numbers to add; arrays that could have some but have none are arrays like others."""
        x = np.ma.array([1.0, 2.0, 4.0], mask=[0, 1, 0])
        for call in (lambda: tessera.sum(x), lambda: tessera.correlate(x, [1, 2]), lambda: tessera.sum(np.ones((3, 1)), axis=1, out=x)):
            with self.assertRaisesRegex(TypeError, "(x|out) has masked elements"):
                call()
        self.assertEqual(x.data[1], 2.0)
        self.assertEqual(tessera.sum(x.filled(np.nan), nan="omit"), 5.0)
        for mask in (np.ma.nomask, [0, 0, 0]):
            self.assertEqual(tessera.sum(np.ma.array(x.data, mask=mask)), 7.0)

    def test_errors_of_arguments_pass(self):
        """What an argument's own code raises is the caller's business: only "no number" is said in other words."""
        class Raises:
            def __init__(self, error):
                self.error = error

            def __index__(self):
                raise self.error

            def __float__(self):
                raise self.error

            def __iter__(self):
                raise self.error
        for error in (ZeroDivisionError, KeyboardInterrupt, MemoryError):
            for call in (lambda: tessera.sum(np.ones(3), axis=Raises(error)), lambda: tessera.sum(np.ones(3), axis=[Raises(error)]),
                         lambda: tessera.lookup(np.ones(3), [1], fill=Raises(error)), lambda: tessera.transpose(np.ones(3), (Raises(error) for _ in "a"))):
                with self.assertRaises(error):
                    call()
        with self.assertRaisesRegex(TypeError, "a real number is needed"):
            tessera.lookup(np.ones(3), [1], fill=Raises(TypeError))

    def test_arguments(self):
        x = np.ones((2, 3))
        for call, error, text in (
                (lambda: tessera.sum(), TypeError, r"sum\(\) needs the argument 'x'"),
                (lambda: tessera.sum(x, 0, None), TypeError, "at most 2 arguments by position"),
                (lambda: tessera.sum(x, 0, axis=0), TypeError, "'axis' twice"),
                (lambda: tessera.sum(x, axes=0), TypeError, "no argument 'axes'"),
                (lambda: tessera.sum(x, axis=2), tessera.AxisError, "-2..1"),
                (lambda: tessera.sum(x, axis=(0, -2)), tessera.AxisError, "twice"),
                (lambda: tessera.sum(x, axis=(0, -(2**40))), tessera.AxisError, r"axis\[1\] is -1099511627776"),
                (lambda: tessera.transpose(x, (2**40, 0)), tessera.AxisError, r"axes\[0\] is 1099511627776"),
                (lambda: tessera.sum(x, axis=-(10**30)), tessera.AxisError, r"axis\[0\] is an integer of more than 64 bits"),
                (lambda: tessera.transpose(x, (0, 10**30)), tessera.AxisError, r"axes\[1\] is an integer of more than 64 bits"),
                (lambda: tessera.correlate(x, [1, 2, 1], origin=10**20), ValueError, r"origin\[0\] is an integer of more than 64 bits"),
                (lambda: tessera.var(x, ddof=10**400), ValueError, "correction is an integer beyond"),
                (lambda: tessera.sum(x, strategy="reduce/lanes\0x"), ValueError, "null character"),
                (lambda: tessera.lookup(x, [0], axis=2**40), tessera.AxisError, r"axis\[0\] is 1099511627776"),
                (lambda: tessera.correlate(x, [1, 2], axes=2**40), tessera.AxisError, r"axes\[0\] is 1099511627776"),
                (lambda: tessera.sum(x, axis="a"), TypeError, "axis is neither"),
                (lambda: tessera.sum(x, axis=1.5), TypeError, "axis is neither"),
                (lambda: tessera.sum(x, nan="skip"), ValueError, "propagate, omit"),
                (lambda: tessera.var(x, correction=1, ddof=1), TypeError, "two names"),
                (lambda: tessera.norm(x, ord=3), ValueError, "ord is 3"),
                (lambda: tessera.max(x[:0]), ValueError, "max needs at least one element"),
                (lambda: tessera.sum(x, strategy="reduce/no"), ValueError, "no strategy"),
                (lambda: tessera.sum(x, report=[]), TypeError, "dict"),
                (lambda: tessera.transpose(x, (0, 0)), tessera.AxisError, "twice"),
                (lambda: tessera.transpose(x, (0,)), ValueError, ""),
                (lambda: tessera.correlate(x, x, boundary="x"), ValueError, "zero, constant"),
                (lambda: tessera.correlate(x, np.ones((1, 1, 1))), ValueError, ""),
                (lambda: tessera.correlate(x, [1, 2], origin=5), ValueError, "origin"),
                (lambda: tessera.correlate(x, [[1, 2]], origin=[0]), ValueError, "origin has 1 entries"),
                (lambda: tessera.correlate(x, [1, 2], constant="a"), TypeError, "constant is 'a'"),
                (lambda: tessera.correlate_separable(x, []), ValueError, "masks has 0 entries"),
                (lambda: tessera.correlate_separable(x, [[[1]]]), ValueError, ""),
                (lambda: tessera.correlate_separable(x, 3), TypeError, ""),
                (lambda: tessera.take(x, [7]), IndexError, "index.0. is 7"),
                (lambda: tessera.take(x, [-7]), IndexError, "index.0. is -7"),
                (lambda: tessera.take(x[:0], [0], 0), IndexError, ""),
                (lambda: tessera.take(x, [0.5]), TypeError, "indices have the type float64"),
                (lambda: tessera.take(x, [0], (0, 1)), TypeError, "axis"),
                (lambda: tessera.lookup(x, [-1]), IndexError, "index.0. is -1"),
                (lambda: tessera.lookup(x, [0], axis=9), tessera.AxisError, ""),
                (lambda: tessera.lookup(x, [0], outside="no"), ValueError, "error, clip"),
                (lambda: tessera.plan("size", x), ValueError, "cannot be planned"),
                (lambda: tessera.plan(x, x), TypeError, "function is"), (lambda: tessera.explain(None), TypeError, "function is NoneType"),
                (lambda: tessera.explain(tessera.sum, x, format="xml"), ValueError, "text, json"),
                (lambda: tessera.set_threads(-1), ValueError, ""),
                (lambda: tessera.set_threads(10**12), ValueError, "threads is 1000000000000, the limits are 0 and 1024"),
                (lambda: tessera.set_threads(-(10**30)), ValueError, "the limits are 0 and 1024"),
                (lambda: tessera.set_threads(5000), ValueError, "1024")):
            with self.assertRaisesRegex(error, text):
                call()
        self.assertTrue(issubclass(tessera.AxisError, ValueError) and issubclass(tessera.AxisError, IndexError))

    def test_devices_beyond_the_cpu(self):
        for x in (OnDevice((2, 3)), OnDevice((2, 3), "<c16", (96, 32))):
            with self.assertRaisesRegex(TypeError, "out is needed: x lives on a device"):
                tessera.sum(x, axis=0)
            with self.assertRaisesRegex(tessera.EngineError, "libcuda"):
                tessera.sum(x, axis=0, out=OnDevice((3,), "<c16"))
        with self.assertRaisesRegex(TypeError, "out is needed: x lives on a device"):
            tessera.interp(OnDevice((5,)), [0, 1, 2], OnDevice((3,)))
        with self.assertRaisesRegex(tessera.EngineError, "libcuda"):
            tessera.lookup(OnDevice((3,)), OnDevice((5,)), positions=[0, 1, 2], out=OnDevice((5,)))
        with self.assertRaisesRegex(TypeError, "not whole elements"):
            tessera.sum(OnDevice((2, 3), "<f4", (13, 4)))
        with self.assertRaisesRegex(TypeError, "typestr|elements|format"):
            tessera.sum(OnDevice((2,), ">f4"))
        for unknown in ("<f0", "<f16", "<c4", "<u3", "<M8", "|S4"):
            with self.assertRaisesRegex(TypeError, f"describes elements '[<|]{unknown[1:]}'$"):
                tessera.sum(OnDevice((2,), unknown, (4,)))


    def test_interp_on_a_card(self):
        """xp comes to the host, x and fp go to lookup as they are, and what lies outside is put in by the array's own library."""
        x, xp, fp = np.array([-1.0, 0.5, 2.5, 9.0]), np.array([0.0, 1, 3]), np.array([[10.0, 1], [20, 2], [40, 4]])
        on_card = [OnOurCard(a) for a in (x, xp, fp)]
        lookup = tessera.lookup

        def as_if(table, index, *, positions, **words):
            self.assertTrue(table is on_card[2] and index is on_card[0] and positions is xp)
            return lookup(table.value, index.value, positions=positions, **words)

        with unittest.mock.patch("tessera._functions._tessera.lookup", as_if):
            for words in ({}, {"left": -5.0}, {"left": 7, "right": 8}):
                want = np.stack([np.interp(x, xp, fp[:, k], **words) for k in (0, 1)], 1)
                np.testing.assert_array_equal(tessera.interp(*on_card, **words), want)
            with self.assertRaisesRegex(TypeError, "period needs arrays in host memory"):
                tessera.interp(*on_card, period=3)


class DlPack(unittest.TestCase):
    def test_capsules(self):
        x = np.arange(6.0).reshape(2, 3)[:, ::-1]
        producer = Capsuled(x)
        total = tessera.sum(producer, axis=1)
        self.assertEqual((producer.exports, total.tolist()), (1, [3.0, 12.0]))
        self.assertIsInstance(total, tessera.Array)
        out = np.zeros(2)
        tessera.sum(producer, axis=1, out=Capsuled(out))
        self.assertEqual(out.tolist(), [3.0, 12.0])

    @unittest.skipIf(np.lib.NumpyVersion(np.__version__) < "2.1.0", "this NumPy exports no versioned capsules")
    def test_versioned_capsules(self):
        x = np.arange(6.0)
        x.flags.writeable = False
        self.assertEqual(tessera.sum(Capsuled(x)), 15)
        self.assertEqual(tessera.sum(Capsuled(x, legacy=False)), 15)
        with self.assertRaisesRegex(ValueError, "read-only"):
            tessera.transpose(np.zeros(6), out=Capsuled(x))

    def test_bad_producers(self):
        class Liar:
            def __dlpack__(self, **_):
                return 3

        class Raising:
            def __dlpack__(self, **_):
                raise RuntimeError("not today")

        class Consumed:
            def __init__(self):
                self.capsule = np.zeros(3).__dlpack__()

            def __dlpack__(self, **_):
                return self.capsule
        with self.assertRaisesRegex(TypeError, "DLPack capsule"):
            tessera.sum(Liar())
        with self.assertRaisesRegex(RuntimeError, "not today"):
            tessera.sum(Raising())
        class Deep:
            """A legacy capsule of a hundred axes of one element; the producer keeps all of it."""
            tensor = (ctypes.c_int64 * 8)(ctypes.addressof(ctypes.c_int64()), 1, 100 | (2 | 32 << 8 | 1 << 16) << 32, 0, 0, 0, 0, 0)
            shape = (ctypes.c_int64 * 100)(*[1] * 100)

            def __dlpack__(self, **_):
                self.tensor[3] = ctypes.addressof(self.shape)
                make = ctypes.pythonapi.PyCapsule_New
                make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
                return make(ctypes.addressof(self.tensor), b"dltensor", None)
        with self.assertRaisesRegex(ValueError, "has 100 axes, the limit is 64"):
            tessera.sum(Deep(), axis=0)
        once = Consumed()
        self.assertEqual(tessera.sum(once), 0)
        with self.assertRaisesRegex(TypeError, "DLPack capsule"):
            tessera.sum(once)

    def test_namespaces(self):
        class Own(Capsuled):
            def __array_namespace__(self):
                return np
        self.assertIs(type(tessera.sum(Own(np.ones((2, 3))), axis=0)), np.ndarray)


@unittest.skipUnless(torch, "torch is not installed")
class Torch(unittest.TestCase):
    def test_kinds(self):
        x = torch.arange(12.).reshape(3, 4)
        for value, want in ((tessera.sum(x, axis=0), x.sum(0)), (tessera.sum(x), x.sum()), (tessera.transpose(x[:, ::2]), x[:, ::2].T),
                            (tessera.take(x, torch.tensor([2, -1]), 0), x[[2, -1]]), (tessera.argmax(x, axis=1), x.argmax(1)),
                            (tessera.correlate(x.to(torch.bfloat16), [[1.0]]), x.to(torch.bfloat16))):
            self.assertIs(type(value), torch.Tensor)
            self.assertEqual(value.dtype, want.dtype)
            self.assertTrue(torch.equal(value, want))
        out = torch.zeros(4)
        self.assertIs(tessera.sum(x, axis=0, out=out), out)
        self.assertTrue(torch.equal(out, x.sum(0)))
        with self.assertRaisesRegex(TypeError, "requires a gradient"):
            tessera.sum(torch.ones(3, requires_grad=True))
        self.assertIs(tessera.sum(x, dtype=torch.float64).dtype, torch.float64)
        self.assertTrue(torch.equal(torch.from_dlpack(tessera.transpose(memoryview(b"abc"))), torch.tensor([97, 98, 99], dtype=torch.uint8)))
        self.assertEqual(tessera.sum(torch.zeros(0, 3), axis=0).tolist(), [0, 0, 0])

    def test_lazy_views(self):
        z = torch.tensor([1 + 2j, 3 - 4j])
        for view, text in ((z.conj(), "conj"), (z.conj().imag, "resolve_neg"), (z.conj().imag[1], "resolve_neg"), (z.conj().imag[:1], "resolve_neg")):
            for call in (lambda: tessera.sum(view), lambda: tessera.transpose(z, out=view)):
                with self.assertRaisesRegex((TypeError, RuntimeError), text):
                    call()
        self.assertEqual(tessera.sum(z.conj().resolve_conj()).item(), 4 + 2j)
        self.assertEqual(tessera.sum(z.conj().imag.resolve_neg()).item(), 2)
        self.assertEqual(tessera.sum(z.imag).item(), -2)

    def test_other_devices(self):
        with self.assertRaises((tessera.EngineError, RuntimeError, BufferError)):
            tessera.sum(torch.ones(3, device="meta"))


@unittest.skipUnless(jax, "jax is not installed")
class Jax(unittest.TestCase):
    def test_kinds(self):
        x = jax.numpy.arange(6.0).reshape(2, 3)
        total = tessera.sum(x, axis=1)
        self.assertIs(type(total), type(x))
        self.assertEqual(total.tolist(), [3.0, 12.0])
        with self.assertRaisesRegex(ValueError, "read-only"):
            tessera.sum(x, axis=1, out=total)


class Plans(unittest.TestCase):
    def test_plans(self):
        x = np.arange(12, dtype="f4").reshape(3, 4)
        cases = ((tessera.plan(tessera.sum, x, axis=0), (x,), x.sum(0)), (tessera.plan("transpose", x), (x,), x.T),
                 (tessera.plan(tessera.correlate, x, [[0, 0, 1]]), (x,), tessera.correlate(x, [[0, 0, 1]])),
                 (tessera.plan(tessera.convolve_separable, x, [[1, 2], [3]], dtype="float64"), (x,),
                  tessera.convolve_separable(x, [[1, 2], [3]], dtype="float64")),
                 (tessera.plan(tessera.lookup, x, np.array([2, 0])), (x, np.array([2, 0])), x[[2, 0]]),
                 (tessera.plan(tessera.take, x, [2, 0], 0), (x, np.array([2, 0])), x[[2, 0]]))
        for plan, arrays, want in cases:
            for _ in range(2):
                got = plan(*arrays)
                self.assertEqual((got.tolist(), got.dtype, got.shape), (want.tolist(), want.dtype, want.shape))
            out, report = np.zeros(want.shape, want.dtype), {}
            self.assertIs(plan(*arrays, out=out, report=report), out)
            self.assertEqual(out.tolist(), want.tolist())
            self.assertIn(plan.operation.split("_")[0].replace("take", "lookup").replace("sum", "reduce").replace("convolve", "correlate"), report["strategy"])
            self.assertEqual((plan.shape, plan.dtype), (want.shape, want.dtype.name))
            self.assertIn(report["strategy"], plan.explain())
            self.assertIsInstance(plan.explain("json"), dict)
            self.assertIn(plan.operation, repr(plan))
            self.assertGreaterEqual(plan.workspace, 0)

    def test_other_arrays_are_refused(self):
        x = np.arange(12, dtype="f4").reshape(3, 4)
        plan = tessera.plan(tessera.sum, x, axis=0)
        for bad in (x.T, x[:, :3], x.astype("f8"), x[::-1], x[0], np.zeros((3, 8), "f4")[:, ::2]):
            with self.assertRaisesRegex(ValueError, "x has another"):
                plan(bad)
        with self.assertRaisesRegex(ValueError, "out has another"):
            plan(x, out=np.zeros(4))
        for call in (lambda: plan(), lambda: plan(x, x), lambda: plan(x, axis=0)):
            with self.assertRaises(TypeError):
                call()
        strided = tessera.plan(tessera.sum, x, axis=0, out=np.zeros(8, "f4")[::2])
        with self.assertRaisesRegex(TypeError, "out is needed"):
            strided(x)
        out = np.zeros(8, "f4")
        strided(x, out=out[::2])
        self.assertEqual(out[::2].tolist(), x.sum(0).tolist())

    def test_threads_and_tuning(self):
        x = np.ones((300, 400), "f4")
        plan = tessera.plan(tessera.transpose, x)
        tessera.set_threads(1)
        try:
            self.assertEqual(tessera.threads(), 1)
            plan.tune(0.05)
            again = tessera.plan(tessera.transpose, x)
            again.tune(0.05)
            self.assertIn("transpose", tessera.wisdom.text())
            kept = tessera.wisdom.text()
            tessera.set_threads(2)
            self.assertEqual(sorted(tessera.wisdom.text().split()), sorted(kept.split()))
            self.assertEqual(plan(x).shape, (400, 300))
        finally:
            tessera.set_threads(0)
            tessera.wisdom.forget()

    def test_the_machine(self):
        self.assertIn("cpu", tessera.devices())
        self.assertIsInstance(tessera.devices(format="json"), dict)
        names = [row["name"] for row in tessera.strategies()]
        self.assertIn("reduce/reference", names)
        self.assertTrue(all(row["operation"] == "lookup" for row in tessera.strategies("lookup")))
        with self.assertRaises(ValueError):
            tessera.limits(-1)


if __name__ == "__main__":
    unittest.main()
