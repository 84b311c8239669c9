# SPDX-License-Identifier: Apache-2.0
"""What the extension leaves to Python: the rare cases of getting at arrays and of making them.

Nothing here imports an array library that the caller has not brought along, except NumPy for lists."""
import ctypes
import functools
import html
import json
import os
import sys

from_json = json.loads
ELEMENT_SIZES = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8), "c": (8, 16)}  # bytes by the letter of a typestr
DRIVERS = ("libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1")  # src/gpu/search.c has the same
DEVICE_ORDINAL = 9  # CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL


def from_list(value, name, dtype):
    """A list or number as a NumPy array; dtype None leaves the type to NumPy."""
    try:
        import numpy
    except ImportError:
        raise TypeError(f"{name} is a list or number, which needs NumPy: give array.array, memoryview or another array instead") from None
    array = numpy.asarray(value, dtype)
    if array.dtype.kind not in "biufc":
        raise TypeError(f"{name} is a list of {array.dtype}, numbers are needed")
    return array


def dtype_name(given):
    """NumPy's name of what it takes for a type; None where it takes no such thing, or is not there."""
    try:
        import numpy
        return numpy.dtype(given).name
    except Exception:  # of any kind: it runs code of whoever wrote the type
        return None


def numpy_dtype(name):
    import numpy
    if name == "bfloat16":
        try:
            import ml_dtypes
        except ImportError:
            raise TypeError("dtype is bfloat16, which NumPy has with the package ml_dtypes alone: give another dtype, or out") from None
        return numpy.dtype(ml_dtypes.bfloat16)
    return numpy.dtype(name)


@functools.cache
def pointer_attribute(given):
    """The driver's cuPointerGetAttribute, found once, where the library looks for the driver too; None where there is none."""
    for library in [given] if given else DRIVERS:
        try:
            return ctypes.CDLL(library).cuPointerGetAttribute
        except (OSError, AttributeError):
            continue
    return None


def card_of(pointer):
    """The number of the card whose memory this is, which __cuda_array_interface__ does not say but the driver knows; 0 where there is none to ask."""
    ask, ordinal = pointer_attribute(os.environ.get("TESSERA_LIBCUDA")), ctypes.c_int(0)
    return ordinal.value if ask and ask(ctypes.byref(ordinal), DEVICE_ORDINAL, ctypes.c_uint64(pointer)) == 0 else 0


def cuda_interface(value):
    """(pointer, readonly, letter, size, shape, strides in bytes or None, card) of a __cuda_array_interface__."""
    described = value.__cuda_array_interface__
    order, letter, size = described["typestr"][0], described["typestr"][1], int(described["typestr"][2:])
    masked = described.get("mask") is not None
    if order not in "<|=" or size not in ELEMENT_SIZES.get(letter, ()) or masked:
        raise TypeError(f"__cuda_array_interface__ describes elements {described['typestr']!r}" + " with a mask" * masked)
    pointer, readonly = described["data"]
    return pointer, bool(readonly), letter, size, tuple(described["shape"]), described.get("strides"), card_of(pointer)


def empty_like(like, shape, dtype):
    """A new array of the library that `like` belongs to, on its device; None when the library is not known."""
    root = type(like).__module__.split(".")[0]
    if root == "torch":
        torch = sys.modules["torch"]
        return torch.empty(shape, dtype=getattr(torch, dtype), device=like.device)
    if root == "cupy":
        with like.device:
            return sys.modules["cupy"].empty(shape, dtype)
    return None


def framed(page):
    """An HTML page as a part of another one."""
    return f'<iframe srcdoc="{html.escape(page)}" width="100%" height="600" style="border: 0"></iframe>'


def stream(like):
    """The stream on which the library of `like` works now, as an integer."""
    root = type(like).__module__.split(".")[0]
    if root == "torch":
        return sys.modules["torch"].cuda.current_stream(like.device).cuda_stream
    if root == "cupy":
        return sys.modules["cupy"].cuda.get_current_stream().ptr
    interface = getattr(like, "__cuda_array_interface__", None)
    return (interface or {}).get("stream") or 0


def adopt(array, family, like):
    """A tessera.Array as an array of the library that `like` belongs to, sharing its memory."""
    if family == "torch":
        return sys.modules["torch"].from_dlpack(array)
    if family == "jax":
        return sys.modules["jax"].dlpack.from_dlpack(array)
    namespace = getattr(like, "__array_namespace__", None)
    return namespace().from_dlpack(array) if namespace else array


def on_host(value):
    """What may lie on a card as an array in host memory, where its library can do that."""
    if not hasattr(value, "__cuda_array_interface__"):
        return value
    return value.get() if hasattr(value, "get") else value.cpu() if hasattr(value, "cpu") else value


def namespace(like):
    """The functions of the library that `like` belongs to."""
    root = type(like).__module__.split(".")[0]
    return sys.modules[root] if root in ("torch", "cupy") else like.__array_namespace__()


def flattened(value):
    """The elements as one axis, where the array's library can do that; the extension does it for what is only a buffer or a capsule."""
    return value.reshape(-1) if hasattr(value, "reshape") else value
