#!/usr/bin/env bash
# clew isolate and clew debug: figure 6 of Choi and Zeller 2002, recordings, simplification, limits, errors, Ctrl-C.
. "$(dirname "$0")/lib.sh"
examples=$source/examples
"$clew" c++ -std=c++20 -O0 -g -fclew-yield=line "$examples/int_queue/int_queue.cpp" -o q -pthread || exit 1
# The debug build, in which all accesses have a line.
"$clew" c++ -std=c++20 -O0 -g "$examples/lost_update/lost_update.cpp" -o lost -pthread || exit 1
"$clew" c++ -std=c++20 -O0 -g "$examples/lost_update/lost_update_fixed.cpp" -o fixed -pthread || exit 1
# A table for three: with five philosophers, looking for fewer preemptions takes seconds.
sed 's/kSeats = 5/kSeats = 3/' "$examples/dining_philosophers/dining_philosophers.cpp" >dining_philosophers.cpp
"$clew" c++ -std=c++20 -O1 -g dining_philosophers.cpp -o philosophers -pthread || exit 1
cat >always.c <<'C'
#include <pthread.h>
static volatile int shared;
static void* work(void* x) { shared = 1; return x; }
int main(void) { /* fails, whatever the schedule */
  pthread_t t;
  pthread_create(&t, 0, work, 0);
  shared = 2;
  pthread_join(t, 0);
  return 1;
}
C
cat >slow.c <<'C'
#include <pthread.h>
enum { kTimes = 20000000 };
static volatile int shared;
static void* work(void* x) {
  for (int i = 0; i < kTimes; i++) {
    int seen = shared;
    shared = seen + 1;
  }
  return x;
}
int main(void) { /* loses updates; a run takes long enough to be interrupted among them */
  pthread_t t;
  pthread_create(&t, 0, work, 0);
  work(0);
  pthread_join(t, 0);
  return shared != 2 * kTimes;
}
C
cat >skips.c <<'C'
#include <assert.h>
#include <pthread.h>
static volatile int ready, data;
static void* writer(void* x) { /* publishes too early */
  ready = 1;
  data = 42;
  return x;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, writer, 0);
  if (ready) assert(data == 42);
  pthread_join(t, 0);
  return 0;
}
C
sed 's/data == 42/data == 7/' skips.c >hides.c
for p in always hides skips slow; do "$clew" cc -O1 -g $p.c -o $p -pthread || exit 1; done

# json EXPRESSION: true of d, the content of out.json; i is the isolation in it
json() { python3 -c '
import json, re, sys
d = json.load(open("out.json"))
i = d.get("isolate", d)
def clocks(schedule): return [int(n) for n in re.findall(r"(?:^|[\s,])(\d+)", schedule)]
def line(place): return place and place["line"]
def within(lines, n): return n in range(min(lines), max(lines) + 1)
def pair(): return [line(i["pair"][e]["at"]) for e in ("first", "second")]
def windows(): return [[line(p["window"][e]["at"]) for e in ("first", "last")] for p in i["preemptions"]]
sys.exit(0 if eval(sys.argv[1]) else "not so: " + sys.argv[1])' "$1"; }
# cause EXAMPLE: the line that its header gives
cause() { sed -n "s/.*ROOT CAUSE: $1.cpp:\([0-9]*\).*/\1/p" "$examples/$1/$1.cpp"; }
# replays OUTCOME: the recording of that side replays with it
replays() {
  local n status
  n=$(field "$1")
  case $1 in failing) status=$2 ;; *) status=0 ;; esac
  "$clew" replay "$n" --times 3 >out.txt 2>err.txt </dev/null
  [ $? = "$status" ]
}

fails=5:T0.2,7:T0.1,8:T0.2,10:T0.3,15:T0.2
passes=6:T0.2,12:T0.3
check "help with examples" bash -c '"$0" isolate --help | grep -q "^Examples:" && "$0" debug --help | grep -q "^Examples:"' "$clew"
check "nothing recorded: 124" run 124 isolate
check "... says so" says err.txt "no recording of a failure"
check "... and what to do" says err.txt "hint: clew hunt"

