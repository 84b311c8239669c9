# SPDX-License-Identifier: Apache-2.0
"""What other libraries offer for the built-in workloads. Each library is one function: it takes a workload, its arrays and a number of threads, and gives
what does the work once, into the array `out` or as a returned array, or None where the library has nothing for it.

A library that is not installed is left out. What is offered is the fastest way that we know of; `note` says what differs from Tessera's result, if
anything does. Adding a library is adding a function to COLUMNS.
"""
import importlib
import os
import sys
import warnings

SLOW_FLOPS = 4e9  # direct sums of libraries that reach 1 GFLOP/s or so are left out above this


# Where tools/peers.sh unpacks Debian's PyTorch; after everything else, so that nothing there is taken in place of a wheel.
sys.path.append(os.path.join(os.path.dirname(os.path.dirname(sys.executable)), "debian", "usr", "lib", "python3", "dist-packages"))


def module(name):
    try:
        return importlib.import_module(name)
    except (ImportError, OSError):
        return None


def pytorch():
    """Debian's meets a newer NumPy than it was built for and says so at length; here the two only share memory."""
    sys.stderr.flush()
    shown, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        found = module("torch")
        if found:
            found.set_num_threads(1)
        return found
    finally:
        sys.stderr.flush()
        os.dup2(shown, 2)
        os.close(shown)
        os.close(nowhere)


np = module("numpy")
warnings.filterwarnings("ignore", message="Failed to initialize NumPy")
cv2, ndimage, signal, scipy_fft, pyfftw = (module(n) for n in ("cv2", "scipy.ndimage", "scipy.signal", "scipy.fft", "pyfftw"))
torch = pytorch()


class Run:
    """call: the work; result: where it leaves its result, None = what it returns."""

    def __init__(self, call, note="", approximate=False):
        self.call, self.note, self.approximate = call, note, approximate


def flops(w):
    n = 2.0
    for size in w["shape"]:
        n *= size
    widths = 1
    for m in w["mask"]:
        widths *= m
    return n * (sum(w["mask"]) if w["separable"] else widths)


def numpy_column(w, a, threads):
    x, out = a["in"], a["out"]
    if w["operation"] == "correlate":
        if x.ndim == 1 and flops(w) < 2e10:
            mask = a["masks"][0][::-1].copy()
            return Run(lambda: np.convolve(x, mask, "same"), "allocates")
        return None
    if w["operation"] == "reduce":
        axis, name = w["axis"], w["reduction"]
        if name == "argmax":
            return Run(lambda: np.argmax(x, axis=axis, out=out if out.ndim else None))
        keys = {"dtype": out.dtype} if name == "sum" and x.dtype.kind in "iu" else {}
        return Run(lambda: getattr(np, name)(x, axis=axis, out=out, **keys))
    if w["operation"] == "transpose":
        turned = x.transpose(w["perm"])
        if w["inplace"]:
            return Run(lambda: np.copyto(x, turned.copy()), "through a copy")
        return Run(lambda: np.copyto(out, turned))
    index = a["index"]
    if w["index"] == "f32":
        places = np.arange(x.size, dtype="float32")
        return Run(lambda: np.interp(index, places, x), "allocates; computes in f64", True)
    return Run(lambda: x[index], "allocates")


