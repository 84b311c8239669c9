#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Proves: the .ptx kept beside each .cu of tests/ptx is what the compiler makes of it.
cd "$(dirname "$0")/../.." || exit 1
PATH=$PATH:/usr/local/cuda/bin
command -v nvcc >/dev/null || { echo "no nvcc here"; exit 77; }
nvcc --version | grep -q 'release 13.0' || { echo "the fixtures were made by CUDA 13.0, here is another"; exit 77; }
fresh=$(mktemp -d) || exit 1
trap 'rm -rf "$fresh"' EXIT
tests/ptx/make.sh "$fresh" || exit 1
# Names in the debug strings (.b8) hold a hash of the folder that the source was compiled in; nothing of the virtual GPU reads it.
for f in "$fresh"/*.ptx; do
    grep -v '^\.b8' "tests/ptx/${f##*/}" >"$fresh/kept"
    grep -v '^\.b8' "$f" | cmp - "$fresh/kept" || { echo "${f##*/} is not what the compiler makes:"; echo "run tests/ptx/make.sh and look at the difference"; exit 1; }
done
echo "$(ls "$fresh"/*.ptx | wc -l) fixtures are fresh"
