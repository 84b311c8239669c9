#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the GPU's test programs on a card; with --sanitize each under each of the tools. As many side by side as there are processors: most of their time goes
# into compiling kernels and into the CPU's results, one core each, and what they look for does not depend on time. test_gpu_large goes last and alone, because it
# takes 9 GB of the card's memory. A sanitizer that says of itself that it lost track of a launch, as racecheck does now and then beside others, is run again
# alone, once.
# usage: tools/test_gpu.sh [--sanitize "TOOL..."] BUILD PROGRAM...      0: all passed, 1: one failed, 77: no sanitizer here
tools=plain
if [ "$1" = --sanitize ]; then
    tools=$2
    shift 2
fi

# --one TOOL BUILD PROGRAM: one of them, and says how it went
if [ "$1" = --one ]; then
    tool=$2 build=$3 program=$4
    if [ "$tool $program" = "racecheck test_correlate_apart_gpu" ]; then
        echo "skip  $program under racecheck: warps meet in twos there, of which it reports hazards that are none (bench/results/2026-11-29-h200-racecheck.txt)"
        exit 0
    fi
    case $tool in
    plain) words=$program command= ;;
    # the tests ask for too much memory on purpose; what a driver call answers is checked by the library and its tests
    memcheck) words="$program under memcheck" command="timeout 540 compute-sanitizer --tool memcheck --report-api-errors no --error-exitcode 9" ;;
    *) words="$program under $tool" command="timeout 540 compute-sanitizer --tool $tool --error-exitcode 9" ;;
    esac
    log=$build/test-gpu/$program.$tool
    start=$(date +%s)
    $command "$build/tests/$program" >"$log" 2>&1
    status=$?
    words="$words ($(($(date +%s) - start)) s)"
    case $status in
    0) echo "ok    $words" ;;
    9)
        if grep -q 'Internal Sanitizer Error' "$log" && [ ! -e "$log.lost" ]; then
            mv "$log" "$log.lost"
            echo "again $words: the sanitizer lost track of a launch"
            echo "$tool $build $program" >>"$build/test-gpu/again"
        else
            touch "$build/test-gpu/failed"
            printf 'FAIL  %s\n%s\n' "$words" "$(tail -n 25 "$log")"
        fi
        ;;
    77) echo "skip  $words: $(tail -n 1 "$log")" ;;
    *)
        touch "$build/test-gpu/failed"
        printf 'FAIL  %s\n%s\n' "$words" "$(tail -n 25 "$log")"
        ;;
    esac
    exit 0
fi

build=$1
shift
TESSERA_TEST_ENGINE=cuda
export TESSERA_TEST_ENGINE
PATH=$PATH:/usr/local/cuda/bin
if [ "$tools" != plain ] && ! command -v compute-sanitizer >/dev/null; then
    echo "skip  compute-sanitizer is not installed here"
    exit 77
fi
rm -rf "$build/test-gpu"
mkdir -p "$build/test-gpu"
# The longest begin first, with whatever tool.
list() {
    for program; do
        for tool in $tools; do
            echo "$tool $build $program"
        done
    done
}
longest() { list "$@" | grep test_correlate_gpu; list "$@" | grep -v -e test_correlate_gpu -e test_gpu_large; }
longest "$@" | xargs -r -n 3 -P "$(nproc)" sh "$0" --one
list "$@" | grep test_gpu_large | xargs -r -n 3 sh "$0" --one
[ ! -e "$build/test-gpu/again" ] || xargs -n 3 sh "$0" --one <"$build/test-gpu/again"
[ ! -e "$build/test-gpu/failed" ]
