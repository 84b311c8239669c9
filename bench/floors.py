#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether each work reaches its floor (floors.txt): `tessera bench` on it several times, instruction sets, pages and threads in turns, the median share.

A work below its floor is marked and counted; the exit status is 1 when there is one. Give the machine to this alone: memory that another program uses makes
shares of both kinds, too high and too low."""
import argparse
import json
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
COLUMNS = (("avx512", "huge"), ("avx512", "ordinary"), ("avx2", "huge"))


def floors():
    for text in open(os.path.join(HERE, "floors.txt")):
        if not text.startswith("#"):
            *values, work = text.rstrip("\n").split(None, len(COLUMNS))
            yield work, dict(zip(COLUMNS, values))


def bench(options, work, isa, pages, threads):
    done = subprocess.run([options.tessera, "bench", "--only", work, "--json", "-q", "--seconds", str(options.seconds), "--isa", isa, "--pages", pages, "-j",
                           str(threads)], stdout=subprocess.PIPE, check=True)
    return next(r for r in json.loads(done.stdout)["results"] if r["workload"] == work)


def reached(options, work, floor, isa, pages, threads):
    """A line, and whether the floor is reached: in percent of the limit, or below milliseconds (of one thread)."""
    runs = [bench(options, work, isa, pages, threads) for _ in range(options.runs)]
    shares = sorted(100 * r["fraction_of_limit"] for r in runs)
    seconds = statistics.median(r["seconds"] for r in runs)
    share = statistics.median(shares)
    held = seconds * 1e3 <= float(floor[:-2]) if floor.endswith("ms") else share >= float(floor)
    return held, "%-52s %-6s %-8s %d %10.3f ms %5.0f %% of %-6s (%.0f to %.0f)  floor %-6s%s" % (
        work, isa, pages, threads, seconds * 1e3, share, runs[0]["bound"], shares[0], shares[-1], floor, "" if held else "  BELOW")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--tessera", default=os.path.join(HERE, "..", "build", "tessera"))
    parser.add_argument("--only", default="", help="works that have this text in their names")
    parser.add_argument("-j", type=int, action="append", metavar="N", help="threads (may be given several times; default: 1, and all processors)")
    parser.add_argument("--runs", type=int, default=3, help="of the command, each with limits of its own (default 3)")
    parser.add_argument("--seconds", type=float, default=0.1, help="of each run (default 0.1)")
    options = parser.parse_args()
    isas = json.loads(subprocess.run([options.tessera, "devices", "--json"], stdout=subprocess.PIPE, check=True).stdout)["cpu"]["isas"]
    met = below = 0
    for threads in sorted(set(options.j or [1, len(os.sched_getaffinity(0))])):
        for isa, pages in COLUMNS:
            for work, floor in floors():
                if isa not in isas or floor[isa, pages] == "-" or options.only not in work or (threads > 1 and floor[isa, pages].endswith("ms")):
                    continue
                held, line = reached(options, work, floor[isa, pages], isa, pages, threads)
                met, below = met + held, below + (not held)
                print(line, flush=True)
    print("%d reach their floors, %d do not" % (met, below))
    return below > 0


if __name__ == "__main__":
    sys.exit(main())
