# SPDX-License-Identifier: Apache-2.0
"""What the oracle tests share: fixed Hypothesis settings, a choice of contexts, and calls that must give the same bits in all."""
import os
import unittest

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import exact
import tess

# The same examples in every run; TESSERA_EXAMPLES multiplies their number for a longer hunt.
SCALE = float(os.environ.get("TESSERA_EXAMPLES", "1"))
seeds = st.integers(0, 2 ** 32 - 1)


def examples(count):
    return settings(max_examples=max(int(count * SCALE), 1), derandomize=SCALE == 1, database=None, deadline=None,
                    suppress_health_check=list(HealthCheck))


_contexts = []


def contexts():
    """One context for each instruction set and 1, 2 and 5 threads."""
    if not _contexts:
        for isa in tess.usable_isas():
            for threads in (1, 2, 5):
                _contexts.append((f"{isa}, {threads} threads", tess.Context(threads=threads, isa=isa)))
    return _contexts


def everywhere(operation, rng, call):
    """call(context=..., strategy=...) with the defaults, then with every row of the operation's table on a random context each. All
    must give the bits of the first, which is returned; a row may answer that it cannot run."""
    first = call(context=None, strategy=None)
    for row in tess.strategies(operation):
        name, context = contexts()[rng.integers(len(contexts()))]
        try:
            again = call(context=context, strategy=row)
        except tess.TessError as error:
            if error.status != "STRATEGY":
                raise AssertionError(f"{row} on {name}: {error}") from error
            continue
        assert exact.same_bits(first, again), f"{row} on {name} differs from the default:\n{tess.bare(again)!r}\n{tess.bare(first)!r}"
    return first


class OracleTest(unittest.TestCase):
    def assert_bits(self, got, expected, context=""):
        if exact.same_bits(got, expected):
            return
        got, expected = tess.bare(got), np.asarray(tess.bare(expected))
        if got.shape != expected.shape or got.dtype != expected.dtype:
            self.fail(f"{got.dtype}{got.shape} where {expected.dtype}{expected.shape} was expected {context}")
        size = got.dtype.itemsize
        a = np.frombuffer(got.tobytes(), np.uint8).reshape(-1, size)
        b = np.frombuffer(expected.tobytes(), np.uint8).reshape(-1, size)
        bad = np.flatnonzero((a != b).any(axis=1))
        k = bad[0]
        self.fail(f"{len(bad)} of {len(a)} elements differ, first number {k}: {got.ravel()[k]!r} "
                  f"where {expected.ravel()[k]!r} was expected {context}")

    def assert_status(self, status, call, *words):
        """The call fails with the status, and its sentence holds every one of the words."""
        with self.assertRaises(tess.TessError) as caught:
            call()
        self.assertEqual(caught.exception.status, status, str(caught.exception))
        for word in words:
            self.assertIn(str(word), caught.exception.detail)
        return caught.exception.detail


__all__ = ["OracleTest", "contexts", "everywhere", "examples", "exact", "given", "np", "seeds", "st", "tess", "unittest"]
