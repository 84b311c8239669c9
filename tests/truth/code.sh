#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes code.txt anew: the accesses of the machine code of every launch and row. Needs ptxas, NVRTC and build/truth/card, no card.
# usage: tests/truth/code.sh [FILE]     in the folder of the sources; default tests/truth/code.txt
set -e
to=${1:-tests/truth/code.txt}
for file in tests/truth/*.ptx; do
    for level in 0 3; do
        build/truth/card code $level "$(basename "$file" .ptx)"
    done
done > "$to.new"
build/truth/card code 3 rows | awk '!seen[$0]++' >> "$to.new"
mv "$to.new" "$to"
