# SPDX-License-Identifier: Apache-2.0
"""Functions that stand on those of the extension: plan, explain, profile, wisdom, interp."""
from . import _arrays, _tessera


def plan(function, *arrays, **arguments):
    """A planned call of one of the operations: arguments are checked and a strategy is chosen once.

    function: tessera.sum, tessera.correlate, ... or the name. The other arguments are those of the function. Call the plan with arrays of the
    same types, shapes and strides (a mask is part of the plan: it is not given again).

    >>> x = numpy.arange(6.0).reshape(2, 3)
    >>> total = tessera.plan(tessera.sum, x, axis=1)
    >>> total(x), total(x + 1)
    (array([ 3., 12.]), array([ 6., 15.]))
    """
    name = function if isinstance(function, str) else getattr(function, "__name__", None)
    if name is None:
        raise TypeError(f"function is {type(function).__name__}, one of Tessera's functions or its name is needed")
    return _tessera._plan(name, *arrays, **arguments)


def explain(function, *arrays, format="text", **arguments):
    """What a call would do and why: the strategy, what every other one lost by, bytes, flops, workspace.

    >>> "reduce/" in tessera.explain(tessera.sum, numpy.ones(100))
    True
    """
    return plan(function, *arrays, **arguments).explain(format)


def profile(source, launch, *arrays, name=None, options=(), fmad=True, check=True, threads=0, card=None, cards=None, seed=0, step_limit=0):
    """Runs a CUDA kernel on the virtual GPU, no card needed, and tells what its memory accesses cost line by line, which mistakes it makes, and how
    long it would take on a card.

    source: PTX, or CUDA C++ where NVRTC is installed. launch: a line in CUDA's own form, "kernel<<<grid, block>>>(argument, ...)"; the arrays are
    $0, $1, ..., and all of them in order where the launch has no arguments. in:$0 is only read; what the kernel writes is in the arrays afterwards
    (an array that is read-only is passed as a copy) and in the result's outputs. Other arguments are numbers and in:T[N]=SOURCE, out:T[N]:
    tessera.h describes them. name: of the source in reports. options: words for NVRTC. fmad: products and sums may be contracted. check: look
    for undefined reads and races. card, cards: whose time is predicted, from which list. seed: another order of warps. step_limit: ends
    endless loops.

    The result shows itself in a notebook; str() of it is the report, json() and html() are others.

    >>> ptx = '''
    ... .version 8.0
    ... .target sm_90
    ... .address_size 64
    ... .visible .entry twice(.param .u64 x) {
    ...     .reg .b32 %r<2>; .reg .b64 %a<4>; .reg .f32 %f<3>;
    ...     ld.param.u64 %a1, [x];
    ...     cvta.to.global.u64 %a1, %a1;
    ...     mov.u32 %r1, %tid.x;
    ...     mul.wide.u32 %a2, %r1, 4;
    ...     add.s64 %a3, %a1, %a2;
    ...     ld.global.f32 %f1, [%a3];
    ...     add.f32 %f2, %f1, %f1;
    ...     st.global.f32 [%a3], %f2;
    ...     ret;
    ... }'''
    >>> x = numpy.arange(32, dtype="f4")
    >>> found = tessera.profile(ptx, "twice<<<1, 32>>>", x)
    >>> x[:4], found.faults, found.counter("global_ld_sectors")
    (array([0., 2., 4., 6.], dtype=float32), [], 4)
    """
    return _tessera._profile(source, launch, arrays, name, tuple(options), bool(fmad), bool(check), threads, card, cards, seed, step_limit)


class wisdom:
    """Which strategy was fastest for which problem on this machine; it changes what runs, never a result. All are static methods.

    >>> tessera.wisdom.forget()
    >>> isinstance(tessera.wisdom.text(), str)
    True
    """

    @staticmethod
    def text():
        """The lines that have been learnt."""
        return _tessera._wisdom("export")

    @staticmethod
    def learn(text):
        """Takes lines that `text` gave; lines that are not understood are skipped."""
        _tessera._wisdom("import", text)

    @staticmethod
    def load(path=None):
        """Reads a file, by default the user's."""
        _tessera._wisdom("load", path)

    @staticmethod
    def save(path=None):
        """Writes a file, by default the user's."""
        _tessera._wisdom("save", path)

    @staticmethod
    def forget():
        """Forgets everything that has been learnt."""
        _tessera._wisdom("forget")