# Choi and Zeller 2002, figure 6.
check "figure 6" run 0 isolate --fails "$fails" --passes "$passes" --json out.json -- ./q
check "... 24 differences" is deltas 24
check "... four tests" is tests 4
check "... one difference left" json "d['outcome'] == 'isolated' and d['deltas_left'] == '1' and len(d['switches']) == 1"
check "... switch 4, at 10 instead of 11" json "[d['switches'][0][f] for f in ('index', 'fail_clock', 'pass_clock')] == [4, 10, 11]"
check "... from B to C" json "[d['switches'][0][f] for f in ('from', 'to')] == ['T0.2', 'T0.3']"
check "... before line 47, after it" json "line(d['switches'][0]['fail_at']) == $(cause int_queue) == 47 and line(d['switches'][0]['pass_at']) == 50"
check "... minimal" json "d['minimal'] and d['complete'] and not d['doubts']"
check "... its tests in the order of the figure" json "[(clocks(t['schedule']), t['outcome']) for t in d['log']] == [
  ([5, 7, 8, 17, 17], 'pass'), ([5, 7, 8, 10, 17], 'fail'), ([5, 7, 8, 13, 17], 'pass'), ([5, 7, 8, 11, 17], 'pass')]"
check "... in words" says err.txt "isolated: 1 thread switch"
check "... with the line" says out.txt "T0.2 is preempted before int_queue.cpp:47"
check "... and what to do next" bash -c 'tail -n 1 out.txt | grep -q "replay the failing run: clew replay [0-9]"'
cp out.json figure6.json
check "... the failing side fails" replays failing 1
check "... the passing side passes" replays passing
check "without checkpoints and on one core: the same" bash -c '"$0" isolate --no-checkpoints --jobs 1 --fails "$1" --passes "$2" --json out.json -- ./q >out.txt 2>err.txt' "$clew" "$fails" "$passes"
check "... tests" python3 -c '
import json
a, b = (json.load(open(f)) for f in ("out.json", "figure6.json"))
assert all(a[f] == b[f] for f in ("deltas", "tests", "switches", "log"))'
check "a passing schedule is found" run 0 isolate --fails "$fails" --json out.json -- ./q
check "... and the difference is minimal" json "d['outcome'] == 'isolated' and d['minimal'] and d['passing']"
check "JSON on standard output" bash -c '"$0" isolate --fails "$1" --passes "$2" --json - -- ./q 2>err.txt | python3 -m json.tool >out.txt' "$clew" "$fails" "$passes"
check "... and the report beside it" says err.txt "T0.2 is preempted before int_queue.cpp:47"

# Limits.
limited() { run 122 isolate --fails "$fails" --passes "$passes" --json out.json "$@" -- ./q; }
check "--tests 1: 122" limited --tests 1
check "... says so" says err.txt "stopped at a limit"
check "... JSON" json "not d['complete'] and d['outcome'] in ('nothing', 'narrowed') and d['tests'] <= 1"
check "--time: 122" limited --time 0.000001
check "... JSON" json "not d['complete'] and d['interrupted'] is None"

# Recordings, by number.
check "a hunt" run 1 hunt --seed 1 --schedules 2000 --json out.json ./lost
failing=$(field failing) passing=$(field passing)
check "... keeps a passing run beside the failing one" [ "$passing" != null ]
check "isolate what it found" run 0 isolate --json out.json
check "... the newest failure" is original "$failing"
check "... to the end" json "d['outcome'] == 'isolated' and d['minimal'] and d['switches'] and len(d['log']) == d['tests']"
check "... the failing side fails" replays failing 1
check "... the passing side passes" replays passing
check "both by number" run 0 isolate "$failing" "$passing" --json out.json
check "... JSON" json "d['original'] == $failing and d['outcome'] == 'isolated'"
check "a passing recording fails no more: 125" run 125 isolate "$passing"
check "... says so" says err.txt "passed"
check "... in a line, with a hint" lines err.txt 2
check "a failing one as the passing one: 125" run 125 isolate "$failing" "$failing"
check "... says so" says err.txt "does not pass"
check "--simplify" run 0 isolate "$failing" --simplify --json out.json
check "... to one preemption" json "d['simplified'] and d['simplest'] == d['preemption_count'] == 1 and d['fewest']"
check "... with a pair that decides" json "d['pair']['swapped'] == 'passes' and {d['pair'][e]['what'] for e in ('first', 'second')} == {'read', 'write'}"
check "... of the counter" json "d['pair']['first']['variable'] == 'counter' and $(cause lost_update) in pair()"
check "... and a window at the cause" json "any(within(w, $(cause lost_update)) for w in windows())"
check "... the failing side fails" replays failing 1
check "... the passing side passes" replays passing

