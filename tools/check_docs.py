#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what the documents name against what is there: files, strategies, make targets, options of the command, words of the code.

With --self-test it first proves on made-up lines that each rule is able to fail. Strategies come from `build/tessera list --json`, options from
`build/tessera help --json`.
"""
import fnmatch
import glob
import json
import os
import re
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TESSERA = os.path.join("build", "tessera")
ENDINGS = r"(?:c|h|cu|cuh|md|py|pyi|sh|txt|def|ptx|mk|svg|json|csv|1)"
FILE = re.compile(r"^(?:[\w.*<>{},-]+/)*[\w.*<>{},-]+\." + ENDINGS + r"$")
FOLDER = re.compile(r"^(?:src|tests|docs|bench|cli|python|tools|examples|include)(?:/[\w.*<>-]+)*/?$")
ROW = re.compile(r"^(correlate|reduce|transpose|lookup)/([a-z0-9_*]+)$")
WORD = re.compile(r"^_?[a-zA-Z]\w*_\w+$")  # words with an underscore in them: names of the code, not of English
# Files that a reader makes, others' headers, and what lies in folders of builds.
NOT_OURS = {"stdio.h", "stdint.h", "libcuda.so.1"}
# Words of other libraries that documents speak of.
FOREIGN = re.compile(r"^(cu[A-Z]\w*|CU_\w+|CUDA_\w+|__\w+__|(l1tex|lts|smsp|sm|dram|idc|launch)__\w+|memory_l[12]_\w+|op_ldsm|tess_verb)$")
OTHERS = {"docs/boundaries.md"}  # is a table of other libraries' words


def expanded(name):
    """{a,b} as the shell takes it, <op> as any word."""
    name = re.sub(r"<\w+>", "*", name)
    found = re.search(r"\{([^{}]*)\}", name)
    if not found:
        return [name]
    return [one for part in found.group(1).split(",") for one in expanded(name[: found.start()] + part + name[found.end() :])]


class Tree:
    def __init__(self):
        os.chdir(TOP)
        self.files = list(self.walk("."))
        self.base = {os.path.basename(f) for f in self.files}
        self.rows = {row["name"] for row in self.ask("list")}
        self.targets = set()
        for name in ["Makefile"] + glob.glob("tools/*.mk"):
            for line in open(name):
                found = re.match(r"([a-z][a-z -]*):(?!=)", line)
                self.targets.update(found.group(1).split() if found else ())
        self.options = set(re.findall(r"--([a-z0-9-]+)", json.dumps(self.ask("help"))))
        self.options |= {o["name"] for o in self.named(self.ask("help"))}
        self.words = set()
        for f in self.files:
            if not f.endswith((".md", ".txt", ".ptx", ".svg", ".csv")) and not f.startswith("tools/check_docs"):
                self.words.update(re.findall(r"\w+", open(f, "rb").read().decode("utf-8", "replace")))

    def walk(self, folder):
        for place, folders, names in os.walk(folder):
            folders[:] = [d for d in folders if not d.startswith("build") and not d.startswith(".")]
            yield from (os.path.relpath(os.path.join(place, n)) for n in names)

    def ask(self, command):
        return json.loads(subprocess.run([TESSERA, command, "--json"], capture_output=True, check=True).stdout)

    def named(self, what):
        if isinstance(what, dict):
            if isinstance(what.get("name"), str):
                yield what
            what = list(what.values())
        if isinstance(what, list):
            for one in what:
                yield from self.named(one)

    def has(self, name, beside):
        if re.match(r"build[\w-]*/", name):
            return True
        for one in expanded(name):
            places = [os.path.normpath(os.path.join(at, one)) for at in (beside, "", "src", "include", "python", "tests")]
            if not any(fnmatch.filter(self.files, p) or fnmatch.filter(self.files, p.rstrip("/") + "/*") for p in places):
                if "/" in one or not fnmatch.filter(self.base, one):
                    return False
        return True


def check(tree, path, text):
    beside = os.path.dirname(path)
    spans = [(text.count("\n", 0, m.start()) + 1, m.group(1)) for m in re.finditer(r"`([^`\n]+)`", re.sub(r"```", "   ", text))]
    code = [(n, line.strip()) for n, line in enumerate(text.split("\n"), 1) if line.startswith("    ") or line.startswith(("tessera ", "$ "))]
    for number, span in spans:
        where = "%s:%d: " % (path, number)
        for word in span.split():
            word = word.rstrip(",:;")
            row = ROW.match(word)
            if row and not fnmatch.filter(tree.rows, word) and not os.path.exists(os.path.join("src/ops", word)):
                yield where + "no strategy is called " + word
            elif not row and (FILE.match(word) or FOLDER.match(word)) and word not in NOT_OURS and not tree.has(word, beside):
                yield where + "there is no file " + word
        if path not in OTHERS and WORD.match(span) and not FOREIGN.match(span) and span not in tree.words and not any(r.endswith("/" + span) for r in tree.rows):
            yield where + "the code has no word " + span
    for number, span in spans + code:
        where = "%s:%d: " % (path, number)
        for target in re.findall(r"^make (?:[A-Z_]+=\S+ )*([a-z][a-z-]*)(?![\w/=.-])", span):
            if target not in tree.targets:
                yield where + "no target of make is called " + target
        for words in re.findall(r"(?:^|\s)(?:\./|build/)?tessera ((?:[^|&#;]|'[^']*')*)", re.sub(r"'[^']*'", "''", span)):
            for option in re.findall(r"(?<!\S)--([a-z][a-z0-9-]*)", words):
                if option not in tree.options:
                    yield where + "tessera has no option --" + option
    for number, link in [(text.count("\n", 0, m.start()) + 1, m.group(1)) for m in re.finditer(r"\]\(([^)\s]+)\)", text)]:
        if "://" not in link and not link.startswith("#") and not os.path.exists(os.path.normpath(os.path.join(beside, link.split("#")[0]))):
            yield "%s:%d: the link %s leads nowhere" % (path, number, link)


def environment(tree):
    """Variables that the library reads stand in the header and in the manual page."""
    sources = [f for f in tree.files if re.match(r"src/.*\.c$", f)]
    read = {name for f in sources for name in re.findall(r'"(TESSERA_[A-Z_]+)"', open(f).read())}
    for path in ("include/tessera.h", "docs/tessera.1"):
        for name in sorted(read - set(re.findall(r"TESSERA_[A-Z_]+", open(path).read()))):
            yield "%s: the library reads %s, which is not named" % (path, name)


def self_test(tree):
    for bad in ("`src/core/nothing.c`", "`nothing_at_all.cuh`", "`src/nowhere/`", "`correlate/nothing`", "`make nothing`", "    make nothing\n", "`tess_no_such_word`",
                "`tessera bench --nothing`", "[text](nothing.md)", "`tests/test_{plan,nothing}.c`", "`bench/results/2020-01-01-nothing.txt`"):
        assert list(check(tree, "docs/x.md", bad)), "not caught: " + bad
    for good in ("`src/core/base.h`", "`base.h`", "`src/ops/*/README.md`", "`src/ops/<op>/strategies.c`", "`correlate/window`", "`make test-quick`", "    make -j2    # all\n",
                 "`tess_fail`", "`tessera bench --only x --rows -j 1`", "[text](design.md#1)", "`tests/test_{plan,tune}.c`"):
        assert not list(check(tree, "docs/x.md", good)), list(check(tree, "docs/x.md", good))


def main():
    tree = Tree()
    if "--self-test" in sys.argv:
        self_test(tree)
    documents = sorted(f for f in tree.files if f.endswith(".md"))
    wrong = [line for f in documents for line in check(tree, f, open(f).read())] + list(environment(tree))
    print("\n".join(wrong) if wrong else "%d documents name what is there" % len(documents))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
