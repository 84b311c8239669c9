#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Everything that the README shows works: its shell lines run one after another, each of its C blocks compiles and runs.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 - "$top" "$work" <<'PY'
import math, re, struct, sys, wave, zlib
top, work = sys.argv[1:]
text = open(top + "/README.md").read()
open(work + "/lines.sh", "w").write("set -eu\n" + "\n".join(re.findall(r"```sh\n(.*?)```", text, re.S)))
blocks = re.findall(r"```c\n(.*?)```", text, re.S)
assert len(blocks) == 4, "one C block an operation"
body = "\n".join("static void block%d(void) {\n%s}\n" % (i, b) for i, b in enumerate(blocks))
calls = "".join("    block%d();\n" % i for i in range(len(blocks)))
# A failing call prints its detail, which the test takes for a failure.
open(work + "/blocks.c", "w").write("#include <stdio.h>\n#include <tessera.h>\n%s\nint main(void) {\n%s    return 0;\n}\n" % (body, calls))

def npy(name, descr, shape, data):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    head += " " * (-(len(head) + 11) % 64) + "\n"
    open(work + "/" + name, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data)

def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

height, width = 37, 53
rows = b"".join(b"\0" + bytes((7 * x + 11 * y + 80 * c) % 256 for x in range(width) for c in range(3)) for y in range(height))
open(work + "/photo.png", "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
                                      chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
with wave.open(work + "/recording.wav", "wb") as w:
    w.setparams((1, 2, 8000, 0, "NONE", ""))
    w.writeframes(b"".join(struct.pack("<h", int(9000 * math.sin(i / 7))) for i in range(4000)))
npy("table.npy", "<f4", (10,), struct.pack("<10f", *range(10)))
npy("index.npy", "<i8", (4,), struct.pack("<4q", 3, -1, 12, 9))
npy("coordinates.npy", "<f4", (3,), struct.pack("<3f", 0.5, 8.25, 11))
PY
cp "$top/tests/ptx/transpose.sm_90.ptx" "$work/transpose.ptx"
cc -std=c17 -Wall -Wextra -Werror -I"$top/include" "$work/blocks.c" "$top/build/libtessera.a" -lm -pthread -o "$work/blocks"
"$work/blocks" 2>"$work/said"
if [ -s "$work/said" ]; then
    echo "a C block of the README failed:"
    cat "$work/said"
    exit 1
fi
cd "$work"
PATH="$top/build:$PATH" sh -x lines.sh
