#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Proves: the .ptx of tests/truth is what the compiler makes of the .cu beside it, and code.txt is what the assembler makes of the .ptx.
cd "$(dirname "$0")/../.." || exit 1
PATH=$PATH:/usr/local/cuda/bin
command -v nvcc >/dev/null && command -v ptxas >/dev/null || { echo "no nvcc and ptxas here"; exit 77; }
nvcc --version | grep -q 'release 13.0' || { echo "the files were made by CUDA 13.0, here is another"; exit 77; }
make -s build/truth/card || exit 1
fresh=$(mktemp -d) || exit 1
trap 'rm -rf "$fresh"' EXIT
tests/truth/make.sh "$fresh" || exit 1
for f in "$fresh"/*.ptx; do
    grep -v '^\.b8' "tests/truth/${f##*/}" >"$fresh/kept"
    grep -v '^\.b8' "$f" | cmp - "$fresh/kept" || { echo "${f##*/} is not what the compiler makes: run tests/truth/make.sh, and measure anew"; exit 1; }
    stem=$(basename "$f" .ptx)
    for level in 0 3; do
        build/truth/card code $level "$stem" || exit 1
    done
done | sort >"$fresh/code"
grep -v '^@' tests/truth/code.txt | sort | cmp - "$fresh/code" || { echo "code.txt is not what the assembler makes: tests/truth/README.md says how it is made"; exit 1; }
echo "$(ls "$fresh"/*.ptx | wc -l) files are fresh"
