# SPDX-License-Identifier: Apache-2.0
"""Slow definitions in NumPy of what tessera.h promises bit for bit: the chain of fused multiply-adds, the tree of sums, conversions.

They are written from the header's and docs/numerics.md's words, not from the library's sources, and share nothing with it.
"""
import numpy as np

import tess

# ---- fused multiply-add -------------------------------------------------------------------------------------------


def two_sum(a, b):
    """s + e == a + b exactly, s = fl(a + b) (Knuth, TAOCP 2, 4.2.2 theorem B)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def two_product(a, b):
    """p + e == a * b exactly, by Dekker's split; no underflow or overflow may occur."""
    def split(x):
        c = x * 134217729.0
        high = c - (c - x)
        return high, x - high
    p = a * b
    (ah, al), (bh, bl) = split(a), split(b)
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


def to_odd(a, b):
    """a + b rounded to odd: when inexact, of the two neighbours the one whose last bit is set (Boldo and Melquiond 2008)."""
    s, e = two_sum(a, b)
    even = (np.ascontiguousarray(s).view(np.uint64) & 1) == 0
    fix = (e != 0) & even & np.isfinite(s)
    return np.where(fix, np.nextafter(s, np.where(e > 0, np.inf, -np.inf)), s)


def fma(a, b, c, kind):
    """fl(a * b + c) with one rounding, kind "f32" or "f64"; f64 for values far from under- and overflow only."""
    with np.errstate(all="ignore"):
        a, b, c = (np.asarray(v, np.float64) for v in (a, b, c))
        if kind == "f32":  # the product of two f32 is exact in f64
            p = a * b
            s = p + c
            odd = to_odd(p, c)
            return np.where(np.isfinite(s) & (s != 0), odd, s).astype(np.float32)
        uh, ul = two_product(a, b)
        th, tl = two_sum(c, ul)
        vh, vl = two_sum(uh, th)
        z = to_odd(tl, vl)
        result = vh + z
        plain = a * b + c
        return np.where(np.isfinite(a) & np.isfinite(b) & np.isfinite(c), result, plain)


# ---- conversions ---------------------------------------------------------------------------------------------------


def values_of(array):
    """The elements as NumPy values (bf16 as float32)."""
    return tess.from_bf16(array.array) if isinstance(array, tess.Bits) else array


def store(values, name):
    """Values of a compute type (int64, uint64, float32, float64, complex) converted to a type by the rules of section 3."""
    values = np.asarray(values)
    with np.errstate(all="ignore"):
        if name == "bool":
            return values != 0
        if name in tess.INTEGERS:
            info = np.iinfo(tess.NUMPY[name])
            if values.dtype.kind in "iu":
                return np.array([min(max(int(v), info.min), info.max) for v in values.ravel()], tess.NUMPY[name]).reshape(values.shape)
            rounded = np.rint(values.astype(np.float64))
            flat = [0 if v != v else info.max if v >= info.max else info.min if v <= info.min else int(v) for v in rounded.ravel()]
            return np.array(flat, tess.NUMPY[name]).reshape(values.shape)
        if name == "bf16":
            if values.dtype == np.float32:
                return tess.to_bf16(values)
            return tess.to_bf16(to_f32_odd(values))
        result = values.astype(tess.NUMPY[name])
        return canonical(result)


def to_f32_odd(values):
    """float64 or integers rounded to odd in float32, so that a second rounding to 16 bits is right."""
    if values.dtype.kind in "iu":
        flat = []
        for v in values.ravel().tolist():
            shift = max(abs(v).bit_length() - 24, 0)
            m = abs(v) >> shift
            m |= (m << shift) != abs(v)
            flat.append((-1 if v < 0 else 1) * float(m) * 2.0 ** shift)
        return np.array(flat, np.float32).reshape(values.shape)
    f = values.astype(np.float32)
    back = f.astype(np.float64)
    inexact = (back != values) & np.isfinite(values)
    u = f.view(np.uint32)
    u = np.where(inexact & (np.abs(back) > np.abs(values)), u - 1, u)
    u = np.where(inexact, u | 1, u).astype(np.uint32)
    return u.view(np.float32)


def canonical(array):
    """NaNs become the one quiet NaN."""
    if array.dtype.kind == "c":
        part = array.real.dtype
        return canonical(np.ascontiguousarray(array).view(part)).view(array.dtype).reshape(array.shape)
    if array.dtype.kind != "f":
        return array
    return np.where(np.isnan(array), np.array(np.nan, array.dtype), array).astype(array.dtype)


def same_bits(a, b):
    a, b = np.asarray(tess.bare(a)), np.asarray(tess.bare(b))
    return a.shape == b.shape and a.dtype == b.dtype and np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()


