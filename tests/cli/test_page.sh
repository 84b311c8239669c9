# SPDX-License-Identifier: Apache-2.0
# The pages of a profile, in a browser: page.py.
exec python3 "$(dirname "$0")/page.py"
