# SPDX-License-Identifier: Apache-2.0
"""Proves that the command's table of options, its help, its manual page and the three completions say the same: every command, option and word in each, and
nothing that is not in the table."""
import json
import os
import re
import shutil
import subprocess

import files


def read(*path):
    with open(os.path.join(files.TOP, *path)) as file:
        return file.read()


class Agreement(files.Case):
    def setUp(self):
        super().setUp()
        self.table = json.loads(self.ok("help", "--json"))
        self.options = {o["name"]: o for c in self.table.values() for o in c["options"]}
        self.known = {"--" + name for name in self.options} | {"--version"}

    def test_help(self):
        everything = self.ok("help").decode()
        for name, command in self.table.items():
            self.assertIn(command["summary"], everything)
            text = self.ok("help", name).decode()
            listed = text.split("\nOptions\n")[1]
            self.assertEqual(set(re.findall(r"^  (?:-\w, |    )(--[a-z-]+)", listed, re.M)), {"--" + o["name"] for o in command["options"]}, name)
            self.assertEqual(set(re.findall(r"^  (-\w), --", listed, re.M)), {"-" + o["letter"] for o in command["options"] if o["letter"]}, name)
            for option in command["options"]:
                for word in option["words"]:
                    self.assertIn(word, " ".join(option["help"].split()), option["name"])
            self.assertEqual(text, self.ok(name, "--help").decode())

    def test_parser(self):
        """Each command takes just the options of its rows: a foreign one is a usage error that names it."""
        for name, command in self.table.items():
            own = {o["name"] for o in command["options"]}
            for option in self.options.values():
                words = [name] + ["--" + option["name"]]
                done = self.run_it(*words, *(["0"] if option["argument"] else []), "--help")
                if option["name"] not in own and not any(o.startswith(option["name"]) for o in own):
                    self.assertEqual(done.returncode, 2, words)
                    self.assertIn(b"--" + option["name"].encode(), done.stderr)
                else:
                    self.assertNotRegex(done.stderr, b"is unknown|unknown option", words)

    def test_manual(self):
        page = read("docs", "tessera.1").replace("\\-", "-")
        section = page.split(".SH OPTIONS")[1].split(".SH EXIT")[0]
        headed = re.findall(r"^\\fB(?:-(\w)\\fR, \\fB)?--([a-z-]+)\\fR(?: \\fI(\S+)\\fR)?$", section, re.M)
        rows = [o for c in self.table.values() for o in c["options"]]
        self.assertEqual(len(headed), len(set(headed)), "each once")
        self.assertEqual(set(headed), {(o["letter"], o["name"], o["argument"]) for o in rows})
        for _, name, argument in headed:
            text = section.split("--%s\\fR%s\n" % (name, " \\fI%s\\fR" % argument if argument else ""), 1)[1].split(".TP")[0]
            for word in next(o["words"] for o in rows if o["name"] == name and o["argument"] == argument):
                self.assertRegex(text, r"\b%s\b" % word, name)
        self.assertLessEqual(set(re.findall(r"--[a-z-]+", page)) - {"--"}, self.known)
        for command in self.table:
            self.assertRegex(page.split(".SH COMMANDS")[1].split(".SH MASKS")[0], r"(?m)^\.B %s$" % command)
        told = re.findall(r"(\d) (?:done|the work|wrong use|an input|the output|a profiled)", " ".join(self.ok("help").decode().split()))
        self.assertEqual(told, re.findall(r"(?m)^\.B (\d)$", page), "exit codes")
        version = self.ok("--version").decode().split()[1]
        self.assertIn('"Tessera %s"' % version, page)
        checker = ["mandoc", "-T", "lint", "-W", "warning"] if shutil.which("mandoc") else ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z"]
        if shutil.which(checker[0]):
            done = subprocess.run([*checker, os.path.join(files.TOP, "docs", "tessera.1")], capture_output=True)
            self.assertEqual(done.stderr, b"")

    def test_bash(self):
        text = read("cli", "completion", "tessera.bash")
        for name, command in self.table.items():
            row = re.search(r"^    %s\) options=\"([^\"]*)\"" % name, text, re.M)
            self.assertEqual(row.group(1).split(), ["--" + o["name"] for o in command["options"]], name)
        self.words_agree(text, lambda o: r"^    [^\n]*--%s\b[^\n]*\)\n[^\n]*-W \"([^\"]*)\"" % o)
        # And it works: the shell itself completes.
        complete = text + "\ncomplete_it() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _tessera; echo \"${COMPREPLY[*]}\"; }\n"
        for words, expected in (("tessera tr", "transpose"), ("tessera reduce arg", "argmin argmax"), ("tessera correlate x --bound", "--boundary"),
                                ("tessera correlate x --boundary re", "reflect"), ("tessera explain reduce --dd", "--ddof")):
            done = subprocess.run(["bash", "-c", complete + "complete_it " + words], capture_output=True, text=True, check=True)
            self.assertEqual(done.stdout.strip(), expected, words)

    def words_agree(self, text, pattern):
        for name, option in self.options.items():
            if option["words"]:
                found = re.search(pattern(name), text, re.M)
                self.assertIsNotNone(found, name)
                self.assertEqual(found.group(1).split(), option["words"], name)

    def test_zsh(self):
        text = read("cli", "completion", "_tessera")
        for name, command in self.table.items():
            part = text.split("\n%s)\n" % name)[1].split(";;")[0]
            self.assertEqual(re.findall(r"--([a-z-]+)(?:\}'|)\[", part), [o["name"] for o in command["options"]], name)
            self.assertEqual(re.findall(r"\{-(\w),", part), [o["letter"] for o in command["options"] if o["letter"]], name)
        self.words_agree(text, lambda o: r"--%s[^\n]*:\(([^)]*)\)" % o)

    def test_fish(self):
        text = read("cli", "completion", "tessera.fish")
        self.assertEqual(re.search(r"^set -l all (.*)$", text, re.M).group(1).split(), list(self.table))
        for name in self.options:
            row = re.search(r"^complete -c tessera -n '__fish_seen_subcommand_from ([^']*)'(?: -s (\w))?[^\n]* -l %s " % name, text, re.M)
            self.assertIsNotNone(row, name)
            self.assertEqual(row.group(1).split(), [c for c in self.table if any(o["name"] == name for o in self.table[c]["options"])], name)
            self.assertEqual(row.group(2) or "", self.options[name]["letter"], name)
        self.words_agree(text, lambda o: r"-l %s -x -a '([^']*)'" % o)


if __name__ == "__main__":
    files.main()
