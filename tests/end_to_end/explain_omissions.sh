#!/bin/bash
# clew explain: failures of what was not done (Weeratunge et al. 2010, figures 1, 2, 6 and case study II). The failing run's own slice does not
# have the cause; the story names the statement that was left out.
# shellcheck source=tests/end_to_end/lib.sh
. "$(dirname "$0")/lib.sh"
sources=$source/tests/explain

explained() {
  rm -rf .clew
  "$clew" c++ -std=c++20 -O0 -g -pthread "$sources/$1.cpp" -o "$1" || return 1
  "$clew" hunt --seed 1 -- "./$1" >/dev/null 2>err.txt </dev/null
  run 0 explain --slice "$2" --json out.json || return 1
  python3 - "$sources/$1.cpp" <<'PYTHON'
import json, re, sys
d = json.load(open("out.json"))
text = open(sys.argv[1]).read()
truth = {int(line) for line in re.findall(r"\.cpp:(\d+)", re.search("ROOT CAUSE:(.*);", text).group(1))}
kinds = re.search("KIND: (.*)", text).group(1).split(" or ")
omitted = re.search(r"OMITTED: .*:(\d+)", text)
wrong = [] if d["kind"] in kinds else ["kind " + d["kind"]]
wrong += ["no line %d" % line for line in sorted(truth - {p["line"] for p in d["root"]})]
if omitted:
    told = {s["at"]["line"] for s in d["story"] if s["only"] == "passing" and s["main"]}
    wrong += [] if int(omitted.group(1)) in told else ["the omitted line is not told: %s" % sorted(told)]
print(*wrong)
sys.exit(bool(wrong))
PYTHON
}
omission() {
  explained "$1" dynamic || return 1
  local lines
  lines=$(sed -n 's/.*ROOT CAUSE:\(.*\);.*/\1/p' "$sources/$1.cpp" | grep -o 'cpp:[0-9]*' | cut -d: -f2 | paste -sd,)
  json "not {$lines} & {l['at']['line'] for l in d['slice']['shown']['lines']}"
}
for program in figure2 omitted_reset omitted_handler omitted_flush omitted_release; do
  check "$program: what was left out" omission $program
done

check "figure 1" explained figure1 pruned
check "figure 2" explained figure2 pruned
slice2() {
  json '{l["at"]["line"] for l in d["slice"]["shown"]["lines"] if not l["passing"]} == {15}' &&
    json '{l["at"]["line"] for l in d["slice"]["shown"]["lines"] if not l["failing"]} == {17}' &&
    json '{14, 16, 18} <= {l["at"]["line"] for l in d["slice"]["shown"]["lines"] if l["failing"] and l["passing"]}'
}
check "figure 2: both halves of its slice" slice2
check "figure 6" explained figure6 pruned
slice6() { json '{l["at"]["line"] for l in d["slice"]["shown"]["lines"]} == {18, 26, 33}'; }
check "figure 6: the slice ends with the two writes" slice6
finish