# ---- correlate -----------------------------------------------------------------------------------------------------


def source_index(i, n, boundary):
    """Where ghost cell i of an axis of n elements reads, -1 for the constant: textbook periodic extension, any distance."""
    if 0 <= i < n:
        return i
    if boundary in ("zero", "constant"):
        return -1
    if boundary == "nearest":
        return 0 if i < 0 else n - 1
    if boundary == "wrap":
        return i % n
    if boundary == "reflect":
        i %= 2 * n
        return i if i < n else 2 * n - 1 - i
    if n == 1:
        return 0
    i %= 2 * n - 2
    return i if i < n else 2 * n - 2 - i


def compute_type(a, b):
    wide = ("u32", "i32", "u64", "i64")
    if a in tess.COMPLEX or b in tess.COMPLEX:
        return "c128" if {"c128", "f64", *wide} & {a, b} else "c64"
    if a not in tess.FLOATS and b not in tess.FLOATS:
        unsigned = ("bool", "u8", "u16", "u32", "u64")
        return "u64" if a in unsigned and b in unsigned else "i64"
    return "f64" if {"f64", *wide} & {a, b} else "f32"


def extend(x, axis, width, shift, boundary, constant, size):
    """x with the elements -shift .. -shift + size + width - 2 of the extended axis."""
    n = x.shape[axis]
    index = np.array([source_index(i - shift, n, boundary) for i in range(size + width - 1)], np.int64)
    if n == 0:
        shape = list(x.shape)
        shape[axis] = len(index)
        return np.full(shape, constant, x.dtype)
    taken = np.take(x, np.maximum(index, 0), axis=axis)
    ghosts = [None] * x.ndim
    ghosts[axis] = slice(None)
    return np.where((index < 0)[tuple(ghosts)], np.asarray(constant, x.dtype), taken)


def correlate(array, mask, axes=None, origin=None, boundary="zero", constant=0.0, extent="same", compute=None, flip=False, out_type=None):
    """The definition of section 7. Ghost cells of every axis are made first; then one tap after another."""
    C = compute or compute_type(tess.type_of(array), tess.type_of(mask))
    dtype = tess.NUMPY[C]
    with np.errstate(all="ignore"):
        x, w = values_of(array).astype(dtype), values_of(mask).astype(dtype)
    axes = list(range(x.ndim - w.ndim, x.ndim)) if axes is None else [a % x.ndim for a in axes]
    origin = origin or [0] * w.ndim
    if flip:
        w = w[tuple(slice(None, None, -1) for _ in range(w.ndim))]
    sizes = tess.filtered_shape(x.shape, w.shape, axes, extent)
    constant = constant if boundary == "constant" else 0.0
    for k, axis in enumerate(axes):
        width = w.shape[k]
        c = width // 2 + origin[k]
        if flip:
            c = width - 1 - c
        shift = {"same": c, "valid": 0, "full": width - 1}[extent]
        x = extend(x, axis, width, shift, "zero" if extent == "valid" else boundary, store(np.float64(constant), C), sizes[axis])
    acc = np.zeros(sizes, dtype)
    for tap in np.ndindex(*w.shape):
        window = [slice(None)] * x.ndim
        for k, axis in enumerate(axes):
            window[axis] = slice(tap[k], tap[k] + sizes[axis])
        a, b = x[tuple(window)], w[tap]
        if C in ("i64", "u64"):
            with np.errstate(all="ignore"):
                acc = acc + a * b
        elif C in ("f32", "f64"):
            acc = fma(a, b, acc, C)
        else:
            part = "f32" if C == "c64" else "f64"
            re = fma(-a.imag, b.imag, fma(a.real, b.real, acc.real, part), part)
            im = fma(a.imag, b.real, fma(a.real, b.imag, acc.imag, part), part)
            acc = np.empty(sizes, dtype)
            acc.real, acc.imag = re, im
    return store(acc, out_type or tess.type_of(array))


# ---- reduce ----------------------------------------------------------------------------------------------------------


