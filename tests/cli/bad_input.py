# SPDX-License-Identifier: Apache-2.0
"""Proves that every kind of bad input gets one line that names the argument, its value and the limit, the documented exit code, and leaves no file behind."""
import os
import random
import resource
import signal
import stat
import struct
import subprocess
import time

import files


def small(limit):
    """Before the command starts: no file may grow beyond `limit` bytes, as on a full disk."""
    def act():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    return act


def loaded_bytes(path):
    """Of the segments of a 64-bit ELF program, in memory."""
    with open(path, "rb") as file:
        head = file.read(64)
        first, = struct.unpack_from("<Q", head, 32)
        size, count = struct.unpack_from("<HH", head, 54)
        file.seek(first)
        table = file.read(size * count)
    segments = [struct.unpack_from("<IIQQQQQQ", table, size * i) for i in range(count)]
    return sum(s[6] for s in segments if s[0] == 1)  # PT_LOAD's p_memsz


class Usage(files.Case):
    def setUp(self):
        super().setUp()
        self.put("a.npy", files.npy(list(range(6)), "<f4", (2, 3)))
        self.put("z.npy", files.npy([5.0], "<f4", ()))

    def test_command_line(self):
        for words, has in (([], "a command is needed"), (["frobnicate"], '"frobnicate"'), (["help", "x"], '"x"'), (["list", "x"], '"x"'),
                           (["reduce"], "0 arguments; usage: tessera reduce OP IN"), (["reduce", "sum", "a.npy", "b.npy"], "3 arguments"),
                           (["devices", "x"], "devices: 1 argument; usage: tessera devices\n"),
                           (["reduce", "total", "a.npy"], '"total"'), (["reduce", "sum", "a.npy", "--frob"], "--frob"),
                           (["reduce", "sum", "a.npy", "-z"], "-z"), (["reduce", "sum", "a.npy", "--axis"], "needs a value"),
                           (["reduce", "sum", "a.npy", "--boundary", "zero"], "--boundary"), (["reduce", "sum", "a.npy", "--keepdims=1"], "--keepdims"),
                           (["reduce", "sum", "a.npy", "--axis", "0,"], '"0,"'), (["reduce", "sum", "a.npy", "--axis", "x"], '"x"'),
                           (["reduce", "sum", "a.npy", "--axis", "99999999999"], ["99999999999", "2147483647"]),
                           (["transpose", "a.npy", "-o", "b.npy", "--axes", "0,-99999999999999999999"], ["-99999999999999999999", "-2147483648"]),
                           (["reduce", "sum", "a.npy", "--axis", ",".join(["0"] * 65)], "limit of 64"),
                           (["reduce", "sum", "a.npy", "--type", "f33"], ['"f33"', "unknown type", "bf16"]),
                           (["reduce", "sum", "a.npy", "--threads", "0"], ['"0"', "1 to 1024"]), (["reduce", "sum", "a.npy", "--threads", "1025"], "1 to 1024"),
                           (["reduce", "sum", "a.npy", "--threads", "2x"], '"2x"'), (["reduce", "sum", "a.npy", "--nan", "maybe"], "propagate, omit"),
                           (["reduce", "sum", "a.npy", "--engine", "tpu"], "auto, cpu, cuda, virtual"), (["reduce", "sum", "a.npy", "--isa", "mmx"], '"mmx"'),
                           (["reduce", "var", "a.npy", "--ddof", "one"], '"one"'), (["bench", "--seconds", "0"], "above 0"),
                           (["bench", "--only", "no such work"], ['"no such work"', "list workloads"]), (["tune", "lookup", "--only", "transpose"], ["of lookup", '"transpose"']),
                           (["transpose", "a.npy"], "--output is needed"), (["transpose", "a.npy", "-o", "b.xyz"], ['"b.xyz"', ".flac"]),
                           (["transpose", "a.npy", "-o", ""], "must not be empty"), (["correlate", "a.npy", "-o", "b.npy"], "--mask is needed"),
                           (["correlate", "a.npy", "--mask", "1", "-o", "b.npy", "--boundary", "periodic"], '"periodic"'),
                           (["correlate", "a.npy", "--mask", "1", "-o", "b.npy", "--boundary", "constant:x"], '"x"'),
                           (["correlate", "a.npy", "--mask", "1", "-o", "b.npy", "--constant", "1", "--boundary", "wrap"], "exclude"),
                           (["correlate", "a.npy", "--mask", "1", "-o", "b.npy", "--boundary", "zero", "--constant", "1"], "exclude"),
                           (["correlate", "a.npy", "--mask", "1e39", "-o", "b.npy"], ["1e+39", "f32", "3.40282e+38"]),
                           (["correlate", "a.npy", "--mask", "1 2", "-o", "b.npy", "--origin", "0,0"], "--origin has 2"),
                           (["correlate", "a.npy", "--mask", "1 2 q", "-o", "b.npy"], ['character 5 ("q")']),
                           (["correlate", "a.npy", "--mask", "gaussian:", "-o", "b.npy"], "at its end"),
                           (["correlate", "-", "--mask", "-", "-o", "b.npy"], "both"), (["reduce", "sum", "-", "--offsets", "-"], "both"),
                           (["correlate", "z.npy", "--mask", "gaussian:1", "-o", "b.npy"], "needs axes"),
                           (["transpose", "a.npy", "-o", "-", "--json"], "exclude"), (["tune", "--all", "reduce", "sum", "a.npy"], "behind it"),
                           (["tune", "reduce", "sum", "a.npy", "--all"], "--all"), (["reduce", "sum", "a.npy", "--seconds", "1"], "--seconds"),
                           (["lookup", "gamma:0", "a.npy", "-o", "b.npy"], ['"gamma:0"']), (["lookup", "a.npy", "a.npy", "-o", "b.npy", "--axis", "0,1"], "2 axes")):
            self.fails(2, *words, has=has)

    def test_environment(self):
        for name, value in (("TESSERA_THREADS", "many"), ("TESSERA_ISA", "sse9"), ("TESSERA_STRATEGY", "reduce/nothing")):
            self.fails(1, "reduce", "sum", "a.npy", has=value, env={name: value})

    def test_names_with_controls(self):
        line = self.fails(3, "reduce", "sum", "no\nsuch\x1bfile", has="no?such?file")
        self.assertNotIn("\x1b", line)


