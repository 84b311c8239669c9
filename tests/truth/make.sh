#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the .ptx beside each .cu here. Needs nvcc in PATH or in /usr/local/cuda/bin.
# usage: tests/truth/make.sh [FOLDER]     into FOLDER instead of beside the sources
set -e
here=$(cd "$(dirname "$0")" && pwd)
to=${1:-$here}
PATH=$PATH:/usr/local/cuda/bin
cd "$here"
for cu in *.cu; do
    nvcc -ptx -arch=compute_90 -lineinfo -fmad=false "$cu" -o "$to/${cu%.cu}.ptx"
    # Files of the line table keep only the last part of their names, and none of the strings that hold a hash of the folder.
    sed -i -E 's|^([[:space:]]*\.file[[:space:]]+[0-9]+[[:space:]]+")[^"]*/([^"/]*".*)|\1\2|; s|^([[:space:]]*\.file[[:space:]]+[0-9]+[[:space:]]+"[^"]*").*|\1|' "$to/${cu%.cu}.ptx"
done