def opencv_column(w, a, threads):
    if not cv2:
        return None
    cv2.setNumThreads(threads)
    x, out = a["in"], a["out"]
    if w["operation"] == "correlate" and x.ndim == 2 + w["pixels"]:
        border = {"zero": cv2.BORDER_CONSTANT, "reflect": cv2.BORDER_REFLECT}[w["boundary"]]
        masks = [m.astype("float32") if m.dtype.kind == "i" else m for m in a["masks"]]
        if w["separable"]:
            rows, columns = masks
            return Run(lambda: cv2.sepFilter2D(x, -1, columns, rows, out, borderType=border), "", x.dtype == np.uint8)
        mask = masks[0]
        return Run(lambda: cv2.filter2D(x, -1, mask, out, borderType=border), "", x.dtype == np.uint8)
    if w["operation"] == "reduce":
        name, flat = w["reduction"], x.reshape(-1, 65536) if x.size % 65536 == 0 and w["axis"] is None else x
        if w["axis"] is None and name == "sum" and x.dtype != np.int64:
            return Run(lambda: np.asarray(cv2.sumElems(flat)[0]), "sums in f64", True)
        if w["axis"] is None and name in ("min", "max", "argmax") and x.dtype != np.int64:
            def extreme():
                low, high, _, at = cv2.minMaxLoc(flat)
                return np.asarray(low if name == "min" else high if name == "max" else at[1] * flat.shape[1] + at[0])
            return Run(extreme, "both extremes and their places")
        kind = {"sum": cv2.REDUCE_SUM, "max": cv2.REDUCE_MAX}.get(name)
        if x.ndim == 2 and kind is not None and x.dtype == np.float32:
            shaped = out.reshape((1, -1) if w["axis"] == 0 else (-1, 1))
            return Run(lambda: cv2.reduce(x, w["axis"], kind, shaped), "", True)
        return None
    if w["operation"] == "transpose" and w["perm"] == [1, 0] and x.dtype.itemsize <= 8:
        return Run(lambda: cv2.transpose(x, x if w["inplace"] else out))
    if w["operation"] == "lookup" and w["index"] == "u8" and x.size == 256:
        index, shaped = a["index"].reshape(-1, 4096), out.reshape(-1, 4096)
        return Run(lambda: cv2.LUT(index, x.reshape(1, 256), shaped))
    return None


def scipy_column(w, a, threads):
    x, out = a["in"], a["out"]
    if w["operation"] == "correlate" and ndimage and x.dtype != np.uint8:
        mode = {"zero": "constant", "reflect": "reflect"}[w["boundary"]]
        if flops(w) > SLOW_FLOPS:
            return None
        if w["separable"]:
            def both():
                for axis, mask in enumerate(a["masks"]):
                    ndimage.correlate1d(out if axis else x, mask, axis, out, mode)
            return Run(both, "", True)
        return Run(lambda: ndimage.correlate(x, a["masks"][0], out, mode), "", True)
    if w["operation"] == "lookup" and w["index"] == "f32" and ndimage:
        at = a["index"].reshape(1, -1)
        return Run(lambda: ndimage.map_coordinates(x, at, out, 1, "nearest"), "", True)
    return None


def scipy_fft_column(w, a, threads):
    """Overlap-add with the FFT of SciPy (pocketfft), for masks where it may win."""
    if w["operation"] != "correlate" or w["separable"] or not signal or a["in"].dtype == np.uint8 or w["boundary"] != "zero":
        return None
    x, mask = a["in"], a["masks"][0]
    if mask.size < 49 or x.ndim > 2:
        return None
    turned = mask[tuple([slice(None, None, -1)] * mask.ndim)].copy()

    def run():
        with scipy_fft.set_workers(threads):
            return signal.oaconvolve(x, turned, "same")
    return Run(run, "FFT; allocates", True)


