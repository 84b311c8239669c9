#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Proves: the shared library exports what the header declares and nothing else, needs libc and libm only, has no executable stack; every global symbol of
# the archive starts with tess_; and loading the library allocates nothing, opens nothing and starts no thread.
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
fail() { echo "failed: $*"; failed=1; }

nm -D --defined-only build/libtessera.so | awk '{print $3}' | sort >"$work/exported"
${CC:-gcc} -E -P -Iinclude include/tessera.h | tr '\n' ' ' | tr ';' '\n' | grep 'visibility("default")' |
    sed 's/.*visibility("default")))//' | grep -o 'tess_[a-z0-9_]* *(' | tr -d ' (' | sort -u >"$work/declared"
[ -s "$work/declared" ] || fail "found no declaration in the header"
diff "$work/declared" "$work/exported" >"$work/diff" || { fail "declared (<) and exported (>) differ:"; cat "$work/diff"; }

readelf -d build/libtessera.so | awk '/NEEDED/ {print $NF}' | tr -d '[]' | grep -vE '^(libc|libm|libpthread|ld-linux[a-z0-9_-]*)\.so' >"$work/needed"
[ ! -s "$work/needed" ] || fail "needs $(tr '\n' ' ' <"$work/needed")"
readelf -lW build/libtessera.so | grep GNU_STACK | grep -q 'RWE' && fail "has an executable stack"
readelf -d build/libtessera.so | grep -q TEXTREL && fail "has text relocations"
nm -g --defined-only build/libtessera.a 2>/dev/null | awk 'NF == 3 && $3 !~ /^tess_/ {print $3}' | sort -u >"$work/foreign"
[ ! -s "$work/foreign" ] || fail "archive symbols without tess_: $(tr '\n' ' ' <"$work/foreign")"

# A program that counts: malloc is its own, so calls from the library's loading land here.
cat >"$work/load.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int calls, counting;
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_memalign(size_t, size_t);
void *malloc(size_t n) { calls += counting; return __libc_malloc(n); }
void *calloc(size_t n, size_t m) { calls += counting; return __libc_calloc(n, m); }
void *aligned_alloc(size_t a, size_t n) { calls += counting; return __libc_memalign(a, n); }
static int threads(void) {
    char line[256];
    int n = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        sscanf(line, "Threads: %d", &n);
    if (f)
        fclose(f);
    return n;
}
/* Loads the libraries in turn and compares the last with the one before it. */
int main(int argc, char **argv) {
    int before = 0;
    for (int i = 1; i < argc; i++) {
        before = calls;
        calls = 0;
        counting = 1;
        void *library = dlopen(argv[i], RTLD_NOW);
        counting = 0;
        if (!library) {
            fprintf(stderr, "%s\n", dlerror());
            return 2;
        }
    }
    printf("%d allocations, %d for an empty library; %d thread\n", calls, before, threads());
    return calls > before || threads() != 1;
}
C
echo '#include <stdlib.h>
int *library;
#ifdef WORK
__attribute__((constructor)) static void at_load(void) { library = malloc(4); }
#endif' >"$work/library.c"
cc="${CC:-gcc} -shared -fPIC -Wl,--no-as-needed"
$cc -o "$work/first.so" "$work/library.c" -lm && $cc -o "$work/empty.so" "$work/library.c" -lm && $cc -DWORK -o "$work/busy.so" "$work/library.c" -lm &&
    ${CC:-gcc} -o "$work/load" "$work/load.c" -ldl || fail "the loader did not build"
# The first load makes room in the dynamic linker; a library that allocates in a constructor must be caught.
"$work/load" "$work/first.so" "$work/empty.so" "$PWD/build/libtessera.so" || fail "loading the library does work"
"$work/load" "$work/first.so" "$work/empty.so" "$work/busy.so" && fail "this check does not see a constructor that allocates"
readelf -SW build/libtessera.so | grep -qE '\.(preinit_array|ctors)' && fail "has constructors"
exit $failed
