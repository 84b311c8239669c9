# SPDX-License-Identifier: Apache-2.0
# The counts of docs/errata.md, by running its commands: errata.py.
exec python3 "$(dirname "$0")/errata.py"
