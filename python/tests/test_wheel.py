# SPDX-License-Identifier: Apache-2.0
"""Proves: `pip wheel .` makes one small abi3 wheel with everything in it and nothing of CUDA's; installed into an empty environment without NumPy it
imports, computes and is the command; and other versions of CPython, where there are some, load the same file. A tree that was built can be copied."""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
LIMIT = 5 << 20  # bytes: a guard against debug information or whole libraries that slip in; kernels for three instruction sets, their texts and PTX take 4.0 MiB
PROGRAM = """
import array, sys, tessera
assert "numpy" not in sys.modules
x = array.array("f", range(12))
assert tessera.sum(x) == 66
assert tessera.transpose(memoryview(x).cast("B").cast("f", (3, 4))).tolist()[1] == [1, 5, 9]
try:
    import numpy
    assert tessera.sum([1, 2]) == 3
except ImportError:
    try:
        tessera.sum([1, 2])
        sys.exit("lists without NumPy")
    except TypeError as error:
        assert "needs NumPy" in str(error)
    try:
        tessera.ndimage
        sys.exit("ndimage without NumPy")
    except ImportError:
        pass
print(tessera.__version__)
"""


def run(*command, **words):
    ran = subprocess.run(command, capture_output=True, text=True, **words)
    if ran.returncode:
        raise AssertionError(f"{command} returned {ran.returncode}\n{ran.stdout[-3000:]}\n{ran.stderr[-3000:]}")
    return ran.stdout


def builder():
    """An interpreter with pip, setuptools and wheel, without asking the network."""
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import setuptools, wheel, pip, venv"], capture_output=True).returncode == 0:
            return python
    return None


class Tree(unittest.TestCase):
    def test_links(self):
        """A copy of the whole tree runs its own Python files, not those that it was copied from."""
        package = os.path.join(TOP, "build", "python", "tessera")
        links = [name for name in os.listdir(package) if os.path.islink(os.path.join(package, name))]
        self.assertIn("__init__.py", links)
        for name in links:
            self.assertFalse(os.path.isabs(os.readlink(os.path.join(package, name))), name)


class Wheel(unittest.TestCase):
    def test_wheel(self):
        python = builder()
        if not python:
            self.skipTest("pip, setuptools and wheel are not installed")
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "source")  # a copy: setuptools leaves its own folders behind
            shutil.copytree(TOP, source, ignore=lambda d, names: [n for n in names if n.startswith(("build", ".git", "__pycache__"))], symlinks=True)
            run(python, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--disable-pip-version-check", "-q", "-w", folder, ".", cwd=source,
                env={"TESSERA_BUILD": os.path.join(os.path.abspath(TOP), "build"), **os.environ})
            wheels = glob.glob(os.path.join(folder, "*.whl"))
            self.assertEqual(len(wheels), 1)
            name = os.path.basename(wheels[0])
            self.assertRegex(name, r"^tessera-\d+\.\d+\.\d+-cp311-abi3-linux_\w+\.whl$")
            self.assertLess(os.path.getsize(wheels[0]), LIMIT)
            print(f"note: {name} has {os.path.getsize(wheels[0]) / 2**20:.2f} MiB, the limit is {LIMIT / 2**20:.0f}", flush=True)
            with zipfile.ZipFile(wheels[0]) as archive:
                names = {n for n in archive.namelist() if n.startswith("tessera/")}
            self.assertEqual({n for n in names if n.endswith((".so", "_command"))}, {"tessera/_tessera.abi3.so", "tessera/_libtessera.so", "tessera/_command"})
            self.assertTrue({"tessera/__init__.py", "tessera/ndimage.py", "tessera/py.typed", "tessera/_tessera.pyi", "tessera/ndimage.pyi"} <= names)
            run(python, "-m", "venv", "--without-pip", os.path.join(folder, "empty"))
            inside = os.path.join(folder, "empty", "bin", "python")
            site = run(inside, "-c", "import sysconfig; print(sysconfig.get_path('platlib'))").strip()
            run(python, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--disable-pip-version-check", "--target", site, wheels[0])
            clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
            version = run(inside, "-c", PROGRAM, env=clean).strip()
            self.assertEqual(run(inside, "-m", "tessera", "--version", env=clean).strip(), "tessera " + version)
            needed = run("sh", "-c", "ldd _tessera.abi3.so _libtessera.so", cwd=os.path.join(site, "tessera"))
            self.assertNotRegex(needed, r"cuda|nvrtc|not found|stdc\+\+")
            others = []
            for other in sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.1[1-9]*/bin/python")) + glob.glob("/usr/bin/python3.1[0-9]")):
                if run(other, "-c", "import sys; print(sys.version_info >= (3, 11) and not getattr(sys, '_is_gil_enabled', lambda: True)() is False)").strip() == "True":
                    self.assertEqual(run(other, "-c", PROGRAM, env={**clean, "PYTHONPATH": site}).strip(), version)
                    others.append(run(other, "-c", "import platform; print(platform.python_version())").strip())
            print("note: loaded by CPython " + ", ".join(others), flush=True)


if __name__ == "__main__":
    unittest.main()
