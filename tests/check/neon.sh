#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Proves: the library compiles for aarch64 with NEON without warnings, and its results there (run by an emulator) have the same bits as here.
cd "$(dirname "$0")/../.." || exit 1
command -v aarch64-linux-gnu-gcc >/dev/null || { echo "no aarch64-linux-gnu-gcc here"; exit 77; }
make -s -j2 CC=aarch64-linux-gnu-gcc AR=aarch64-linux-gnu-ar BUILD=build-neon WERROR=1 build-neon/libtessera.a build-neon/libtessera.so || exit 1
[ -e tests/bits.c ] || exit 0
mkdir -p build/check build-neon/check
flags="-std=c17 -O1 -Wall -Wextra -Werror -ffp-contract=off -Iinclude"
${CC:-gcc} $flags -o build/check/bits tests/bits.c build/libtessera.a -lm -pthread || exit 1
aarch64-linux-gnu-gcc $flags -static -o build-neon/check/bits tests/bits.c build-neon/libtessera.a -lm -pthread || exit 1
build/check/bits >build/check/bits.txt || exit 1
command -v qemu-aarch64 >/dev/null || { echo "note: compiled only, there is no qemu-aarch64 to run it"; exit 0; }
qemu-aarch64 build-neon/check/bits >build-neon/check/bits.txt || exit 1
diff build/check/bits.txt build-neon/check/bits.txt || { echo "failed: the bits differ, here (<) and on aarch64 (>)"; exit 1; }
echo "note: $(wc -l <build/check/bits.txt) results have the same bits on $(uname -m) and aarch64"
