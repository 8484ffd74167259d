#!/usr/bin/env bash
# clew hunt: finds, keeps, counts, ends.
. "$(dirname "$0")/lib.sh"
build() { "$clew" c++ -std=c++20 -O1 -g "$source/examples/$1.cpp" -o "$2" -pthread || exit 1; }
build lost_update/lost_update lost
build lost_update/lost_update_fixed fixed
build dining_philosophers/dining_philosophers philosophers
cat >two.c <<'C'
#include <assert.h>
#include <pthread.h>
static volatile int a, b;
static void* work(void* x) { a = 1; b = 1; return x; }
int main(void) { /* two different failures, each by one preemption */
  pthread_t t;
  pthread_create(&t, 0, work, 0);
  int first = a, second = b;
  pthread_join(t, 0);
  assert(!first || second);
  assert(!first || !second);
  return 0;
}
C
cat >arguments.c <<'C'
#include <stdio.h>
#include <string.h>
int main(int argc, char** argv) { return argc == 4 && !strcmp(argv[1], "--json") && !strcmp(argv[2], "[a,b]") && !*argv[3] ? 5 : 0; }
C
cat >slow.c <<'C'
#include <pthread.h>
static volatile int shared;
static void* work(void* x) { for (int i = 0; i < 300000; i++) shared = i; return x; }
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, work, 0);
  work(0);
  return pthread_join(t, 0);
}
C
printf '#include <sys/syscall.h>\n#include <unistd.h>\nint main(void) { return (int)syscall(SYS_exit, 1); }\n' >leaves.c
for p in two arguments slow leaves; do "$clew" cc -O1 -g $p.c -o $p -pthread || exit 1; done
check "help with examples" bash -c '"$0" hunt --help | grep -qi "examples:"' "$clew"
check "finds a lost update" run 1 hunt --seed 1 --schedules 2000 --json out.json ./lost
check "... says what" says err.txt "exited with status"
check "... and what to do next" bash -c 'tail -n 1 err.txt | grep -q "replay it: clew replay [0-9]"'
check "... and how it was found" says err.txt "seed 1"
check "... its output is not shown" [ ! -s out.txt ]
check "json" json "d['outcome'] == 'found' and d['failure']['kind'] == 'exit' and d['seed'] == 1"
check "json: recordings" json "d['failing'] and d['failures'][0]['recording'] == d['failing'] and d['passing'] != d['failing']"
check "json: figures" json "d['schedules'] >= 1 and d['seconds'] > 0 and d['per_second'] > 0 and d['interleavings'] >= 1"
check "json: counts" json "d['failures'][0]['count'] >= 1 and 1 <= d['failures'][0]['first_schedule'] <= d['schedules']"
check "json: all fields" json "all(f in d for f in 'strategy failing passing failure failures unresolved conclusion notes interrupted'.split())"
failing=$(field failing) passing=$(field passing)
check "the recording fails the same way" run 1 replay "$failing" --times 5 --json out.json
check "... each time" json "d['diverged'] == 0 and d['failure']['kind'] == 'exit'"
check "the passing one passes" run 0 replay "$passing"
check "same seed, same hunt" bash -c '
  for jobs in 1 2; do "$0" hunt --seed 1 --jobs $jobs --schedules 2000 --json j$jobs ./lost >/dev/null 2>&1
    grep -E "first_schedule" j$jobs; done | sort -u | wc -l | grep -qx 1' "$clew"
check "not found on the fixed twin" run 0 hunt --seed 1 --schedules 500 --json out.json -- ./fixed
check "... what was tried" says err.txt "500 schedules"
check "... and a hint" says err.txt "hint:"
check "... json" json "d['outcome'] == 'not-found' and d['failing'] is None and d['failures'] == [] and d['schedules'] == 500"
check "a deadlock" run 1 hunt --seed 1 --schedules 5000 --json out.json ./philosophers
check "... is one" is kind deadlock
check "keep going" run 1 hunt --seed 1 --schedules 500 --keep-going --json out.json ./two
check "... keeps different failures" json "len(d['failures']) == 2 and len({f['recording'] for f in d['failures']}) == 2"
check "... and counts" json "d['schedules'] == 500 and sum(f['count'] for f in d['failures']) <= 500"
check "... and tells in a table" says err.txt "2 different failures"
check "options after the program are its own" run 1 hunt --schedules 5 ./arguments --json '[a,b]' ''
check "... with -- as well" run 1 hunt --schedules 5 -- ./arguments --json '[a,b]' ''
for s in random pct pos surw rff period chaos portfolio; do
  check "strategy $s" run 1 hunt --seed 1 --strategy $s --schedules 5000 ./lost
