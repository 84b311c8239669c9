#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Proves: every file, strategy, make target, option of the command and word of the code that a document names exists, and the script that checks it is able to fail.
cd "$(dirname "$0")/../.." && exec python3 tools/check_docs.py --self-test
