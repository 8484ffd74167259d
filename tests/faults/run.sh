#!/usr/bin/env bash
# run.sh CLEW NATIVE BINARY
# Does what conformance/run.sh does, and then replays a run: it must not depart.
set -uo pipefail
here=$(dirname "$(readlink -f "$0")")
clew=$(realpath "$1") binary=$(realpath "$3")
"$here/../conformance/run.sh" "$@" || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
timeout 30 "$clew" run --seed 4 -- "$binary" >run.txt 2>run.err </dev/null
timeout 30 "$clew" replay >replay.txt 2>replay.err </dev/null
if ! grep -q 'same outcome, output and hash' replay.txt replay.err || ! diff -q <(grep -a ': ' run.txt) <(grep -a ': ' replay.txt | grep -v '^clew: ') >/dev/null; then
  echo "a replay departs: $(grep -ah '^clew:' replay.txt replay.err | tail -n 1)"
  echo "  again: $clew run --seed 4 -- $binary; $clew replay"
  exit 1
fi
