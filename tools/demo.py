#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The main job on real input: `make demo` runs it after building. Prints a table and says where the pictures are.

The photograph is chelsea.png of Debian's python3-skimage (CC0, by Stefan van der Walt; the package is BSD-3-Clause), the recording Front_Center.wav of
Debian's alsa-utils (GPL-2+). Both packages are fetched once into build/demo/data and unpacked there; nothing is installed. The 256 MiB array
is made by a lookup of random bytes in a table of 256 floats.

Each row's time is the operation's own, the median of several runs, as the command's --json reports it; reading and writing files is not in it. The limit is what the
same machine reached in this run: the longer of bytes / copy bandwidth (reductions: read bandwidth) and flops / multiply-add rate.
"""
import glob
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DEMO = os.path.join(TOP, "build", "demo")
DATA = os.path.join(DEMO, "data")
TESSERA = os.path.join(TOP, "build", "tessera")
RUNS = 5
SOURCES = {  # file in data: Debian package, path inside it
    "photo.png": ("python3-skimage", "usr/lib/python3/dist-packages/skimage/data/chelsea.png"),
    "recording.wav": ("alsa-utils", "usr/share/sounds/alsa/Front_Center.wav"),
}
BOUNDARIES = ["zero", "constant", "nearest", "reflect", "mirror", "wrap"]


def run(*words, **options):
    return subprocess.run(words, check=True, **options)


def fetch(name):
    """Copies one file out of a Debian package into DATA."""
    package, path = SOURCES[name]
    target = os.path.join(DATA, name)
    if os.path.exists(target):
        return target
    os.makedirs(DATA, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        quiet = {"cwd": work, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        if subprocess.run(["apt-get", "download", package], **quiet).returncode != 0:
            if os.geteuid() == 0:
                run("apt-get", "update", **quiet)
            if subprocess.run(["apt-get", "download", package], **quiet).returncode != 0:
                sys.exit("demo: the Debian package %s could not be fetched: run `apt-get update` as root, then `make demo` again" % package)
        run("dpkg-deb", "-x", glob.glob(os.path.join(work, "*.deb"))[0], work)
        shutil.copyfile(os.path.join(work, path), target + ".part")
        os.rename(target + ".part", target)
    return target


def write_npy(path, descr, shape, chunks):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(path + ".part", "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        for chunk in chunks:
            file.write(chunk)
    os.rename(path + ".part", path)


class Table:
    def __init__(self, limits):
        self.limits = limits
        print("limits measured now, %d threads: read %.1f GB/s, copy %.1f GB/s, f32 multiply-add %.0f GFLOP/s\n"
              % (limits["threads"], limits["read_bytes_per_s"] / 1e9, limits["copy_bytes_per_s"] / 1e9, limits["f32_flops_per_s"] / 1e9))
        print("%-46s %10s %8s %9s %9s  %s" % ("work", "ms", "GB/s", "GFLOP/s", "of limit", "strategy"))

    def row(self, label, *words):
        """Runs a command RUNS times and prints the median; returns the last answer."""
        answers = [json.loads(run(TESSERA, *words, "--json", "--quiet", stdout=subprocess.PIPE, cwd=DEMO).stdout) for _ in range(RUNS)]
        answers.sort(key=lambda a: a["seconds"])
        answer = answers[RUNS // 2]
        memory = self.limits["read_bytes_per_s" if words[0] == "reduce" else "copy_bytes_per_s"]
        least = max(answer["bytes"] / memory, answer.get("flops", 0) / self.limits["f32_flops_per_s"])
        print("%-46s %10.3f %8.2f %9.1f %7.0f %%  %s %s" % (label, 1e3 * answer["seconds"], answer["bytes"] / answer["seconds"] / 1e9,
              answer.get("flops", 0) / answer["seconds"] / 1e9, 100 * least / answer["seconds"], answer["strategy"], answer["isa"]), flush=True)
        return answer


def pictures(table):
    for boundary in BOUNDARIES:
        extra = ["--constant", "128"] if boundary == "constant" else []
        table.row("blur, gaussian of 4 pixels, " + boundary, "convolve", "data/photo.png", "--mask", "gaussian:4", "--boundary", boundary,
                  "-o", "blurred-%s.png" % boundary, *extra)
        table.row("edges across, Sobel, " + boundary, "correlate", "data/photo.png", "--mask", "sobel:x", "--boundary", boundary,
                  "-o", "edges-%s.png" % boundary, *extra)
    table.row("photograph transposed", "transpose", "data/photo.png", "-o", "transposed.png")
    table.row("photograph tone-mapped, gamma 2.2", "lookup", "gamma:2.2", "data/photo.png", "-o", "toned.png")


def recording(table):
    table.row("recording, moving mean of 33 samples", "correlate", "data/recording.wav", "--mask", "box:33", "--boundary", "nearest",
              "-o", "filtered.wav")


def statistics(table, label, path):
    """One row an operation; the values go into a line of their own."""
    found = []
    for operation in ["mean", "std", "min", "max"]:
        found.append("%s %.6g" % (operation, table.row("%s: %s" % (label, operation), "reduce", operation, path)["values"][0]))
    return "%s: %s" % (label, ", ".join(found))


def large(table):
    if not os.path.exists(os.path.join(DEMO, "bytes.npy")):
        chance = random.Random(1)
        write_npy(os.path.join(DEMO, "bytes.npy"), "|u1", (8192, 8192), (chance.randbytes(1 << 20) for _ in range(64)))
        write_npy(os.path.join(DEMO, "levels.npy"), "<f4", (256,), [struct.pack("<256f", *[(k - 128) / 64 for k in range(256)])])
    table.row("256 MiB made: f32[256] looked up by 64 Mi u8", "lookup", "levels.npy", "bytes.npy", "-o", "large.npy")
    table.row("256 MiB, 3 x 3 mask", "correlate", "large.npy", "--mask", "1 2 1; 2 4 -2; 1 -2 1", "-o", "out.npy", "--boundary", "mirror")
    table.row("256 MiB, blur, gaussian of 2", "convolve", "large.npy", "--mask", "gaussian:2", "-o", "out.npy", "--boundary", "reflect")
    table.row("256 MiB, 8192 x 8192 transposed", "transpose", "large.npy", "-o", "out.npy")
    table.row("256 MiB, sum", "reduce", "sum", "large.npy")
    table.row("256 MiB, sum along axis 0", "reduce", "sum", "large.npy", "--axis", "0", "-o", "out.npy")
    table.row("256 MiB, variance", "reduce", "var", "large.npy")
    os.remove(os.path.join(DEMO, "out.npy"))


def ladder():
    """The textbook kernels on the virtual GPU: the transposes as text, all of them as a page."""
    told = run(TESSERA, "ladder", "transpose", "--engine", "virtual", "--quiet", stdout=subprocess.PIPE, cwd=DEMO).stdout.decode()
    page = run(TESSERA, "ladder", "--engine", "virtual", "--html", "--quiet", stdout=subprocess.PIPE, cwd=DEMO).stdout
    with open(os.path.join(DEMO, "ladder.html"), "wb") as file:
        file.write(page)
    print("\ntranspositions of 8192 x 8192 f32 on a GPU that is not here: counted, modelled, and measured on an H200 earlier (ms)")
    print("\n".join(line for line in told.split("\n") if line[:4].strip().isdigit() or "model  measured" in line))


def main():
    for name in SOURCES:
        fetch(name)
    limits = json.loads(run(TESSERA, "bench", "limits", "--json", stdout=subprocess.PIPE).stdout)["limits"]
    table = Table(limits)
    pictures(table)
    recording(table)
    said = [statistics(table, "photograph", "data/photo.png"), statistics(table, "recording", "data/recording.wav")]
    large(table)
    print("\n" + "\n".join(said))
    ladder()
    print("\nall rungs of all ladders: %s" % os.path.relpath(os.path.join(DEMO, "ladder.html"), os.getcwd()))
    print("pictures and sound: %s (blurred-*.png, edges-*.png, transposed.png, toned.png, filtered.wav)" % os.path.relpath(DEMO, os.getcwd()))


main()
