#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tessera and other libraries on the same arrays, in turns, beside the machine's limits.

    make bench-peers                       # installs the other libraries below build/peers, then runs everything
    make bench-peers PEERS_FLAGS='--only correlate -j 1 --merge'    # one operation, its lines beside those of earlier runs
    build/peers/bin/python bench/peers.py --only "4096 x 4096" -j 1
    build/peers/bin/python bench/peers.py --table results.json

Each round runs every column once; a column's time is the median of its rounds (at least five, fewer for columns that are far behind: `runs` tells). Before
anything is timed each column's result is compared with Tessera's. Limits are measured first, with as many threads, and the one that binds a work again before
and after each run of Tessera. Results are JSON with the machine, the
versions and the command; --table prints one again, bench/chart.py draws it.
"""
import argparse
import datetime
import json
import mmap
import os
import statistics
import subprocess
import sys
import time

import columns
import library

TOP = library.TOP
SLOW_SECONDS, FAR_BEHIND, SHORT_SECONDS = 0.5, 5, 0.003
PAUSE = 0.02  # seconds before each run with several threads
QUICK_COLUMNS = "numpy,opencv,fftw,openblas,torch"


def block(shape, dtype, pages):
    """A compact array of its own pages, none of them touched yet."""
    np = columns.np
    dtype, count = np.dtype(dtype), 1
    for size in shape:
        count *= size
    memory = mmap.mmap(-1, max(count * dtype.itemsize, 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(15 if pages == "ordinary" else 14)  # MADV_NOHUGEPAGE, MADV_HUGEPAGE
    return np.frombuffer(memory, dtype, count).reshape(shape)


def fill(array, below=None):
    """Random values: whole numbers or coordinates below `below`, else integers over their range and floats in -1 .. 1. Not zeros: lines of zeros are
    written faster than others."""
    np = columns.np
    random, flat = np.random.default_rng(1), array.reshape(-1)
    for at in range(0, flat.size, 1 << 22):
        part = flat[at:at + (1 << 22)]
        kind = part.dtype
        if below and kind.kind == "f":
            part[:] = random.random(part.size, "float32") * np.float32(below - 1)
        elif below:
            part[:] = random.integers(0, below, part.size, kind)
        elif kind.kind == "c":
            part.view("float64")[:] = random.random(2 * part.size) * 2 - 1
        elif kind.kind == "f":
            part[:] = random.random(part.size, kind) * 2 - 1
        else:
            part[:] = random.integers(0, np.iinfo(kind).max, part.size, kind)  # never the greatest, behind which no more would be read
    return array


def make_arrays(work, pages):
    n, shape = library.NUMPY, work["shape"]
    kind = n[work["type"]]
    if work["operation"] == "lookup":
        index = fill(block(shape, n[work["index"]], pages), work["table"])
        return {"in": fill(block([work["table"]], kind, pages)), "index": index, "out": block(shape, kind, pages)}
    a = {"in": fill(block(shape, kind, pages)), "masks": []}
    if work["operation"] == "transpose":
        a["out"] = a["in"] if work["inplace"] else block([shape[p] for p in work["perm"]], kind, pages)
    elif work["operation"] == "reduce":
        whole = {"argmax": "int64"}.get(work["reduction"]) or (kind if work["reduction"] != "sum" or kind[0] == "f" else
                                                               "uint64" if kind[0] == "u" else "int64")
        a["out"] = block([] if work["axis"] is None else [s for d, s in enumerate(shape) if d != work["axis"]], whole, pages)
    else:
        for sizes in ([[m] for m in work["mask"]] if work["separable"] else [work["mask"]]):
            mask = block(sizes, n[work["weights"]], pages)
            if mask.dtype.kind == "i":  # small ones, as cli/workload.c has them
                mask[:] = columns.np.random.default_rng(1).integers(-8, 9, mask.shape)
            a["masks"].append(mask if mask.dtype.kind == "i" else fill(mask))
        a["out"] = block(shape, kind, pages)
    return a


def costs(work, arrays, limits):
    """What the work takes of each limit, as cli/limit.c has it: the name of the sum that it belongs to, the limit, the amount."""
    cached = work["cached"]
    read = arrays["in"].nbytes + (arrays["index"].nbytes if "index" in arrays else 0)
    write = arrays["out"].nbytes
    both, memory = min(read, write), "cache" if cached else "memory"

    def faster(kind):
        return max(kind, "plain_" + kind, key=limits.get)
    found = [(memory, "cached_copy_bytes_per_s" if cached else faster("copy_bytes_per_s"), 2 * both),
             (memory, "cached_read_bytes_per_s" if cached else "read_bytes_per_s" if read >= write else faster("write_bytes_per_s"), read + write - 2 * both)]
    if work["operation"] == "correlate":
        found.append(("fma", "f64_flops_per_s" if work["type"] == "f64" else "f32_flops_per_s", columns.flops(work)))
    if work["operation"] == "lookup" and arrays["in"].nbytes >= 32 << 20:
        found.append(("random reads", "random_reads_per_s", arrays["index"].size))
    return [c for c in found if c[2] > 0]


def binding(seconds):
    """Pairs of a sum's name and seconds: the longest sum."""
    sums = {}
    for name, took in seconds:
        sums[name] = sums.get(name, 0) + took
    return max(((took, name) for name, took in sums.items()))


