# SPDX-License-Identifier: Apache-2.0
"""Runs every command of docs/errata.md and holds what the page says against what it counts; and the degree of bank conflicts of every stride against gcd rules."""
import json
import math
import os
import re
import sys
import unittest

import files

EXAMPLES = os.path.join(files.TOP, "examples")


def compiler():
    """Whether CUDA C++ can be compiled here."""
    case = files.Case()
    case.setUp()
    try:
        return case.run_it("profile", os.path.join(EXAMPLES, "errata.cu"), "shifted<<<1, 1>>>(out:i32[1])", "--json").returncode == 0
    finally:
        case.doCleanups()


class Errata(files.Case):
    def profile(self, name, launch, *words):
        done = self.run_it("profile", os.path.join(EXAMPLES, name), launch, "--json", *words)
        self.assertIn(done.returncode, (0, 5), done.stderr)
        return json.loads(done.stdout)

    def said(self, line, told):
        """Whether what was counted is what a line of the page says; the items it has checked."""
        if line == "no faults":
            self.assertEqual(told["faults"], [])
            return 1
        if line.startswith("faults: "):
            found = [(f["kind"], f["count"]) for f in told["faults"]]
            for item in line[8:].split(", "):
                kind, count = re.fullmatch(r"([a-z ]+?)(?: (\d+))?", item).groups()
                self.assertIn(kind, [k for k, _ in found])
                if count:
                    self.assertIn((kind, int(count)), found)
                    found.remove((kind, int(count)))
            return 1
        if line.startswith("out "):
            self.assertEqual(self.array("o.npy")[0], [int(v) for v in line[4:].split()])
            return 1
        for item in line.split(", "):
            name, value = item.split(" ")
            self.assertEqual(told["counters"][name], int(value), name)
        return len(line.split(", "))

    def test_page(self):
        with open(os.path.join(files.TOP, "docs", "errata.md")) as file:
            blocks = re.findall(r"^```\n(.*?)^```", file.read(), re.M | re.S)
        commands = checked = 0
        for block in blocks:
            told, launch = None, None
            for line in block.rstrip("\n").split("\n"):
                if line.startswith("$ "):
                    name, launch = re.fullmatch(r"\$ tessera profile (\w+\.cu) '(.*)'", line).groups()
                    told = self.profile(name, launch, *(["-o", "0=o.npy"] if "out:" in launch else []))
                    commands += 1
                else:
                    with self.subTest(launch):
                        checked += self.said(line, told)
        self.assertGreater(commands, 35)
        self.assertGreaterEqual(checked, commands)

    def test_strides(self):
        """Elements of 4, 8, 16 bytes are served in phases of 32, 16, 8 lanes; stride s of an element of w words puts the lanes of a phase on 32 / gcd(w s, 32) places."""
        for kind, words in (("float", 1), ("double", 2), ("double2", 4)):
            for s in range(1, 34):
                lanes = 32 // words
                meet = max(1, lanes // (32 // math.gcd(words * s, 32)))
                for name, shared in (("bank_stride", ", %d" % (33 * 32 * 4 * words)), ("bank_stride_static", "")):
                    if name == "bank_stride_static" and s not in (1, 6, 32):
                        continue
                    told = self.profile("banks.cu", "%s<%s><<<1, 32%s>>>(out:u8[%d], %d)" % (name, kind, shared, 128 * words, s), "--no-check")
                    found = told["counters"]
                    self.assertEqual((found["shared_ld_requests"], found["shared_ld_wavefronts"]), (1, words * meet), (name, kind, s))
                    self.assertEqual(found["shared_ld_conflicts"], words * (meet - 1), (name, kind, s))


if __name__ == "__main__":
    if not compiler():
        print("no compiler for kernels here")
        sys.exit(77)
    files.main()
