#!/bin/bash
# clew trace: the traced run is the recorded one, and what it counts is right.
# shellcheck source=tests/end_to_end/lib.sh
. "$(dirname "$0")/lib.sh"
programs=$(dirname "$clew")/../tests/programs

# traced PROGRAM...: a recording of it, traced, is the same run
traced() {
  "$clew" run --seed 3 -- "$@" >recorded.txt 2>err.txt </dev/null
  run 0 trace --json out.json && json 'd["complete"] and not d["differences"]' && cmp -s out.txt recorded.txt
}
for program in fail/asan_use_after_free fail/abba_deadlock fail/uncaught_exception_race pass/stack_garbage pass/signals_delivered pass/cancel; do
  check "$program" traced "$programs/$program"
done

# Each round: four instructions, a read and a write.
cat >loop.c <<'END'
#include <stdio.h>
int main(int argc, char** argv) {
  long from = 1, to = 0, rounds = argc > 1 ? argv[1][0] - 48 : 1;
  __asm__ volatile(
      "1: mov (%1), %%rax\n mov %%rax, (%2)\n dec %0\n jnz 1b"
      : "+r"(rounds)
      : "r"(&from), "r"(&to)
      : "rax", "memory", "cc");
  printf("%ld\n", to);
}
END
check "a program with a loop is built" "$clew" cc -O1 loop.c -o loop
counts() { python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(d["instructions"], d["reads"], d["writes"])' "$1"; }
check "1 round" traced ./loop 1
mv out.json one.json
# All else is the same.
check "9 rounds" traced ./loop 9
mv out.json nine.json
exact() {
  read -r i1 r1 w1 <<<"$(counts one.json)"
  read -r i9 r9 w9 <<<"$(counts nine.json)"
  echo "$((i9 - i1)) instructions, $((r9 - r1)) reads, $((w9 - w1)) writes for 8 rounds"
  [ $((i9 - i1)) = 32 ] && [ $((r9 - r1)) = 8 ] && [ $((w9 - w1)) = 8 ]
}
check "each instruction, read and write of the loop is counted" exact

# The values that a line reads and writes: both threads write the tail at line 36, the first one too late (figure 4 of the paper).
"$clew" c++ -O0 -g -std=c++17 -fclew-yield=line "$source/examples/int_queue/int_queue.cpp" -o int_queue -pthread
check "figure 4" run 1 run --schedule 5:T0.2,7:T0.1,8:T0.2,10:T0.3,15:T0.2 -- ./int_queue
tails() {
  run 0 trace --at int_queue.cpp:36 --json out.json &&
    json '[(a["thread"], a["value"]) for a in d["accesses"] if a["variable"] == "queue.tail"] == [("T0.1", 11), ("T0.3", 95)]'
}
check "what a line writes, by whom" tails
check "a line that is none" run 124 trace --at int_queue

cat >long.c <<'END'
int main(void) { for (volatile long i = 0; i < 200000000; i = i + 1) {} }
END
"$clew" cc -O1 long.c -o long
check "a long run" run 0 run -- ./long
timeout --preserve-status -s INT 1 "$clew" trace >out.txt 2>err.txt </dev/null
status=$?
check "Ctrl-C ends it" [ "$status" = 130 ]
check "... and is told" grep -qx "clew: interrupted" err.txt
check "... nothing is left" [ "$(pgrep -c -f "$work/long")" = 0 ]

# Optimised code reads two members, or eight characters, at once.
cat >limits.cpp <<'CODE'
#include <cstring>
struct Limits { int low, high; };
struct Settings { int id; Limits limits_; char name[16]; };
Settings settings{1, {4, 64}, "settings"};
__attribute__((noinline)) int sum(Limits limits) { return limits.low + limits.high; }
int main(int argc, char**) {
  Limits mine = settings.limits_;
  const int total = sum(mine);
  char copy[8];
  std::memcpy(copy, settings.name, sizeof copy);
  return total == 68 && copy[argc] == 'e' ? 0 : 1;
}
CODE
"$clew" c++ -O1 -g limits.cpp -o limits || exit 1
run 0 run ./limits
run 0 trace --at limits.cpp:7
check "two members that are read at once" says out.txt 'settings.limits_`: {low = 4, high = 64}'
run 0 trace --at limits.cpp:10
check "characters that are read at once" says out.txt 'settings.name`: "settings"'

check "a recording that is not there" run 124 trace 999
exit "$failures"
