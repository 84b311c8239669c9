#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the GPU's test programs on a card, then those that are small under compute-sanitizer's four tools where that is installed.
# usage: tools/test_gpu.sh BUILD PROGRAM...
build=$1
shift
TESSERA_TEST_ENGINE=cuda
export TESSERA_TEST_ENGINE
PATH=$PATH:/usr/local/cuda/bin
failed=0
say() {
    case $2 in
    0) echo "ok    $1" ;;
    77) echo "skip  $1: $(tail -n 1 "$build/test_gpu.log")" ;;
    *)
        echo "FAIL  $1 ($2)"
        tail -n 25 "$build/test_gpu.log"
        failed=1
        ;;
    esac
}
for program; do
    "$build/tests/$program" >"$build/test_gpu.log" 2>&1
    say "$program" $?
done
if command -v compute-sanitizer >/dev/null; then
    for tool in memcheck racecheck initcheck synccheck; do
        for program; do
            case $program in test_*_gpu) ;; *) continue ;; esac
            timeout 240 compute-sanitizer --tool $tool --error-exitcode 9 "$build/tests/$program" >"$build/test_gpu.log" 2>&1
            say "$program under $tool" $?
        done
    done
else
    echo "skip  compute-sanitizer is not installed here"
fi
exit $failed