done
check "exhaustive finds it" run 1 hunt --strategy exhaustive --bound 1 --schedules 5000 ./lost
for o in --no-spurious --no-timeouts --no-trylock-failures --no-cas-failures --no-wake-choice --no-pick --fork; do
  check "$o" run 1 hunt --seed 1 $o --schedules 5000 ./lost
done
check "nothing resolved: 122" run 122 hunt --schedules 5 --json out.json ./leaves
check "... and counted" json "d['unresolved'] == d['schedules'] and d['outcome'] == 'not-found'"
check "a time limit" bash -c 'SECONDS=0; "$0" hunt --time 1 ./fixed >/dev/null 2>err.txt; [ $? = 0 ] && [ $SECONDS -le 4 ]' "$clew"
check "no line of status in between" lines err.txt 3

usage() { run 124 hunt "$@" && says err.txt hint; }
check "usage: no program" usage
check "usage: no such option" usage --no-such-option ./lost
check "usage: no such strategy" usage --strategy best ./lost
check "usage: a time of nothing" usage --time 0 ./lost
check "usage: --from and another strategy" usage --from 1 --strategy pos ./lost
check "a program that is none" run 125 hunt ./two.c

# A pipe is read to its end first.
check "a slow standard input" bash -c 'sleep 2 | "$0" hunt --schedules 3 ./fixed >/dev/null 2>err.txt; [ $? = 0 ]' "$clew"
check "... is reported" says err.txt "reading standard input"
mkfifo never; sleep 100 >never & writer=$!
python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])' \
  "$clew" hunt --schedules 3 ./fixed >out.txt 2>err.txt <never &
host=$!
for _ in $(seq 60); do grep -q reading err.txt && break; sleep 0.1; done
kill -INT $host; wait $host; status=$?
kill $writer
check "Ctrl-C while it is read: 130" [ $status = 130 ]
check "... is reported" says err.txt "interrupted by SIGINT while reading"
check "the working folder is gone" bash -c 'mkdir gone; top=$PWD; cd gone; rmdir ../gone; "$0" hunt --schedules 3 "$top/fixed" >/dev/null 2>"$top/err.txt" </dev/null; [ $? = 125 ]' "$clew"
check "... is reported" says err.txt "working folder no longer exists"

# Ctrl-C: status, JSON, and no process stays behind.
descendants() { local p; for p in $(pgrep -P "$1"); do echo "$p"; descendants "$p"; done; }
gone() { for _ in $(seq 40); do
    case $(ps -o state= -p "$1" 2>/dev/null) in '' | Z*) return 0 ;; esac; sleep 0.05; done
  echo "$1 is still there"; return 1; }
for signal in INT:130 TERM:143; do
  # Not a plain '&': a shell without job control lets its background jobs ignore SIGINT.
  python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])' \
    "$clew" hunt --time 100 --json out.json ./slow >out.txt 2>err.txt </dev/null &
  host=$!
  for _ in $(seq 600); do started=$(descendants $host); [ -n "$started" ] && break; sleep 0.05; done
  sleep 0.5
  left="$started $(descendants $host)" # at this moment it may be between two of them
  begin=$(date +%s%N)
  kill -"${signal%:*}" $host
  wait $host
  status=$?
  check "${signal%:*} ends it soon" [ $((($(date +%s%N) - begin) / 1000000)) -lt 10000 ]
  check "... with status ${signal#*:}" [ $status = "${signal#*:}" ]
  check "... and json" json "d['interrupted'] == ${signal#*:} - 128 and d['outcome'] == 'not-found'"
  check "... after it had started processes" [ -n "$started" ]
  for p in $left; do check "... process $p is gone" gone "$p"; done
done
check "no recording is left half-made" bash -c '! "$0" list | grep -qi incomplete' "$clew"
finish
