#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Proves: tessera.h compiles alone, without warnings, as C11 and C17 and as C++11 and C++17, with gcc and clang, also after DLPack's own
# header; and its inline functions and macros work from C++.
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

cat >"$work/alone.c" <<'C'
#include <tessera.h>
int main(void) {
    int64_t shape[1] = {1};
    float one[1] = {1};
    DLTensor t = tess_view(one, tess_f32, 1, shape, 0);
    return t.ndim == 1 && TESS_OK == 0 && TESSERA_VERSION >= 0 ? 0 : 1;
}
C
cp "$work/alone.c" "$work/alone.cc"
# The types of DLPack 1.1 as its header spells them, to see that ours stand back.
cat >"$work/after.c" <<'C'
#define DLPACK_DLPACK_H_
#include <stdint.h>
typedef enum { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3, kDLOpenCL = 4, kDLCUDAManaged = 13 } DLDeviceType;
typedef struct { DLDeviceType device_type; int32_t device_id; } DLDevice;
typedef enum { kDLInt = 0U, kDLUInt = 1U, kDLFloat = 2U, kDLOpaqueHandle = 3U, kDLBfloat = 4U, kDLComplex = 5U, kDLBool = 6U } DLDataTypeCode;
typedef struct { uint8_t code; uint8_t bits; uint16_t lanes; } DLDataType;
typedef struct { void *data; DLDevice device; int32_t ndim; DLDataType dtype; int64_t *shape; int64_t *strides; uint64_t byte_offset; } DLTensor;
#include <tessera.h>
int main(void) { return 0; }
C
check() {
    "$@" -Wall -Wextra -Werror -Wpedantic -Iinclude -fsyntax-only || { echo "failed: $*"; failed=1; }
}
for cc in gcc clang; do
    command -v $cc >/dev/null || { echo "note: no $cc here"; continue; }
    for std in c11 c17; do
        check $cc -std=$std "$work/alone.c"
        check $cc -std=$std "$work/after.c"
    done
    for std in c++11 c++17; do
        check $cc -std=$std -x c++ "$work/alone.cc"
        check $cc -std=$std -x c++ "$work/after.c"
    done
done
exit $failed
