#!/usr/bin/env bash
# Compiles one file of traces/ as its head says, runs it with the stub runtime and
# compares the points passed with its `// TRACE:` lines.
#   // FLAGS: flags of the compiler      // FORMAT: long      (see stub_runtime.cc)
# WORK_DIR has the stub runtime, stub.o.
# usage: run_trace.sh CLANGXX PLUGIN WORK_DIR SOURCE
set -euo pipefail
clang=$1 plugin=$2 work=$3 source=$4
name=$(basename "$source")
read -r -a flags <<< "$(sed -n 's|^// FLAGS: ||p' "$source")"
language=c++
[[ $source == *.c ]] && language=c
"$clang" -x $language "${flags[@]}" -Xclang -load -Xclang "$plugin" "-fpass-plugin=$plugin" \
  -c "$source" -o "$work/$name.o"
"$clang" "$work/$name.o" "$work/stub.o" -o "$work/$name.exe"
if grep -q '^// FORMAT: long' "$source"; then export STUB_LONG=1; fi
sed -n 's|^// TRACE: ||p' "$source" > "$work/$name.expected"
"$work/$name.exe" > "$work/$name.actual"
diff -u "$work/$name.expected" "$work/$name.actual"
