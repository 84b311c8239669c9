#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Proves: includes point the way CONTRIBUTING.md says, and the script that checks it is able to fail.
cd "$(dirname "$0")/../.." && exec python3 tools/check_dependencies.py --self-test