class Work(files.Case):
    """What the library refuses: exit 1."""

    def test_shapes_types_indices(self):
        self.put("a.npy", files.npy(list(range(6)), "<f4", (2, 3)))
        self.put("z.npy", files.npy([5.0], "<f4", ()))
        self.put("e.npy", files.npy([], "<f4", (0,)))
        self.put("i.npy", files.npy([0, 1, 7, -3], "<i4", (4,)))
        self.put("m.npy", files.npy([1.0] * 8, "<f4", (2, 2, 2)))
        for words, has in ((["correlate", "a.npy", "--mask", "m.npy", "-o", "o.npy"], "the mask has 3 axes, a.npy has 2"),
                           (["correlate", "a.npy", "--mask", "e.npy", "-o", "o.npy", "--extent", "full"], "mask has size 0"),
                           (["correlate", "e.npy", "--mask", "e.npy", "-o", "o.npy", "--extent", "full"], "mask has size 0"),
                           (["correlate", "a.npy", "--mask", "1|2", "-o", "o.npy"], "3 axes"), (["correlate", "z.npy", "--mask", "1 2", "-o", "o.npy"], "1 axes"),
                           (["correlate", "a.npy", "--mask", "1 2", "-o", "o.npy", "--axes", "2"], "2"),
                           (["correlate", "a.npy", "--mask", "1 2; 3 4", "-o", "o.npy", "--axes", "1,1"], "1"),
                           (["correlate", "a.npy", "--mask", "1 2 3", "-o", "o.npy", "--origin", "5"], "5"),
                           (["reduce", "sum", "a.npy", "--axis", "2"], "2"), (["reduce", "sum", "a.npy", "--axis", "0,-2"], "twice"),
                           (["transpose", "a.npy", "-o", "o.npy", "--axes", "0,1,2"], "3 axes"), (["transpose", "a.npy", "-o", "o.npy", "--axes", "0,0"], "0"),
                           (["lookup", "a.npy", "i.npy", "-o", "o.npy"], ["7", "1"]), (["lookup", "a.npy", "i.npy", "-o", "o.npy", "--axis", "2"], "axis 2"),
                           (["lookup", "z.npy", "i.npy", "-o", "o.npy"], "0 axes"), (["lookup", "a.npy", "i.npy", "-o", "o.npy", "-i", "cubic"], "i"),
                           (["reduce", "sum", "a.npy", "-s", "reduce/none"], "reduce/none"), (["reduce", "sum", "a.npy", "-s", "transpose/tiles"], "transpose/tiles"),
                           (["reduce", "sum", "a.npy", "--engine", "cuda"], "cuda"), (["reduce", "sum", "a.npy", "--isa", "neon"], "neon")):
            self.fails(1, *words, has=has)
        self.assertIn("7", self.fails(1, "lookup", "a.npy", "i.npy", "-o", "o.npy", has="[2]"))  # which index: the third

    def test_little_memory(self):
        """Address space from too little for the loader to plenty: the work is done, or one line says what could not be allocated. Nothing is left behind."""
        self.put("a.npy", files.npy(list(random.Random(1).randbytes(120000)), "|u1", (300, 400)))
        self.ok("transpose", "a.npy", "-o", "a.png")
        before, codes = self.listing(), set()
        least = loaded_bytes(files.TESSERA) // 1024 + 512  # and a stack: with less the system does not begin it
        for words in (["correlate", "a.png", "--mask", "gaussian:3", "-o", "o.tif"], ["transpose", "a.npy", "-o", "o.npy", "-t", "f64"]):
            for kib in range(least, least + 17000, 500):
                done = self.run_it(*words, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (kib << 10, kib << 10)))
                codes.add(done.returncode)
                self.assertIn(done.returncode, (0, 1, 3, 4, 127), (kib, done.stderr))  # 3, 4: libpng or libtiff ran out of it
                self.assertEqual(done.stderr.count(b"\n"), int(done.returncode != 0), (kib, done.stderr))
                if done.returncode == 0:
                    os.remove(self.path(words[-1] if words[-1] != "f64" else "o.npy"))
                self.assertEqual(self.listing(), before)
        self.assertLessEqual({0, 1}, codes)

    def test_huge_result(self):
        """A result whose size overflows: table and index are empty, their product of sizes is not one."""
        self.put("t.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) +
                 b"{'descr': '|u1', 'fortran_order': False, 'shape': (0, 4611686018427387904), }".ljust(117) + b"\n")
        self.fails(1, "lookup", "t.npy", "t.npy", "-o", "o.npy", has="overflow")
        self.put("a.npy", self.get("t.npy").replace(b"4611686018427387904", b"9223372036854775807"))
        self.fails(1, "correlate", "a.npy", "--mask", "1 1", "-o", "o.npy", "--extent", "full", "--type", "u16", has="overflow")


