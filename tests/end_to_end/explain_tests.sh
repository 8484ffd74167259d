#!/bin/bash
# clew explain: what its steps are tested by, and causes of which each suffices.
# shellcheck source=tests/end_to_end/lib.sh
. "$(dirname "$0")/lib.sh"
sources=$source/tests/explain

# build PROGRAM [OPTION...], hunts in it
hunted() {
  rm -rf .clew
  "$clew" c++ -std=c++20 -O1 -g -pthread "${@:2}" "$sources/$1.cpp" -o "$1" || return 1
  "$clew" hunt --seed 1 -- "./$1" >/dev/null 2>err.txt </dev/null
  [ -d .clew ]
}

# Of two causes that each suffice both are told, and the lines of both are among those of the root. The truth stands in the program.
joint() {
  hunted "$1" && run 0 explain --json out.json || return 1
  python3 - "$sources/$1.cpp" <<'PYTHON'
import json, re, sys
d = json.load(open("out.json"))
truth = {int(line) for line in re.findall(r"\.cpp:(\d+)", re.search("ROOT CAUSE:(.*);", open(sys.argv[1]).read()).group(1))}
kinds = re.search("KIND: (.*)", open(sys.argv[1]).read()).group(1).split(" or ")
lines = {p["line"] for p in d["root"]}
wrong = [] if d["kind"] in kinds else ["kind " + d["kind"]]
wrong += ["no line %d" % line for line in sorted(truth - lines)]
wrong += [] if len(d["also"]) == 1 else ["also %d" % len(d["also"])]
print(*wrong, sorted(lines))
sys.exit(bool(wrong))
PYTHON
}
for program in joint_settings joint_totals joint_indexes joint_accounts joint_probes; do
  check "$program: both causes" joint $program
done

# Figure 3 of the paper: the order by a schedule, the branch by taking the other way, each step by the one before it.
cat >requests.cpp <<'PROGRAM'
#include <pthread.h>
int cnt = 2;
static int result;
static int noise;
static void* configure(void*) {
  cnt = 1;
  return nullptr;
}
static void* request(void*) {
  int sum = 5;
  int t_cnt = cnt;
  if (t_cnt % 2 == 0)
    sum = sum + 12;
  else
    sum = sum - 5;
  noise = t_cnt;
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
PROGRAM
check "a program is built" "$clew" c++ -O0 -g requests.cpp -o requests -pthread
"$clew" hunt --seed 1 -- ./requests >/dev/null 2>&1 </dev/null
tested() {
  run 0 explain --full --json out.json &&
    json '{s["at"]["line"]: s["confirmed"] for s in d["story"] if s["main"]} == {11: "order", 12: "branch", 13: "not testable", 17: "value", 26: "value"}' &&
    json '[s["link"] for s in d["story"]][1:3] == ["confirmed", "confirmed"] and d["story"][4]["link"] == "confirmed"' &&
    json 'd["tests_complete"] and d["also"] == []' &&
    grep -q '^#    1  T0.2  requests.cpp:11' out.txt && grep -q '^\*>   2  T0.2  requests.cpp:12' out.txt &&
    grep -q '^->   3  T0.2  requests.cpp:13' out.txt
}
check "an order, a branch, links, what cannot be tested" tested
bounded() {
  run 0 explain --tests 2 --json out.json && json 'd["tests"] == 2 and not d["tests_complete"]' &&
    grep -q 'The tests ended after 2 runs' out.txt
}
check "a limit of tests: what was tested is told" bounded
short() { run 0 explain --time 0.000001 --json out.json && json 'd["tests"] == 0 and not d["tests_complete"] and d["explained"]'; }
check "a limit of time" short

# Failures that only the output shows: from the first byte that differs.
report() {
  rm -rf .clew
  "$clew" hunt --seed 1 "$@" -- ./report_output >/dev/null 2>err.txt </dev/null
  run 0 explain --json out.json && json 'd["kind"] == "atomicity-violation" and {24, 28} <= {p["line"] for p in d["root"]}' || return 1
  # Which line of the report differs first is where the story ends.
  json 'd["story"][-1]["at"]["line"] == 36 and d["story"][-1]["variable"] == "shop.stock_"' &&
    json 'd["tests"] > 0 and d["story"][1]["link"] == "confirmed" and all(s["confirmed"] != "refuted" for s in d["story"])'
}
check "a program whose output is wrong is built" "$clew" c++ -std=c++20 -O0 -g -pthread "$sources/report_output.cpp" -o report_output
check "the output lacks an expression" report --fails-unless-output 'left: 3'
check "a line is missing" report --fails-unless-output 'to be ordered'
check "a judge of the output" report --judge 'grep -q "left: 3"'

# Bad input
other() {
  "$clew" run -- ./requests >/dev/null 2>&1 </dev/null
  "$clew" list >list.txt 2>&1
  run 125 explain 2 "$(awk '$2 == "requests" { print $1; exit }' list.txt)" && grep -q 'are of two programs' err.txt
}
check "recordings of two programs" other
check "two that fail" run 125 explain 2 2
check "two that pass" run 125 explain 1 1
rm -rf .clew
check "without debug information" "$clew" c++ -O2 requests.cpp -o requests -pthread
"$clew" hunt --seed 1 -- ./requests >/dev/null 2>&1 </dev/null
bare() {
  local status=0
  "$clew" explain --json out.json >out.txt 2>err.txt </dev/null || status=$?
  case $status in 0 | 122) json 'd["headline"]' && ! grep -qi 'internal error' err.txt ;; *) return 1 ;; esac
}
check "-O2 without debug information is told, or said not to be" bare
"$clew" c++ -O1 -g requests.cpp -o requests -pthread
check "a program that was rebuilt" run 125 explain
rebuilt() { grep -q 'requests' err.txt && ! grep -qi 'internal error' err.txt; }
check "and it is said" rebuilt
finish
