#!/bin/bash
# Listeners of the user's (<clew/listener.h>): functions, findings of all runs of a hunt, and listeners that go wrong.
# shellcheck source=tests/end_to_end/lib.sh
. "$(dirname "$0")/lib.sh"
examples=$source/examples
include=$(dirname "$clew")/../include
compile() { cc -Wall -Werror -shared -fPIC -I"$include" -o "$1.so" "$1.c"; }

cat >calls.cc <<'END'
#include <csetjmp>
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <thread>
std::mutex m;
int total = 0;
std::jmp_buf back;
__attribute__((noinline)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__attribute__((noinline)) double half(double x) { return x / 2; }
__attribute__((noinline)) void thrower(int n) {
  if (n == 0) throw std::runtime_error("deep");
  thrower(n - 1);
}
__attribute__((noinline)) void catcher() {
  try {
    thrower(3);
  } catch (const std::exception&) {
    total += 1;
  }
}
__attribute__((noinline)) void jumper() { std::longjmp(back, 1); }
void work(int n) {
  std::lock_guard<std::mutex> lock(m);
  total += fib(n);
}
int main() {
  std::thread a(work, 5), b(work, 6);
  a.join();
  b.join();
  catcher();
  if (setjmp(back) == 0) jumper();
  std::printf("%d %g\n", total, half(3));
}
END
cat >functions.c <<'END'
#include <clew/listener.h>
#include <math.h>
#include <stdio.h>
static const struct clew_host* host;
static unsigned entered, left, most[8], depth[8];
static int wrong;
static uint64_t stack[8][64];
static volatile double noise = 2;
static void on_event(const struct clew_event* event) {
  noise = noise * 1.5 + event->thread; /* uses the vector registers */
  if (event->thread >= 8) return;
  if (event->kind == CLEW_FUNCTION_ENTERED) {
    ++entered;
    stack[event->thread][depth[event->thread]++] = event->address;
    if (depth[event->thread] > most[event->thread]) most[event->thread] = depth[event->thread];
  }
  if (event->kind == CLEW_FUNCTION_LEFT) {
    ++left;
    if (depth[event->thread] == 0 || stack[event->thread][--depth[event->thread]] != event->address)
      wrong = 1;
  }
}
static void on_end(void) {
  char text[128];
  struct clew_finding finding = {0};
  snprintf(text, sizeof text, "%u entered, %u left, deepest %u %u %u%s", entered, left, most[0], most[1], most[2],
           wrong ? ", wrong" : "");
  finding.kind = "functions";
  finding.text = text;
  finding.severity = CLEW_NOTE;
  host->report(&finding);
}
static const struct clew_listener listener = {CLEW_LISTENER_VERSION, CLEW_TOPIC_FUNCTIONS, on_event, on_end};
const struct clew_listener* clew_listener_start(const struct clew_host* given, const char* options) {
  (void)options;
  host = given;
  return &listener;
}
END
check "a listener for functions is compiled" compile functions
# main, catcher, jumper, half, 4 thrower, 2 work, fib(5) is 15 calls and fib(6) 25.
functions() {
  "$clew" c++ "$1" -g -std=c++20 -pthread calls.cc -o calls && run 0 run --seed 3 --listener ./functions.so --json out.json -- ./calls &&
    grep -q '^14 1.5$' out.txt && json '[f["text"] for f in d["findings"]] == ["'"$2"'"]'
}
check "all functions are told, with exceptions and jumps" functions -O0 '50 entered, 50 left, deepest 6 6 7'
# Recursion may have become a loop there.
optimised() {
  "$clew" c++ -O1 -g -std=c++20 -pthread calls.cc -o calls && run 0 run --seed 3 --listener ./functions.so --json out.json -- ./calls &&
    grep -q '^14 1.5$' out.txt && json 'len(d["findings"]) == 1 and not d["findings"][0]["text"].endswith("wrong")' &&
    json 'd["findings"][0]["text"].split()[0] == d["findings"][0]["text"].split()[2] and int(d["findings"][0]["text"].split()[0]) > 10'
}
check "in optimised code as well" optimised
replayed() { "$clew" run --seed 4 -- ./calls >/dev/null 2>&1 && run 0 replay --times 3 --listener ./functions.so --json out.json && json 'd["diverged"] == 0 and d["findings"]'; }
check "a recording replays with them, and does not depart" replayed
hunted() { run 0 hunt --schedules 5 --no-passing --listener ./functions.so ./calls && grep -q 'functions, which are told by clew run and clew replay alone' err.txt; }
check "a hunt says that it does not tell them" hunted

cp "$examples/listener/long_calls.c" .
check "the example for functions is compiled" compile long_calls
example() { run 0 run --seed 3 --listener ./long_calls.so:3 --json out.json -- ./calls && json 'd["findings"] and all(f["kind"] == "long-call" and f["sites"][0]["at"]["function"].split("(")[0] in ("fib", "work") for f in d["findings"])'; }
check "it reports" example

# What reaches the outside, and locks of functions and of the heap by their names.
cat >log.cc <<'END'
#include <unistd.h>
#include <cstdio>
#include <mutex>
#include <thread>
struct Log {
  void line(const char* text) {
    std::lock_guard lock(mutex);
    if (++lines == 3) (void)!::write(1, text, 6);
  }
  std::mutex mutex;
  int lines = 0;
};
int main() {
  Log log;
  std::thread a([&] { log.line("hello\n"); log.line("again\n"); }), b([&] { log.line("other\n"); });
  a.join();
  b.join();
  (void)!::write(1, "done\n", 5);
}
END
check "a program that writes under a lock is built" "$clew" c++ -O1 -g -std=c++20 -pthread log.cc -o log
cp "$examples/listener/no_io.c" .
check "the example for a rule is compiled" compile no_io
told_io() {
  run 0 run --seed 3 --listener ./no_io.so --json out.json -- ./log &&
    json '[(f["kind"], f["text"], f["sites"][0]["at"]["line"], f["sites"][1]["at"]["line"]) for f in d["findings"]] == [("io-under-lock", "a thread writes (descriptor 1) while it holds a lock: log.mutex (a variable of main in T0)", 7, 8)]'
}
check "it reports, with the name of the lock" told_io
replayed_io() { "$clew" run --seed 3 -- ./log >/dev/null 2>&1 && run 0 replay --listener ./no_io.so --json out.json && json 'd["diverged"] == 0 and len(d["findings"]) == 1'; }
check "a recording that was made without it replays with it" replayed_io
hunted_io() { run 1 hunt --seed 1 --schedules 20 --no-passing --listener './no_io.so:fail' --json out.json ./log && json 'd["failure"]["kind"] == "listener"' && run 134 replay; }
check "a hunt fails by it" hunted_io

# Findings of all runs of a hunt, though none of them fails.
cat >sometimes.cc <<'END'
#include <atomic>
#include <mutex>
#include <thread>
std::atomic<int> first{0};
std::mutex m;
int plain = 0, other = 0;
int main() {
  std::thread a([] {
    int expected = 0;
    if (first.compare_exchange_strong(expected, 1)) plain++;
  });
  std::thread b([] {
    int expected = 0;
    if (!first.compare_exchange_strong(expected, 2)) plain++;
    other++;
  });
  std::thread c([] { other++; });
  a.join();
  b.join();
  c.join();
}
END
check "a program with two races is built, of which one is in some runs" "$clew" c++ -O1 -g -std=c++20 -pthread sometimes.cc -o sometimes
all_runs() {
  run 0 hunt --seed 1 --schedules 60 --watch races --json out.json --junit out.xml ./sometimes &&
    json 'd["outcome"] == "not-found" and sorted(f["text"].split(",")[0] for f in d["findings"]) == ["data race on other", "data race on plain"]' &&
    json 'all(0 < f["runs"] <= 60 and f["first_schedule"] >= 1 for f in d["findings"])' &&
    json '[f["runs"] for f in d["findings"] if "plain" in f["text"]][0] < 60 and [f["runs"] for f in d["findings"] if "other" in f["text"]] == [60]' &&
    grep -q '2 findings: 2 race' err.txt && grep -q 'in 60 of 60 schedules, first in schedule 1' err.txt &&
    grep -q '^2 findings: 2 race' out.xml && grep -q 'data race on plain' out.xml
}
check "a hunt tells the findings of all runs, and how many have each" all_runs
forked() { run 0 hunt --fork --seed 1 --schedules 20 --watch races --json out.json ./sometimes && json '[f["runs"] for f in d["findings"] if "other" in f["text"]] == [20]'; }
check "also with a process for each schedule" forked
cp "$examples/listener/long_locks.c" .
check "the example is compiled" compile long_locks
all_of_listener() { run 0 hunt --seed 1 --schedules 30 --listener ./long_locks.so:0 --json out.json ./calls && json 'len(d["findings"]) == 1 and d["findings"][0]["kind"] == "long-lock" and d["findings"][0]["runs"] == 30'; }
check "a listener's findings are told likewise, one for each place" all_of_listener
fails() { run 1 hunt --seed 1 --schedules 30 --no-passing --listener './long_locks.so:0 fail' --json out.json --junit out.xml ./calls && json 'd["failure"]["kind"] == "listener" and d["findings"][0]["runs"] == 1' && grep -q 'type="listener"' out.xml; }
check "it may fail a run of a hunt" fails
isolated() { run 134 replay --times 3 --json out.json && json 'd["diverged"] == 0 and d["failure"]["kind"] == "listener"'; }
check "which replays" isolated

# Listeners that go wrong: a clear error, and a recording that can be replayed.
wrong() { # NAME, what is put where a lock is taken, what is said
  sed "s/static void take(const struct clew_event\* event) {/&\n  $2/" "$examples/listener/long_locks.c" >"$1.c"
  sed -i '1i #include <unistd.h>' "$1.c"
  compile "$1" || return 1
  run 122 run --listener "./$1.so" --json out.json -- ./calls || return 1
  grep -q "the listener .*$1.so $3" err.txt || { cat err.txt; return 1; }
  "$clew" run -- ./calls >/dev/null 2>&1 || return 1
  run 0 replay
}
check "one that crashes" wrong crashes '*(volatile int*)8 = 0;' 'crashed'
check "one that ends the process" wrong ends '_exit(3);' 'crashed or ended the process'
check "one that computes for ever" wrong spins 'for (volatile int i = 0;; i = i + 1) {}' 'does not return'
check "one that waits for ever" wrong sleeps 'pause();' 'sleeps in the kernel and does not return'
hunt_of_wrong() { run 122 hunt --schedules 3 --no-passing --listener ./crashes.so ./calls; }
check "a hunt with one that crashes cannot judge" hunt_of_wrong
sed 's/CLEW_TOPIC_LOCKS,/1u << 30,/' "$examples/listener/long_locks.c" >topics.c
check "one that asks for something unknown is compiled" compile topics
unknown() { run 122 run --listener ./topics.so -- ./calls && grep -q 'asks for topics that this clew does not have' err.txt; }
check "and refused" unknown
finish