class Input(files.Case):
    """What is wrong with a file: exit 3."""

    def test_npy(self):
        good = files.npy(list(range(6)), "<f4", (2, 3))
        head = lambda text: b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()
        described = lambda descr="'<f4'", order="False", shape="(2, 3)": head("{'descr': %s, 'fortran_order': %s, 'shape': %s}" % (descr, order, shape)) + bytes(24)
        for data, has in ((b"", "is empty"), (b"hello, world", "68 65 6c 6c 6f"), (good[:-1], "promises 24 bytes of data, the file has 23"),
                          (good + b"x", "promises 24 bytes of data, the file has 25"), (good[:40], "truncated"), (good[:9], "truncated"),
                          (described(shape="(9223372036854775807, 9223372036854775807)"), "overflow"), (described(shape="(4611686018427387904,)"), "overflow"),
                          (described(shape="(1000000000000,)"), "promises 4000000000000 bytes"), (described(shape="(-1,)"), "negative"),
                          (described(shape="(99999999999999999999,)"), "2^63"), (described(descr="'<f3'"), ["unknown type", "'<f3'"]),
                          (described(descr="'<V2'"), "bfloat16"), (described(descr="'|O'"), "pickle"), (described(descr="[('x', '<f4')]"), "records"),
                          (described(order="maybe"), "True or False"), (head("__import__('os').system('id')") + bytes(24), "dictionary"),
                          (b"\x93NUMPY\x07\x00" + good[8:], "version 7.0"), (b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + good[12:], "limit is 65536")):
            self.put("a.npy", data)
            for words in (["reduce", "sum", "a.npy"], ["transpose", "a.npy", "-o", "o.npy"], ["lookup", "a.npy", "a.npy", "-o", "o.npy"]):
                self.fails(3, *words, has=has)
            self.put("g.npy", good)
            self.fails(3, "correlate", "g.npy", "--mask", "a.npy", "-o", "o.npy", has=has)
        self.fails(3, "reduce", "sum", "-", stdin=good[:-1], has="standard input is truncated: its header promises 24 bytes of data, 23 came")
        self.fails(3, "reduce", "sum", "-", has="standard input is empty")
        with open("/dev/zero", "rb") as zero:
            done = subprocess.run([files.TESSERA, "reduce", "sum", "-"], stdin=zero, capture_output=True)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count(b"\n")), (3, b"", 1))

    def test_places(self):
        self.put("a.npy", files.npy([1.0], "<f4", (1,)))
        self.fails(3, "reduce", "sum", ".", has=". is a directory")
        self.fails(3, "reduce", "sum", "none.npy", has=["none.npy", "No such file"])
        os.symlink("loop", self.path("loop"))
        self.fails(3, "reduce", "sum", "loop", has="loop")
        if os.getuid() != 0:
            os.chmod(self.path("a.npy"), 0)
            self.fails(3, "reduce", "sum", "a.npy", has="Permission denied")

    def test_images(self):
        whole = files.png(list(range(200)), 10, 20)
        bomb = (b"\x89PNG\r\n\x1a\n" + files.chunk(b"IHDR", struct.pack(">IIBBBBB", 100000, 100000, 16, 6, 0, 0, 0)) +
                files.chunk(b"IDAT", files.zlib.compress(bytes(100000))) + files.chunk(b"IEND", b""))
        text = files.chunk(b"zTXt", b"Comment\0\0" + files.zlib.compress(bytes(64 << 20)))
        self.put("bomb.png", bomb)
        self.fails(3, "transpose", "bomb.png", "-o", "o.png", has=["bomb.png", "100000 x 100000", "268435456", "--max-pixels"])
        self.put("a.png", whole)
        self.fails(3, "transpose", "a.png", "-o", "o.png", "--max-pixels", "199", has="10 x 20 pixels are more than the limit of 199")
        self.ok("transpose", "a.png", "-o", "o.png", "--max-pixels", "200")
        os.remove(self.path("o.png"))
        for cut in range(8, len(whole) - 1, 7):
            self.put("cut.png", whole[:cut])
            self.fails(3, "transpose", "cut.png", "-o", "o.png", has="cut.png")
        self.put("crc.png", whole[:45] + bytes([whole[45] ^ 1]) + whole[46:])
        self.fails(3, "reduce", "sum", "crc.png", has="crc.png is a damaged PNG image")
        self.put("text.png", whole[:33] + text + whole[33:])  # 64 MiB of text in a few KiB is not unpacked
        self.ok("reduce", "sum", "text.png")
        self.put("none.png", b"\x89PNG\r\n\x1a\n" + files.chunk(b"IHDR", struct.pack(">IIBBBBB", 0, 5, 8, 0, 0, 0, 0)))
        self.fails(3, "reduce", "sum", "none.png", has="no pixels")
        self.put("a.tif", b"II*\0\x08\0\0\0" + bytes(40))
        self.fails(3, "reduce", "sum", "a.tif", has="a.tif")
        self.put("a.flac", b"fLaC" + bytes(60))
        self.fails(3, "reduce", "sum", "a.flac", has="a.flac")
        self.put("a.wav", b"RIFF\0\0\0\0WAVEfmt ")
        self.fails(3, "reduce", "sum", "a.wav", has="a.wav")


