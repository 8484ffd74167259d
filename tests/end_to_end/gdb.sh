#!/usr/bin/env bash
# clew replay --gdb: a session (gdb/session.py) on three programs at -O0 and -O1: threads with a condition variable and
# classes, a use after free, atomics in loops.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

# session NAME LEVEL CASE: hunts for a failing run of the program and has the session on it
session() {
  local name=$1 level=$2 status=0
  "$clew" hunt --seed 1 --time 30 --json out.json -- ./"$name$level" >out.txt 2>err.txt </dev/null
  GDB_CASE=$3 timeout -k 5 100 "$clew" replay --gdb --gdb-arg=-batch --gdb-arg=-nx \
    --gdb-arg=-x --gdb-arg="$source/tests/end_to_end/gdb/session.py" >out.txt 2>err.txt </dev/null || status=$?
  grep -E '^(ok|FAILED): ' out.txt
  [ "$status" = 0 ] && grep -q '^failed: 0$' out.txt && cat err.txt >>out.txt &&
    says out.txt 'the program ends here' && says out.txt 'what gdb changed is undone' && ! grep -q 'Traceback\|departed' out.txt
}
for level in 0 1; do
  for path in examples/bounded_buffer/bounded_buffer tests/programs/fail/use_after_free_race \
    tests/programs/fail/spin_flag_race; do
    check "$path at -O$level is built" \
      "$clew" c++ -std=c++20 -g -O$level -pthread "$source/$path.cpp" -o "$(basename $path)$level"
  done
  check "condition variable and class, -O$level" session bounded_buffer $level 'BoundedBuffer::put|item=1|buffer.count_|3|T0'
  check "use after free, -O$level" session use_after_free_race $level 'greet|times=1|session|1|T0'
  check "atomics in a loop, -O$level" session spin_flag_race $level 'visit|times=2|inside._M_i|2|T0'
done
at_abort() {
  timeout -k 5 100 "$clew" replay --gdb --gdb-arg=-batch --gdb-arg=-nx --gdb-arg=-ex --gdb-arg=continue \
    --gdb-arg=-ex --gdb-arg=backtrace >out.txt 2>&1 </dev/null
  grep -q '^#[0-9]* .*abort' out.txt && grep -q '^#[0-9]* .* visit' out.txt
}
check "where it aborts, the stack leads through abort() to the assertion" at_abort
check "replays are not changed by it" run 134 replay --times 3
rm -rf .clew/*
finish