def _interp_period(np, x, xp, fp, period):
    """x in one period, and the points sorted in it, with one more from the period before and one from the period after."""
    if period == 0:
        raise ValueError("period must be a non-zero value")
    period = abs(period)
    xp = xp % period
    order = np.argsort(xp, kind="stable")
    xp, fp = xp[order], fp[order]
    return x % period, np.concatenate((xp[-1:] - period, xp, xp[:1] + period)), np.concatenate((fp[-1:], fp, fp[:1]))


def _interp_on_device(x, xp, fp, left, right, period):
    """Places and values on a card stay there, with their types; xp, whose numbers the library keeps with the plan, comes to the host."""
    if period is not None:
        raise TypeError("period needs arrays in host memory")
    if xp is not None:
        xp = _arrays.on_host(xp)
    result = _tessera.lookup(fp, x, outside="clip", interpolation="linear", positions=xp)
    ends = [] if left is None else [(x < (0 if xp is None else float(xp[0])), left)]
    if right is not None:
        ends.append((x > (len(fp) - 1 if xp is None else float(xp[-1])), right))
    if xp is None:
        ends.append((x != x, float("nan")))
    if ends:
        where = _arrays.namespace(x).where
        for outside, value in ends:
            result = where(outside[(...,) + (None,) * (len(fp.shape) - 1)], value, result)
    return result


def interp(x, xp, fp, left=None, right=None, period=None):
    """Linear interpolation of the points (xp, fp) at x, as numpy.interp: float64, xp increasing, and beyond its ends left and right, or the end points.

    xp=None stands for 0, 1, 2, ...: then x is a coordinate in elements and nothing is searched. fp may have more axes than one: the first is
    interpolated along. Between the points (a, p) and (b, q) the result is p + (q - p) * ((x - a) / (b - a)), whose product and sum round once
    together, so a result may differ from NumPy's in its last bits. Needs NumPy. On a card x and fp keep their types, and the result has fp's.

    >>> tessera.interp([0.5, 2.5, 9.0], [0, 1, 3], [10, 20, 40])
    array([15., 35., 40.])
    """
    if period is None:
        result = _tessera._interp(x, xp, fp, left, right)
        if result is not NotImplemented:
            return result
    if hasattr(x, "__cuda_array_interface__"):
        return _interp_on_device(x, xp, fp, left, right, period)
    import numpy as np
    double = np.float64
    for name, array in (("x", x), ("xp", xp), ("fp", fp)):
        if getattr(getattr(array, "dtype", None), "kind", None) in ("m", "M"):  # they would be numbers of whatever unit each has
            raise TypeError(f"{name} holds dates or spans of time: make them numbers of one unit first")
    x, fp = np.asarray(x, double), np.asarray(fp)
    if fp.dtype != double:
        fp = fp.astype(np.complex128 if fp.dtype.kind == "c" else double, copy=False)
    if xp is None:
        if period is not None:
            raise ValueError("period needs xp")
        low, high = 0.0, len(fp) - 1.0
    else:
        xp = np.asarray(xp, double)
        if xp.ndim != 1 or len(xp) != len(fp):
            raise ValueError(f"xp has the shape {xp.shape} and fp {fp.shape}: xp needs one axis as long as fp's first")
        if len(xp) == 0:
            raise ValueError("array of sample points is empty")
        if period is not None:
            x, xp, fp = _interp_period(np, x, xp, fp, period)
            left = right = None
        low, high = xp[0], xp[-1]
    result = _tessera.lookup(fp, x, outside="clip", interpolation="linear", positions=xp)
    ends = [] if left is None else [(x < low, left)]
    if right is not None:
        ends.append((x > high, right))
    if xp is None:
        ends.append((np.isnan(x), np.nan))
    for outside, value in ends:
        if outside.any():
            result = np.where(outside[(...,) + (None,) * (fp.ndim - 1)], value, result)[()]
    return result
