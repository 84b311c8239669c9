#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# driver.def against NVIDIA's own headers: every entry has the type that cuda.h and nvrtc.h declare, every constant of driver.h the same value, and the toolkit's
# stub library exports every symbol. Skipped where there is no toolkit.
cd "$(dirname "$0")/../.." || exit 1
home=
for folder in "$CUDA_HOME" "$CUDA_PATH" /usr/local/cuda; do
    [ -n "$folder" ] && [ -f "$folder/include/cuda.h" ] && [ -f "$folder/include/nvrtc.h" ] && home=$folder && break
done
[ -n "$home" ] || { echo "no CUDA toolkit here: cuda.h was looked for in CUDA_HOME, CUDA_PATH and /usr/local/cuda"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# With cuda.h first, driver.h takes NVIDIA's types, so the assignments below compile only when result and parameters agree.
cat > "$work/types.c" <<'END'
#include <cuda.h>
#include <nvrtc.h>
#include "gpu/driver.h"
#define CUDA_ENTRY(name, symbol, parameters) CUresult (*check_##symbol) parameters = name;
#define NVRTC_ENTRY(result, name, parameters) result (*check_##name) parameters = name;
#include "gpu/driver.def"
END
# The constants of driver.h's enumerations, which that first include has hidden.
sed -n 's/^ *\(CU[DA_A-Z0-9]*[A-Z0-9_]*\|NVRTC_[A-Z_]*\) = \([0-9]*\).*/_Static_assert((int)\1 == \2, "\1");/p; s/^enum { \(.*\) };$/\1/p' src/gpu/driver.h |
    tr ',' '\n' | sed -n '/_Static_assert/{N;s/\n/,/;p;d;}; s/^ *\([A-Z0-9_]*\) = \([0-9]*\) *$/_Static_assert((int)\1 == \2, "\1");/p' > "$work/constants.h"
count=$(grep -c _Static_assert "$work/constants.h")
[ "$count" -ge 40 ] || { echo "only $count constants were found in driver.h"; exit 1; }
echo '#include "constants.h"' >> "$work/types.c"
${CC:-cc} -std=c17 -Werror -Isrc -I"$work" -isystem "$home/include" -c "$work/types.c" -o "$work/types.o" || exit 1

# The suffixes: cuda.h's macros must lead to the symbols that load.c asks for.
printf '%s\n' '#define CUDA_ENTRY(name, symbol, parameters) symbol' '#define NVRTC_ENTRY(result, name, parameters)' '#include "gpu/driver.def"' |
    ${CC:-cc} -E -P -Isrc -x c - | tr -s " " "\n" | grep "^cu" | sort > "$work/wanted"
stub=$home/lib64/stubs/libcuda.so
[ -f "$stub" ] || stub=$home/lib/stubs/libcuda.so
if [ -f "$stub" ]; then
    nm -D --defined-only "$stub" | awk '{print $3}' | sort > "$work/exported"
    missing=$(comm -23 "$work/wanted" "$work/exported")
    [ -z "$missing" ] || { echo "not in $stub: $missing"; exit 1; }
fi
echo "$(wc -l < "$work/wanted") driver entries and $count constants agree with $home"
