# SPDX-License-Identifier: Apache-2.0
"""What the tests share: arrays of hostile layouts, and NumPy's view of results."""
import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

settings.register_profile("tessera", max_examples=60, deadline=None, derandomize=True, database=None,
                          suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
settings.load_profile("tessera")

INTEGERS = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8"]
FLOATS = ["f2", "f4", "f8"]
REAL = ["?"] + INTEGERS + FLOATS
ALL = REAL + ["c8", "c16"]


@st.composite
def arrays(draw, types=None, min_ndim=0, max_ndim=3, max_size=7, min_size=0, values=100):
    """Arrays with odd strides (steps, reversed axes, swapped axes, broadcast axes, offsets), sometimes read-only."""
    dtype = np.dtype(draw(st.sampled_from(types or ALL)))
    shape = draw(st.lists(st.integers(min_size, max_size), min_size=min_ndim, max_size=max_ndim))
    steps = [draw(st.sampled_from([1, 1, 2, 3, -1, -2])) for _ in shape]
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    wide = [n * abs(s) + 1 for n, s in zip(shape, steps)]
    if dtype.kind == "b":
        base = np.asarray(random.integers(0, 2, wide)).astype(bool)
    elif dtype.kind in "iu":
        base = np.asarray(random.integers(0 if dtype.kind == "u" else -values, values, wide)).astype(dtype)
    else:
        base = np.asarray(random.integers(-values, values, wide) / 4).astype(dtype)
        if dtype.kind == "c":
            base = np.asarray(base + 1j * random.integers(-values, values, wide)).astype(dtype)
    view = base[(..., *(slice(None, None, s) for s in steps))][(..., *(slice(0, n) for n in shape))]
    order = draw(st.permutations(range(len(shape))))
    view = view.transpose(order)
    if view.ndim and draw(st.booleans()) and view.shape[0]:
        view = np.broadcast_to(view[:1], (draw(st.integers(1, max_size)),) + view.shape[1:]) if draw(st.booleans()) else view
    if draw(st.integers(0, 4)) == 0:
        view = view.view()
        view.flags.writeable = False
    return view
