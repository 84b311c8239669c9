#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the suite: builds, then test programs in parallel, one line each, and `N passed, N failed` at the end.

A check is a command. It passes with exit status 0, is skipped with 77 (the last line of its output says why) and fails
otherwise; the output of a failed check is shown, that of every check is kept in build/log. A line of a passing check that starts
with "note: " is shown too. Checks that are found by name:

    tests/test_*.c, src/ops/*/test_*.c    C programs: plain, under ASan + UBSan, and THREADED ones under TSan
    tests/oracle/test_*.py                Python against NumPy and SciPy
    python/tests/test_*.py                the Python module
    tests/cli/test_*.sh                   the command
    tests/check/*.sh                      header, symbols, install, layout, ...
    tests/fuzz/fuzz_*.c                   libFuzzer targets, FUZZ_RUNS inputs each (fewer where those take over FUZZ_SECONDS)

usage: tests/run.py [--quick] [-k WORD] [-j N] [--list]
"""
import argparse
import concurrent.futures
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LOG = os.path.join(TOP, "build", "log")
TIMEOUT = 600
FUZZ_RUNS = 100000
FUZZ_SECONDS = 30
# Programs that run under ThreadSanitizer: those whose subject is several threads.
THREADED = {"test_parallel", "test_context", "test_plan", "test_wisdom", "test_threads", "test_moves_threads", "test_gpu_cache", "test_gpu_launch", "test_vgpu_threads"}
# Programs that sanitizers have nothing to look into: minutes of a compiler that is not ours, whose figures are compared.
NOT_SANITIZED = {"test_gpu_limits"}
# Programs that look into the virtual GPU. For others it is the machine that their kernels run on, which the build under ASan + UBSan has as users have it (half of those programs' time); these have the
# fuzzers' build, where it is under both, too.
VIRTUAL_GPU = ("test_vgpu_", "test_gpu_random")
# A run has caches of kernels of its own (src/gpu/cache.c), empty when all checks run: one for each C program, whose runs under sanitizers find there what the plain one compiled, one for all the rest.
# In one for all, the suite's kernels are more than a cache keeps (src/gpu/prune.c). The tests of the cache and of the compiler take others.
CACHES = os.path.join(TOP, "build", "cache")
# C programs compile their kernels for the virtual GPU without optimising: compiling was nine tenths of the time of those looked at. Bits do not depend on it; programs and parts of them that look
# at counters, at the text of kernels or at the cache take it out of their environment. What users run is what Python, the command and the examples use here, and a card has nothing else.
FAST_KERNELS = ("c/", "asan/test_", "tsan/")
# The longest checks in the order in which they begin, so that none is left alone at the end; plain programs before those under sanitizers, which find their kernels in the cache.
FIRST = ("c/test_gpu_limits", "c/test_reduce_gpu", "c/test_correlate_gpu", "c/test_correlate_counts_gpu", "check/bits", "c/test_correlate_walks", "c/test_correlate_fft_gpu", "c/test_reduce_moments_gpu",
         "c/test_reduce_short_gpu", "c/test_reduce_segments_gpu", "c/test_correlate_shared_gpu", "c/test_correlate_flat_gpu", "c/test_lookup_gpu", "asan/test_reduce_rows",
         "asan/test_correlate_walks", "asan/test_correlate_rows", "asan/test_correlate_gpu", "asan/python_test_lifetimes", "asan/test_correlate_fft", "fuzz/fuzz_cubin")
SANITIZER_ENV = {
    # Not detect_stack_use_after_return: gcc 12 puts 64-byte vectors on 32-byte places with it (PR 110027). Not intercept_tls_get_addr: with
    # gcc 12 (up to 13, and clang 16, it is said) a block of a dlopened library (NVRTC) that lies 16 bytes into a page is taken for one of glibc before 2.25, and
    # the search for leaks dies.
    "ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1:intercept_tls_get_addr=0",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1:allocator_may_return_null=1",
}


class Check:
    def __init__(self, name, command, needs=None, timeout=TIMEOUT):
        self.name, self.command, self.needs, self.timeout = name, command, needs, timeout
        self.status = None


def found(*patterns):
    return sorted(f for p in patterns for f in glob.glob(os.path.join(TOP, p)))


def stem(path):
    return os.path.splitext(os.path.basename(path))[0]


def oracle_python():
    """An interpreter that has NumPy: Debian's packages belong to Debian's, which need not be the first in PATH."""
    for candidate in ("python3", "/usr/bin/python3", sys.executable):
        if subprocess.run([candidate, "-c", "import numpy, scipy, hypothesis"], capture_output=True).returncode == 0:
            return candidate
    return "python3"


def runs(flag):
    """Whether this processor has that instruction set."""
    try:
        return os.uname().machine == "x86_64" and flag in open("/proc/cpuinfo").read()
    except OSError:
        return False


def sanitized_slots():
    """What a build under a sanitizer compiles of each kernel: the text for AVX2 and no other. That for AVX-512 took half of such a build's time, and AddressSanitizer does not look at its masked
    reads and writes; the arrays of the plain programs, which run every instruction set, begin and end at closed pages (tests/hostile.h)."""
    return ["FLAGS_baseline=$(FLAGS_avx2)", "SLOTS=baseline"] if runs("avx2") else []


def plan(quick):
    """The builds and the checks that need them."""
    make = ["make", "-s"]
    c = [stem(f) for f in found("tests/test_*.c", "src/ops/*/test_*.c")]
    core = [t for t in c if not t.startswith(("test_io_", "test_cli_"))]
    python, oracle = found("tests/oracle/test_*.py"), oracle_python()
    builds = [Check("build gcc -Werror", make + ["WERROR=1", "all", "tests", "python", "PYTHON=" + oracle])]
    checks = [Check("oracle/" + stem(f), [oracle, f], builds[0].name) for f in python]
    checks += [Check("c/" + t, ["build/tests/" + t], builds[0].name) for t in c]
    checks += [Check("python/" + stem(f), ["env", "PYTHONPATH=build/python", oracle, f], builds[0].name) for f in found("python/tests/test_*.py")]
    if quick:
        return builds, checks
    checks += [Check("cli/" + stem(f), ["sh" if not open(f).readline().startswith("#!/bin/bash") else "bash", f], builds[0].name)
               for f in found("tests/cli/test_*.sh")]
    checks += [Check("check/" + stem(f), ["sh", f], builds[0].name) for f in found("tests/check/*.sh")]

    def build(name, goals, *settings):
        builds.append(Check("build " + name, make + list(settings) + goals))
        return builds[-1].name

    clang = shutil.which("clang")
    asan = build("asan+ubsan", ["all", "tests", "python"], "PYTHON=" + oracle, "BUILD=build-asan", "SANITIZE=address,undefined", *(["SANITIZE_VGPU="] if clang else []),
                 *sanitized_slots())
    if clang:
        # For its warnings and for the library's bits by AVX2's instructions (check/bits), whose kernels are fewer than AVX-512's: at -O1 in two thirds of the time; what nothing
        # runs is only read, the tests' own code and other instructions, but for those of the baseline, without which there is no library.
        goals, settings = ["all", "tests-read"], ["CC=clang", "BUILD=build-clang", "WERROR=1", "OPT=-O1 -g0"]
        if runs("avx2"):
            goals, settings = goals + ["avx512-read"], settings + ["SLOTS=baseline avx2", "FLAGS_baseline=-O0"]
        build("clang -Werror", goals, *settings)
    own = [t for t in c if clang and t.startswith(VIRTUAL_GPU)]
    checks += [Check("asan/" + t, ["build-asan/tests/" + t], asan) for t in c if t not in NOT_SANITIZED and t not in own]
    runtime = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True).stdout.strip()
    checks += [Check("asan/python_" + t, ["env", "PYTHONPATH=build-asan/python", "LD_PRELOAD=" + runtime, "ASAN_OPTIONS=detect_leaks=0", oracle,
                                          "python/tests/" + t + ".py"], asan) for t in ("test_arrays", "test_lifetimes", "test_numpy", "test_profile")]
    tsan = build("tsan", ["build-tsan/tests/" + t for t in core if t in THREADED], "BUILD=build-tsan", "SANITIZE=thread")
    checks += [Check("tsan/" + t, ["setarch", "-R", "build-tsan/tests/" + t], tsan) for t in core if t in THREADED]
    fuzzers = [stem(f) for f in found("tests/fuzz/fuzz_*.c")]
    if clang:
        fuzz = build("fuzzers", ["fuzzers"] + ["build-fuzz/tests/" + t for t in own], "CC=clang", "BUILD=build-fuzz", "SANITIZE=fuzzer-no-link,address,undefined")
        checks += [Check("asan/" + t, ["build-fuzz/tests/" + t], fuzz) for t in own]
        for f in fuzzers:
            kept = os.path.join("tests/fuzz/corpus", f[len("fuzz_"):])
            grown = os.path.join("build-fuzz/corpus", f)
            shutil.rmtree(os.path.join(TOP, grown), ignore_errors=True)  # so that every run has the same start
            os.makedirs(os.path.join(TOP, grown))
            words = ["-dict=" + kept + ".dict"] if os.path.exists(os.path.join(TOP, kept + ".dict")) else []
            checks.append(Check("fuzz/" + f, ["build-fuzz/fuzz/" + f, "-runs=%d" % FUZZ_RUNS, "-seed=1", "-max_len=4096", "-timeout=20",
                                              "-max_total_time=%d" % FUZZ_SECONDS, "-artifact_prefix=build-fuzz/", "-verbosity=0", "-rss_limit_mb=4096", "-error_exitcode=1",
                                              "-print_final_stats=1"] + words + [grown, kept], fuzz))
    return builds, checks


