#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Proves: `make install` into a prefix, moved elsewhere, serves a program: by pkg-config (shared and static) and by CMake's find_package (shared, static,
# versions that fit and that do not); the installed command runs; `make uninstall` leaves no file.
cd "$(dirname "$0")/../.." || exit 1
top=$PWD
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
set -e
cc=${CC:-gcc}
want='^mean 0.5000 before, 0.5000 after'
runs() { "$@" >"$work/out" && grep -q "$want" "$work/out" || { echo "failed: $*"; cat "$work/out"; exit 1; }; }

for libdir in lib lib/x86_64-linux-gnu; do
    rm -rf "$work/stage" "$work/moved" "$work/cmake"
    make -s install DESTDIR="$work/stage" PREFIX=/opt/first LIBDIR=$libdir
    mv "$work/stage/opt/first" "$work/moved"
    export PKG_CONFIG_PATH="$work/moved/$libdir/pkgconfig"
    version=$(pkg-config --modversion tessera)
    $cc -std=c17 -Wall -Wextra -Werror -o "$work/shared" examples/blur.c $(pkg-config --cflags --libs tessera)
    readelf -d "$work/shared" | grep -q 'libtessera.so.0' || { echo "failed: the shared program does not need the library"; exit 1; }
    LD_LIBRARY_PATH="$work/moved/$libdir" runs "$work/shared"
    $cc -std=c17 -o "$work/static" examples/blur.c $(pkg-config --cflags tessera) "$work/moved/$libdir/libtessera.a" -lm -pthread
    runs "$work/static"
    cmake -S examples -B "$work/cmake" -DCMAKE_PREFIX_PATH="$work/moved" -DCMAKE_BUILD_TYPE=Release >"$work/log" 2>&1 &&
        cmake --build "$work/cmake" >>"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    runs "$work/cmake/blur"
    runs "$work/cmake/blur_static"
    if [ -e "$work/moved/bin/tessera" ]; then "$work/moved/bin/tessera" --version | grep -q "$version"; fi
done

# A newer minor series and an older one are refused.
for wanted in 0.2 0.0 1.0; do
    sed "s/find_package(tessera 0.1/find_package(tessera $wanted/" examples/CMakeLists.txt >"$work/CMakeLists.txt"
    cp examples/blur.c "$work/"
    if cmake -S "$work" -B "$work/refused" -DCMAKE_PREFIX_PATH="$work/moved" >/dev/null 2>&1; then
        echo "failed: version $wanted was accepted"
        exit 1
    fi
    rm -rf "$work/refused"
done

make -s install DESTDIR="$work/stage" PREFIX=/usr
make -s uninstall DESTDIR="$work/stage" PREFIX=/usr
left=$(find "$work/stage" -type f -o -type l)
[ -z "$left" ] || { echo "failed: uninstall leaves $left"; exit 1; }
