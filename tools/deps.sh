#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what tools/packages.txt lists and this machine lacks: with apt-get as root, with sudo otherwise. Where neither
# works it prints the line to run and fails. When nothing is missing it returns at once and asks no network.
# usage: tools/deps.sh [SET...]      sets as in packages.txt; default: all
cd "$(dirname "$0")/.." || exit 1
wanted=$(awk -v sets=" $* " '!/^#/ && NF && (sets ~ /^ *$/ || index(sets, " " $1 " ")) {print $2}' tools/packages.txt)

if ! command -v dpkg-query >/dev/null; then
    echo "deps: this is not a Debian system; the project needs what these packages hold:" $wanted
    exit 0
fi
have=$(dpkg-query -W -f='${db:Status-Abbrev} ${Package}\n' 2>/dev/null | awk '/^ii/ {print $NF}')
missing=
for package in $wanted; do
    printf '%s\n' "$have" | grep -qx -e "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

line="apt-get update && apt-get install -y --no-install-recommends$missing"
if [ "$(id -u)" = 0 ]; then
    as=
elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
    as=sudo
else
    echo "deps: not installed:$missing" >&2
    echo "deps: run this as root, then try again:  $line" >&2
    exit 1
fi
echo "deps: installing$missing"
$as apt-get update -q && $as env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing || {
    echo "deps: apt-get failed; the line was:  $line" >&2
    exit 1
}
