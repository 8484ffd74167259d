#!/bin/bash
# Traces kept in files: what they show, parts of them, and files that are damaged or cannot be written.
# shellcheck source=tests/end_to_end/lib.sh
. "$(dirname "$0")/lib.sh"

"$clew" c++ -O0 -g -std=c++17 -fclew-yield=line "$source/examples/int_queue/int_queue.cpp" -o int_queue -pthread
check "figure 4" run 1 run --schedule 5:T0.2,7:T0.1,8:T0.2,10:T0.3,15:T0.2 -- ./int_queue

# tails [ARGUMENT...]: who wrote the tail, with what, in the lines that are shown
tails() {
  run 0 show --trace "$@" --json out.json >/dev/null &&
    python3 -c '
import json
for line in json.load(open("out.json"))["lines"]:
    for a in line["accesses"]:
        if a["variable"] == "queue.tail" and a["what"] == "writes":
            print(line["clock"], line["thread"], line["at"]["line"], a["value"])' >tails.txt
}
wrote() { printf '%s\n' "$@" | cmp -s - tails.txt || { cat tails.txt; return 1; }; }
all=("7 T0.1 36 11" "8 T0.2 44 0" "13 T0.3 36 95")
check "a trace is kept" run 0 trace -o run.trace --json out.json
check "... of every instruction that was counted" json 'd["file"]["instructions"] == d["instructions"] and d["file"]["bytes"] > 0'
check "... nothing else is left" [ ! -e run.trace.part ]
check "what ran, from the recording" tails --from 0
check "... who wrote the tail" wrote "${all[@]}"
cp out.json recording.json
check "what ran, from the file" tails run.trace --from 0
check "... who wrote the tail" wrote "${all[@]}"
same() { python3 -c '
import json
a, b = (json.load(open(f))["lines"] for f in ("recording.json", "out.json"))
raise SystemExit(a != b or not a)'; }
check "... and all else alike" same
check "a part" tails run.trace --from 8 --to 12
check "... has what belongs to it" wrote "8 T0.2 44 0"
check "a trace of a part" run 0 trace --from 8 --to 12 -o part.trace
check "... is smaller" [ "$(stat -c %s part.trace)" -lt "$(stat -c %s run.trace)" ]
check "... has what belongs to it" tails part.trace --from 0
check "... and no more" wrote "8 T0.2 44 0"
check "local variables have names" grep -q '`elem` (a variable of IntQueue::enqueue): 95' <("$clew" show --trace --from 10 --to 11)
check "--from behind --to" run 124 show --trace --from 9 --to 8
check "... behind the end" run 124 show --trace --from 900
check "... of a trace" run 124 trace --from 9 --to 8 -o none.trace
check "... leaves no file" [ ! -e none.trace ]

# A run of several sections: a part is read without the rest.
cat >sum.c <<'END'
#include <stdio.h>
long values[1000], sum;
int main(void) {
  for (int round = 0; round < 400; round++)
    for (int i = 0; i < 1000; i++) { values[i] += i ^ round; sum += values[i]; }
  printf("%ld\n", sum);
}
END
"$clew" cc -O1 -g -fclew-yield=line sum.c -o sum
check "a longer run" run 0 run -- ./sum
sum=$(cat out.txt)
check "... is traced" run 0 trace -o sum.trace --json out.json
check "... within 4 bytes for each instruction" json 'd["file"]["bytes"] < 4 * d["file"]["instructions"]'
last_sum() { python3 -c '
import json, sys
writes = [a["value"] for l in json.load(open("out.json"))["lines"] for a in l["accesses"] if a["variable"] == "sum" and a["what"] != "reads"]
sys.exit(0 if str(writes[-1]) == sys.argv[1] else "the last sum is %s" % writes[-1:])' "$sum"; }
check "its last lines" run 0 show --trace sum.trace --json out.json
check "... have the result" last_sum

# Behind the part, the run calls the runtime half a million times: nothing of that is kept.
cat >locks.c <<'END'
#include <pthread.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int count;
int main(void) {
  for (int i = 0; i < 250000; i++) {
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
  }
  return count != 250000;
}
END
"$clew" cc -O1 -g locks.c -o locks -pthread
check "many calls" run 0 run -- ./locks
check "... a part of their trace" run 0 trace --from 10 --to 20 -o locks.trace --json out.json
check "... is small" json 'd["file"]["bytes"] < 100000'
check "... and can be read" run 0 show --trace locks.trace

# Files that are none, or are damaged: one line that says so, no crash.
bad() {
  run 125 show --trace "$2" && says err.txt "$1" && [ "$(grep -c '^clew:' err.txt)" = 1 ]
}
check "a file of something else" bad "is no trace file" sum.c
head -c 5000 sum.trace >cut.trace
check "a file cut short" bad "its end is missing" cut.trace
{ head -c 8 run.trace; printf '\011\0\0\0'; tail -c +13 run.trace; } >version.trace
check "a file of another version" bad "version 9; this clew reads version 3" version.trace
mutated() {
  python3 - "$clew" <<'END'
import random, subprocess, sys
whole = open("run.trace", "rb").read()
random.seed(17)
refused = 0
for i in range(120):
    data = bytearray(whole)
    for _ in range(random.randint(1, 4)):
        data[random.randrange(16, len(data))] = random.randrange(256)
    if i % 4 == 0:
        del data[random.randrange(16, len(data)):]
    open("bad.trace", "wb").write(data)
    done = subprocess.run([sys.argv[1], "show", "--trace", "bad.trace", "--from", "0"], capture_output=True, timeout=60)
    if done.returncode not in (0, 125):
        sys.exit("status %d for mutation %d: %s" % (done.returncode, i, done.stderr.decode()))
    refused += done.returncode == 125
sys.exit(0 if refused > 100 else "only %d refused" % refused)
END
}
check "120 damaged files" mutated

# A disk that is full ends it with one line; the recording stays.
check "a limit" run 125 trace -o large.trace --most-bytes 20000
check "... is told" says err.txt "more than 20000 bytes"
check "... leaves no file" eval '! compgen -G "large*" >/dev/null'
if mkdir small && mount -t tmpfs -o size=16k tmpfs small 2>/dev/null; then
  check "a full disk" run 125 trace -o small/run.trace
  check "... is told" says err.txt "No space left"
  check "... leaves nothing" [ -z "$(ls -A small)" ]
  umount small
else
  echo "skipped: a full disk needs a tmpfs, which cannot be mounted here"
fi
check "the recording is intact" run 0 replay
check "a folder that is not there" run 125 trace -o nowhere/run.trace
exit "$failures"
