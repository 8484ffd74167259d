#!/bin/bash
# clew trace --perfetto: what another reader of the format finds in the file.
# shellcheck source=tests/end_to_end/lib.sh
. "$(dirname "$0")/lib.sh"
slices_of() { python3 "$source/tests/end_to_end/perfetto.py" "$1" >slices.txt; }
command -v protoc >/dev/null || { echo "skipped: protoc (package protobuf-compiler) is not there"; exit 0; }

cat >bank.cpp <<'END'
#include <mutex>
#include <thread>
struct Account {
  std::mutex lock;
  long balance = 100;
};
Account first, second;
__attribute__((noinline)) long fee(long amount) { return amount / 10; }
__attribute__((noinline)) void transfer(Account& from, Account& to, long amount) {
  std::lock_guard<std::mutex> a(from.lock);
  std::lock_guard<std::mutex> b(to.lock);
  from.balance -= amount + fee(amount);
  to.balance += amount;
}
__attribute__((noinline)) void rounds() {
  for (int i = 0; i < 3; i++) transfer(first, second, 10);
}
int main() {
  std::thread one(rounds), two(rounds);
  one.join();
  two.join();
  return first.balance == 34 ? 0 : 1;
}
END
"$clew" c++ -O1 -g -std=c++17 bank.cpp -o bank -pthread || exit 1
check "a run" run 0 run --seed 5 -- ./bank
check "its picture" run 0 trace --perfetto bank.perfetto --json out.json
check "... can be read" slices_of bank.perfetto
counts() {
  python3 - <<'END'
import sys
slices = []
for line in open("slices.txt"):
    begin, end, rest = line.rstrip("\n").split(" ", 2)
    slices.append((int(begin), int(end), rest))
def named(text): return [s for s in slices if s[2] == text]
problems = []
for thread in ("T0.1", "T0.2"):
    for name, times in (("rounds", 1), ("transfer", 3), ("fee", 3)):
        if len(named("%s %s" % (thread, name))) != times:
            problems.append("%s: %d times %s" % (thread, len(named("%s %s" % (thread, name))), name))
    # fee within transfer within rounds
    for inner, outer in (("fee", "transfer"), ("transfer", "rounds")):
        for s in named("%s %s" % (thread, inner)):
            if not any(o[0] <= s[0] and s[1] <= o[1] for o in named("%s %s" % (thread, outer))):
                problems.append("%s is in no %s" % (inner, outer))
held = [s for s in slices if s[2].endswith("/holds first.lock holds first.lock")]
if len(held) != 6:
    problems.append("first.lock is held %d times" % len(held))
held.sort()
if any(a[1] > b[0] for a, b in zip(held, held[1:])):
    problems.append("two hold first.lock at a time")
# A fee is taken with both locks held.
for s in slices:
    if s[2].endswith(" fee"):
        thread = s[2].split()[0]
        for lock in ("first.lock", "second.lock"):
            if not any(h[2].startswith(thread + "/holds " + lock) and h[0] <= s[0] and s[1] <= h[1] for h in slices):
                problems.append("a fee without " + lock)
if not named("T0 main"):
    problems.append("no main")
sys.exit("; ".join(problems) or 0)
END
}
check "... has the calls, nested, and the locks" counts
check "... as many as it says" json 'd["locks"] == 12 and d["threads"] == 3 and d["calls"] > 20'

# A thread that waits for a lock is in the call for as long as the other one runs.
cat >wait.c <<'END'
#include <pthread.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
volatile int work;
void* other(void* arg) {
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  return arg;
}
int main(void) {
  pthread_t thread;
  pthread_mutex_lock(&lock);
  pthread_create(&thread, 0, other, 0);
  for (int i = 0; i < 1000; i++) work++;
  pthread_mutex_unlock(&lock);
  pthread_join(thread, 0);
  return 0;
}
END
"$clew" cc -O1 -g wait.c -o wait -pthread || exit 1
waited() {
  for seed in 1 2 3 4 5 6 7 8 9 10; do
    run 0 run --seed "$seed" -- ./wait && run 0 trace --perfetto wait.perfetto && slices_of wait.perfetto || return 1
    awk '$3 == "T0.1" && $4 == "pthread_mutex_lock" && $5 == "lock" && $2 - $1 > 1000 { found = 1 } END { exit !found }' slices.txt && return 0
  done
  return 1
}
check "a thread that waits for a lock" waited
check "a part" run 0 trace --from 2 --to 4 --perfetto part.perfetto
check "... can be read" slices_of part.perfetto
check "... is smaller" [ "$(stat -c %s part.perfetto)" -lt "$(stat -c %s wait.perfetto)" ]
check "a part without a file" run 124 trace --from 2 --to 4
check "a file that cannot be written" run 125 trace --perfetto nowhere/x
exit "$failures"
