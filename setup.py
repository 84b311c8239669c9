# SPDX-License-Identifier: Apache-2.0
"""Lets setuptools build with make: one wheel a platform for CPython 3.11 and later, or one for a free-threaded interpreter."""
import os
import re
import subprocess
import sys
import sysconfig

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
TOP = os.path.dirname(os.path.abspath(__file__))


def version():
    with open(os.path.join(TOP, "include", "tessera.h")) as header:
        return ".".join(re.findall(r"define TESSERA_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header.read()))


class Make(build_ext):
    """The extension, the library and the command, stripped, beside the package's Python files."""

    def run(self):
        folder = os.path.join(TOP, "python", "tessera") if self.inplace else os.path.join(os.path.abspath(self.build_lib), "tessera")
        build = os.environ.get("TESSERA_BUILD", "build/wheel" + ("-free-threaded" if FREE_THREADED else ""))
        jobs = str(self.parallel or os.environ.get("TESSERA_JOBS") or len(os.sched_getaffinity(0)))
        subprocess.run(["make", "-s", "-j" + jobs, "python-stage", "BUILD=" + build, "STAGE=" + folder, "PYTHON=" + sys.executable], cwd=TOP, check=True)

    def get_outputs(self):
        folder = os.path.join(self.build_lib, "tessera")
        return [os.path.join(folder, name) for name in os.listdir(folder) if name.startswith(("_tessera", "_libtessera", "_command"))]


setup(
    version=version(),
    ext_modules=[Extension("tessera._tessera", [], py_limited_api=not FREE_THREADED)],
    cmdclass={"build_ext": Make},
    options={} if FREE_THREADED else {"bdist_wheel": {"py_limited_api": "cp311"}},
)
