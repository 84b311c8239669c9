#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the .ptx beside each .cu in both dialects that CUDA 13 speaks (up to sm_90; sm_100 and later). Needs nvcc in PATH or in /usr/local/cuda/bin.
# usage: tests/ptx/make.sh [FOLDER]     into FOLDER instead of beside the sources
set -e
here=$(cd "$(dirname "$0")" && pwd)
to=${1:-$here}
PATH=$PATH:/usr/local/cuda/bin
cd "$here"
for cu in *.cu; do
    for arch in 90 100; do
        # Line tables name files by where they lay and when: only the last part of the name is kept.
        nvcc -ptx -arch=compute_$arch -lineinfo -fmad=false "$cu" -o "$to/${cu%.cu}.sm_$arch.ptx"
        sed -i -E 's|^([[:space:]]*\.file[[:space:]]+[0-9]+[[:space:]]+")[^"]*/([^"/]*".*)|\1\2|; s|^([[:space:]]*\.file[[:space:]]+[0-9]+[[:space:]]+"[^"]*").*|\1|' "$to/${cu%.cu}.sm_$arch.ptx"
    done
done