def cache(check):
    kind, _, name = check.name.partition("/")
    return os.path.join(CACHES, name if name.startswith("test_") and kind in ("c", "asan", "tsan") else "others")


def run(check):
    log = os.path.join(LOG, re.sub(r"[^\w.+-]+", "_", check.name) + ".txt")
    start = time.monotonic()
    with open(log, "wb") as out:
        try:
            process = subprocess.Popen(check.command, cwd=TOP, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                       env={**SANITIZER_ENV, **os.environ, "TESSERA_CACHE": cache(check),
                                            **({"TESSERA_UNOPTIMISED": "1"} if check.name.startswith(FAST_KERNELS) else {})}, start_new_session=True)
        except OSError as error:
            out.write(str(error).encode())
            code = -1
        else:
            try:
                code = process.wait(check.timeout)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                out.write(b"\nstopped after %d s\n" % check.timeout)
                code = -1
    check.seconds = time.monotonic() - start
    check.output = open(log, errors="replace").read()
    check.status = {0: "ok", 77: "skip"}.get(code, "FAIL")
    return check


def report(check):
    lines = check.output.rstrip().splitlines()
    reason = ": " + (lines[-1] if lines else "no reason given") if check.status == "skip" else ""
    print("%-4s %6.1f s  %s%s" % (check.status, check.seconds, check.name, reason), flush=True)
    if check.status == "FAIL":
        shown = lines if len(lines) <= 120 else lines[:40] + ["[... %d lines left out]" % (len(lines) - 120)] + lines[-80:]
        for line in shown:
            print("     | " + line)
    elif check.status == "ok":
        for line in lines:
            if line.startswith("note: "):
                print("     | " + line[len("note: "):])
    sys.stdout.flush()


