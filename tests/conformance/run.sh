#!/usr/bin/env bash
# run.sh CLEW NATIVE BINARY
#
# Runs a conformance program as NATIVE (built by clang) and as BINARY (built by clew): the latter
# without clew, and under clew with some seeds. Every case must be ok everywhere. The script prints each case that is
# not, and the command that repeats it; no further seeds are tried then. CLEW_CONFORMANCE_SEEDS: the seeds ("1 2 3").
set -uo pipefail
clew=$(realpath "$1") native=$(realpath "$2") binary=$(realpath "$3")
seeds=${CLEW_CONFORMANCE_SEEDS-1 2 3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

# One process for all cases; if that does not give an "ok" for each, one process for each case
# that has none, so that a hang or a crash costs only that case.
check() { # LABEL COMMAND...
  local label=$1 name status alone=ok
  shift
  timeout 30 "$@" >out.txt 2>err.txt </dev/null
  status=$?
  grep -a ': ok$' out.txt >good.txt || true
  if [ $status = 0 ] && diff -q expected.txt good.txt >/dev/null; then return; fi
  while read -r name; do
    grep -qxF "$name: ok" good.txt && continue
    timeout 10 "$@" "$name" >out.txt 2>err.txt </dev/null
    status=$?
    if [ $status = 0 ] && grep -qxF "$name: ok" out.txt; then continue; fi
    alone=failed failed=1
    [ $status = 124 ] && echo "hangs" >>err.txt
    echo "$label: $(grep -a -m 1 "^$name: " out.txt || echo "$name: exit status $status: $(head -n 1 err.txt)")"
    echo "  again: $* $name"
  done <names.txt
  if [ $alone = ok ]; then
    echo "$label: every case passes alone, not all in one process; again: $*"
    failed=1
  fi
}

"$native" --list >names.txt && [ -s names.txt ] || { echo "no cases: $native --list"; exit 1; }
sed 's/$/: ok/' names.txt >expected.txt
check "natively" "$native"
check "built by clew, without it" "$binary"
for seed in $seeds; do
  check "seed $seed" "$clew" run --seed "$seed" -- "$binary"
  [ $failed = 0 ] || break
done
exit $failed