def tree(x, combine=np.add, identity=0):
    """The tree over the last axis: leaves of 8192 = 32 rows of 256 lanes, halved; then neighbouring leaves, level by level."""
    k = x.shape[-1]
    leaves = max(-(-k // 8192), 1)
    padded = np.full(x.shape[:-1] + (leaves * 8192,), identity, x.dtype)
    padded[..., :k] = x
    rows = padded.reshape(x.shape[:-1] + (leaves, 32, 256))
    lanes = np.full(x.shape[:-1] + (leaves, 256), identity, x.dtype)
    with np.errstate(all="ignore"):
        for r in range(32):
            lanes = combine(lanes, rows[..., r, :])
        while lanes.shape[-1] > 1:
            half = lanes.shape[-1] // 2
            lanes = combine(lanes[..., :half], lanes[..., half:])
        level = lanes[..., 0]
        while level.shape[-1] > 1:
            n = level.shape[-1]
            pairs = combine(level[..., 0:n - n % 2:2], level[..., 1::2])
            level = np.concatenate([pairs, level[..., n - n % 2:]], axis=-1)
    return level[..., 0]


def variance_sums(x, omit=False):
    """(n, mean, M2) of a 1-d f64 array: leaves by two passes of the tree, merged by Chan, Golub and LeVeque (1979)."""
    nodes = []
    for at in range(0, max(len(x), 1), 8192):
        leaf = x[at:at + 8192]
        gone = np.isnan(leaf) & omit
        n = float(len(leaf) - gone.sum())
        with np.errstate(all="ignore"):
            mean = tree(np.where(gone, 0.0, leaf)) / n if n else 0.0
            d = np.where(gone, 0.0, leaf - mean)
            nodes.append((n, mean, tree(d * d)))
    with np.errstate(all="ignore"):
        while len(nodes) > 1:
            merged = []
            for i in range(0, len(nodes) - 1, 2):
                (na, ma, sa), (nb, mb, sb) = nodes[i], nodes[i + 1]
                if na == 0 or nb == 0:
                    merged.append(nodes[i] if nb == 0 else nodes[i + 1])
                    continue
                n = na + nb
                delta = mb - ma
                merged.append((n, ma + delta * (nb / n), (sa + sb) + (delta * delta) * (na * (nb / n))))
            nodes = merged + nodes[len(nodes) - len(nodes) % 2:]
    return nodes[0]


def grouped(array, axes):
    """The elements with the reduced axes (in the array's own order) joined into a last one."""
    x = values_of(array)
    reduced = sorted(range(x.ndim) if axes is None else [a % x.ndim for a in axes])
    kept = [d for d in range(x.ndim) if d not in reduced]
    moved = np.transpose(x, kept + reduced)
    return np.ascontiguousarray(moved).reshape([x.shape[d] for d in kept] + [int(np.prod([x.shape[d] for d in reduced], dtype=np.int64))])


def accumulator(name, out_type):
    """The type that SUM, PROD, MEAN and NORM1 work in."""
    if name in tess.COMPLEX:
        return "c128" if "c128" in (name, out_type) or out_type == "f64" else "c64"
    if name in tess.FLOATS:
        return "f64" if name == "f64" or out_type in ("f64", "c128") else "f32"
    return "u64" if name in ("bool", "u8", "u16", "u32", "u64") else "i64"


def parts(function, x):
    """A function of real arrays on both parts of a complex one."""
    if x.dtype.kind != "c":
        return function(x)
    result = np.empty(x.shape[:-1], x.dtype)
    result.real, result.imag = function(np.ascontiguousarray(x.real)), function(np.ascontiguousarray(x.imag))
    return result


def reduce(operation, array, axes=None, nan="propagate", ddof=0.0, out_type=None, keepdims=False):
    """The definition of section 8 for what is fixed bit for bit. PROD and the moduli of complex numbers are not covered here."""
    name = tess.type_of(array)
    out_type = out_type or tess.result_type(operation, name)
    g = grouped(array, axes)
    shape = tess.reduced_shape(array.shape, axes, keepdims)
    k = g.shape[-1]
    floating = g.dtype.kind in "fc"
    bad = np.isnan(g) if floating else np.zeros(g.shape, bool)
    omit = nan == "omit"
    counts = (k - bad.sum(axis=-1)).astype(np.float64) if omit else np.full(g.shape[:-1], float(k))
    A = accumulator(name, out_type)
    with np.errstate(all="ignore"):
        if operation in ("sum", "mean", "norm1", "prod"):
            x = g.astype(tess.NUMPY[A])
            if operation == "norm1":
                if g.dtype.kind in "iub":
                    x = np.where(g < 0, (~g.astype(np.int64)).astype(np.uint64) + np.uint64(1), g.astype(np.uint64))
                else:
                    x = np.abs(x)
            if operation == "mean" and name in ("u64", "i64"):
                x = g.astype(np.float64)
            if omit:
                x = np.where(bad, x.dtype.type(operation == "prod"), x)
            if operation == "prod":
                result = tree(x, np.multiply, 1) if x.dtype.kind == "f" else np.multiply.reduce(x, axis=-1, dtype=x.dtype)
            elif x.dtype.kind in "iu":
                result = np.add.reduce(x, axis=-1, dtype=x.dtype)
            else:
                result = parts(tree, x)
            if operation == "mean":
                if result.dtype.kind == "c":
                    part = result.real.dtype
                    mean = np.empty(result.shape, result.dtype)
                    mean.real = (result.real.astype(np.float64) / counts).astype(part)
                    mean.imag = (result.imag.astype(np.float64) / counts).astype(part)
                    result = mean
                else:
                    quotient = result.astype(np.float64) / counts
                    result = quotient.astype(result.dtype) if result.dtype.kind == "f" else quotient
        elif operation in ("var", "std"):
            x = g.astype(np.float64)
            result = np.empty(x.shape[:-1])
            for at in np.ndindex(*x.shape[:-1]):
                n, _, m2 = variance_sums(x[at], omit)
                result[at] = np.float64(m2) / max(n - ddof, 0.0)
            if operation == "std":
                result = np.sqrt(result)
        elif operation == "norm2":
            x = g.astype(np.float64) if g.dtype.kind != "c" else g.astype(np.complex128)
            squares = x * x if x.dtype.kind == "f" else x.real * x.real + x.imag * x.imag
            result = np.sqrt(tree(np.where(bad, 0.0, squares) if omit else squares))
        elif operation in ("min", "max", "norm_inf"):
            x = g if g.dtype.kind != "b" else g.astype(np.uint8)
            if operation == "norm_inf":
                x = np.where(g < 0, (~g.astype(np.int64)).astype(np.uint64) + np.uint64(1), g.astype(np.uint64)) if g.dtype.kind in "iub" \
                    else np.abs(g)
            result = extreme(x, bad, omit, operation == "min", None if operation != "norm_inf" else 0)
        elif operation in ("argmin", "argmax"):
            result = np.empty(g.shape[:-1], np.int64)
            for at in np.ndindex(*g.shape[:-1]):
                row = g[at]
                if omit and bad[at].all():
                    result[at] = -1
                elif omit:
                    result[at] = (np.nanargmin if operation == "argmin" else np.nanargmax)(row)
                else:
                    result[at] = (np.argmin if operation == "argmin" else np.argmax)(row)
        else:
            truth = (g != 0) & ~(bad & omit) if operation != "all" else (g != 0) | (bad & omit)
            result = {"any": truth.any, "all": truth.all, "count_nonzero": truth.sum}[operation](axis=-1)
        if result.dtype.kind in "b":
            result = result.astype(np.uint64)
    return store(np.asarray(result).reshape(shape), out_type)


def extreme(x, bad, omit, smallest, empty):
    """Minimum or maximum over the last axis, -0 below +0, NaN as the policy says."""
    result = np.empty(x.shape[:-1], x.dtype)
    for at in np.ndindex(*x.shape[:-1]):
        row = x[at][~bad[at]] if omit else x[at]
        if row.size == 0:
            result[at] = np.nan if empty is None else empty
        elif row.dtype.kind == "f" and np.isnan(row).any():
            result[at] = np.nan
        else:
            best = row.min() if smallest else row.max()
            if best == 0 and row.dtype.kind == "f":
                signs = np.signbit(row[row == 0])
                best = np.copysign(best, -1.0 if (signs.any() if smallest else signs.all()) else 1.0)
            result[at] = best
    return result


# ---- arrays that bite -------------------------------------------------------------------------------------------------


def scattered(array, rng):
    """The same values in another memory layout: axes in any order, gaps, negative strides."""
    raw = tess.bare(array)
    order = rng.permutation(raw.ndim)
    steps = rng.integers(1, 3, raw.ndim)
    signs = rng.choice([-1, 1], raw.ndim)
    block = np.zeros([raw.shape[d] * steps[d] + 1 for d in order], raw.dtype)
    v = block[tuple(slice(0, raw.shape[d] * steps[d], steps[d]) for d in order)].transpose(np.argsort(order))
    v = v[tuple(slice(None, None, s) for s in signs)] if raw.ndim else block.reshape(())
    v[...] = raw
    return tess.Bits(v, array.name) if isinstance(array, tess.Bits) else v


def random_array(rng, shape, name, small=False):
    """Random elements. small: integers of a few bits, so that every sum is exact in every type."""
    dtype = tess.NUMPY[name]
    if name == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if name in tess.INTEGERS:
        if small:
            return rng.integers(0 if dtype.kind == "u" else -7, 8, shape).astype(dtype)
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    def real():
        if small:
            return rng.integers(-7, 8, shape).astype(np.float64)
        return rng.standard_normal(shape) * 2.0 ** rng.integers(-4, 5, shape)
    if name == "bf16":
        return tess.Bits(tess.to_bf16(np.asarray(real(), np.float32)), "bf16")
    if name in tess.COMPLEX:
        return np.asarray(real() + 1j * real()).astype(dtype)
    return np.asarray(real()).astype(dtype)