def in_turn(checks, at_once):
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        for done in concurrent.futures.as_completed([pool.submit(run, c) for c in checks]):
            report(done.result())


def main():
    arguments = argparse.ArgumentParser(description="Runs Tessera's test suite.")
    arguments.add_argument("--quick", action="store_true", help="the gcc build, the C programs and the oracles only")
    arguments.add_argument("-k", metavar="WORD", default="", help="only checks whose name contains WORD, and the builds they need")
    arguments.add_argument("-j", metavar="N", type=int, default=max(1, min(len(os.sched_getaffinity(0)), 16)), help="checks at a time")
    arguments.add_argument("--list", action="store_true", help="name the checks and stop")
    chosen = arguments.parse_args()
    os.makedirs(LOG, exist_ok=True)
    os.chdir(TOP)
    # A shell starts background jobs with these ignored, and programs under test would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    builds, checks = plan(chosen.quick)
    if chosen.k:
        checks = [c for c in checks if chosen.k in c.name]
        builds = [b for b in builds if chosen.k in b.name or any(c.needs == b.name for c in checks)]
    if chosen.list:
        print("\n".join(c.name for c in builds + checks))
        return 0
    if not chosen.k:
        shutil.rmtree(CACHES, ignore_errors=True)
    os.makedirs(CACHES, exist_ok=True)
    start = time.monotonic()
    # Two builds side by side: while one waits for its last file, the other has work.
    at_once = min(2, len(builds), chosen.j)
    builds.sort(key=lambda b: b.name == "build tsan")  # the shortest last
    for build in builds:
        build.command.insert(1, "-j%d" % (chosen.j // at_once))
        build.timeout = 2 * TIMEOUT
    in_turn(builds, at_once)
    broken = {b.name for b in builds if b.status == "FAIL"}
    for check in checks:
        if check.needs in broken:
            check.status, check.seconds, check.output = "FAIL", 0.0, "not run: the %s failed" % check.needs
            report(check)
    in_turn(sorted((c for c in checks if c.status is None), key=lambda c: FIRST.index(c.name) if c.name in FIRST else len(FIRST)), chosen.j)
    everything = builds + checks
    count = {s: sum(c.status == s for c in everything) for s in ("ok", "FAIL", "skip")}
    failed = [c.name for c in everything if c.status == "FAIL"]
    print("\n%.0f s" % (time.monotonic() - start) + ("; failed: " + ", ".join(failed) if failed else ""))
    print("%d passed, %d failed" % (count["ok"], count["FAIL"]) + (", %d skipped" % count["skip"] if count["skip"] else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
