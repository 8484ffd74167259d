#!/usr/bin/env bash
# addresses.sh CLEW SOURCE CONTAIN
# Under a seccomp filter like Docker's default the kernel loads each process somewhere else. Everything works nevertheless.
contain=$3
# shellcheck source=tests/end_to_end/lib.sh
. "$(dirname "$0")/../end_to_end/lib.sh"

"$contain" docker true || { echo "skipped: no seccomp filters here"; exit 77; }
outside=$clew
# The tool in a container, for `run` of lib.sh.
printf '#!/bin/sh\nexec "%s" docker "%s" "$@"\n' "$contain" "$outside" >inside
chmod +x inside
clew=$PWD/inside

build() { # NAME OPTIONS...
  local name=$1
  shift
  "$outside" c++ -std=c++20 -g -O1 -pthread "$@" "$source/tests/containers/places.cpp" -o "$name"
}
# same COUNT COMMAND...: its standard output is the same every time
same() {
  local count=$1 first
  shift
  first=$("$@" 2>>same.txt) || return 1
  for ((i = 1; i < count; ++i)); do
    [ "$("$@" 2>>same.txt)" = "$first" ] || return 1
  done
}
without_notes() { ! grep -q 'note:' err.txt || { cat err.txt; return 1; }; }

check "without clew they differ" eval '! same 3 "$contain" docker bash -c "cat /proc/self/maps"'
for kind in "" -no-pie -fsanitize=address -Wl,-z,max-page-size=0x200000; do
  check "places is built $kind" build places ${kind:+"$kind"}
  check "places are the same $kind" same 4 "$clew" run -- ./places
  check "nothing is missing $kind" run 0 run -- ./places
  check "no note $kind" without_notes
  check "the replay is the same $kind" run 0 replay --times 5
done
check "places is built" build places
for limit in unlimited 1000000 2000; do
  check "stack limit $limit" same 3 bash -c "ulimit -s $limit && exec $clew run --strategy none -- ./places"
  check "stack limit $limit, replayed" run 0 replay --times 2
done
check "the program knows its file" eval 'run 0 run -- ./places && says out.txt "^file $PWD/places$"'
check "a child process has places, too" run 0 run -- ./places child
check "its recording replays" eval 'run 0 list && run 0 replay --times 3 "$(ls .clew | grep -x "[0-9]*" | sort -n | tail -n 1)"'
check "places is built without clew" clang++-19 -std=c++20 -g -O1 -pthread "$source/tests/containers/places.cpp" -o plain
check "a program that was not built with clew" same 3 "$clew" run -- ./plain

# A recording from a container replays where the kernel fixes addresses.
check "recorded inside" run 0 run -- ./places
clew=$outside
check "replayed outside" run 0 replay --times 3
check "recorded outside" run 0 run -- ./places
clew=$PWD/inside
run 123 replay >/dev/null
check "replayed inside: what is different is said" says err.txt 'recorded where the kernel fixes addresses'
clew=$outside
check "recorded outside for the inside" env CLEW_LOAD_AGAIN=1 "$outside" run -- ./places >/dev/null 2>&1
clew=$PWD/inside
check "replayed inside" run 0 replay --times 3

# Hunting and isolating give what they give outside.
check "use_after_free_race is built" \
  "$outside" c++ -std=c++20 -g -O1 -pthread "$source/tests/programs/fail/use_after_free_race.cpp" -o race
found() { # TOOL: what a hunt and the isolation of what it finds say
  rm -rf .clew
  "$1" hunt --seed 1 --schedules 2000 -- ./race 2>&1 | sed 's/, [0-9.,]* \(s\|ms\|schedules a second\)//g' | grep -i 'fail\|switch\|note'
  "$1" isolate 2>&1 | grep -v ' s\b'
}
found "$outside" >outside.txt
found "$clew" >inside.txt
check "a hunt finds the same, and the isolation says the same" diff outside.txt inside.txt
check "the failure is isolated" says inside.txt race.cpp
check "its recording replays" eval '"$clew" replay --times 5 >out.txt 2>err.txt; ! grep -q departed err.txt out.txt'
if command -v gdb >/dev/null && "$contain" docker gdb -nx -batch -ex 'break main' -ex run /bin/true >/dev/null 2>&1; then
  "$clew" replay --gdb --gdb-arg=-batch --gdb-arg=-nx --gdb-arg=-ex --gdb-arg='print &greet' --gdb-arg=-ex --gdb-arg=bt \
    >out.txt 2>err.txt </dev/null
  check "gdb knows where the program is" says out.txt '0x5555555.*<greet'
  check "... and where it stands" says out.txt '#0 .*main'
else
  echo "skipped: gdb, which does not run here"
fi
finish
