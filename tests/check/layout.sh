#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Proves: clang-format would change nothing (`make format` lays out all sources).
cd "$(dirname "$0")/../.." || exit 1
command -v clang-format >/dev/null || { echo "no clang-format here"; exit 77; }
files=$(find include src cli tests examples python/src -name "*.[ch]" 2>/dev/null)
clang-format --dry-run $files 2>&1 | grep -o '^[^:]*:[0-9]*' >build/layout.txt
[ ! -s build/layout.txt ] || { echo "clang-format would change these lines; run make format:"; cut -d: -f1 build/layout.txt | sort | uniq -c; exit 1; }
