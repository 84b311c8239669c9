#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the GPU's test programs on a card, one after the other; with --sanitize each under each of the tools, side by side: what they look for does not
# depend on time, and most of it is spent on the host.
# usage: tools/test_gpu.sh [--sanitize "TOOL..."] BUILD PROGRAM...
tools=
if [ "$1" = --sanitize ]; then
    tools=$2
    shift 2
fi
build=$1
shift
TESSERA_TEST_ENGINE=cuda
export TESSERA_TEST_ENGINE
PATH=$PATH:/usr/local/cuda/bin
logs=$build/test-gpu
rm -rf "$logs"
mkdir -p "$logs"
# one WORDS LOG COMMAND...: runs it and says how it went
one() {
    words=$1 log=$logs/$2
    shift 2
    "$@" >"$log" 2>&1
    case $? in
    0) echo "ok    $words" ;;
    77) echo "skip  $words: $(tail -n 1 "$log")" ;;
    *)
        echo "FAIL  $words"
        tail -n 25 "$log"
        touch "$logs/failed"
        ;;
    esac
}
if [ -z "$tools" ]; then
    for program; do
        one "$program" "$program" "$build/tests/$program"
    done
elif command -v compute-sanitizer >/dev/null; then
    for tool in $tools; do
        # the tests ask for too much memory on purpose; what a driver call answers is checked by the library and its tests
        [ "$tool" = memcheck ] && tool="memcheck --report-api-errors no"
        for program; do
            one "$program under ${tool%% *}" "$program.${tool%% *}" timeout 540 compute-sanitizer --tool $tool --error-exitcode 9 "$build/tests/$program" &
        done
        wait
    done
else
    echo "skip  compute-sanitizer is not installed here"
    exit 77
fi
[ ! -e "$logs/failed" ]
