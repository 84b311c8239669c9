#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a call from Python costs above the same call from C, on arrays so small that nothing else counts: 16 float32.

usage: make python && PYTHONPATH=build/python python3 bench/python_overhead.py

The best of 9 rounds each, in microseconds; exits with 1 where a call on buffers or DLPack with out= costs more than the limit of 1.5 above C."""
import array
import os
import subprocess
import sys
import tempfile
import timeit

import tessera

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIMIT = 1.5


def from_c():
    folder = os.path.dirname(os.path.realpath(tessera._tessera.__file__))
    with tempfile.TemporaryDirectory() as scratch:
        program = os.path.join(scratch, "overhead")
        subprocess.run(["cc", "-O2", "-I" + os.path.join(TOP, "include"), os.path.join(TOP, "bench", "python_overhead.c"), "-o", program,
                        os.path.join(folder, "_libtessera.so"), "-Wl,-rpath," + folder], check=True)
        lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split("\n")
    return {line.split()[0]: float(line.split()[1]) / 1e3 for line in lines if line}


def best(call):
    return min(timeit.repeat(call, number=4000, repeat=9)) / 4000 * 1e6


def cases():
    """(kind of array, operation, counts for the limit, call)"""
    def of(kind, make):
        x, mask, index = make("f", [float(k) for k in range(16)], (16,)), make("f", [1.0, 2.0, 1.0], (3,)), make("q", list(range(16)), (16,))
        square, turned, out, total = make("f", [0.0] * 16, (4, 4)), make("f", [0.0] * 16, (4, 4)), make("f", [0.0] * 16, (16,)), make("f", [0.0], ())
        yield kind + ", out=", "sum", True, lambda: tessera.sum(x, out=total)
        yield kind + ", out=", "transpose", True, lambda: tessera.transpose(square, out=turned)
        yield kind + ", out=", "correlate", True, lambda: tessera.correlate(x, mask, out=out)
        yield kind + ", out=", "lookup", True, lambda: tessera.lookup(x, index, out=out)
        yield kind + ", new result", "sum", False, lambda: tessera.sum(x)
        yield kind + ", new result", "correlate", False, lambda: tessera.correlate(x, mask)
        plan = tessera.plan(tessera.correlate, x, mask)
        yield kind + ", plan, out=", "correlate", False, lambda: plan(x, out=out)

    yield from of("memoryview", lambda code, values, shape: memoryview(array.array(code, values)).cast("B").cast(code, shape))
    try:
        import numpy
        yield from of("numpy", lambda code, values, shape: numpy.array(values, code).reshape(shape))
        yield "numpy itself", "sum", False, lambda x=numpy.zeros(16, "f"): numpy.sum(x)
    except ImportError:
        print("numpy is not installed: left out")
    try:
        import torch
        kinds = {"f": torch.float32, "q": torch.int64}
        yield from of("torch", lambda code, values, shape: torch.tensor(values, dtype=kinds[code]).reshape(shape))
        yield "torch itself", "sum", False, lambda x=torch.zeros(16): torch.sum(x)
    except ImportError:
        print("torch is not installed: left out")


def main():
    c, failed = from_c(), False
    print(f"Tessera {tessera.__version__}, Python {sys.version.split()[0]}; microseconds a call on 16 float32")
    print(f"{'array':26} {'operation':10} {'Python':>8} {'C':>8} {'above C':>8}  limit {LIMIT}")
    for kind, operation, limited, call in cases():
        took = best(call)
        above = took - c[operation]
        failed |= limited and above > LIMIT
        itself = kind.endswith("itself")
        print(f"{kind:26} {operation:10} {took:8.3f} " + ("" if itself else f"{c[operation]:8.3f} {above:8.3f}") +
              ("" if itself or not limited else "  over" if above > LIMIT else "  kept"))
    return failed


if __name__ == "__main__":
    sys.exit(main())
