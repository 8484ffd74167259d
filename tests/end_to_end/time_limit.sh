#!/usr/bin/env bash
# --time bounds all of hunt, isolate, explain and debug, whatever the program does. A command that does not keep to it never ends here, or takes
# minutes: the limits of this test are far above what it should take.
. "$(dirname "$0")/lib.sh"
"$clew" c++ -w -O1 -g "$source/tests/end_to_end/hostile.cpp" -o hostile -pthread || exit 1
ends() { timeout -s KILL 60 "$clew" "$@" >said 2>&1; [[ $? -ne 137 ]]; }
for how in s k u w l m b; do
  for command in hunt debug; do
    check "$command --time 2 ends: hostile $how" ends $command --time 2 --seed 1 ./hostile $how
  done
done
check "a program that stops itself is not judged" run 122 hunt --schedules 20 --seed 1 ./hostile s
check "... and it is said why" says err.txt "schedule 1 could not be judged: a program that stops itself"
check "a schedule that does not end" run 122 hunt --time 3 --seed 1 ./hostile a
check "... is named" says err.txt 'schedule 1 had not ended when the time was up\|schedule 1: it passes more than'
# To be narrowed for minutes, if one forgets to ask for the time in between.
"$clew" hunt --seed 1 --schedules 50 ./hostile d >/dev/null 2>&1
check "isolate --simplify --time 2 ends: threads that are left running" ends isolate --simplify --time 2
"$clew" hunt --budget 2000000 --seed 1 --schedules 1 ./hostile w >/dev/null 2>&1
check "isolate --time 2 ends" ends isolate --time 2
# The limit may be over before anything was run again: then nothing is known about that.
check "isolate --time 0.01 is ended by the limit" bash -c '! "$0" isolate --time 0.01 >out.txt 2>err.txt' "$clew"
check "... and says so" bash -c 'grep -q "stopped at a limit" out.txt err.txt && ! grep -q "did not happen again" out.txt err.txt'
check "explain --time 2 ends" ends explain --time 2
finish
