#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Proves: the same calls give the same bits with every instruction set of this machine, every number of threads from 1 to 8, built by gcc and by clang, and
# on aarch64 with NEON (run by an emulator), for which the library also compiles without warnings.
cd "$(dirname "$0")/../.." || exit 1
mkdir -p build/check
failed=0
flags="-std=c17 -O1 -Wall -Wextra -Werror -ffp-contract=off -Iinclude"
${CC:-gcc} $flags -o build/check/bits tests/check/bits.c build/libtessera.a -lm -pthread || exit 1
TESSERA_WISDOM=/dev/null
export TESSERA_WISDOM
TESSERA_ISA=baseline TESSERA_THREADS=1 build/check/bits >build/check/bits.txt || exit 1
results=$(wc -l <build/check/bits.txt)
good=$(grep -vc TESS_ERR build/check/bits.txt)
[ "$good" -gt 2000 ] || { echo "failed: only $good of $results calls gave a result"; exit 1; }
compare() { # what, command...
    what=$1
    shift
    "$@" >build/check/other.txt || { echo "failed: $what: exit $?"; failed=1; return; }
    if ! cmp -s build/check/bits.txt build/check/other.txt; then
        echo "failed: baseline with one thread (<) and $what (>) differ:"
        diff build/check/bits.txt build/check/other.txt | head -20
        failed=1
    fi
}
for isa in baseline avx2 avx512 neon; do
    TESSERA_ISA=$isa build/check/bits 2>/dev/null | head -1 | grep -q TESS_ERR_ENGINE && continue
    compare "$isa with 3 threads" env TESSERA_ISA=$isa TESSERA_THREADS=3 build/check/bits
    done_with="$done_with $isa"
done
for threads in 1 2 4 5 6 7 8; do
    compare "the best instruction set with $threads threads" env TESSERA_THREADS=$threads build/check/bits
done
if [ -e build-clang/libtessera.a ]; then
    clang $flags -o build-clang/bits tests/check/bits.c build-clang/libtessera.a -lm -pthread && compare "the build by clang" build-clang/bits
    done_with="$done_with clang"
fi
if command -v aarch64-linux-gnu-gcc >/dev/null; then
    # -O1: -O3 takes minutes more, and what gcc warns of at that level alone its own build has met; NEON is what runs, and all else is not optimised.
    make -s -j2 CC=aarch64-linux-gnu-gcc AR=aarch64-linux-gnu-ar BUILD=build-neon WERROR=1 OPT="-O0 -g0" FLAGS_neon=-O1 build-neon/libtessera.a build-neon/libtessera.so &&
        aarch64-linux-gnu-gcc $flags -static -o build-neon/bits tests/check/bits.c build-neon/libtessera.a -lm -pthread || exit 1
    if command -v qemu-aarch64 >/dev/null; then
        compare "aarch64" qemu-aarch64 build-neon/bits
        done_with="$done_with aarch64"
    else
        echo "note: aarch64 compiled only, there is no qemu-aarch64 to run it"
    fi
else
    echo "note: not compiled for aarch64, there is no aarch64-linux-gnu-gcc"
fi
[ $failed = 1 ] || echo "note: $good results have the same bits with:$done_with"
exit $failed