class Output(files.Case):
    """What is wrong with the result's place: exit 4, and an old file stays as it was."""

    def setUp(self):
        super().setUp()
        self.put("a.npy", files.npy(list(random.Random(1).randbytes(40000)), "|u1", (200, 200)))

    def test_places(self):
        self.put("old.npy", b"precious")
        for name, has in (("/dev/full", "No space left"), (".", "is a directory"), ("none/o.npy", "No such file"), ("a.npy/o.npy", "Not a directory"),
                          ("/proc/o.npy", "o.npy")):
            self.fails(4, "transpose", "a.npy", "-o", name, has=has)
        os.mkdir(self.path("d.npy"))
        self.fails(4, "transpose", "a.npy", "-o", "d.npy", has="d.npy is a directory")
        self.fails(4, "transpose", "a.npy", "-o", "x" * 300 + ".npy", has="too long")
        with open("/dev/full", "wb") as full:
            for words in (["list"], ["help"], ["--version"], ["reduce", "sum", "a.npy"], ["reduce", "sum", "a.npy", "--json"], ["transpose", "a.npy", "-o", "-"]):
                done = subprocess.run([files.TESSERA, *words], stdout=full, stderr=subprocess.PIPE, cwd=self.folder.name)
                self.assertEqual((done.returncode, done.stderr.count(b"\n")), (4, 1), words)
                self.assertIn(b"standard output cannot be written: No space left", done.stderr)

    def test_full_disk(self):
        self.put("w.npy", files.npy([random.Random(i).randrange(-30000, 30000) for i in range(20000)], "<i2", (20000,)))
        for name, source in (("o.npy", "a.npy"), ("o.png", "a.npy"), ("o.tif", "a.npy"), ("o.wav", "w.npy"), ("o.flac", "w.npy")):
            for limit in (0, 4096):
                for old in (None, b"old content"):
                    if old:
                        self.put(name, old)
                    self.fails(4, "transpose", source, "--rate", "8000", "-o", name, has=[name, "File too large"], preexec_fn=small(limit))
                    if old:
                        self.assertEqual(self.get(name), old)
                        os.remove(self.path(name))
        before = self.get("a.npy")
        self.fails(4, "transpose", "a.npy", "-o", "a.npy", has="File too large", preexec_fn=small(4096))
        self.assertEqual(self.get("a.npy"), before)

    def test_wisdom(self):
        self.fails(4, "tune", "transpose", "a.npy", env={"TESSERA_WISDOM": self.path("a.npy/wisdom")}, has="wisdom")

    def test_unfit(self):
        for words, has in ((["-o", "o.png", "-t", "f32"], ["o.png", "f32"]), (["-o", "o.npy", "-t", "bf16"], ["o.npy", "bf16"]),
                           (["-o", "o.flac", "--rate", "8000"], ["o.flac", "200 channels"]), (["-o", "o.wav", "-t", "c64"], "c64")):
            self.fails(4, "transpose", "a.npy", *words, has=has)
        self.put("v.npy", files.npy([1, 2], "|u1", (2,)))
        self.fails(4, "transpose", "v.npy", "-o", "o.png", has=["o.png", "1 axes"])
        self.fails(4, "transpose", "v.npy", "-o", "o.tif", has="o.tif")

    def test_mode(self):
        self.put("o.npy", b"")
        os.chmod(self.path("o.npy"), 0o604)
        self.ok("transpose", "a.npy", "-o", "o.npy")
        self.assertEqual(stat.S_IMODE(os.stat(self.path("o.npy")).st_mode), 0o604)
        self.ok("transpose", "a.npy", "-o", "p.npy", umask=0o027)
        self.assertEqual(stat.S_IMODE(os.stat(self.path("p.npy")).st_mode), 0o640)

    def test_closed_pipe(self):
        started = subprocess.Popen([files.TESSERA, "transpose", "a.npy", "-o", "-"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder.name)
        started.stdout.close()
        line = started.stderr.read()
        started.stderr.close()
        code = started.wait(20)
        if code != 0:  # the whole array may have fitted into the pipe before it was closed
            self.assertEqual((code, line), (4, b"tessera: standard output cannot be written: Broken pipe\n"))

    def test_interrupted(self):
        os.mkfifo(self.path("fifo"))
        for number in (signal.SIGINT, signal.SIGTERM):
            before = self.listing()
            started = subprocess.Popen([files.TESSERA, "transpose", "fifo", "-o", "o.npy"], cwd=self.folder.name, stderr=subprocess.PIPE)
            writer = os.open(self.path("fifo"), os.O_WRONLY)
            time.sleep(0.1)
            started.send_signal(number)
            self.assertEqual(started.wait(20), -number)
            self.assertEqual(started.stderr.read(), b"")
            started.stderr.close()
            os.close(writer)
            self.assertEqual(self.listing(), before)


if __name__ == "__main__":
    files.main()
