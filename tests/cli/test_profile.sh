# SPDX-License-Identifier: Apache-2.0
# A kernel on the virtual GPU, by the command: profile.py.
exec python3 "$(dirname "$0")/profile.py"
