#!/usr/bin/env bash
# Compiles one file of traces/ as its head says, runs it with the stub runtime and
# compares the points passed with its `// TRACE:` lines.
#   // FLAGS: flags of the compiler      // FORMAT: long      (see stub_runtime.cc)
# usage: run_trace.sh CLANGXX PLUGIN ABI_DIR WORK_DIR SOURCE
set -euo pipefail
clang=$1 plugin=$2 abi=$3 work=$4 source=$5
here=$(cd "$(dirname "$0")" && pwd)
name=$(basename "$source")
mkdir -p "$work"
read -r -a flags <<< "$(sed -n 's|^// FLAGS: ||p' "$source")"
language=c++
[[ $source == *.c ]] && language=c
"$clang" -std=c++23 -O1 -c "$here/stub_runtime.cc" -I"$abi" -o "$work/$name.stub.o"
"$clang" -x $language "${flags[@]}" -Xclang -load -Xclang "$plugin" "-fpass-plugin=$plugin" \
  -c "$source" -o "$work/$name.o"
"$clang" "$work/$name.o" "$work/$name.stub.o" -o "$work/$name.exe"
if grep -q '^// FORMAT: long' "$source"; then export STUB_LONG=1; fi
sed -n 's|^// TRACE: ||p' "$source" > "$work/$name.expected"
"$work/$name.exe" > "$work/$name.actual"
diff -u "$work/$name.expected" "$work/$name.actual"
