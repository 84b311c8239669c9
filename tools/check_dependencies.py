#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the rules of CONTRIBUTING.md that a script can check: who may include whom, file sizes, licence lines, no machine paths.

With --self-test it first proves on made-up lines that each rule is able to fail.
"""
import os
import re
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Rooms and what files in them may include by a quoted name, as path prefixes. Test and bench files beside the code may see the library whole.
MAY = {
    "src/core/": ("core/", "tessera.h"),
    "src/simd/": ("core/base.h", "simd/"),
    "src/ops/": ("ops/", "core/", "simd/", "gpu/", "tessera.h"),
    "src/gpu/": ("gpu/", "core/", "tessera.h"),
    "src/vgpu/": ("vgpu/", "core/", "gpu/driver.", "tessera.h"),
    "src/profile/": ("profile/", "vgpu/vgpu.h", "gpu/gpu.h", "gpu/row.h", "core/", "tessera.h"),
    "src/io/": ("io/", "tessera.h"),
    "cli/": ("cli/", "io/", "tessera.h"),
    "python/": ("python/", "tessera.h"),
    "examples/": (),
    "include/": (),
}
# What core and the virtual GPU compile per instruction set with intrinsics stands on simd: the only steps in that direction.
EXTRA = {"src/core/cpu_limits.c": ("simd/",), "src/core/convert.c": ("simd/",), "src/vgpu/exec_memory.c": ("simd/",)}
CODE = (".c", ".h", ".cu", ".def", ".py", ".sh")
LINES = 600
MACHINE_PATH = re.compile(r"(?<![\w.$}/-])/(?:work|home|root|Users|mnt|srv)/\w")
INCLUDE = re.compile(r'\s*#\s*include\s*"([^"]+)"')


def room_of(path):
    return next((room for room in MAY if path.startswith(room)), None)


def is_test(path):
    return os.path.basename(path).startswith(("test_", "bench_"))


def resolve(path, name):
    """The included file as a path below src (or include, cli, ...), the way the compiler finds it: beside the file first."""
    folder = os.path.dirname(path)
    beside = os.path.normpath(os.path.join(folder, name))
    if os.path.exists(os.path.join(TOP, beside)):
        return re.sub(r"^(src|include)/", "", beside)
    return name


def check(path, text):
    lines = text.split("\n")
    room = room_of(path)
    if room and not is_test(path):
        for number, line in enumerate(lines, 1):
            found = INCLUDE.match(line)
            if found:
                target = resolve(path, found.group(1))
                if not target.startswith(MAY[room] + EXTRA.get(path, ())):
                    yield "%s:%d: %s may not include %s" % (path, number, room.rstrip("/"), target)
            if room == "examples/" and found:
                yield "%s:%d: an example includes installed headers only" % (path, number)
    if path.endswith(CODE):
        if len(lines) > LINES and room != "include/":
            yield "%s: %d lines, the limit is %d" % (path, len(lines), LINES)
        if not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:3]):
            yield "%s: no SPDX line at its head" % path
    for number, line in enumerate(lines, 1):
        if MACHINE_PATH.search(line):
            yield "%s:%d: a path of one machine" % (path, number)


def self_test():
    spdx = "/* SPDX-License-Identifier: Apache-2.0 */\n"
    bad = [
        ("src/core/x.c", spdx + '#include "ops/reduce/reduce.h"\n'),
        ("src/io/x.c", spdx + '#include "core/base.h"\n'),
        ("cli/x.c", spdx + '#include "../src/core/base.h"\n'),
        ("src/simd/x.h", spdx + '  #  include "core/tensor.h"\n'),
        ("src/vgpu/x.c", spdx + '#include "gpu/launch.h"\n'),
        ("src/profile/x.c", spdx + '#include "vgpu/machine.h"\n'),
        ("src/core/x.c", "int x;\n"),
        ("src/core/x.c", spdx + "\n" * LINES),
        ("docs/x.md", "see /" + "home/somebody/x\n"),
    ]
    good = [
        ("src/ops/reduce/x.c", spdx + '#include "core/base.h"\n#include "simd/simd.h"\n#include <math.h>\n'),
        ("src/ops/reduce/test_x.c", spdx + '#include "hostile.h"\n'),
        ("docs/x.md", "build/home/x and $HOME/log\n"),
    ]
    for path, text in bad:
        assert list(check(path, text)), "not caught: %s %r" % (path, text[-60:])
    for path, text in good:
        assert not list(check(path, text)), list(check(path, text))


def main():
    os.chdir(TOP)
    if "--self-test" in sys.argv:
        self_test()
    try:
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], capture_output=True, check=True).stdout.decode()
        files = [f for f in listed.split("\0") if f]
    except (OSError, subprocess.CalledProcessError):  # not a clone: a released archive
        files = [os.path.relpath(os.path.join(d, f)) for d, _, names in os.walk(".") for f in names if not d.startswith(("./.git", "./build"))]
    wrong = []
    for path in sorted(files):
        if os.path.isfile(path):
            data = open(path, "rb").read()
            if b"\0" not in data:
                wrong += check(path, data.decode("utf-8", "replace").rstrip("\n"))
    print("\n".join(wrong) if wrong else "%d files keep the rules" % len(files))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
