#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the results of bench/peers.py as one SVG: for each work a bar as long as the fraction of the limit that Tessera reaches, and a mark where the best
other library stands.

usage: bench/chart.py RESULTS.json [--threads N] > chart.svg
"""
import argparse
import json
from xml.sax.saxutils import escape

WIDTH, LABEL, BAR, ROW = 1080, 360, 460, 18
COLOURS = {"memory": "#3b7dd8", "cache": "#2aa198", "fma": "#c77a1e", "random reads": "#8457b0"}


def best_peer(record):
    peers = [(c["seconds"], name) for name, c in record["columns"].items() if name != "tessera" and "another result" not in c.get("note", "")]
    return min(peers) if peers else None


def chart(results, threads):
    """Bars reach 100 % at BAR pixels; what passes the limit is cut at 110 %."""
    rows = [r for r in results["results"] if r["threads"] == threads]
    height = 74 + ROW * (len(rows) + len({r["operation"] for r in rows}))
    lines = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="11">' % (WIDTH, height),
             '<rect width="100%" height="100%" fill="white"/>',
             '<text x="10" y="18" font-size="14">Fraction of the machine\'s limit, %d thread%s</text>' % (threads, "s" * (threads > 1)),
             '<text x="10" y="34" fill="#555">%s; %s, commit %s</text>' % tuple(escape(results[k]) for k in ("machine", "date", "commit"))]
    at = 10
    for name, colour in COLOURS.items():
        lines.append('<rect x="%d" y="42" width="10" height="10" fill="%s"/><text x="%d" y="51">%s</text>' % (at, colour, at + 14, name))
        at += 40 + 7 * len(name)
    lines.append('<path d="M%d 42v10" stroke="black" stroke-width="2"/><text x="%d" y="51">best other library</text>' % (at + 4, at + 12))
    y, operation = 62, None
    for percent in (0, 25, 50, 75, 100):
        x = LABEL + BAR * percent / 100
        lines.append('<path d="M%g 60V%d" stroke="#ccc"/><text x="%g" y="58" text-anchor="middle" fill="#777">%d %%</text>' % (x, height - 8, x, percent))
    for r in rows:
        if r["operation"] != operation:
            operation = r["operation"]
            y += ROW
            lines.append('<text x="10" y="%d" font-weight="bold">%s</text>' % (y - 5, operation))
        seconds = r["columns"]["tessera"]["seconds"]
        fraction = r.get("fraction_of_limit") or r["limit_seconds"] / seconds  # older results have no fraction
        y += ROW
        lines.append('<text x="%d" y="%d" text-anchor="end">%s</text>' % (LABEL - 8, y - 5, escape(r["workload"])))
        lines.append('<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>' % (LABEL, y - 15, BAR * min(fraction, 1.1), ROW - 5, COLOURS[r["bound"]]))
        text = "%.0f %%  %.3g ms" % (100 * fraction, seconds * 1e3)
        peer = best_peer(r)
        if peer:
            x = LABEL + BAR * min(r["limit_seconds"] / peer[0], 1.1)
            lines.append('<path d="M%.1f %dv%d" stroke="black" stroke-width="2"/>' % (x, y - 16, ROW - 3))
            text += ",  %s %.3g ms (%.2f)" % (peer[1], peer[0] * 1e3, peer[0] / seconds)
        lines.append('<text x="%d" y="%d">%s</text>' % (LABEL + BAR * 1.1 + 8, y - 5, escape(text)))
    return "\n".join(lines) + "\n</svg>\n"


def main():
    parser = argparse.ArgumentParser(description="Draws results of bench/peers.py as SVG.")
    parser.add_argument("results")
    parser.add_argument("--threads", type=int, help="default: the most that were measured")
    options = parser.parse_args()
    results = json.load(open(options.results))
    print(chart(results, options.threads or max(r["threads"] for r in results["results"])), end="")


if __name__ == "__main__":
    main()
