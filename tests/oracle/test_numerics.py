# SPDX-License-Identifier: Apache-2.0
"""The Python of docs/numerics.md, taken from the page and run, gives the library's bits; so do the page's worked example and its formulas for means,
variances and norms, written here a second time on top of that Python."""
import os
import re

from harness import OracleTest, examples, given, np, seeds, tess, unittest

with open(os.path.join(tess.ROOT, "docs", "numerics.md"), encoding="utf-8") as page:
    TEXT = page.read()
space = {}
exec(re.search(r"```python\n(.*?)```", TEXT, re.S).group(1), space)
leaf, tree_sum = space["leaf"], space["tree_sum"]


def moments(x):
    """Count, mean and M2 of the whole, as the page says."""
    nodes = []
    for i in range(0, len(x), 8192):
        part = x[i:i + 8192]
        n = np.float64(len(part))
        mean = leaf(part, np.float64) / n
        d = part - mean
        nodes.append((n, mean, leaf(d * d, np.float64)))
    while len(nodes) > 1:
        level = []
        for i in range(0, len(nodes) - 1, 2):
            (na, ma, sa), (nb, mb, sb) = nodes[i], nodes[i + 1]
            share = nb / (na + nb)
            delta = mb - ma
            level.append((na + nb, ma + delta * share, (sa + sb) + (delta * delta) * (na * share)))
        nodes = level + nodes[len(nodes) - len(nodes) % 2:]
    return nodes[0]


def draw(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.choice([rng.integers(1, 300), rng.integers(1, 9000), rng.integers(8192, 60000)]))
    return rng, (rng.standard_normal(k) * np.exp2(rng.integers(-8, 9, k))).astype(np.float64)


class ThePage(OracleTest):
    def test_worked_example(self):
        x = (1 / np.arange(1, 601)).astype(np.float32)
        total = tess.reduce("sum", x)
        self.assertIn("`%08x`), the sum" % total.view(np.uint32), TEXT)
        self.assert_bits(total, tree_sum(x, np.float32))
        self.assertEqual(tess.reduce("sum", np.ones(3 * 8192 + 1, np.float32)), 3 * 8192 + 1)

    @examples(60)
    @given(seeds)
    def test_sums(self, seed):
        _, x = draw(seed)
        self.assert_bits(tess.reduce("sum", x), tree_sum(x, np.float64))
        for kind in (np.float32, np.float16):
            self.assert_bits(tess.reduce("sum", x.astype(kind), out_type="f32"), tree_sum(x.astype(kind), np.float32))
            self.assert_bits(tess.reduce("sum", x.astype(kind), out_type="f64"), tree_sum(x.astype(kind), np.float64))

    @examples(60)
    @given(seeds)
    def test_slow_axis(self, seed):
        rng, x = draw(seed)
        x = np.ascontiguousarray(np.stack([x, x[::-1], x * 3]).T.astype(np.float32))
        expected = np.array([tree_sum(x[:, c], np.float32) for c in range(3)])
        self.assert_bits(tess.reduce("sum", x, axes=[0]), expected)

    @examples(40)
    @given(seeds)
    def test_means_variances_norms(self, seed):
        _, x = draw(seed)
        n = np.float64(len(x))
        self.assert_bits(tess.reduce("mean", x), tree_sum(x, np.float64) / n)
        single = x.astype(np.float32)
        self.assert_bits(tess.reduce("mean", single), np.float32(np.float64(tree_sum(single, np.float32)) / n))
        self.assert_bits(tess.reduce("var", x), moments(x)[2] / n)
        self.assert_bits(tess.reduce("std", single, ddof=1), np.sqrt(moments(single.astype(np.float64))[2] / max(n - 1, 0)) if n > 1 else np.float64("nan"))
        self.assert_bits(tess.reduce("norm1", single), tree_sum(np.abs(single), np.float32))
        self.assert_bits(tess.reduce("norm2", x), np.sqrt(tree_sum(x * x, np.float64)))


if __name__ == "__main__":
    unittest.main()
