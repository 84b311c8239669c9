# SPDX-License-Identifier: Apache-2.0
"""The shared library through ctypes, as much of it as the comparison with other libraries needs: limits, plans of the built-in workloads, executions.

The structures repeat include/tessera.h; struct_size lets an older library read them and an equal version makes sure that they are the same.
"""
import ctypes
import json
import os
import re
import subprocess

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TYPES = {"bool": (6, 8), "u8": (1, 8), "u16": (1, 16), "u32": (1, 32), "u64": (1, 64), "i8": (0, 8), "i16": (0, 16), "i32": (0, 32), "i64": (0, 64),
         "f32": (2, 32), "f64": (2, 64), "c64": (5, 64), "c128": (5, 128)}
NUMPY = {"u8": "uint8", "i8": "int8", "u16": "uint16", "i16": "int16", "u64": "uint64", "i32": "int32", "i64": "int64", "f32": "float32", "f64": "float64", "c128": "complex128"}
BOUNDARIES = ["zero", "constant", "nearest", "reflect", "mirror", "wrap"]
REDUCTIONS = ["sum", "prod", "min", "max", "mean", "var", "std", "argmin", "argmax"]

size_t, i64, integer, pointer, real = ctypes.c_size_t, ctypes.c_int64, ctypes.c_int, ctypes.c_void_p, ctypes.c_double


def structure(name, **fields):
    return type(name, (ctypes.Structure,), {"_fields_": list(fields.items())})


Device = structure("Device", type=integer, id=ctypes.c_int32)
DataType = structure("DataType", code=ctypes.c_uint8, bits=ctypes.c_uint8, lanes=ctypes.c_uint16)
Tensor = structure("Tensor", data=pointer, device=Device, ndim=ctypes.c_int32, dtype=DataType, shape=ctypes.POINTER(i64), strides=ctypes.POINTER(i64),
                   byte_offset=ctypes.c_uint64)
Report = structure("Report", struct_size=size_t, strategy=ctypes.c_char * 48, isa=ctypes.c_char * 16, threads=integer, seconds=real, bytes=real, flops=real,
                   workspace=real)
Call = structure("Call", engine=integer, strategy=ctypes.c_char_p, workspace=pointer, workspace_size=size_t, stream=pointer, report=pointer)
Correlate = structure("Correlate", struct_size=size_t, axes=pointer, naxes=integer, origin=pointer, boundary=integer, constant=real, extent=integer,
                      accuracy=integer, compute=integer, flip=ctypes.c_bool, call=Call)
Reduce = structure("Reduce", struct_size=size_t, axes=pointer, naxes=integer, keepdims=ctypes.c_bool, nan=integer, ddof=real, exact=ctypes.c_bool,
                   offsets=pointer, call=Call)
Transpose = structure("Transpose", struct_size=size_t, perm=pointer, nperm=integer, call=Call)
Lookup = structure("Lookup", struct_size=size_t, axis=integer, outside=integer, fill=real, interpolation=integer, call=Call)
Context = structure("Context", struct_size=size_t, threads=integer, engine=integer, isa=integer, strategy=ctypes.c_char_p, allocate=pointer,
                    release=pointer, allocator_user=pointer, progress=pointer, progress_user=pointer)
Limits = structure("Limits", struct_size=size_t, threads=integer, **{name + "_per_s": real for name in (
    "read_bytes", "copy_bytes", "write_bytes", "f32_flops", "f64_flops", "plain_copy_bytes", "plain_write_bytes", "cached_read_bytes",
    "cached_copy_bytes", "random_reads")}, array_bytes=size_t)
PASSES = ("write_bytes", "read_bytes", "copy_bytes", "plain_write_bytes", "plain_copy_bytes", "cached_read_bytes", "cached_copy_bytes", "random_reads", "f32_flops",
          "f64_flops")  # tess_limit


def workloads():
    return json.loads(subprocess.run([os.path.join(TOP, "build", "tessera"), "list", "workloads", "--json"], check=True, capture_output=True).stdout)


