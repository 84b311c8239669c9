#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the libraries that bench/peers.py compares with, into build/peers and nowhere else: a Python environment with the wheels of bench/peers.txt, and
# Debian's PyTorch (for the CPU; the wheel is one for GPUs of several gigabytes) unpacked beside it. What cannot be had is left out: the comparison does
# without. Nothing is fetched when all is there.
# usage: tools/peers.sh [BUILD]
cd "$(dirname "$0")/.." || exit 1
peers=${1:-build}/peers

# Debian's Python, because its PyTorch is for that one.
python=/usr/bin/python3
[ -x $python ] || python=python3
if [ ! -x "$peers/bin/python" ]; then
    rm -rf "$peers"
    $python -m venv "$peers" || { echo "peers: $python -m venv failed; python3-venv is needed" >&2; exit 1; }
fi
if ! cmp -s bench/peers.txt "$peers/installed.txt"; then
    "$peers/bin/pip" install -q --disable-pip-version-check -r bench/peers.txt || { echo "peers: pip failed" >&2; exit 1; }
    cp bench/peers.txt "$peers/installed.txt"
fi

[ ! -d "$peers/debian" ] && command -v apt-get >/dev/null && command -v dpkg >/dev/null || exit 0
mkdir -p "$peers/packages"
wanted=$(apt-get install -s --no-install-recommends python3-torch 2>/dev/null | awk '/^Inst/ {print $2}')
[ -n "$wanted" ] || { echo "peers: no python3-torch here; apt-get update may help" >&2; exit 0; }
(cd "$peers/packages" && apt-get download -q $wanted) >"$peers/debian.log" 2>&1 || { echo "peers: PyTorch is left out; $peers/debian.log says why" >&2; exit 0; }
for package in "$peers"/packages/*.deb; do
    dpkg -x "$package" "$peers/unpacked" || { echo "peers: PyTorch is left out; $package cannot be unpacked" >&2; exit 0; }
done
rm -r "$peers/packages"
mv "$peers/unpacked" "$peers/debian"
