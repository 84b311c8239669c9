#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tessera on the card, work by work, and after each the same work by PyTorch and CuPy, where those are installed; then works without a peer here.

usage: bench/gpu_peers.py build/bench/gpu [--rows] [WORD...]
       --rows: afterwards every row of Tessera's tables on every work (or those with a WORD in their names)

Every line: work | who | ms | GB/s. A time is the median of 15 calls between CUDA events after 3 that are not counted; GB/s counts each input element read
once and each output element written once. Peers run right after Tessera's own process for the work has ended, on the same card and the same sizes.
"""
import subprocess
import sys

try:
    import torch
    if not torch.cuda.is_available():
        torch = None
except ImportError:
    torch = None
try:
    import cupy
except ImportError:
    cupy = None

G = 1 << 30


def torch_time(call):
    times = []
    for i in range(18):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return sorted(times[3:])[7]


def cupy_time(call):
    times = []
    for i in range(18):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(begin, end))
    return sorted(times[3:])[7]


def torch_array(shape, type):
    if type.startswith("float"):
        return torch.rand(shape, device="cuda", dtype=getattr(torch, type)) * 2 - 1
    if type == "complex128":
        return torch.view_as_complex(torch.rand(tuple(shape) + (2,), device="cuda", dtype=torch.float64))
    return torch.randint(0, 100, shape, device="cuda", dtype=getattr(torch, type))


def torch_reduce(name, type, shape, axis=None):
    x = torch_array(shape, type)
    f = getattr(torch, name)
    return lambda: f(x) if axis is None else f(x, dim=axis)


def torch_permute(type, shape, perm):
    x = torch_array(shape, type)
    out = torch.empty([shape[p] for p in perm], device="cuda", dtype=x.dtype)
    return lambda: out.copy_(x.permute(perm))


def cupy_reduce(name, type, shape, axis=None):
    x = cupy.asarray(torch_array(shape, type))
    f = getattr(cupy, name)
    return lambda: f(x) if axis is None else f(x, axis=axis)


def cupy_permute(type, shape, perm):
    x = cupy.asarray(torch_array(shape, type))
    out = cupy.empty([shape[p] for p in perm], dtype=x.dtype)
    return lambda: cupy.copyto(out, x.transpose(perm))


def torch_correlate(type, shape, taps, passes=1):
    """One convolution with a dense mask, or one a pass with a mask along each axis in turn; f32 arithmetic, not TF32."""
    torch.backends.cudnn.allow_tf32 = False
    x, ndim = torch_array(shape, type)[None, None], len(shape)
    call = (torch.nn.functional.conv1d, torch.nn.functional.conv2d, torch.nn.functional.conv3d)[ndim - 1]
    sizes = [[taps] * ndim] if passes == 1 else [[taps if d == k else 1 for d in range(ndim)] for k in range(passes)]
    masks = [torch_array([1, 1] + size, type) for size in sizes]

    def run():
        y = x
        for mask, size in zip(masks, sizes):
            y = call(y, mask, padding=[n // 2 for n in size])
        return y
    return run


def cupy_correlate(type, shape, taps, passes=1):
    from cupyx.scipy import ndimage
    x = cupy.asarray(torch_array(shape, type))
    out = cupy.empty_like(x)
    if passes == 1:
        mask = cupy.asarray(torch_array([taps] * len(shape), "float32"))
        return lambda: ndimage.correlate(x, mask, output=out, mode="constant")
    mask, between = cupy.asarray(torch_array([taps], "float32")), cupy.empty_like(x)
    return lambda: (ndimage.correlate1d(x, mask, axis=0, output=between, mode="constant"),
                    ndimage.correlate1d(between, mask, axis=1, output=out, mode="constant"))


def fast_size(n):
    """The least even number from n on without a prime factor above 7."""
    while True:
        rest = n
        for p in (2, 3, 5, 7):
            while rest % p == 0:
                rest //= p
        if rest == 1 and n % 2 == 0:
            return n
        n += 1


def torch_transforms(type, shape, taps):
    """By hand, the mask's spectrum kept: the whole array in two dimensions; in one overlap and save with the fastest block of some."""
    x, h = torch_array(shape, type), taps // 2
    mask = torch_array([taps] * len(shape), type)
    if len(shape) > 1:
        n = [fast_size(s + taps - 1) for s in shape]
        w = torch.fft.rfftn(mask, s=n)
        crop = tuple(slice(h, h + s) for s in shape)
        return lambda: torch.fft.irfftn(torch.fft.rfftn(x, s=n) * w, s=n)[crop].contiguous()
    best = None
    for block in (8192, 16384, 32768, 65536, 262144, 1048576):
        if block < 2 * taps:
            continue
        step, w = block - taps + 1, torch.fft.rfft(mask, n=block)
        count = -(-shape[0] // step)

        def run(block=block, step=step, w=w, count=count):
            padded = torch.nn.functional.pad(x, (h, count * step + taps - 1 - shape[0] - h))
            return torch.fft.irfft(torch.fft.rfft(padded.unfold(0, block, step)) * w, n=block)[:, taps - 1:].reshape(-1)[:shape[0]]
        time = torch_time(run)
        best = (time, run) if best is None or time < best[0] else best
    return best[1]


def cupy_transforms(type, shape, taps):
    from cupyx.scipy import signal
    x, mask = cupy.asarray(torch_array(shape, type)), cupy.asarray(torch_array([taps] * len(shape), type))
    call = signal.fftconvolve if len(shape) > 1 else signal.oaconvolve
    return lambda: call(x, mask, mode="same")


def torch_lookup(type, index, entries, count):
    table, at = torch_array((entries,), type), torch.randint(0, entries, (count,), device="cuda", dtype=getattr(torch, index))
    return lambda: torch.index_select(table, 0, at)


def cupy_lookup(type, index, entries, count):
    table = cupy.asarray(torch_array((entries,), type))
    at = cupy.asarray(torch.randint(0, entries, (count,), device="cuda", dtype=getattr(torch, index)))
    out = cupy.empty(count, dtype=table.dtype)
    return lambda: cupy.take(table, at, out=out)


def cupy_interpolate(entries, count):
    table, nodes = cupy.asarray(torch_array((entries,), "float32")), cupy.arange(entries, dtype=cupy.float32)
    at = cupy.asarray(torch.rand(count, device="cuda") * (entries - 1))
    return lambda: cupy.interp(at, nodes, table)


def torch_positions(type, entries, count):
    table, nodes = torch_array((entries,), type), torch.rand(entries, device="cuda", dtype=getattr(torch, type)).sort().values
    at = torch.rand(count, device="cuda", dtype=getattr(torch, type))

    def interpolate():
        k = (torch.searchsorted(nodes, at, right=True) - 1).clamp_(0, entries - 2)
        t = ((at - nodes[k]) / (nodes[k + 1] - nodes[k])).clamp_(0, 1)
        return torch.lerp(table[k], table[k + 1], t)

    return interpolate


def cupy_positions(type, entries, count):
    table, nodes = cupy.asarray(torch_array((entries,), type)), cupy.sort(cupy.random.rand(entries).astype(type))
    at = cupy.random.rand(count).astype(type)
    return lambda: cupy.interp(at, nodes, table)


KINDS = {
    "permute": (torch_permute, cupy_permute),
    "reduce": (torch_reduce, cupy_reduce),
    "correlate": (torch_correlate, cupy_correlate),
    "transforms": (torch_transforms, cupy_transforms),
    "lookup": (torch_lookup, cupy_lookup),
    "interpolate": (None, cupy_interpolate),
    "positions": (torch_positions, cupy_positions),
}
SQUARE, IMAGE, M = (1, 0), (16384, 16384), 1 << 20
# work as build/bench/gpu calls it, bytes, what PyTorch and CuPy are asked for
WORKS = [
    ("transpose f32 32768 x 32768", 8 * G, "permute", ("float32", (32768, 32768), SQUARE)),
    ("transpose f16 46080 x 46080", 4 * 46080**2, "permute", ("float16", (46080, 46080), SQUARE)),
    ("transpose u8 65536 x 65536", 8 * G, "permute", ("uint8", (65536, 65536), SQUARE)),
    ("transpose f64 32768 x 16384", 8 * G, "permute", ("float64", (32768, 16384), SQUARE)),
    ("transpose c128 16384 x 16384", 8 * G, "permute", ("complex128", (16384, 16384), SQUARE)),
    ("transpose f32 30011 x 29989", 8 * 30011 * 29989, "permute", ("float32", (30011, 29989), SQUARE)),
    ("NCHW to NHWC f32 256 x 256 x 128 x 128", 8 * G, "permute", ("float32", (256, 256, 128, 128), (0, 2, 3, 1))),
    ("reverse axes f32 256 x 256 x 128 x 128", 8 * G, "permute", ("float32", (256, 256, 128, 128), (3, 2, 1, 0))),
    ("sum f32 1 Gi", 4 * G, "reduce", ("sum", "float32", (G,))),
    ("max f32 1 Gi", 4 * G, "reduce", ("max", "float32", (G,))),
    ("argmax f32 1 Gi", 4 * G, "reduce", ("argmax", "float32", (G,))),
    ("sum f64 512 Mi", 4 * G, "reduce", ("sum", "float64", (G // 2,))),
    ("sum f16 2 Gi", 4 * G, "reduce", ("sum", "float16", (2 * G,))),
    ("sum i32 1 Gi", 4 * G, "reduce", ("sum", "int32", (G,))),
    ("sum u8 4 Gi", 4 * G, "reduce", ("sum", "uint8", (4 * G,))),
    ("sum axis 0 f32 32768 x 32768", 4 * G, "reduce", ("sum", "float32", (32768, 32768), 0)),
    ("sum axis 1 f32 32768 x 32768", 4 * G, "reduce", ("sum", "float32", (32768, 32768), 1)),
    ("sum axis 1 f32 1024 x 1024 x 1024", 4 * G, "reduce", ("sum", "float32", (1024, 1024, 1024), 1)),
    ("correlate f32 16384 x 16384, 3 x 3", 2 * G, "correlate", ("float32", IMAGE, 3)),
    ("correlate f32 16384 x 16384, 5 x 5", 2 * G, "correlate", ("float32", IMAGE, 5)),
    ("correlate f32 16384 x 16384, 7 x 7", 2 * G, "correlate", ("float32", IMAGE, 7)),
    ("correlate f32 16384 x 16384, 15 x 15", 2 * G, "correlate", ("float32", IMAGE, 15)),
    ("correlate u8 16384 x 16384, 3 x 3 f32", G // 2, "correlate", ("uint8", IMAGE, 3)),
    ("correlate f16 16384 x 16384, 3 x 3", G, "correlate", ("float16", IMAGE, 3)),
    ("separable f32 16384 x 16384, 15 + 15", 2 * G, "correlate", ("float32", IMAGE, 15, 2)),
    ("correlate f32 512 Mi, 9 taps", 4 * G, "correlate", ("float32", (512 * M,), 9)),
    ("correlate f32 512 Mi, 63 taps", 4 * G, "correlate", ("float32", (512 * M,), 63)),
    ("transforms f32 4096 x 4096, 63 x 63", G // 8, "transforms", ("float32", (4096, 4096), 63)),
    ("transforms f32 4096 x 4096, 127 x 127", G // 8, "transforms", ("float32", (4096, 4096), 127)),
    ("transforms f32 4096 x 4096, 255 x 255", G // 8, "transforms", ("float32", (4096, 4096), 255)),
    ("transforms f32 4096 x 4096, 511 x 511", G // 8, "transforms", ("float32", (4096, 4096), 511)),
    ("transforms f32 64 Mi, 1023 taps", G // 2, "transforms", ("float32", (64 * M,), 1023)),
    ("transforms f32 64 Mi, 4096 taps", G // 2, "transforms", ("float32", (64 * M,), 4096)),
    ("transforms f32 64 Mi, 16384 taps", G // 2, "transforms", ("float32", (64 * M,), 16384)),
    ("transforms f32 64 Mi, 65536 taps", G // 2, "transforms", ("float32", (64 * M,), 65536)),
    ("correlate f32 512 x 512 x 512, 3 x 3 x 3", G, "correlate", ("float32", (512, 512, 512), 3)),
    ("lookup f32[4096] by i32 512 Mi", 4 * G, "lookup", ("float32", "int32", 4096, 512 * M)),
    ("lookup f32[65536] by i32 512 Mi", 4 * G, "lookup", ("float32", "int32", 65536, 512 * M)),
    ("interpolate f32[1024] linear 512 Mi", 4 * G, "interpolate", (1024, 512 * M)),
    ("positions f32[4096] random 256 Mi", 2 * G, "positions", ("float32", 4096, 256 * M)),
    ("positions f64[65536] random 256 Mi", 4 * G, "positions", ("float64", 65536, 256 * M)),
]
# What the README's table has beside those: works that neither peer was written down for.
ALONE = [
    "transpose f16 45013 x 44999", "transpose u8 60013 x 59999", "NHWC to NCHW u8 2048 x 223 x 223 x 3", "NCHW to NHWC u8 2048 x 3 x 223 x 223",
    "transpose u8 256 Mi x 3", "transpose f32 3 x 64 Mi", "runs of 128 bytes, 64 x 4096 x 32", "stack of f32 3 x 3, 4 Mi", "stack of f32 16 x 16, 1 Mi",
    "stack of u8 28 x 28, 1 Mi", "pixels of 12 bytes, 8192 x 8192", "pixels of 3 bytes, 16384 x 16384", "copy f32 every second column",
    "transpose f32 every second column", "in place f32 16384 x 16384", "in place u8 32768 x 32768", "in place f32 16383 x 16383", "in place f32 16384 x 8192",
    "short rows: sum f32 of 4", "short rows: sum f32 of 16", "short rows: sum f32 of 31", "short rows: sum f32 of 100", "short rows: sum f32 of 200",
    "short rows: sum f32 of 1000", "segments: sum f32, about 16", "segments: sum f32, about 200", "short rows: sum f32 of 200, 33 columns",
    "short rows: sum f32 of 200, 256 columns", "columns: sum f32 of 300, 3 columns", "columns: sum f32 of 1000, 33 columns",
    "columns: sum u8 of 300, 3 columns", "columns: argmax f32 of 1000, 33 columns", "columns: sum f32 of 19, 4096 columns",
    "columns: argmax f32 of 19, 4096 columns", "columns: var f32 of 19, 4096 columns", "short rows: var f32 of 16", "short rows: var f32 of 200",
    "short rows: var f32 of 1000", "var f32 1 Gi", "var f64 512 Mi", "apart: mean f32 64 x 19 x 1024 x 512, axes 0 2 3",
    "apart: var f32 64 x 19 x 1024 x 512, axes 0 2 3", "apart: sum f32 30 x 100 x 200 x 300, axes 0 2", "exact f32, uniform, one sum",
    "exact f64, uniform, one sum", "exact f32, uniform, rows of 16", "exact f32, uniform, rows of 100", "exact f32, uniform, rows of 1000",
    "exact f64, any bits, rows of 1000", "exact f32, uniform, columns: 1 x 16384, 16384", "exact f64, uniform, columns: 1 x 16384, 16384",
    "exact f64, any bits, columns: 1 x 16384, 16384", "exact f16, uniform, columns: 1 x 16384, 16384", "correlate f32 16381 x 16379, 3 x 3",
    "correlate f16 16381 x 16379, 3 x 3", "correlate u8 16381 x 16379, 3 x 3 i8", "correlate u8 16381 x 16379, 3 x 3 f32",
    "correlate f32 4096 x 255 x 253, 3 x 3", "correlate f16 4096 x 255 x 253, 3 x 3", "correlate u8 4096 x 255 x 253, 3 x 3 f32",
    "correlate u8 4096 x 255 x 253, 3 x 3 i8", "correlate f32 128 x 1080 x 1920, 5 x 5", "correlate f16 128 x 1080 x 1920, 5 x 5",
    "correlate u8 128 x 1080 x 1920, 5 x 5 f32", "correlate u8 128 x 1080 x 1920, 3 x 3 f32", "correlate f32 512 Mi, 33 taps",
    "correlate f32 512 Mi, 127 taps", "correlate u8 1 Gi, 9 taps f32", "correlate f16 1 Gi, 9 taps", "separable f32 16384 x 16384, 7 + 7",
    "separable f32 16384 x 16384, 31 + 31", "separable f16 16384 x 16384, 7 + 7", "separable u8 16384 x 16384, 7 + 7 f32",
    "separable f32 4096 x 256 x 256, 7 + 7", "separable f32 512 x 512 x 512, 3 + 3 + 3", "separable f32 512 x 512 x 512, 7 + 7 + 7",
    "separable f32 509 x 511 x 513, 7 + 7 + 7", "separable f16 509 x 511 x 513, 7 + 7 + 7", "separable u8 509 x 511 x 513, 7 + 7 + 7 f32",
    "correlate f32 8192 x 16384, 3 x 3, Fortran's order", "correlate f32 16384 x 4096, 3 x 3, every 2nd column", "correlate c64 8192 x 8192, 3 x 3 f32",
    "correlate f32 100000 x 1000, 33 taps", "correlate f32 100000 x 1000, 101 taps", "correlate u8 16384 x 16384 x 3, 3 x 3 i8, axes z y",
    "correlate u8 16384 x 16384 x 3, 5 x 5 i8, axes z y", "correlate u8 16384 x 16384 x 3, 7 x 7 i8, axes z y",
    "separable f32 512 x 512 x 512, 7 + 7, axes z y", "lookup columns f32 8192 x 16384 by i32 8192",
    "separable u8 16384 x 16384 x 3, 7 + 7 f32, axes z y", "separable f32 8192 x 8192 x 3, 7 + 7, axes z y", "lookup u8[256] by u8 2 Gi",
    "lookup slices u8[256][3] by u8 512 Mi", "positions f32[256] ordered 256 Mi",
    "positions f64[65536] ordered 256 Mi", "latency: sum f32 of 1 Ki", "latency: sum f32 of 64 Ki", "latency: sum f32 of 1024 Ki",
    "latency: sum f32 of 16384 Ki",
]


def peer(work, who, module, time, make, arguments, bytes):
    if module is None or make is None:
        return
    try:
        ms = time(make(*arguments))
        print("%-44s | %-24s | %8.4f ms | %6.0f GB/s" % (work, who, ms, bytes / ms / 1e6), flush=True)
    except Exception as error:  # a peer that cannot do a work is no failure of the bench
        print("%-44s | %-24s | %s" % (work, who, str(error).splitlines()[0][:100]), flush=True)
    if torch:
        torch.cuda.empty_cache()
    if cupy:
        cupy.get_default_memory_pool().free_all_blocks()


def main():
    bench, words = sys.argv[1], [word for word in sys.argv[2:] if word != "--rows"]
    first = True
    for work, bytes, kind, arguments in WORKS:
        if words and not any(w in work for w in words):
            continue
        out = subprocess.run([bench, work], capture_output=True, text=True)
        if out.returncode == 77:
            print(out.stdout, end="")
            return 77
        lines = out.stdout.splitlines()
        for line in lines:
            if line.startswith(work + " ") or line.startswith("limits") or first or out.returncode:
                print(line, flush=True)
        first = False
        peer(work, "PyTorch", torch, torch_time, KINDS[kind][0], arguments, bytes)
        peer(work, "CuPy", cupy and torch and cupy, cupy_time, KINDS[kind][1], arguments, bytes)
    alone = [work for work in ALONE if not words or any(w in work for w in words)]
    if alone:
        out = subprocess.run([bench] + alone, capture_output=True, text=True)
        for line in out.stdout.splitlines():
            if line.startswith("limits") or line.split(" | ")[0].strip() in alone:
                print(line, flush=True)
    return subprocess.run([bench, "--rows"] + words).returncode if "--rows" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
