# SPDX-License-Identifier: Apache-2.0
"""Proves: every public name has a docstring, and the examples in docstrings and in the tutorial run as written."""
import doctest
import os
import unittest

import numpy

import tessera
import tessera.ndimage

if numpy.lib.NumpyVersion(numpy.__version__) >= "2.0.0":
    numpy.set_printoptions(legacy="1.25")  # scalars without their type's name
HERE = os.path.dirname(os.path.abspath(__file__))
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


class Examples(unittest.TestCase):
    def run_text(self, text, name, globs):
        test = doctest.DocTestParser().get_doctest(text, globs, name, name, 0)
        shown = []
        doctest.DocTestRunner(optionflags=FLAGS).run(test, out=shown.append)
        self.assertEqual(shown, [], "".join(shown))
        return len(test.examples)

    def test_docstrings(self):
        examples = self.run_text(tessera.__doc__, "tessera", {})
        for module in (tessera, tessera.ndimage):
            for name in module.__all__:
                value = getattr(module, name)
                self.assertTrue(value.__doc__, name)
                if module is tessera or value.__module__ == module.__name__:
                    examples += self.run_text(value.__doc__, name, {"tessera": tessera, "numpy": numpy, "ndimage": tessera.ndimage})
        self.assertGreater(examples, 35)

    def test_tutorial(self):
        with open(os.path.join(HERE, "..", "tutorial.md")) as file:
            examples = self.run_text(file.read(), "tutorial.md", {})
        self.assertGreater(examples, 20)


if __name__ == "__main__":
    unittest.main()
