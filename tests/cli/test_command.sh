# SPDX-License-Identifier: Apache-2.0
# The command's work on files: command.py.
exec python3 "$(dirname "$0")/command.py"
