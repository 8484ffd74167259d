#!/usr/bin/env bash
# Usage: interposed.sh CLEW SOURCE. Everything that the runtime interposes is exported: a function that is written but
# not in the list (runtime/libc/interposed.def) would silently never be called.
source "$(dirname "$0")/lib.sh" "$@"

runtime=$(dirname "$clew")/../lib/clew/libclew_rt.so
libc=$(ldd "$runtime" | sed -n 's/.*libc\.so\.6 => \([^ ]*\).*/\1/p')
nm -D --defined-only "$runtime" | awk '{print $3}' | sort -u >exported.txt
nm "$runtime" | awk '$2 == "t" {print $3}' | sort -u >hidden.txt
nm -D --defined-only "$libc" | awk '{sub("@.*", "", $3); print $3}' | sort -u >libc.txt
sed -n 's/^CLEW_INTERPOSED[A-Z0-9_]*(\(.*\))$/\1/p' "$source/runtime/libc/interposed.def" | sort -u >listed.txt

check "the list is there" test "$(wc -l <listed.txt)" -gt 150
comm -23 listed.txt exported.txt >out.txt
check "what is listed is exported" test ! -s out.txt
comm -12 hidden.txt libc.txt >out.txt
check "nothing that has the name of a function of libc is hidden" test ! -s out.txt

finish
