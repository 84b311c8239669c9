# SPDX-License-Identifier: Apache-2.0
"""Calls with something wrong in them: every one answers with the right status and a sentence that names the argument and its value.

One good call of each kind is made; then one thing in it is spoiled at a time."""
import ctypes
import math
from ctypes import POINTER, byref, c_int, c_int64, c_void_p

import numpy as np

from harness import OracleTest, tess, unittest

LIBRARY = tess.library


class Good:
    """Arguments of a good call, each reachable by the name that the library's sentences use."""

    def __init__(self, operation):
        f32 = np.float32
        self.operation = operation
        self.keep = []
        if operation in ("correlate", "convolve", "separable"):
            self.tensors = {"in": np.ones((4, 6), f32), "mask": np.ones((3, 3) if operation != "separable" else (3,), f32),
                            "out": np.zeros((4, 6), f32)}
            self.options = tess.correlate_options()
        elif operation == "reduce":
            self.tensors = {"in": np.ones((4, 6), f32), "out": np.zeros((), f32)}
            self.options = tess.ReduceOptions(struct_size=ctypes.sizeof(tess.ReduceOptions))
        elif operation == "transpose":
            self.tensors = {"in": np.ones((4, 6), f32), "out": np.zeros((6, 4), f32)}
            self.options = tess.TransposeOptions(struct_size=ctypes.sizeof(tess.TransposeOptions))
        else:
            self.tensors = {"table": np.ones(9, f32), "index": np.zeros((2, 3), np.int32), "out": np.zeros((2, 3), f32)}
            self.options = tess.LookupOptions(struct_size=ctypes.sizeof(tess.LookupOptions))
        self.arrays = dict(self.tensors)
        self.tensors = {name: tess.view(a) for name, a in self.tensors.items()}

    def call(self, **replaced):
        """The status. A tensor given as None is passed as NULL; options=None are the defaults."""
        t = {name: replaced.get(name, tensor) for name, tensor in self.tensors.items()}
        pointer = {name: None if tensor is None else ctypes.pointer(tensor) for name, tensor in t.items()}
        options = replaced.get("options", self.options)
        options = None if options is None else byref(options)
        if self.operation in ("correlate", "convolve"):
            return getattr(LIBRARY, "tess_" + self.operation)(None, pointer["in"], pointer["mask"], pointer["out"], options)
        if self.operation == "separable":
            count = replaced.get("count", 2)
            null = POINTER(tess.DLTensor)()
            masks = None if "masks" in replaced else (POINTER(tess.DLTensor) * 2)(*[pointer["mask"] or null] * 2)
            return LIBRARY.tess_correlate_separable(None, pointer["in"], masks, count, pointer["out"], options)
        if self.operation == "reduce":
            return LIBRARY.tess_reduce(None, replaced.get("reduction", 0), pointer["in"], pointer["out"], options)
        if self.operation == "transpose":
            return LIBRARY.tess_transpose(None, pointer["in"], pointer["out"], options)
        return LIBRARY.tess_lookup(None, pointer["table"], pointer["index"], pointer["out"], options)


OPERATIONS = ["correlate", "convolve", "separable", "reduce", "transpose", "lookup"]


def copy_of(tensor, **fields):
    other = tess.DLTensor.from_buffer_copy(tensor)
    other.keep = (tensor, fields)
    for name, value in fields.items():
        if isinstance(value, (list, tuple)):
            value = ctypes.cast((c_int64 * max(len(value), 1))(*value), POINTER(c_int64))
            other.keep += (value,)
        setattr(other, name, value)
    return other


def of_each(test):
    """Runs the test with a good call of each operation, which must be good before and after."""
    def run(self):
        for operation in OPERATIONS:
            with self.subTest(operation):
                good = Good(operation)
                self.assertEqual(good.call(), 0, LIBRARY.tess_detail())
                self.assertEqual(good.call(options=None), 0, LIBRARY.tess_detail())
                test(self, good)
                self.assertEqual(good.call(), 0, LIBRARY.tess_detail())
    run.__name__ = test.__name__
    return run


