# SPDX-License-Identifier: Apache-2.0
"""docs/types.md is what the library says, and the library says what tessera.h's rules say."""
import os
import sys

from harness import OracleTest, exact, np, tess, unittest

sys.path.insert(0, os.path.join(tess.ROOT, "tools"))
import type_matrix  # noqa: E402


class Types(OracleTest):
    def test_the_page_is_current(self):
        with open(type_matrix.PAGE, encoding="utf-8") as f:
            self.assertIn(type_matrix.generated(), f.read(), "run tools/type_matrix.py")

    def test_the_rule_of_correlations(self):
        for a in tess.TYPES:
            for b in tess.TYPES:
                self.assertEqual(type_matrix.computed_in(a, b), exact.compute_type(a, b), f"{a} {b}")

    def test_names_numbers_and_sizes(self):
        for name in tess.TYPES:
            number = tess.TYPE_NUMBER[name]
            self.assertEqual(tess.library.tess_type_name(number).decode(), name)
            self.assertEqual(tess.library.tess_type_size(number), tess.NUMPY[name].itemsize)
            self.assertEqual(tess.library.tess_type_of(tess.library.tess_dl_type(number)), number)

    def test_conversions(self):
        """The table of rules, by a one-tap correlation in f64 and by NumPy where the two agree."""
        values = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 1e300, -1e300, np.nan, np.inf, -np.inf, 254.5, 65519.9, 65520, 3.4028236e38, -0.0, 1e-320])
        for name in tess.TYPES:
            got = tess.correlate(values, np.ones(1), out_type=name)
            self.assert_bits(got, exact.store(values + 0.0, name), name)  # the chain starts from +0, so -0 becomes +0
        rounded = tess.correlate(values[:5], np.ones(1), out_type="i32")
        self.assertEqual(rounded.tolist(), np.rint(values[:5]).astype(int).tolist())


if __name__ == "__main__":
    unittest.main()