# clew debug.
check "debug: a lost update" run 1 debug --seed 1 --json out.json ./lost
check "... isolated" json "d['hunt']['outcome'] == 'found' and i['outcome'] == 'isolated' and i['simplest'] == 1"
check "... at the cause" json "$(cause lost_update) in pair() and i['pair']['swapped'] == 'passes'"
check "... in words" says out.txt "lost_update.cpp:$(cause lost_update)"
check "... in three stages" bash -c 'for s in 1/3 2/3 3/3; do grep -q "^clew: $s " err.txt || exit 1; done'
check "debug: a deadlock" run 1 debug --seed 1 --json out.json ./philosophers
check "... isolated" json "i['outcome'] == 'isolated' and i['failure']['kind'] == 'deadlock'"
check "... no more preemptions than are needed" json "i['simplest'] <= 2"
check "... who waits there" json "[line(w['at']) for w in i['waits']].count($(cause dining_philosophers)) == 3"
check "... in words" says out.txt "dining_philosophers.cpp:$(cause dining_philosophers)"
check "debug: nothing found" run 0 debug --seed 1 --schedules 50 --json out.json ./fixed
check "... JSON" json "d['hunt']['outcome'] == 'not-found' and d['isolate'] is None"

# A run that passes because it never comes to the check shows nothing about what fails.
check "debug: a check that most passing runs skip" run 1 debug --seed 1 --json out.json ./skips
check "... compared with a run that makes it" json "i['reaches'] and line(i['pair']['first']['at']) == 12 and line(i['pair']['second']['at']) == 6"
check "... all runs agree about the order" json "i['pair']['this_order']['failed'] > 2 and i['pair']['other_order']['passed'] > 2 and not i['pair']['this_order']['passed'] and not i['pair']['other_order']['failed']"
check "... with just the two swapped it passes" json "i['pair']['swapped'] == 'passes' and i['pair']['alone']"
check "debug: a check that nothing passes" run 1 debug --seed 1 --json out.json ./hides
check "... compared with a run that skips it" json "i['reaches'] is False"
check "... says so" says out.txt "hide the failure rather"

# What cannot be isolated.
check "it always fails" run 1 hunt --seed 1 --schedules 20 ./always
check "... 122" run 122 isolate --json out.json
check "... says so" says err.txt "fails under every schedule"
check "... JSON" json "d['outcome'] == 'always-fails' and d['always_fails'] and d['passing'] is None and d['switches'] == []"
check "... debug: 1" run 1 debug --seed 1 ./always
check "... says so" says out.txt "fails under every schedule"
# A timer's signal ends it: where it stands by then is no other failure.
cat >timed.c <<'C'
#include <pthread.h>
#include <unistd.h>
static void* other(void* a) {
  for (;;) usleep(70000);
  return a;
}
int main(void) {
  pthread_t thread;
  alarm(1);
  pthread_create(&thread, 0, other, 0);
  for (;;) {
    usleep(30000);
    usleep(50000);
  }
}
C
"$clew" cc -O1 -g timed.c -o timed -pthread || exit 1
check "a timer ends it in several places" run 1 hunt --keep-going --no-passing --schedules 30 --seed 1 --json out.json ./timed
check "... that is one failure" json "len(d['failures']) == 1 and d['failures'][0]['count'] == 30"
check "a schedule that passes as the failing one" run 125 isolate --fails "$passes" -- ./q
check "the same schedule twice" run 125 isolate --fails "$fails" --passes "$fails" -- ./q
check "another program's recording" run 125 isolate "$failing" "$("$clew" list | awk '$2 == "q" && $3 == "pass" { print $1; exit }')"
check "... says so" says err.txt "different programs"
usage() { run 124 isolate "$@" && says err.txt hint; }
check "usage: no such recording" usage 999
check "usage: three recordings" usage 1 2 3
check "usage: --passes alone" usage --passes "$passes"
check "usage: --fails without a program" usage --fails "$fails"
check "usage: no schedule" usage --fails "5:X" -- ./q
check "usage: no such option" usage --no-such-option
cp fixed lost
check "rebuilt since: 125" run 125 isolate "$failing"
check "... says so" says err.txt "rebuilt since"