class Hostile(OracleTest):
    def refuse(self, status, expected, *words):
        self.assertIn(tess.STATUSES.get(status, status), expected if isinstance(expected, tuple) else (expected,), LIBRARY.tess_detail())
        detail = LIBRARY.tess_detail().decode()
        for word in words:
            self.assertIn(str(word), detail)

    @of_each
    def test_null_tensors(self, good):
        for name in good.tensors:
            self.refuse(good.call(**{name: None}), "ARGUMENT", name, "NULL")
        self.refuse(Good("separable").call(masks=None), "ARGUMENT", "masks", "NULL")

    @of_each
    def test_null_data_and_shape(self, good):
        for name, tensor in good.tensors.items():
            if tensor.ndim:
                self.refuse(good.call(**{name: copy_of(tensor, shape=POINTER(c_int64)())}), "ARGUMENT", name, "NULL")
            self.refuse(good.call(**{name: copy_of(tensor, data=None)}), "ARGUMENT", name, "NULL")

    @of_each
    def test_sizes(self, good):
        for name, tensor in good.tensors.items():
            for ndim in (-1, 65, 2 ** 31 - 1, -2 ** 31):
                self.refuse(good.call(**{name: copy_of(tensor, ndim=ndim)}), "SHAPE", name, ndim)
            if tensor.ndim == 0:
                continue
            for size in (-1, -2 ** 63):
                shape = [size] + [3] * (tensor.ndim - 1)
                self.refuse(good.call(**{name: copy_of(tensor, shape=shape)}), "SHAPE", name, size)
            huge = [2 ** 62] + [2 ** 62] * (tensor.ndim - 1)
            self.refuse(good.call(**{name: copy_of(tensor, shape=huge)}), ("SIZE", "SHAPE"), name)
            for stride in (2 ** 62, -2 ** 63, 2 ** 63 - 1):
                shape = list(tensor.shape[:tensor.ndim])
                self.refuse(good.call(**{name: copy_of(tensor, strides=[stride] * tensor.ndim, shape=shape)}), "SIZE", name, stride)

    @of_each
    def test_types(self, good):
        for name, tensor in good.tensors.items():
            for code, bits, lanes in ((2, 32, 4), (2, 32, 0), (3, 64, 1), (0, 7, 1), (9, 8, 1), (255, 255, 65535), (2, 128, 1), (1, 1, 1), (6, 1, 1)):
                dtype = tess.DLDataType(code, bits, lanes)
                self.refuse(good.call(**{name: copy_of(tensor, dtype=dtype)}), "TYPE", name, code, bits, lanes)
            for device in (2, 7, 0, -1) if name.startswith("mask") else (2, 13, 7, 0, -1):  # managed memory is the host's as well: a mask may lie there
                self.refuse(good.call(**{name: copy_of(tensor, device=tess.DLDevice(device, 0))}), "DEVICE", name, device)
            self.assertEqual(good.call(**{name: copy_of(tensor, device=tess.DLDevice(3, 0))}), 0)

    @of_each
    def test_shapes_that_do_not_fit(self, good):
        out = good.tensors["out"]
        spoiled = np.zeros([n + 1 for n in out.shape[:out.ndim]] or [1, 2], np.float32)
        self.refuse(good.call(out=tess.view(spoiled)), "SHAPE", "out")
        more = np.zeros(spoiled.shape + (1,), np.float32)
        self.refuse(good.call(out=tess.view(more)), "SHAPE", "out")

    @of_each
    def test_overlap(self, good):
        for name in good.tensors:
            if name == "out" or (good.operation == "transpose" and name == "in"):
                continue
            out = good.tensors["out"]
            aliased = copy_of(out, data=good.tensors[name].data)
            self.refuse(good.call(out=aliased), "OVERLAP", "out", name)
        if good.tensors["out"].ndim:
            self.refuse(good.call(out=copy_of(good.tensors["out"], strides=[0] * good.tensors["out"].ndim)), "OVERLAP", "out")

    @of_each
    def test_struct_size(self, good):
        kind = type(good.options)
        for size in (0, 1, 7, 2 ** 63, 2 ** 32, 65537):
            options = kind.from_buffer_copy(good.options)
            options.struct_size = size
            self.refuse(good.call(options=options), "ARGUMENT", "struct_size", size)
        newer = type("Newer", (ctypes.Structure,), {"_fields_": [("known", kind), ("more", c_int64 * 8)]})()
        newer.known = good.options
        newer.known.struct_size = ctypes.sizeof(newer)
        as_known = kind.from_buffer(newer)
        self.assertEqual(good.call(options=as_known), 0, LIBRARY.tess_detail())
        newer.more[7] = 1
        self.refuse(good.call(options=as_known), "ARGUMENT", "struct_size", ctypes.sizeof(newer))
        older = kind.from_buffer_copy(good.options)
        older.struct_size = 8  # knows no field at all: every default
        self.assertEqual(good.call(options=older), 0, LIBRARY.tess_detail())

    def test_enumerations(self):
        fields = {"correlate": ["boundary", "extent", "accuracy"], "reduce": ["nan"], "lookup": ["outside", "interpolation"]}
        for operation, names in fields.items():
            for name in names:
                for value in (-1, 99, 2 ** 31 - 1):
                    good = Good(operation)
                    setattr(good.options, name, value)
                    self.refuse(good.call(), "ARGUMENT", name, value)
        for value in (-1, 15, 99):
            self.refuse(Good("reduce").call(reduction=value), "ARGUMENT", value)
        for value in (-1, 15, 99):
            good = Good("correlate")
            good.options.compute = value if value != 15 else 16
            self.refuse(good.call(), ("ARGUMENT", "TYPE"), "compute")
        good = Good("correlate")
        good.options.compute = tess.TYPE_NUMBER["i64"]
        self.refuse(good.call(), ("ARGUMENT", "TYPE"), "compute")

    @of_each
    def test_engine_and_strategy(self, good):
        out = good.arrays["out"]
        self.assertEqual(good.call(), 0)
        expected = out.tobytes()
        for engine in (2, 3):  # without a card or a compiler it is an error that leaves the output, else the CPU's bytes
            good.options.call.engine = engine
            out[...] = 77
            status = good.call()
            if status != 0:
                self.refuse(status, "ENGINE")
                self.assertTrue((out == 77).all())
            else:
                self.assertEqual(out.tobytes(), expected)
        good.options.call.engine = 77
        self.refuse(good.call(), "ARGUMENT", "engine", 77)
        good.options.call.engine = 0
        good.options.call.strategy = b"no/such"
        self.refuse(good.call(), "STRATEGY", "no/such")
        good.options.call.strategy = b"lookup/reference" if good.operation != "lookup" else b"reduce/reference"
        self.refuse(good.call(), "STRATEGY")
        good.options.call.strategy = None

    def test_axes(self):
        def with_axes(operation, values, count=None, field="axes", counter="naxes"):
            good = Good(operation)
            good.keep = None if values is None else (c_int * max(len(values), 1))(*values)
            setattr(good.options, field, ctypes.cast(good.keep, POINTER(c_int)) if values is not None else POINTER(c_int)())
            setattr(good.options, counter, len(values) if count is None else count)
            return good.call()
        for operation in ("correlate", "convolve", "separable"):
            self.assertEqual(with_axes(operation, [-1, 0]), 0)
            self.refuse(with_axes(operation, [0, 0]), "AXIS", "axes", 0)
            self.refuse(with_axes(operation, [1, -1]), "AXIS", "axes")
            self.refuse(with_axes(operation, [0, 2]), "AXIS", "axes", 2)
            self.refuse(with_axes(operation, [0, -3]), "AXIS", "axes", -3)
            self.refuse(with_axes(operation, [0]), ("AXIS", "SHAPE", "ARGUMENT"), 1)
            self.refuse(with_axes(operation, None, 2), "ARGUMENT", "axes", "NULL")
            self.refuse(with_axes(operation, [0, 1], -2), ("AXIS", "ARGUMENT"), -2)
        self.refuse(with_axes("reduce", [0, 0], None), "AXIS", "axes")
        self.refuse(with_axes("reduce", [5], None), "AXIS", "axes", 5)
        self.refuse(with_axes("reduce", [0, 1, 0], None), "AXIS", "axes", 3)
        self.refuse(with_axes("reduce", None, 1), "ARGUMENT", "axes", "NULL")
        self.refuse(with_axes("reduce", [0, 1], -1), ("AXIS", "ARGUMENT"), -1)
        self.refuse(with_axes("reduce", [0, 1], 2 ** 31 - 1), "AXIS", 2 ** 31 - 1)
        for values in ([0], [0, 0], [0, 2], [0, -3], [1, 0, 2]):
            self.refuse(with_axes("transpose", values, None, "perm", "nperm"), "AXIS", "perm")
        self.refuse(with_axes("transpose", None, 2, "perm", "nperm"), "ARGUMENT", "perm", "NULL")
        for axis in (1, -2, 2 ** 31 - 1, -2 ** 31):
            good = Good("lookup")
            good.options.axis = axis
            self.refuse(good.call(), "AXIS", "axis", axis)

    def test_masks(self):
        image = np.zeros((4, 5), np.float32)
        self.assert_status("SHAPE", lambda: tess.correlate(image, np.ones((1, 1, 1), np.float32), out=image.copy()), "mask", 3, 2)
        self.assert_status("SHAPE", lambda: tess.correlate(image, np.ones((3, 0), np.float32), out=image.copy()), "mask", 0)
        for origin in ([2, 0], [-2, 0], [0, 2 ** 62], [0, -2 ** 63]):
            self.assert_status("ARGUMENT", lambda: tess.correlate(image, np.ones((3, 3), np.float32), origin=origin), "origin",
                               [o for o in origin if o][0])
        self.assert_status("ARGUMENT", lambda: tess.correlate(image, np.ones((3, 3), np.float32), origin=[1, 0], extent="valid"), "origin")
        self.assert_status("TYPE", lambda: tess.correlate(image, np.ones((3, 3), np.complex64)), "complex")
        self.assert_status("TYPE", lambda: tess.correlate(image.astype(np.complex64), np.ones((3, 3), np.float32), out_type="f32"))
        good = Good("separable")
        for count in (0, -1, 3, 2 ** 31 - 1):
            self.refuse(good.call(count=count), ("ARGUMENT", "SHAPE", "AXIS"), count)
        self.assert_status("SHAPE", lambda: tess.separable(image, [np.ones((3, 3), np.float32)], out=image.copy(), axes=[0]), "masks")
        huge = np.broadcast_to(np.float32(1), (2 ** 40,))  # a mask whose copy cannot be allocated
        self.assert_status("MEMORY", lambda: tess.correlate(np.zeros(4, np.float32), huge))

    def test_offsets(self):
        x = np.arange(6.0)
        def segments(offsets, axes=(0,), **options):
            return lambda: tess.reduce("sum", x, axes=list(axes), offsets=np.asarray(offsets), out=np.zeros(max(len(np.ravel(offsets)) - 1, 0)), **options)
        self.assert_status("ARGUMENT", segments([0, 4, 3, 6]), "offsets", 3, 4)
        self.assert_status("ARGUMENT", segments([0, 7]), "offsets", 7, 6)
        self.assert_status("ARGUMENT", segments([-1, 6]), "offsets", -1)
        self.assert_status("TYPE", segments([0.0, 6.0]), "offsets")
        self.assert_status("SHAPE", segments([[0, 6]]), "offsets")
        self.assert_status("SHAPE", segments(np.zeros(0, np.int64)), "offsets")
        with self.assertRaises(tess.TessError):
            tess.reduce("sum", np.zeros((2, 3)), axes=[0, 1], offsets=np.array([0, 1]), out=np.zeros((1, 1)))

    def test_values_that_are_not_numbers(self):
        x = np.arange(6.0)
        for ddof in (math.nan, math.inf, -1.0):
            try:
                tess.reduce("var", x, ddof=ddof)
            except tess.TessError as error:
                self.assertEqual(error.status, "ARGUMENT")
                self.assertIn("ddof", error.detail)
        for value in (math.nan, math.inf, -math.inf, 1e300):
            got = tess.correlate(np.array([1, 2], np.uint8), np.array([1, 1, 1], np.uint8), boundary="constant", constant=value, out_type="u64")
            self.assertEqual(got.shape, (2,))

    def test_contexts(self):
        with self.assertRaises(tess.TessError) as caught:
            tess.Context(threads=-1)
        self.assertEqual(caught.exception.status, "ARGUMENT")
        for options in (dict(threads=1025), dict(isa="neon"), dict(strategy="reduce/nothing")):
            with self.assertRaises(tess.TessError) as caught:
                tess.Context(**options)
            self.assertIn(caught.exception.status, ("ARGUMENT", "ENGINE", "STRATEGY"))
        self.assertEqual(tess.STATUSES[LIBRARY.tess_open(None, None)], "ARGUMENT")
        LIBRARY.tess_close(None)
        LIBRARY.tess_plan_free(None)
        self.assertEqual(LIBRARY.tess_plan_workspace(None), 0)
        self.assertEqual(tess.STATUSES[LIBRARY.tess_execute(None, None, None, None, None)], "ARGUMENT")
        self.assertEqual(tess.STATUSES[LIBRARY.tess_explain(None, 0, None, 0, None)], "ARGUMENT")

    @of_each
    def test_plans(self, good):
        def plan_of():
            plan = c_void_p(1)
            t = {k: ctypes.pointer(v) for k, v in good.tensors.items()}
            o = byref(good.options)
            if good.operation == "reduce":
                return plan, LIBRARY.tess_plan_reduce(byref(plan), None, 0, t["in"], t["out"], o)
            if good.operation == "transpose":
                return plan, LIBRARY.tess_plan_transpose(byref(plan), None, t["in"], t["out"], o)
            if good.operation == "lookup":
                return plan, LIBRARY.tess_plan_lookup(byref(plan), None, t["table"], t["index"], t["out"], o)
            masks = (POINTER(tess.DLTensor) * 2)(t["mask"], t["mask"])
            count = 2 if good.operation == "separable" else 1
            return plan, LIBRARY.tess_plan_correlate(byref(plan), None, t["in"], masks, count, t["out"], o)
        for name in good.tensors:
            if name != "mask":
                good.tensors[name] = copy_of(good.tensors[name], data=None)
        plan, status = plan_of()
        self.assertEqual(status, 0, LIBRARY.tess_detail())
        names = ["table" if good.operation == "lookup" else "in", "index", "out"]
        pointers = [good.arrays[n].ctypes.data if n in good.arrays else None for n in names]
        self.assertEqual(LIBRARY.tess_execute(plan, *pointers, None), 0, LIBRARY.tess_detail())
        for k, pointer in enumerate(pointers):
            if pointer is not None:
                spoiled = [None if j == k else p for j, p in enumerate(pointers)]
                self.refuse(LIBRARY.tess_execute(plan, *spoiled, None), "ARGUMENT", "NULL")
        if good.operation != "transpose":
            self.refuse(LIBRARY.tess_execute(plan, pointers[0], pointers[1], pointers[0], None), "OVERLAP")
        need = LIBRARY.tess_plan_workspace(plan)
        if need:
            call = tess.Call(workspace=64, workspace_size=need - 1)
            self.refuse(LIBRARY.tess_execute(plan, *pointers, byref(call)), "ARGUMENT", "workspace_size", need - 1, need)
            call = tess.Call(workspace=65, workspace_size=need)
            self.refuse(LIBRARY.tess_execute(plan, *pointers, byref(call)), "ARGUMENT", "workspace")
        LIBRARY.tess_plan_free(plan)
        good.tensors["out"] = copy_of(good.tensors["out"], ndim=65)
        plan, status = plan_of()
        self.refuse(status, "SHAPE")
        self.assertIsNone(plan.value)
        good.tensors["out"] = copy_of(good.tensors["out"], ndim=good.arrays["out"].ndim)
        for name in good.tensors:
            good.tensors[name] = tess.view(good.arrays[name])


if __name__ == "__main__":
    unittest.main()
