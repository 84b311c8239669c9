# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command share: running it, and reading and writing .npy and PNG with the standard library alone."""
import ast
import os
import struct
import subprocess
import tempfile
import unittest
import zlib

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TESSERA = os.environ.get("TESSERA", os.path.join(TOP, "build", "tessera"))
CODES = {"u1": "B", "i1": "b", "u2": "H", "i2": "h", "u4": "I", "i4": "i", "u8": "Q", "i8": "q", "f2": "e", "f4": "f", "f8": "d", "b1": "?"}


def npy(values, descr, shape, fortran=False):
    """The bytes of an .npy file; descr as "<f4"."""
    order = ">" if descr[0] == ">" else "<"
    header = "{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }" % (descr, fortran, "".join("%d," % n for n in shape))
    header += " " * (-(len(header) + 11) % 64) + "\n"
    data = struct.pack(order + "%d%s" % (len(values), CODES[descr[1:]]), *values)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def from_npy(data):
    """(values, descr, shape) of an .npy file in C order."""
    assert data[:8] == b"\x93NUMPY\x01\x00", data[:20]
    size = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:10 + size].decode())
    assert not header["fortran_order"] and (10 + size) % 64 == 0
    count = 1
    for n in header["shape"]:
        count *= n
    kind = header["descr"]
    return list(struct.unpack("<%d%s" % (count, CODES[kind[1:]]), data[10 + size:])), kind, header["shape"]


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(values, width, height, channels=1, bits=8):
    """The bytes of a PNG image from its values in rows."""
    colour = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    pitch = width * channels
    code = ">%d%s" % (pitch, "H" if bits == 16 else "B")
    rows = b"".join(b"\0" + struct.pack(code, *values[y * pitch:(y + 1) * pitch]) for y in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


class Case(unittest.TestCase):
    """A folder of its own for each test; nothing of the user's environment plays in."""

    def setUp(self):
        shm = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = tempfile.TemporaryDirectory(prefix="tessera-", dir=shm)
        self.addCleanup(self.folder.cleanup)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("TESSERA_")}
        self.environment.update(XDG_CACHE_HOME=self.path("cache"), HOME=self.path("home"))

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def put(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)
        return self.path(name)

    def get(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def array(self, name):
        return from_npy(self.get(name))

    def listing(self):
        return sorted(os.listdir(self.folder.name))

    def run_it(self, *words, stdin=b"", **more):
        return subprocess.run([TESSERA, *words], input=stdin, capture_output=True, cwd=self.folder.name,
                              env={**self.environment, **more.pop("env", {})}, timeout=120, **more)

    def ok(self, *words, **more):
        """Runs, expects success with nothing on stderr, gives stdout."""
        done = self.run_it(*words, **more)
        self.assertEqual((done.returncode, done.stderr), (0, b""), words)
        return done.stdout

    def fails(self, code, *words, has=(), **more):
        """Expects this exit code, one line on stderr with these words in it, nothing on stdout, no new file."""
        before = self.listing()
        done = self.run_it(*words, **more)
        line = done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, code, (words, line))
        self.assertTrue(line.startswith("tessera: ") and line.endswith("\n") and line.count("\n") == 1, (words, line))
        self.assertEqual(done.stdout, b"", words)
        for word in [has] if isinstance(has, str) else has:
            self.assertIn(word, line, words)
        self.assertEqual(self.listing(), before, words)
        return line


def main():
    unittest.main(verbosity=1)