class Library:
    def __init__(self, threads, isa="auto"):
        self.c = ctypes.CDLL(os.path.join(TOP, "build", "libtessera.so"))
        self.c.tess_detail.restype = ctypes.c_char_p
        header = open(os.path.join(TOP, "include", "tessera.h")).read()
        major, minor, patch = (int(re.search("VERSION_%s (\\d+)" % part, header).group(1)) for part in ("MAJOR", "MINOR", "PATCH"))
        assert self.c.tess_version() == major * 10000 + minor * 100 + patch, "the library is not of this header's version: make"
        self.context = pointer()
        options = Context(struct_size=ctypes.sizeof(Context), threads=threads, isa=["auto", "baseline", "avx2", "avx512", "neon"].index(isa))
        self.check(self.c.tess_open(ctypes.byref(self.context), ctypes.byref(options)))

    def check(self, status):
        if status:
            raise RuntimeError(self.c.tess_detail().decode())

    def limits(self, seconds):
        found = Limits(struct_size=ctypes.sizeof(Limits))
        self.check(self.c.tess_measure_limits(self.context, real(seconds), ctypes.byref(found)))
        return {name: getattr(found, name) for name, _ in Limits._fields_[1:]}

    def time_limit(self, name, to, source):
        """One pass of the loop behind a limit over two NumPy arrays of bytes: what it reaches a second."""
        found = real()
        self.check(self.c.tess_time_limit(self.context, PASSES.index(name.removesuffix("_per_s")), pointer(to.ctypes.data), pointer(source.ctypes.data),
                                          size_t(source.nbytes), ctypes.byref(found)))
        return found.value

    @staticmethod
    def view(array):
        """A tensor of a compact NumPy array, which it keeps alive."""
        code, bits = TYPES[next(t for t, n in NUMPY.items() if n == array.dtype.name)]
        shape = (i64 * max(array.ndim, 1))(*array.shape)
        tensor = Tensor(array.ctypes.data, Device(1, 0), array.ndim, DataType(code, bits, 1), shape, None, 0)
        tensor.kept = array, shape
        return tensor

    def plan(self, work, arrays):
        """A function that runs the workload once on the arrays, and tells what ran when it is asked (run.report())."""
        a, out = self.view(arrays["in"]), self.view(arrays["out"])
        made, second = pointer(), None
        refer = ctypes.byref
        if work["operation"] == "correlate":
            masks = [self.view(m) for m in arrays["masks"]]
            listed = (pointer * len(masks))(*(ctypes.addressof(m) for m in masks))
            options = Correlate(struct_size=ctypes.sizeof(Correlate), boundary=BOUNDARIES.index(work["boundary"]),
                                accuracy=["direct", "fast"].index(work["accuracy"]))
            first = (integer * 3)(0, 1, 2)
            if work["pixels"]:
                options.axes, options.naxes = ctypes.addressof(first), len(work["mask"])
            status = self.c.tess_plan_correlate(refer(made), self.context, refer(a), listed, len(masks), refer(out), refer(options))
        elif work["operation"] == "reduce":
            axis = (integer * 1)(work["axis"] or 0)
            options = Reduce(struct_size=ctypes.sizeof(Reduce))
            if work["axis"] is not None:
                options.axes, options.naxes = ctypes.addressof(axis), 1
            status = self.c.tess_plan_reduce(refer(made), self.context, REDUCTIONS.index(work["reduction"]), refer(a), refer(out), refer(options))
        elif work["operation"] == "transpose":
            perm = (integer * len(work["perm"]))(*work["perm"])
            options = Transpose(struct_size=ctypes.sizeof(Transpose), perm=ctypes.addressof(perm), nperm=len(perm))
            status = self.c.tess_plan_transpose(refer(made), self.context, refer(a), refer(out), refer(options))
        else:
            second = self.view(arrays["index"])
            options = Lookup(struct_size=ctypes.sizeof(Lookup))
            status = self.c.tess_plan_lookup(refer(made), self.context, refer(a), refer(second), refer(out), refer(options))
        self.check(status)
        execute = self.c.tess_execute
        first, between, last = pointer(a.data), pointer(second.data if second else None), pointer(out.data)

        def run():
            status = execute(made, first, between, last, None)
            if status:
                self.check(status)

        def report():
            told = Report(struct_size=ctypes.sizeof(Report))
            self.check(execute(made, first, between, last, refer(Call(report=ctypes.addressof(told)))))
            return told.strategy.decode(), told.isa.decode()

        run.report, run.free = report, lambda: self.c.tess_plan_free(made)
        return run

    def close(self):
        self.c.tess_close(self.context)
