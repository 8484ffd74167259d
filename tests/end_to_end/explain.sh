#!/bin/bash
# clew explain: the kind of the cause, the lines of it, a story from there to the failure, tested by running.
# shellcheck source=tests/end_to_end/lib.sh
. "$(dirname "$0")/lib.sh"
programs=$(dirname "$clew")/../tests/programs

# explained PROGRAM KIND LINE...: the kind is right, and all lines are among those of the root
explained() {
  rm -rf .clew
  "$clew" hunt --seed 1 -- "$1" >/dev/null 2>err.txt </dev/null
  run 0 explain --json out.json || return 1
  python3 - "$2" "${@:3}" <<'END'
import json, sys
d = json.load(open("out.json"))
lines = {str(p["line"]) for p in d["root"]}
wrong = [] if d["kind"] == sys.argv[1] else ["kind " + d["kind"]]
wrong += ["no line " + line for line in sys.argv[2:] if line not in lines]
wrong += [] if d["story"] else ["no story"]
print(*wrong, sorted(lines))
sys.exit(bool(wrong))
END
}
check "use before initialisation" explained "$programs/fail/use_before_init" order-violation 26 16
check "lost update" explained "$programs/fail/lost_update" data-race 14
check "use after free" explained "$programs/fail/free_by_owner" order-violation 24 32
check "use after free, seen by AddressSanitizer" explained "$programs/fail/asan_use_after_free" order-violation 28 39
check "a block freed by another, seen by AddressSanitizer" explained "$programs/fail/asan_free_only" order-violation 15 21
check "two critical sections" explained "$programs/fail/bounded_buffer" atomicity-violation 25
check "two locks" explained "$programs/fail/wrong_lock" data-race 27 19
check "a cycle of locks" explained "$programs/fail/abba_deadlock" deadlock 20 21
check "a notification before the wait" explained "$programs/fail/lost_notify" lost-wakeup 22 28

# Programs of a realistic size, written for what their stories must say.
sources=$(cd "$(dirname "$0")/../explain" && pwd)
# told PROGRAM KIND LINE... -- WORDS: as above, and the explanation has these words
told() {
  "$clew" c++ -std=c++20 -O1 -g -pthread "$sources/$1.cpp" -o "$1" || return 1
  local lines=() name=$1 kind=$2
  shift 2
  while [ "$1" != -- ]; do lines+=("$1"); shift; done
  explained "$PWD/$name" "$kind" "${lines[@]}" || return 1
  shift
  "$clew" explain >told.txt 2>&1 </dev/null
  tr -s '\n ' ' ' <told.txt | grep -q -- "$*"
}
check "who freed what is read, and is in use again" told cache_eviction order-violation 88 144 -- \
  'T0.2 has freed that memory at cache_eviction.cpp:88 (in the call at cache_eviction.cpp:149) T0 has allocated it at cache_eviction.cpp:79. T0.1 has got its address at cache_eviction.cpp:73'
check "settings read before they were loaded, noticed by another" told settings_early order-violation 61 55 -- \
  'after T0.1 has let it come there at settings_early.cpp:61'

check "who is woken instead of whom" told depot lost-wakeup 26 -- \
  'has woken T0.[1-4] instead, which waited at depot.cpp:[0-9]*'

# The figure that the paper explains its algorithms by (Weeratunge et al. 2010, figure 3).
cat >requests.cpp <<'END'
#include <pthread.h>
#include <cstdio>
int cnt = 2;
static int inputs[] = {5, 7, 9};
static int next_input = 0;
static int read_int() { return inputs[next_input++ % 3]; }
static void* configure(void*) {
  cnt = 1;
  return nullptr;
}
static int integrate(const int* b, int j) { return j == 0 ? 0 : b[j - 1]; }
static int result;
static void* request(void*) {
  int a[100], b[100];
  int sum = 0, j = 0, t_cnt;
  t_cnt = cnt;
  while (j < t_cnt) {
    a[j] = read_int();
    sum = sum + a[j];
    b[j] = integrate(b, j);
    j++;
  }
  if (t_cnt % 2 == 0)
    sum = sum + a[0];
  else
    sum = sum - a[0];
  result = sum;
  return nullptr;
}
int main() {
  pthread_t first, second;
  pthread_create(&first, nullptr, configure, nullptr);
  pthread_create(&second, nullptr, request, nullptr);
  pthread_join(first, nullptr);
  pthread_join(second, nullptr);
  return result != 0;
}
END
check "figure 3 is built" "$clew" c++ -O0 -g requests.cpp -o requests -pthread
check "figure 3" explained "$PWD/requests" order-violation 16 8
steps() {
  json 'd["tests"] > 0 and d["story"][0]["at"]["line"] == 16 and d["story"][0]["variable"] == "t_cnt"' &&
    json 'd["story"][0]["failing"] == "2" and d["story"][0]["passing"] == "1"' &&
    json 'd["story"][0]["confirmed"] == "order"' &&
    json '27 in [s["at"]["line"] for s in d["story"]] and 19 not in [s["at"]["line"] for s in d["story"]]' &&
    json 'd["slice"]["pruned"] <= d["slice"]["dual"] and d["slice"]["dual"] > 0 and d["alignment"]'
}
check "its story, tested" steps
said() { grep -q 'reads `cnt` at requests.cpp:16 before T0.1 has written it at requests.cpp:8' err.txt; }
check "its first sentence" said

