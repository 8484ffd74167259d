#!/bin/bash
# clew explain: a pool that hands the same tasks to other workers (Weeratunge et al. 2010, section 3). Beside any passing run, whoever serves which
# order there, the slice is that of the order that goes wrong and no wall of differences.
# shellcheck source=tests/end_to_end/lib.sh
. "$(dirname "$0")/lib.sh"

"$clew" c++ -std=c++20 -O1 -g -pthread "$source/tests/explain/orders.cpp" -o orders
"$clew" hunt --seed 1 -- ./orders >/dev/null 2>err.txt </dev/null
failing=$(sed -n 's/.*clew replay \([0-9]*\).*/\1/p' err.txt | tail -1)

beside() {
  "$clew" run --seed "$1" ./orders >/dev/null 2>run.txt </dev/null || return 1
  local passing
  passing=$(sed -n 's/.*recording \([0-9]*\).*/\1/p' run.txt)
  run 0 explain "$failing" "$passing" --tests 0 --json out.json || return 1
  json 'd["kind"] == "atomicity-violation"' && json 'd["slice"]["pruned"] <= 20' &&
    json '{93, 97} <= {p["line"] for p in d["root"]}' && json 'min(a["failing"] for a in d["alignment"]) > 60'
}
for seed in 3 4 5; do check "beside the run with seed $seed" beside $seed; done
finish
