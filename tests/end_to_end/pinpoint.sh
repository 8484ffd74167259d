#!/usr/bin/env bash
# clew pinpoint: points, answers, campaigns that are interrupted, algorithms of the user's own.
. "$(dirname "$0")/lib.sh"
build() { "$clew" c++ -std=c++20 -O1 -g "$source/$1.cpp" -o "$2" -pthread || exit 1; }
build bench/pinpoint/programs/lost_notify lost_notify
build bench/pinpoint/programs/non_monotonic divide
build examples/lost_update/lost_update_fixed fixed
build tests/programs/fail/check_then_act check_then_act
printf 'int main() { return 0; }\n' >alone.cpp
"$clew" c++ -O1 -g alone.cpp -o alone || exit 1
check "help with examples" bash -c '"$0" pinpoint --help | grep -qi "examples:"' "$clew"
check "finds where a delay loses the notification" run 1 pinpoint --seed 1 --json out.json --graph flow.svg --plot plot.svg ./lost_notify
check "... says what" says err.txt "pinpointed: "
check "... with a probability" says err.txt "p >= 0.99"
check "... and its campaign" says err.txt "campaign: .clew/pinpoint/1.db"
check "json: points" json "len(d['points']) > 20 and all(f in d['points'][0] for f in 'id at kind score low high hue'.split())"
check "json: answer" json "d['answer']['points'] and d['answer']['rate'] > 0.8 and d['answer']['rate_without'] == 0 and d['answer']['rate_everywhere'] > 0"
check "json: edges" json "all(f in d['edges'][0] for f in 'from to difference'.split())"
check "json: the most extreme edge comes first" json "[abs(e['difference']) for e in d['edges']] == sorted((abs(e['difference']) for e in d['edges']), reverse=True)"
check "json: figures" json "d['ks']['d'] > 0 and d['ks']['p'] <= 1 and d['bugs'] and d['samples'] > 100 and d['runs'] > d['samples'] and d['seconds'] > 0 and d['per_second'] > 0"
check "json: the answer is in the thread that waits" json "(lambda at: any('wait_thread' in f['function'] for f in [at, *at['callers']]))([p for p in d['points'] if p['id'] in d['answer']['points']][0]['at'])"
check "the notification is seen to come before the wait in failing runs alone" json "(lambda t: t['failing'] > 20 and t['passing'] > 20 and any('notify_thread' in o['first']['function'] and 'wait_thread' in o['then']['function'] and o['failing'] > 20 and o['passing'] == 0 for o in t['orders']))(d['bugs'][0]['traced'])"
check "... and where the thread is blocked for ever" json "any('wait_thread' in s['at']['function'] and s['failing'] == d['bugs'][0]['traced']['failing'] for s in d['bugs'][0]['traced']['stuck'])"
check "... in words" says err.txt "Where a thread stood blocked at the end"
check "pictures" bash -c 'grep -q "</svg>" flow.svg && grep -q "</svg>" plot.svg'
check "a graph for Graphviz" run 1 pinpoint --seed 1 --samples 60 --graph flow.dot ./lost_notify
check "... is one" bash -c 'grep -q "^digraph" flow.dot'
check "same seed, same campaign, on any number of cores" bash -c '
  for jobs in 1 2; do "$0" pinpoint --seed 3 --jobs $jobs --samples 100 --json j$jobs ./divide >/dev/null 2>&1
    python3 -c "import json, sys; d = json.load(open(sys.argv[1])); print(d[\"points\"], d[\"answer\"], d[\"runs\"])" j$jobs
  done | sort -u | wc -l | grep -qx 1' "$clew"
