# SPDX-License-Identifier: Apache-2.0
# The option table, the manual page and the completions: agreement.py.
exec python3 "$(dirname "$0")/agreement.py"
