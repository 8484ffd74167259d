#!/usr/bin/env bash
# Choi and Zeller 2002, figures 3 to 5: the schedules with the paper's own clock values.
. "$(dirname "$0")/lib.sh"
"$clew" c++ -std=c++20 -O0 -g -fclew-yield=line "$source/examples/int_queue/int_queue.cpp" -o q -pthread || exit 1

each_time() { # OUTCOME SCHEDULE: the same in 100 runs
  local i
  for i in $(seq 100); do
    "$clew" run --json out.json --schedule "$2" -- ./q >out.txt 2>err.txt
    is outcome "$1" || return 1
    is clock 17 || return 1
    if [ "$i" = 1 ]; then field hash >first_hash; else [ "$(field hash)" = "$(cat first_hash)" ] || return 1; fi
    rm -rf .clew
  done
}
check "figure 3 passes" each_time pass "6:T0.2,12:T0.3"
check "figure 4 fails" each_time fail "5:T0.2,7:T0.1,8:T0.2,10:T0.3,15:T0.2"
check "figure 5 passes" each_time pass "5:T0.2,7:T0.1,8:T0.2,13:T0.3,17"
check "the padded form of figure 3 passes" each_time pass "6:T0.2 12:T0.3 17 17 17"

at() { # CLOCK LINE: query mode gives the paper's line
  "$clew" where 1 "$1" --json out.json >out.txt 2>err.txt && is line "$2"
}
"$clew" run --schedule "5:T0.2,7:T0.1,8:T0.2,10:T0.3,15:T0.2" -- ./q >/dev/null 2>&1
check "clock 4 is line 29" at 4 29
check "clock 6 is line 42" at 6 42
check "clock 8 is line 43" at 8 43
check "clock 13 is line 32" at 13 32
check "clock 15 is line 47" at 15 47
check "clock 16 is line 50" at 16 50
finish
