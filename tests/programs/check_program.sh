#!/usr/bin/env bash
# check_program.sh CLEW BINARY pass|fail KIND REPLAYS
#
# pass: the program passes when started without clew, without preemption, and under a number of
#       seeds. fail: some schedule makes it fail in the expected way: one of the timer's first
#       schedules, one with a single preemption, or one of the timer's with 100 rounds of the
#       program's work. Either way the last recording then replays REPLAYS times.
set -euo pipefail
clew=$1 binary=$2 expected=$3 kind=$4 replays=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

field() { sed -n "s/^ *\"$1\": *\"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/;T;p;q" out.json; }
scale=
run() { "$clew" run --json out.json "$@" -- "$binary" $scale >out.txt 2>err.txt || true; }
give_up() {
  echo "$1"
  cat out.json out.txt err.txt 2>/dev/null || true
  exit 1
}

if [ "$expected" = pass ]; then
  "$binary" >out.txt 2>err.txt || give_up "fails without clew"
  for strategy in "--strategy none" $(seq -f "--seed=%g" 1 20); do
    # shellcheck disable=SC2086
    run $strategy
    [ "$(field outcome)" = pass ] || give_up "not a pass with $strategy"
  done
else
  found=
  try_seeds() { # FIRST LAST
    local seed
    for seed in $(seq "$1" "$2"); do
      run --seed "$seed"
      if [ "$(field outcome)" = fail ]; then found="--seed $seed" && return; fi
    done
  }
  try_seeds 1 40
  if [ -z "$found" ]; then
    run --strategy none
    clock=$(field clock)
    for at in $(seq 1 "$clock"); do
      run --schedule "$at"
      [ "$(field outcome)" = fail ] && found="--schedule $at" && break
    done
  fi
  if [ -z "$found" ]; then # it takes more than one preemption: more rounds, more chances
    scale=100
    try_seeds 1 200
  fi
  [ -n "$found" ] || give_up "no failing schedule found"
  [ "$(field kind)" = "$kind" ] || give_up "failed with $found, but not by '$kind'"
  echo "fails with $found"
fi

status=0
"$clew" replay --times "$replays" --json replay.json >out.txt 2>err.txt || status=$?
cp replay.json out.json
[ "$(field diverged)" = 0 ] && [ "$(field replays)" = "$replays" ] || give_up "replay departed (status $status)"