# Ctrl-C: status, JSON, and no process stays behind; in its own runs and while a judge takes its time.
descendants() { local p; for p in $(pgrep -P "$1"); do echo "$p"; descendants "$p"; done; }
gone() { for _ in $(seq 40); do
    case $(ps -o state= -p "$1" 2>/dev/null) in '' | Z*) return 0 ;; esac; sleep 0.05; done
  echo "$1 is still there"; return 1; }
interrupted() { # SIGNAL STATUS ARGUMENTS...
  local signal=$1 expected=$2 host started left begin status
  shift 2
  rm -f out.json
  # Not a plain '&': a shell without job control lets its background jobs ignore SIGINT.
  python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])' \
    "$clew" isolate --json out.json "$@" >out.txt 2>err.txt </dev/null &
  host=$!
  # python3 may be a script that starts processes of its own.
  for _ in $(seq 600); do
    [ "$(cat /proc/$host/comm)" = clew ] && started=$(descendants $host) && [ -n "$started" ] && break
    sleep 0.05
  done
  sleep 0.4
  left="$started $(descendants $host)" # at this moment it may be between two of them
  begin=$(date +%s%N)
  kill -"$signal" $host
  wait $host
  status=$?
  check "$signal ends it soon" [ $((($(date +%s%N) - begin) / 1000000)) -lt 10000 ]
  check "... with status $expected" [ $status = "$expected" ]
  check "... and JSON" json "d['interrupted'] == $expected - 128 and not d['complete']"
  check "... after it had started processes" [ -n "$started" ]
  for p in $left; do check "... process $p is gone" gone "$p"; done
}
check "a long run" run 1 run --seed 1 --strategy timer -- ./slow
interrupted INT 130 --simplify --no-checkpoints --jobs 1
# shellcheck disable=SC2016  # the judge's own variable
interrupted TERM 143 --fails "$fails" --judge 'sleep 0.2; exit $CLEW_EXIT_STATUS' -- ./q
check "no recording is left half-made" bash -c '! "$0" list | grep -qi incomplete' "$clew"
# --- a fault, whose clock is only known to the last step that was looked at: where it ends is not taken for where its slice began
cat >fault.cpp <<'C'
#include <thread>
static int x, y;
static void reader() {
  for (int i = 0; i < 5; ++i) y = y + i;
  if (x == 0) __builtin_trap();
}
static void writer() { x = 1; }
int main() {
  std::thread first(reader), second(writer);
  second.join();
  first.join();
  return 0;
}
C
"$clew" c++ -w -O1 -g fault.cpp -o fault -pthread || exit 1
# --- a lock that is the first member of a class has the address of the whole
"$clew" c++ -std=c++20 -O0 -g "$source/tests/programs/fail/check_then_act.cpp" -o check_then_act -pthread || exit 1
check "a class that begins with its lock" run 1 debug --seed 1 --schedules 500 ./check_then_act
check "... its lock is named" grep -q 'locks `cache.mutex_`' out.txt
check "... and not the class" bash -c '! grep -qE "lock(s|ed) .cache. " out.txt'
check "a fault is found" run 1 hunt --seed 1 --schedules 200 ./fault
check "... and its isolation confirmed" run 0 isolate --simplify
check "... by running both sides" bash -c '! grep -q "not confirmed" out.txt err.txt'

finish
