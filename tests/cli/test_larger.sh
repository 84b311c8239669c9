# SPDX-License-Identifier: Apache-2.0
# Files larger than a GPU's memory: larger.py.
exec python3 "$(dirname "$0")/larger.py"
