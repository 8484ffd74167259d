#!/usr/bin/env bash
# replay.sh CLEW PROGRAM...: recordings of runs, of those that a sanitizer ends above all, replay.
set -uo pipefail
clew=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
for program in "$@"; do
  for seed in 1 2 3 4; do
    "$clew" run --seed $seed "$program" >/dev/null 2>&1 </dev/null
    "$clew" replay --times 2 >out.txt 2>err.txt </dev/null
    grep -q "same outcome, output and hash each time" out.txt err.txt && continue
    failed=1
    echo "departs: clew run --seed $seed $program, then clew replay"
    head -n 5 err.txt
  done
done
exit $failed
