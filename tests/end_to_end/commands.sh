#!/usr/bin/env bash
# The commands, their options and their JSON.
. "$(dirname "$0")/lib.sh"
cat >echo.c <<'C'
#include <pthread.h>
#include <stdio.h>
static volatile int shared;
static void* work(void* name) {
  for (int i = 0; i < 50; i++) shared++;
  printf("%s ends\n", (const char*)name);
  return 0;
}
int main(int argc, char** argv) {
  char line[100];
  while (fgets(line, sizeof line, stdin)) printf("got %s", line);
  for (int i = 1; i < argc; i++) printf("arg %s\n", argv[i]);
  pthread_t a, b;
  pthread_create(&a, 0, work, "first");
  pthread_create(&b, 0, work, "second");
  pthread_join(a, 0);
  pthread_join(b, 0);
  fprintf(stderr, "to stderr\n");
  return 0;
}
C
"$clew" cc -O1 -g echo.c -o echo -pthread || exit 1

check "every command has --help with an example" bash -c '
  for c in run hunt enumerate isolate explain pinpoint rank debug "case new" check replay where trace show list export import rm; do
    "$0" $c --help | grep -qi example || { echo "$c"; exit 1; }; done' "$clew"
check "help COMMAND is COMMAND --help" bash -c 'cmp <("$0" help hunt) <("$0" hunt --help) && cmp <("$0" help) <("$0" --help)' "$clew"
check "help for what is no command" run 124 help hunting
check "... says so" says err.txt "no command 'hunting'"
printf 'one\ntwo\n' >input
"$clew" run --seed 5 -- ./echo x 'y z' <input >out.txt 2>err.txt
check "input reaches the program" says out.txt "got two"
check "arguments reach the program" says out.txt "arg y z"
check "its stderr passes through" says err.txt "to stderr"
check "one line on a pass" says err.txt "clew: pass"
check "what follows the program's name is the program's" run 0 run --seed 5 ./echo --budget 7 '[a,b]' --json - -- =x
for a in --budget 7 '\[a,b\]' --json -- =x; do check "... $a" says out.txt "^arg $a\$"; done
printf 'three\n' | "$clew" run --seed 5 -- ./echo >out.txt 2>err.txt
check "input from a pipe" says out.txt "got three"
rm -f input
check "replay needs the input no more" run 0 replay 1
check "... and gives the same output" says out.txt "got two"
check "... and says so" says err.txt "same outcome, output and hash"
check "replay of the newest" run 0 replay --times 3
check "from another folder, by path" bash -c 'mkdir -p elsewhere && cd elsewhere && "$0" replay ../.clew/1 >/dev/null 2>&1' "$clew"
check "with another environment size" env PAD="$(head -c 20000 /dev/zero | tr '\0' x)" "$clew" replay 1
check "same seed, same run" bash -c '
  for i in 1 2 3; do "$0" run --seed 9 --json j$i -- ./echo >/dev/null 2>&1 </dev/null; grep "\"hash\"" j$i; done | sort -u | wc -l | grep -qx 1' "$clew"
check "another seed, another run" bash -c '
  for i in 1 2 3 4 5 6; do "$0" run --seed $i --json j -- ./echo >/dev/null 2>&1 </dev/null; grep "\"hash\"" j; done | sort -u | wc -l | grep -qvx 1' "$clew"

check "json on standard output" bash -c '"$0" run --json - -- ./echo </dev/null >out.json 2>/dev/null; head -n 1 out.json | grep -q "^{"' "$clew"
for f in recording outcome failure clock switches threads hash; do check "json has $f" says out.json "\"$f\""; done
check "the program's output went to the recording only" bash -c '! grep -q ends out.json'
check "replay json" run 0 replay --times 2 --json out.json
for f in replays diverged; do check "json has $f" says out.json "\"$f\""; done

check "where" run 0 where 60 90
check "... shows source" says out.txt "echo.c"
check "where json" run 0 where 60 90 --json out.json
for f in at clock thread file line function stack; do check "json has $f" says out.json "\"$f\""; done
check "where --values" run 0 where --values 60 --json out.json
check "... has the variables on the lines" json 'all(t["thread"] and isinstance(t["lines"], list) for v in d["values"] for t in v["threads"]) and any(l["values"] for v in d["values"] for t in v["threads"] for l in t["lines"])'
check "where past the end" run 124 where 999999999
check "... in one line and a hint" says err.txt "hint"
check "show" run 0 show
check "... names the threads" says out.txt "T0.2"
check "... and why slices end" says out.txt "finished"
check "show --all" run 0 show --all
check "list" run 0 list
check "... shows the outcome" says out.txt pass
check "rm" run 0 rm 1
check "... it is gone" run 124 replay 1
check "usage error" run 124 run --no-such-option
check "usage error: no program" run 124 run
check "version" run 0 --version
check "gdb lists the threads" bash -c '
  "$0" run --seed 2 -- ./echo </dev/null >/dev/null 2>&1
  timeout 60 "$0" replay --gdb --gdb-arg=-batch --gdb-arg=-ex --gdb-arg="break echo.c:6" --gdb-arg=-ex --gdb-arg=continue --gdb-arg=-ex --gdb-arg=clew </dev/null >out.txt 2>err.txt
  grep -q "T0.1" out.txt && grep -q "work" out.txt && grep -q "main" out.txt' "$clew"
finish