def fftw_column(w, a, threads):
    """Overlap-save, blocks of real transforms in batches that stay in cache."""
    if not pyfftw or w["operation"] != "correlate" or a["in"].ndim != 1 or a["in"].dtype != np.float32 or a["masks"][0].size < 33:
        return None
    x, out, mask = a["in"], a["out"], a["masks"][0]
    taps, size, batch = mask.size, 8192 if mask.size > 256 else 2048, 16
    step = size - taps + 1
    block, bins = pyfftw.empty_aligned((batch, size), "float32"), pyfftw.empty_aligned((batch, size // 2 + 1), "complex64")
    forward = pyfftw.FFTW(block, bins, axes=(1,), threads=threads)
    back = pyfftw.FFTW(bins, block, axes=(1,), direction="FFTW_BACKWARD", threads=threads)
    padded = np.zeros(size, "float32")
    padded[:taps] = mask[::-1]
    weights = (np.fft.rfft(padded) / size).astype("complex64")
    before = taps // 2  # output i meets input i - before + j

    def run():
        n = x.size
        for start in range(0, n, step * batch):
            for k in range(batch):  # block k holds the inputs of outputs at .. at + step - 1
                at = start + k * step
                low, high = at - before, at - before + size
                if low >= 0 and high <= n:
                    block[k] = x[low:high]
                else:
                    block[k] = 0
                    inside = slice(max(low, 0), max(min(high, n), max(low, 0)))
                    block[k, inside.start - low:inside.stop - low] = x[inside]
            forward()
            np.multiply(bins, weights, bins)
            back(normalise_idft=False)
            for k in range(batch):
                at = start + k * step
                count = min(step, n - at)
                if count > 0:
                    out[at:at + count] = block[k, taps - 1:taps - 1 + count]
    return Run(run, "FFT", True)


def openblas():
    """The OpenBLAS that NumPy carries, or None."""
    import ctypes
    import glob
    import os
    if not np:
        return None
    for path in glob.glob(os.path.join(os.path.dirname(np.__file__), "..", "numpy.libs", "libscipy_openblas*.so")):
        blas = ctypes.CDLL(path)
        if hasattr(blas, "scipy_cblas_somatcopy64_"):
            return blas
    return None


blas_library = openblas()


def openblas_column(w, a, threads):
    import ctypes
    if not blas_library or w["operation"] != "transpose" or w["perm"] != [1, 0] or w["type"] not in ("f32", "f64"):
        return None
    letter, real = ("s", ctypes.c_float) if w["type"] == "f32" else ("d", ctypes.c_double)
    blas_library.scipy_openblas_set_num_threads64_(threads)
    rows, columns = (ctypes.c_int64(n) for n in w["shape"])
    x, out, row_major, turned = ctypes.c_void_p(a["in"].ctypes.data), ctypes.c_void_p(a["out"].ctypes.data), 101, 112
    if w["inplace"]:
        function = getattr(blas_library, "scipy_cblas_%simatcopy64_" % letter)
        return Run(lambda: function(row_major, turned, rows, columns, real(1), x, columns, rows))
    function = getattr(blas_library, "scipy_cblas_%somatcopy64_" % letter)
    return Run(lambda: function(row_major, turned, rows, columns, real(1), x, columns, out, rows))


def torch_column(w, a, threads):
    if not torch:
        return None
    torch.set_num_threads(threads)
    kinds = {"uint8": torch.uint8, "int32": torch.int32, "int64": torch.int64, "float32": torch.float32, "float64": torch.float64,
             "complex128": torch.complex128}

    def tensor(array):
        return torch.frombuffer(memoryview(array.reshape(-1)).cast("B"), dtype=kinds[array.dtype.name]).reshape(array.shape)
    if any(v.dtype.name not in kinds for v in (a["in"], a["out"])):
        return None
    x, out = tensor(a["in"]), tensor(a["out"])
    if w["operation"] == "reduce" and a["in"].dtype != np.uint8:
        name, axis = w["reduction"], w["axis"]
        if axis is None:
            call = {"sum": x.sum, "min": x.min, "max": x.max, "mean": x.mean, "argmax": x.argmax}[name]
            return Run(lambda: np.asarray(call().item()), "", True)
        call = {"sum": torch.sum, "max": torch.amax}.get(name)
        return Run(lambda: call(x, axis, out=out) is None or None, "", True) if call else None
    if w["operation"] == "transpose" and not w["inplace"]:
        turned = x.permute(w["perm"])
        return Run(lambda: out.copy_(turned) is None or None)
    if w["operation"] == "lookup" and w["index"] in ("i32", "i64"):
        index = tensor(a["index"])
        return Run(lambda: torch.index_select(x, 0, index, out=out) is None or None)
    return None


COLUMNS = {"numpy": numpy_column, "opencv": opencv_column, "scipy": scipy_column, "scipy-fft": scipy_fft_column, "fftw": fftw_column,
           "openblas": openblas_column, "torch": torch_column}


def versions():
    found = {}
    for name, m in (("numpy", np), ("opencv", cv2), ("scipy", module("scipy")), ("pyfftw", pyfftw), ("torch", torch)):
        if m:
            found[name] = m.__version__
    return found