class Meter:
    """Measures the limit of a work in turns with it, over arrays of its own: a part of them at a time, so that what it reads has left the caches."""
    WINDOWS = 4

    def __init__(self, tessera, limits, pages):
        self.tessera, self.limits, self.turn = tessera, limits, 0
        self.arrays = [block([limits["array_bytes"]], "uint8", pages) for _ in range(2)]
        for array in self.arrays:
            array[:] = 1

    def read(self, work, arrays):
        """The least seconds that the limits allow now. Amounts that by the first limits take less than half of the longest sum are not measured."""
        wanted, seconds = costs(work, arrays, self.limits), []
        first = [(name, amount / self.limits[limit]) for name, limit, amount in wanted]
        least = binding(first)[0] / 2
        for (name, took), (_, limit, amount) in zip(first, wanted):
            if sum(t for n, t in first if n == name) > least:
                window = len(self.arrays[0]) // self.WINDOWS
                at = self.turn % self.WINDOWS * window
                part = slice(None) if limit.startswith("random") else slice(at, at + window)
                self.turn += 1
                took = amount / self.tessera.time_limit(limit, *(a[part] for a in self.arrays))
            seconds.append((name, took))
        return binding(seconds)[0]


def agrees(expected, got, run):
    """Whether a result is Tessera's: the same numbers, or near ones where the library rounds in another way. Integers may be off by one where it
    approximates."""
    np = columns.np
    got = np.asarray(got).reshape(expected.shape)
    some = slice(None, None, max(1, expected.size // 100000))
    e, g = expected.reshape(-1)[some].astype("complex128"), got.reshape(-1)[some].astype("complex128")
    scale = max(float(np.abs(e).max()), 1e-30)
    if expected.dtype.kind in "iu":
        return bool(np.abs(e - g).max() <= (1 if run.approximate and expected.dtype.itemsize == 1 else 1e-9 * scale if run.approximate else 0))
    return bool(np.abs(e - g).max() <= 2e-4 * scale)


def timed(call, repeats):
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats


class Column:
    """call: None for a column that is told of and not run."""

    def __init__(self, name, call, note, first):
        self.name, self.call, self.note, self.times = name, call, note, [first]
        self.repeats = max(1, min(1000, int(SHORT_SECONDS / first)))


def candidates(work, arrays, tessera, threads, wanted, known):
    """The columns that offer the work, each run once and checked. known: records of fewer threads; what was far behind there is not run again, for no number
    of threads that this script is for makes up for it."""
    np = columns.np
    first = timed(tessera, 1)
    expected = arrays["out"].copy() if not work.get("inplace") else None
    found = [Column("tessera", tessera, "", first)]
    before = known[-1] if known else None
    for name in wanted:
        earlier = before["columns"].get(name) if before else None
        if earlier and earlier["seconds"] > FAR_BEHIND * before["columns"]["tessera"]["seconds"]:
            notes = [earlier.get("note", ""), "not run: far behind with %d thread%s" % (before["threads"], "s" * (before["threads"] > 1))]
            found.append(Column(name, None, "; ".join(n for n in notes if n), earlier["seconds"]))
            continue
        run = columns.COLUMNS[name](work, arrays, threads)
        if not run:
            continue
        start = time.perf_counter()
        result = run.call()
        first = time.perf_counter() - start
        note = run.note
        if expected is not None:
            got = result if isinstance(result, (np.ndarray, np.generic)) else arrays["out"]
            if not agrees(expected, got, run):
                note = (note + "; " if note else "") + "another result"
        found.append(Column(name, run.call, note, first))
    return found


def measure(found, rounds, threads, meter):
    """Replaces the columns' first times by those of rounds, in turns. Columns that are far behind get one more run, slow ones among them keep their first. With
    several threads each run waits first: other libraries' threads look for work for some milliseconds before they sleep, on a processor that the next column
    needs. Gives the limit of each run of the first column: the mean of those measured before and after it by meter()."""
    best = min(c.times[0] for c in found)
    limits = []
    for c in found:
        if not c.call:
            c.rounds = 0
            continue
        behind = c is not found[0] and c.times[0] > FAR_BEHIND * best
        c.rounds = rounds if not behind else 0 if c.times[0] > SLOW_SECONDS else 1
    for r in range(rounds):
        for c in found:
            if r < c.rounds:
                if threads > 1:
                    time.sleep(PAUSE)
                before = meter() if c is found[0] else 0
                if before and c.times[0] < SHORT_SECONDS:
                    c.call()  # what the meter threw out of the caches is back
                took = timed(c.call, c.repeats)
                c.times = c.times + [took] if r else [took]
                if before:
                    limits.append((before + meter()) / 2)
    return limits


def compare(work, tessera, meter, threads, options, wanted, known):
    arrays = make_arrays(work, options.pages)
    run = tessera.plan(work, arrays)
    strategy, isa = run.report()
    found = candidates(work, arrays, run, threads, wanted, known)
    limits = measure(found, options.rounds, threads, lambda: meter.read(work, arrays))
    run.free()
    wanted_costs = costs(work, arrays, meter.limits)
    moved = sum(a.nbytes for name, a in arrays.items() if name != "masks")
    return {"workload": work["name"], "operation": work["operation"], "threads": threads, "pages": options.pages, "strategy": strategy, "isa": isa,
            "limit_seconds": statistics.median(limits), "bound": binding((n, a / meter.limits[limit]) for n, limit, a in wanted_costs)[1],
            "fraction_of_limit": statistics.median(limit / took for limit, took in zip(limits, found[0].times)), "bytes": moved,
            "flops": sum(a for n, _, a in wanted_costs if n == "fma"),
            "columns": {c.name: {"seconds": statistics.median(c.times), "least_seconds": min(c.times), "runs": len(c.times) if c.call else 0,
                                 **({"note": c.note} if c.note else {})} for c in found}}


def best_peer(record):
    peers = {n: c for n, c in record["columns"].items() if n != "tessera" and "another result" not in c.get("note", "")}
    return min(peers.items(), key=lambda item: item[1]["seconds"]) if peers else (None, None)


def fraction(record):
    """Of the limit, the median over the rounds; older records have two medians."""
    return record.get("fraction_of_limit") or record["limit_seconds"] / record["columns"]["tessera"]["seconds"]


def line(record):
    seconds = record["columns"]["tessera"]["seconds"]
    rate = "%8.2f GB/s" % (record["bytes"] / seconds * 1e-9) if record["bound"] != "fma" else "%7.1f GFLOP/s" % (record["flops"] / seconds * 1e-9)
    name, peer = best_peer(record)
    against = "%-9s %10.3f ms %6.2f" % (name, peer["seconds"] * 1e3, peer["seconds"] / seconds) if name else "-"
    return "%-48s %d %10.3f ms %-15s %4.0f %% of %-12s %-24s %s" % (record["workload"], record["threads"], seconds * 1e3, rate,
                                                                    100 * fraction(record), record["bound"], record["strategy"], against)


HEAD = "%-48s %s %13s %-15s %-21s %-24s %s" % ("work", "threads", "tessera", "", "", "strategy", "best peer, its time, times as long as tessera")


def limits_line(limits):
    g = {k: v * 1e-9 for k, v in limits.items()}
    return ("%d thread%s: read %.1f, copy %.1f, write %.1f GB/s; ordinary stores: copy %.1f, write %.1f GB/s; in cache: read %.0f, copy %.0f GB/s; f32 %.0f, f64 %.0f "
            "GFLOP/s; random reads %.0f M/s" % (limits["threads"], "s" * (limits["threads"] > 1), g["read_bytes_per_s"], g["copy_bytes_per_s"],
                                                g["write_bytes_per_s"], g["plain_copy_bytes_per_s"], g["plain_write_bytes_per_s"], g["cached_read_bytes_per_s"],
                                                g["cached_copy_bytes_per_s"], g["f32_flops_per_s"], g["f64_flops_per_s"], limits["random_reads_per_s"] * 1e-6))


def machine():
    fields = {}
    for text in open("/proc/cpuinfo"):
        name, _, value = text.partition(":")
        fields.setdefault(name.strip(), value.strip())
    return "%s, family %s, model %s, %d processors; Linux %s" % (fields.get("model name", "unknown processor"), fields.get("cpu family", "?"),
                                                                 fields.get("model", "?"), os.cpu_count(), os.uname().release)


def commit():
    done = subprocess.run(["git", "-C", TOP, "describe", "--always", "--dirty"], capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def print_all(results):
    print("%(machine)s\n%(date)s, commit %(commit)s; %(versions)s\n$ %(command)s" % {**results, "versions": ", ".join(
        "%s %s" % item for item in results["versions"].items())})
    if "note" in results:
        print(results["note"])
    for limits in results["limits"]:
        print("limits with " + limits_line(limits))
    print("\n" + HEAD)
    for record in results["results"]:
        print(line(record))


def arguments():
    parser = argparse.ArgumentParser(description="Measures Tessera beside other libraries.")
    parser.add_argument("--only", default="", help="workloads that have this text in their names, or those of an operation; several with | between them")
    parser.add_argument("--quick", action="store_true", help="the quick workloads and libraries only: some three minutes")
    parser.add_argument("-j", type=int, action="append", metavar="N", help="threads (may be given several times; default: 1, and all processors)")
    parser.add_argument("--isa", default="auto", help="highest instruction set of Tessera")
    parser.add_argument("--pages", choices=["huge", "ordinary"], default="huge", help="pages of the arrays (default: huge)")
    parser.add_argument("--rounds", type=int, default=5, help="timed rounds (default 5)")
    parser.add_argument("--columns", help="other libraries, with commas between them")
    parser.add_argument("--seconds", type=float, default=2, help="for the limits, each time (default 2)")
    parser.add_argument("--output", help="writes JSON here")
    parser.add_argument("--merge", action="store_true", help="keeps what the output holds of other workloads, threads or pages: a long run in pieces")
    parser.add_argument("--table", metavar="FILE", help="prints the table of an earlier output, and stops")
    return parser.parse_args()


def main():
    options = arguments()
    if options.table:
        print_all(json.load(open(options.table)))
        return 0
    if not columns.np:
        sys.exit("NumPy is needed: `make bench-peers` installs it")
    words = [t for t in options.only.split("|") if t]
    chosen = [w for w in library.workloads() if (not words or any(t in w["name"] or t == w["operation"] for t in words)) and (w["quick"] or not options.quick)]
    results = {"machine": machine(), "date": datetime.date.today().isoformat(), "commit": commit(), "command": " ".join(["bench/peers.py"] + sys.argv[1:]),
               "versions": columns.versions(), "limits": [], "results": []}
    wanted = (options.columns or (QUICK_COLUMNS if options.quick else ",".join(columns.COLUMNS))).split(",")
    before = json.load(open(options.output)) if options.merge and options.output and os.path.exists(options.output) else None
    start = time.perf_counter()
    print(HEAD, flush=True)
    for threads in sorted(set(options.j or [1, len(os.sched_getaffinity(0))])):
        tessera = library.Library(threads, options.isa)
        limits = tessera.limits(options.seconds)
        results["limits"].append(limits)
        meter = Meter(tessera, limits, options.pages)
        for work in chosen:
            record = compare(work, tessera, meter, threads, options, [c for c in wanted if c],
                             [r for r in results["results"] if r["workload"] == work["name"]])
            results["results"].append(record)
            print(line(record), flush=True)
            if options.output:  # each time: a run that is cut short keeps what it has
                write(results, before, options.output)
        tessera.close()
    print("%.1f minutes" % ((time.perf_counter() - start) / 60))
    return 0


def write(new, before, path):
    """before: what the file held of an earlier run that is kept, or None."""
    def key(r):
        return r["workload"], r["threads"], r["pages"], r["isa"]
    results = dict(new)
    if before:
        measured = {key(r) for r in new["results"]}
        results["results"] = [r for r in before["results"] if key(r) not in measured] + new["results"]
        results["limits"] = before["limits"] + new["limits"]
        results["command"] = "\n$ ".join(dict.fromkeys(before["command"].split("\n$ ") + [new["command"]]))
        if "note" in before:
            results["note"] = before["note"]
    order = {w["name"]: k for k, w in enumerate(library.workloads())}
    results["results"] = sorted(results["results"], key=lambda r: (r["threads"], r["pages"], order.get(r["workload"], len(order))))
    with open(path, "w") as file:
        json.dump(results, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    sys.exit(main())