# A division by zero reads its divisor and then faults (MacDonald, Chen, Novillo 2006, figure 4).
check "a division is built" "$clew" cc -O1 -g "$source/bench/enumerate/programs/figure4.c" -o division -pthread
check "a division by zero" explained "$PWD/division" order-violation 45 25
zero() { json 'd["story"][-1]["failing"] == "0" and d["story"][-1]["passing"] == "3"'; }
check "its divisor" zero

# Questions about lines, slices, pictures
check "figure 3 once more" explained "$PWD/requests" order-violation 16 8
why() { run 0 explain --ask 'why requests.cpp:27:sum' --json out.json && grep -q '`sum` is 17, in the passing run 0' err.txt &&
  json 'd["asked"]["differs"] and d["asked"]["source"]["at"]["line"] == 24 and d["story"][-1]["at"]["line"] == 27'; }
check "why a value" why
why_not() { run 0 explain --ask 'why not requests.cpp:26' && grep -q 'does not come to requests.cpp:26: T0.2 turns off at requests.cpp:23' err.txt; }
check "why not a line" why_not
check "a line that is executed is none to ask 'why not' about" run 122 explain --ask 'why not requests.cpp:24'
check "a line that no run executes" run 122 explain --at requests.cpp:22
check "no such question" run 124 explain --ask 'who requests.cpp:22'
check "two questions" run 124 explain --at requests.cpp:22 --ask 'why requests.cpp:22'
# Figure 5: what the pruned slice has and what it has not.
slice() {
  run 0 explain --slice pruned --graph why.svg --json out.json &&
    json '{l["at"]["line"] for l in d["slice"]["shown"]["lines"] if not l["passing"]} == {19, 24}' &&
    json '{l["at"]["line"] for l in d["slice"]["shown"]["lines"] if not l["failing"]} == {26}' &&
    json '{16, 8, 23, 27} <= {l["at"]["line"] for l in d["slice"]["shown"]["lines"] if l["failing"] and l["passing"]}' &&
    json 'len([l for l in d["slice"]["shown"]["lines"] if l["at"]["line"] == 27]) == 1' &&
    json 'any(a["def_use"] for a in d["slice"]["shown"]["arrows"]) and d["slice"]["bfs"] > 0' &&
    python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("why.svg")'
}
check "the pruned slice, listed and drawn" slice
dynamic() { run 0 explain --slice dynamic --graph why.dot --json out.json &&
  json 'len(d["slice"]["shown"]["lines"]) == d["slice"]["dynamic"] > d["slice"]["pruned"]' && grep -q '^digraph' why.dot; }
check "the dynamic slice" dynamic
check "a picture of another kind" run 124 explain --graph why.png
untested() { run 0 explain --tests 0 --json out.json && json 'd["tests"] == 0'; }
check "no tests" untested

# Words
check "a recording that passes is none to explain" run 125 explain 1 2
check "three recordings" run 124 explain 1 2 3
check "none at all" run 124 explain 99 98
# What many runs say, beside it
deep() {
  rm -rf .clew
  run 1 debug --deep --seed 1 --time 20 --json out.json "$programs/fail/free_by_owner" &&
    json 'd["pinpoint"]["agrees"] in ("line", "function") and d["rank"]["agrees"] == "function"' &&
    grep -q '^  Noise agrees' err.txt && grep -q '^  Calls agree with the explanation' err.txt
}
check "debug --deep" deep

cd "$(mktemp -d)" || exit 1
check "an empty store" run 124 explain
finish