check "two points that are needed together" run 1 pinpoint --seed 1 --samples 100 --json out.json ./divide
at() { grep -n "// $1" "$source/bench/pinpoint/programs/non_monotonic.cpp" | cut -d: -f1; }
check "... are around the two places where a switch must come" json "(lambda l: len(l) == 2 and l[0] in ($(at T1.2), $(at T1.3)) and l[1] in ($(at T2.4), $(at T2.5)))(sorted(p['at']['line'] for p in d['points'] if p['id'] in d['answer']['points']))"
check "a check and an act that are not one step" run 1 pinpoint --seed 1 --json out.json ./check_then_act
check "... between which lines of their caller" json "(lambda s: s['fails'] == 'more' and s['from']['function'] == s['to']['function'] and 'look_up' in s['from']['function'] and s['to']['line'] == s['from']['line'] + 1)(d['stretches'][0])"
check "... in words" bash -c 'grep -q "^  Between .* in look_up: a delay there makes it fail more often" err.txt'
check "nothing stands out in a correct program" run 0 pinpoint --seed 1 --json out.json ./fixed
check "... and it says so" says err.txt "nothing stands out"
check "... in JSON too" json "d['outcome'] == 'nothing-stands-out' and d['answer']['points'] == [] and d['answer']['rate'] is None"
check "one thread" run 0 pinpoint --seed 1 ./alone
check "... has nothing to pinpoint" says err.txt "nothing to pinpoint"

# A campaign that is ended goes on where it was.
check "the whole campaign" run 1 pinpoint --seed 5 --algorithm features --samples 300 --runs 10 --json whole.json ./check_then_act
check "one that is ended" bash -c '
  "$0" pinpoint --seed 5 --algorithm features --samples 300 --runs 10 --time 0.4 ./check_then_act 2>err.txt; [ $? -le 1 ]' "$clew"
check "... resumed" run 1 pinpoint --resume --algorithm features --samples 300 --runs 10 --json out.json ./check_then_act
check "... comes to the same" bash -c '
  for f in whole.json out.json; do python3 -c "import json, sys; d = json.load(open(sys.argv[1])); print(d[\"points\"], d[\"answer\"], d[\"runs\"])" $f
  done | sort -u | wc -l | grep -qx 1'
# Killed at any moment, it loses a batch at most, and the result is the same.
check "killed again and again" bash -c '
  mkdir killed && cd killed || exit 1
  # Killed very early, there is nothing to resume yet.
  campaign() { "$clew" pinpoint --seed 5 "$@" --algorithm features --samples 300 --runs 10 ../check_then_act >/dev/null 2>&1; }
  export -f campaign; export clew=$0
  for seconds in 0.05 0.2 0.6 0.4 0.9; do
    timeout -s KILL $seconds bash -c "campaign --resume; [ \$? -ne 125 ] || campaign"
  done 2>/dev/null
  campaign --resume --json ../out.json; status=$?
  [ $status -ne 125 ] || campaign --json ../out.json || status=$?
  [ $status -eq 1 ]' "$clew"
check "... and resumed, it comes to the same" bash -c '
  for f in whole.json out.json; do python3 -c "import json, sys; d = json.load(open(sys.argv[1])); print(d[\"points\"], d[\"answer\"], d[\"runs\"])" $f
  done | sort -u | wc -l | grep -qx 1'
newest=$(find .clew/pinpoint -name '*.db' | sort -V | tail -n 1)
check "campaigns are joined" run 1 pinpoint --seed 6 --algorithm features --samples 100 --runs 10 --join "$newest" --json out.json ./check_then_act
check "... their samples count" json "d['design']['samples'] == 400"
check "nothing to resume" run 125 pinpoint --resume ./fixed --other
check "... says so" says err.txt "there is no campaign of this program"
check "what is no campaign" run 125 pinpoint --resume-from out.json ./lost_notify

# An algorithm of the user's own, built as a user would.
c++ -std=c++20 -Wall -Werror -shared -fPIC -I"$(dirname "$clew")/../include" "$source/bench/pinpoint/algorithms/one_by_one.cpp" -o mine.so ||
  clang++-19 -std=c++20 -Wall -Werror -shared -fPIC -I"$(dirname "$clew")/../include" "$source/bench/pinpoint/algorithms/one_by_one.cpp" -o mine.so || exit 1
check "a plug-in" run 1 pinpoint --seed 1 --algorithm ./mine.so --json out.json ./lost_notify
check "... its answer was confirmed" json "d['answer']['rate'] > 0.5 and d['answer']['confidence'] > 0.99"
check "a plug-in that is none" run 125 pinpoint --algorithm ./lost_notify ./lost_notify
check "delta debugging" run 1 pinpoint --seed 1 --algorithm ddmin --json out.json ./lost_notify
check "... says what it did" says err.txt "delta debugging: "
finish
