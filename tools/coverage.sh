#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make coverage: prints how much of the library the C tests reach. Fails only when a test fails or nothing was measured: a number is no goal.
# The longest are left out: they take most of the time of all, and run in the other builds; test_gpu_limits is a compiler's work, not ours.
long='test_correlate_rows test_correlate_walks test_correlate_gpu test_reduce_gpu test_gpu_limits'
cd "$(dirname "$0")/.." || exit 1
command -v gcovr >/dev/null || { echo "no gcovr here" >&2; exit 1; }
make -s -j"$(nproc)" BUILD=build-coverage OPT=-O1 CFLAGS="--coverage" LDFLAGS="--coverage" all tests || exit 1
find build-coverage -name '*.gcda' -delete
find build-coverage/tests -name 'test_*' ! -name '*.*' $(printf " ! -name %s" $long) | sort | xargs -P "$(nproc)" -n 1 sh -c '
    "$0" >"$0.log.txt" 2>&1 || [ $? = 77 ] || { echo "failed: $0"; tail -n 40 "$0.log.txt"; exit 1; }' || exit 1
# gcovr 5 takes a function for one place in its file, and a word that is written once per instruction set has several: the best build alone is looked at.
best=baseline
for slot in avx2 avx512vbmi; do grep -qw $slot /proc/cpuinfo && best=${slot%vbmi}; done
for slot in baseline avx2 avx512; do [ $slot = $best ] || find build-coverage -name "*.$slot.gc??" -delete; done
gcovr --root . --object-directory build-coverage --exclude 'tests/' --exclude '.*/test_[^/]*$' --exclude-throw-branches \
    --gcov-ignore-parse-errors --txt build-coverage/coverage.txt --html-details build-coverage/coverage.html --print-summary >build-coverage/summary.txt 2>build-coverage/log.txt ||
    { cat build-coverage/log.txt; exit 1; }
grep -E '^lines: [1-9]' build-coverage/summary.txt >/dev/null || { echo "failed: nothing was measured"; cat build-coverage/summary.txt; exit 1; }
echo "coverage of the C tests but $long: $(grep -E '^lines' build-coverage/summary.txt); $(grep -E '^branches' build-coverage/summary.txt)"
echo "by file in build-coverage/coverage.txt, by line in build-coverage/coverage.html"
