# SPDX-License-Identifier: Apache-2.0
# The command and bad input: bad_input.py.
exec python3 "$(dirname "$0")/bad_input.py"
