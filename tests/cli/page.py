# SPDX-License-Identifier: Apache-2.0
"""Looks at the pages of `tessera profile --html` and of the ladder in a browser: what they hold, that nothing lies outside or on top of another, also in a narrow window and in dark colours,
that the pictures have the colours they should where they should, and that they ask for nothing from outside."""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import unittest
import zlib

import files

BROWSER = next((b for b in map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")) if b), None)

# Measures the page and leaves what it found in it, so that --dump-dom tells.
MEASURE = """<script>
addEventListener('load', () => {
  const box = e => { const r = e.getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; };
  const report = {wide: document.documentElement.scrollWidth, inner: innerWidth, high: document.documentElement.scrollHeight,
    pictures: [...document.querySelectorAll('svg.lanes')].map(s => ({label: s.getAttribute('aria-label'), box: box(s), ground: box(s.querySelector('.ground')),
      cells: [...s.querySelectorAll('rect[class^=c]')].map(c => [c.getAttribute('class'), ...box(c)]), text: [...s.querySelectorAll('text')].map(box)})),
    rows: [...document.querySelectorAll('table.source tr')].map(r => [...r.cells].map(c => c.textContent)),
    hits: [...document.querySelectorAll('tr.hit td.src')].map(c => c.textContent),
    dots: [...document.querySelectorAll('svg.roof circle')].map(box), roof: [...document.querySelectorAll('svg.roof')].map(box),
    headings: [...document.querySelectorAll('h1,h2')].map(h => h.textContent), body: document.body.innerText};
  const out = document.createElement('pre'); out.id = 'report'; out.style.display = 'none'; out.textContent = JSON.stringify(report); document.body.append(out);
});
</script>"""


def pixels(data):
    """(width, height, rows of (r, g, b)) of an 8-bit PNG."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, bits, colour = struct.unpack(">IIBB", body[:10])
            assert bits == 8 and colour in (2, 6)
        packed += body if kind == b"IDAT" else b""
        at += 12 + size
    n = 3 if colour == 2 else 4
    raw, rows, last, at = zlib.decompress(packed), [], bytearray(width * n), 0
    for _ in range(height):
        kind, row = raw[at], bytearray(raw[at + 1:at + 1 + width * n])
        at += 1 + width * n
        for i in range(width * n):
            a, b, c = (row[i - n] if i >= n else 0), last[i], (last[i - n] if i >= n else 0)
            if kind == 4:
                p = a + b - c
                guess = a if abs(p - a) <= abs(p - b) and abs(p - a) <= abs(p - c) else b if abs(p - b) <= abs(p - c) else c
            else:
                guess = (0, a, b, (a + b) // 2)[kind]
            row[i] = (row[i] + guess) % 256
        rows.append(row)
        last = row
    return width, height, lambda x, y: tuple(rows[int(y)][int(x) * n:int(x) * n + 3])


class Page(files.Case):
    def browse(self, *words):
        done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1", "--user-data-dir=" + self.path("profile"),
                               *words], capture_output=True, timeout=120, cwd=self.folder.name, env=self.environment)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        return done.stdout.decode()

    def page(self, source, launch, *words, codes=(0,)):
        done = self.run_it("profile", source, launch, "--html", "page.html", *words)
        self.assertIn(done.returncode, codes, done.stderr)
        text = self.get("page.html").decode()
        self.assertIsNone(re.search(r"https?://|src=|url\(|@import|<script|<link|<iframe", text), "asks for something from outside")
        self.put("measured.html", (text + MEASURE).encode())
        return text

    def measure(self, width=1200):
        dom = self.browse("--window-size=%d,900" % width, "--dump-dom", "file://" + self.path("measured.html"))
        found = re.search(r'<pre id="report"[^>]*>(.*?)</pre>', dom, re.S).group(1)
        for name, mark in (("lt", "<"), ("gt", ">"), ("quot", '"'), ("amp", "&")):
            found = found.replace("&%s;" % name, mark)
        return json.loads(found)

    def shot(self, high, *words):
        self.browse("--window-size=1200,%d" % high, "--screenshot=" + self.path("shot.png"), *words, "file://" + self.path("page.html"))
        return pixels(self.get("shot.png"))

    def look(self, report):
        """Nothing beside the window, no cell outside its picture, no label on another."""
        self.assertLessEqual(report["wide"], report["inner"])
        for p in report["pictures"]:
            gx, gy, gw, gh = p["ground"]
            for _, x, y, w, h in p["cells"]:
                self.assertTrue(gx <= x and x + w <= gx + gw + .01 and gy <= y and y + h <= gy + gh + .01, p["label"])
            bx, by, bw, bh = p["box"]
            for i, (x, y, w, h) in enumerate(p["text"]):
                self.assertTrue(bx - .5 <= x and x + w <= bx + bw + .5 and by - .5 <= y and y + h <= by + bh + .5, (p["label"], p["text"]))
                for ox, oy, ow, oh in p["text"][:i]:
                    self.assertFalse(x < ox + ow and ox < x + w and y < oy + oh and oy < y + h, "labels overlap")

    def test_pictures(self):
        ptx = os.path.join(files.TOP, "tests", "ptx", "transpose.sm_90.ptx")
        for kernel, label, cells in (("transpose_tile", "lanes by banks", 32), ("transpose_naive_read", "lanes by sectors", 32)):
            self.page(ptx, kernel + "<<<(2, 2), (32, 8)>>>(in:f32[64*64]=ramp, out:f32[64*64], 64, 64)")
            for width in (1200, 420):
                self.look(self.measure(width))
            report = self.measure()
            picture = report["pictures"][0]
            self.assertEqual((picture["label"], len(picture["cells"])), (label, cells))
            self.assertIn("H200", report["body"])
            columns = {x for _, x, *_ in picture["cells"]}
            self.assertEqual(len(columns), 1 if label == "lanes by banks" else 32)  # one bank for all; a sector each
            for scheme, blue, red in ((), (0x3b, 0x7d, 0xd8), (0xb3, 0x26, 0x1e)), (("--force-dark-mode", "--blink-settings=preferredColorScheme=0"), None, None):
                width, height, at = self.shot(int(report["high"]), *scheme)
                self.assertEqual(width, 1200)
                for kind, x, y, w, h in picture["cells"]:
                    colour = at(x + w / 2, y + h / 2)
                    if blue:
                        self.assertEqual(colour, {"c0": blue, "c3": red}.get(kind, colour), kind)
                    self.assertNotEqual(colour, at(picture["ground"][0] - 3, picture["ground"][1] - 3), "a cell is to be seen")

    def test_source(self):
        self.put("k.cu", b'__global__ void k(float *a, const char *why = "<b>&") {\n    __shared__ float s[32 * 32];\n'
                         b"    for (int i = 0; i < 32; i++)\n        s[threadIdx.x * 32 + i] = a[threadIdx.x] * i + 1;\n    a[threadIdx.x] = s[threadIdx.x * 32];\n}\n")
        done = self.run_it("profile", "k.cu", "k<<<1, 32>>>(inout:f32[32]=ramp, 0)")
        if b"no compiler" in done.stderr:
            self.skipTest("no NVRTC here")
        self.page("k.cu", "k<<<1, 32>>>(inout:f32[32]=ramp, 0)")
        report = self.measure()
        self.look(report)
        self.assertEqual([r[-1] for r in report["rows"][1:]], self.get("k.cu").decode().split("\n")[:-1])
        self.assertEqual([r[0] for r in report["rows"][1:]], ["1", "2", "3", "4", "5", "6"])
        self.assertIn("        s[threadIdx.x * 32 + i] = a[threadIdx.x] * i + 1;", report["hits"])
        (x, y, w, h), (rx, ry, rw, rh) = report["dots"][0], report["roof"][0]
        self.assertTrue(rx < x and x + w < rx + rw and ry < y and y + h < ry + rh, "the point lies in the roofline")
        self.assertEqual(report["headings"], ["k", "Worst lines", "Source", "Roofline"])

    def test_ladder(self):
        """The page of `tessera ladder`: every rung a row, bars as long as the times say, nothing beside the window."""
        told = json.loads(self.ok("ladder", "reduce", "--engine", "virtual", "--json"))
        text = self.ok("ladder", "reduce", "--engine", "virtual", "--html").decode()
        self.assertIsNone(re.search(r"https?://|src=|url\(|@import|<script|<link|<iframe", text), "asks for something from outside")
        script = MEASURE.replace("table.source tr", "table tr").replace("body: document", "bars: [...document.querySelectorAll('.bar')].map(b => [b.className, ...box(b)]), body: document")
        self.put("measured.html", (text + script).encode())
        rungs = [r for r in told["ladders"][0]["rungs"] if "counted" in r]
        if not rungs:
            self.skipTest("no NVRTC here")
        for width in (1300, 420):
            report = self.measure(width)
            self.assertLessEqual(report["wide"], report["inner"])
        report = self.measure(1300)
        self.assertEqual(report["headings"], ["Tessera's ladder", "reduce"])
        named = [row[1] for row in report["rows"] if len(row) > 5]
        self.assertEqual(named[1:], [r["strategy"] + r["idea"] for r in rungs])
        model = [bar[3] for bar in report["bars"] if bar[0] == "bar model"]
        self.assertEqual(len(model), len(rungs))
        longest = max(max(r["larger"]["seconds"], r.get("measured_seconds", 0)) for r in rungs)
        room = max(bar[3] for bar in report["bars"])
        for pixels_wide, r in zip(model, rungs):
            self.assertAlmostEqual(pixels_wide, max(1, room * r["larger"]["seconds"] / longest), delta=1)
        for _, x, _, w, _ in report["bars"]:
            self.assertTrue(x > 0 and x + w < 1300)

    def test_faults(self):
        self.page(os.path.join(files.TOP, "tests", "ptx", "faults.sm_90.ptx"), "race_bad<<<1, 64>>>(out:i32[64])", codes=(5,))
        report = self.measure()
        self.look(report)
        self.assertIn("Faults", report["headings"])
        self.assertIn("shared address", report["body"])


if __name__ == "__main__":
    if not BROWSER:
        print("no browser here (chromium-headless-shell or chromium)")
        sys.exit(77)
    unittest.main(verbosity=1)
