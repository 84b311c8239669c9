# SPDX-License-Identifier: Apache-2.0
"""Proves: the stubs describe the extension: the same names, the same parameters in the same order with the same defaults; and mypy, where it is
installed, accepts the package and a program that uses it, and refuses one that misuses it."""
import ast
import inspect
import os
import re
import subprocess
import sys
import tempfile
import unittest

import tessera
import tessera.ndimage
from tessera import _tessera

PACKAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tessera")
GOOD = """
import array
from typing import assert_type
import numpy as np
import tessera

x = np.ones((3, 4), np.float32)
tessera.sum(x, axis=(0, 1), keepdims=True, exact=True)
out = np.empty((4, 3), np.float32)
assert_type(tessera.transpose(x, out=out) is out, bool)
tessera.correlate(array.array("f", [1, 2]), [1, 2.5], "full", boundary="nearest")
plan = tessera.plan(tessera.sum, x)
assert_type(plan.explain(), str)
assert_type(tessera.devices("json")["cpu"] is None, bool)
"""
BAD = """
import tessera
tessera.sum(axis=3)
tessera.sum(b"a", axes=3)
tessera.correlate(b"a", b"a", boundary="beyond")
tessera.transpose(b"a", (0,), None)
tessera.threads().nothing
"""


def find_mypy():
    """The interpreter's own mypy where it knows Buffer (1.5), else one fetched into build/mypy and kept; None where neither can be had."""
    folder = os.path.join(PACKAGE, "..", "..", "build", "mypy")
    for command in ([sys.executable, "-m", "mypy"], [os.path.join(folder, "bin", "python"), "-m", "mypy"]):
        for attempt in range(2):
            try:
                shown = subprocess.run(command + ["--version"], capture_output=True, text=True)
            except OSError:
                shown = None
            found = re.match(r"mypy (\d+)\.(\d+)", shown.stdout) if shown else None
            if found and (int(found[1]), int(found[2])) >= (1, 5):
                return command
            if attempt or command[0] == sys.executable or subprocess.run([sys.executable, "-m", "venv", folder], capture_output=True).returncode:
                break
            subprocess.run([command[0], "-m", "pip", "install", "-q", "--disable-pip-version-check", "--retries", "0", "--timeout", "20", "mypy>=1.5"],
                           capture_output=True)
    return None


class Types(unittest.TestCase):
    def test_stubs_and_extension_agree(self):
        with open(os.path.join(PACKAGE, "_tessera.pyi")) as file:
            tree = ast.parse(file.read())
        stubs = {}
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                stubs.setdefault(node.name, node.args)  # of overloads the first
        functions = {name for name, value in vars(_tessera).items() if inspect.isbuiltin(value)}
        self.assertEqual(functions, set(stubs))
        for name, arguments in stubs.items():
            if name.startswith("_"):
                continue
            signature = inspect.signature(getattr(_tessera, name))
            plain = arguments.posonlyargs + arguments.args
            self.assertEqual([a.arg for a in plain + arguments.kwonlyargs], list(signature.parameters), name)
            defaults = [None] * (len(plain) - len(arguments.defaults)) + arguments.defaults + arguments.kw_defaults
            for argument, default in zip(plain + arguments.kwonlyargs, defaults):
                parameter = signature.parameters[argument.arg]
                if argument.arg != "out":
                    got = inspect.Parameter.empty if default is None else ast.literal_eval(default)
                    self.assertEqual(got, parameter.default, (name, argument.arg))
                self.assertEqual(parameter.kind == inspect.Parameter.KEYWORD_ONLY, argument in arguments.kwonlyargs, (name, argument.arg))
        classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
        for name in ("Array", "Plan", "Profile"):
            members = {n.name for n in classes[name].body if isinstance(n, ast.FunctionDef)} - {"__buffer__", "__len__", "__call__"}
            real = {n for n in vars(getattr(_tessera, name)) if not n.startswith("__") or n.startswith("__dlpack")}
            self.assertEqual(members, real, name)

    def test_ndimage_stubs(self):
        with open(os.path.join(PACKAGE, "ndimage.pyi")) as file:
            stubs = {node.name: node.args for node in ast.parse(file.read()).body if isinstance(node, ast.FunctionDef)}
        self.assertEqual(set(stubs), set(tessera.ndimage.__all__))
        for name, arguments in stubs.items():
            parameters = inspect.signature(getattr(tessera.ndimage, name)).parameters
            self.assertEqual([a.arg for a in arguments.args + arguments.kwonlyargs], [p for p in parameters if p != "kwargs"], name)

    def test_mypy(self):
        mypy = find_mypy()
        if not mypy:
            self.skipTest("mypy 1.5 or newer is not installed and could not be fetched")
        with tempfile.TemporaryDirectory() as folder:
            def check(name, text):
                path = os.path.join(folder, name)
                with open(path, "w") as file:
                    file.write(text)
                ran = subprocess.run(mypy + ["--python-version", "3.12", "--cache-dir", os.path.join(folder, "cache"),
                                      "--ignore-missing-imports", "--follow-imports=silent", path], capture_output=True, text=True,
                                     env={**os.environ, "MYPYPATH": os.path.join(PACKAGE, "..")})
                return ran.returncode, ran.stdout
            status, text = check("good.py", GOOD)
            self.assertEqual(status, 0, text)
            status, text = check("bad.py", BAD)
            self.assertEqual(set(re.findall(r"bad.py:(\d+): error", text)), set("34567"), text)


if __name__ == "__main__":
    unittest.main()
