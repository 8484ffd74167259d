#!/bin/bash
# --watch, --fails-if and --listener: what is found, that nothing else changes, and that correct programs have no findings.
# shellcheck source=tests/end_to_end/lib.sh
. "$(dirname "$0")/lib.sh"
programs=$(dirname "$clew")/../tests/programs
examples=$source/examples

cat >names.cc <<'END'
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
struct Customer { std::string name; double spent = 0; };
struct Shop {
  void serve(int with) {
    Customer* customer = find("Ada");
    customer->spent += with;
  }
  Customer* find(const std::string& name) {
    std::lock_guard lock(mutex);
    return &customers[name];
  }
  std::mutex mutex;
  std::unordered_map<std::string, Customer> customers;
};
int main() {
  Shop shop;
  std::thread a([&] { shop.serve(1); }), b([&] { shop.serve(2); });
  a.join();
  b.join();
  std::printf("%.0f\n", shop.find("Ada")->spent);
}
END
check "a program with an unordered map is built" "$clew" c++ -O1 -g -std=c++20 -pthread names.cc -o names
element_named() {
  run 0 run --seed 3 --watch races --json out.json -- ./names &&
    json 'set(f["text"] for f in d["findings"]) == {"data race on shop.customers[...].spent (allocated at names.cc:14 by T0.1), 8 bytes"}'
}
check "a race on an element of it has its name" element_named

# What is allocated before main has names, too, in any container.
cat >early.cc <<'END'
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>
struct Settings {
  int level = 0, limit = 0;
};
static std::vector<int> totals(8);
static std::map<std::string, int> stock{{"apples", 1}};
static auto settings = std::make_unique<Settings>();
static std::vector<bool> flags(100);
static void work(int i) {
  totals[5] += i;
  stock["apples"] += i;
  settings->limit += i;
  flags[70] = i == 1;
}
int main() {
  std::thread first(work, 1), second(work, 2);
  first.join();
  second.join();
}
END
check "a program with static containers is built" "$clew" c++ -O0 -g -std=c++20 -pthread early.cc -o early
early_named() {
  run 0 run --seed 2 --watch races --json out.json -- ./early &&
    json '{f["text"].split(" (")[0] for f in d["findings"]} == {"data race on " + n for n in ("totals[5]", "stock[...]", "Settings::limit", "flags[...]")}'
}
check "races on them have their names" early_named

cat >race.cc <<'END'
#include <cstdio>
#include <mutex>
#include <thread>
int counter = 0, guarded = 0;
std::mutex m;
static void bump() {
  for (int i = 0; i < 3; ++i) {
    counter++;
    std::lock_guard<std::mutex> lock(m);
    guarded++;
  }
}
int main() {
  std::thread a(bump), b(bump);
  a.join();
  b.join();
  std::printf("%d\n", guarded);
}
END
check "a program with a race is built" "$clew" c++ -O1 -g -std=c++20 -pthread race.cc -o race
race_found() {
  run 0 run --seed 3 --watch races --json out.json -- ./race &&
    json 'd["findings"] and all(f["kind"] == "race" and f["text"].startswith("data race on counter") for f in d["findings"])' &&
    json 'all(s["at"]["line"] == 8 and not s["locks"] and s["stack"] for f in d["findings"] for s in f["sites"])'
}
check "the race is found, with its variable, lines and stacks" race_found
unwatched() { run 0 run --seed 3 --json out.json -- ./race && json 'd["findings"] == []'; }
check "without --watch there are no findings" unwatched
watched_replay() { run 0 replay --watch races,lock-order,memory --json out.json && json 'd["diverged"] == 0 and d["findings"]'; }
check "a recording that was not watched is, and does not depart" watched_replay
hunted() {
  run 1 hunt --seed 1 --schedules 50 --fails-if race --json out.json --junit out.xml ./race &&
    json 'd["failure"]["kind"] == "race" and d["findings"]' && grep -q 'data race on counter' out.xml
}
check "a hunt for races fails" hunted
replayed() { run 134 replay --times 20 --json out.json && json 'd["diverged"] == 0 and d["failure"]["kind"] == "race"'; }
check "its recording replays" replayed
forked() { run 1 hunt --fork --seed 1 --schedules 20 --fails-if race --no-passing ./race; }
check "also with a process for each schedule" forked

cat >memory.cc <<'END'
#include <thread>
struct Node { int value; };
Node* volatile node;
int main(int argc, char**) {
  node = new Node{3};
  std::thread t([] { delete node; });
  t.join();
  if (argc > 1) delete node;
  return argc == 1 && node->value == 77;
}
END
check "a program that uses freed memory is built" "$clew" c++ -O1 -g -std=c++20 -pthread memory.cc -o memory
freed_use() { run 0 run --watch memory --json out.json -- ./memory && json '[f["text"] for f in d["findings"]] == ["Node (allocated at memory.cc:5 by T0) is used after it was freed"]'; }
check "it is found" freed_use
freed_twice() {
  "$clew" run --watch memory --json out.json -- ./memory twice >out.txt 2>err.txt
  json '"Node (allocated at memory.cc:5 by T0) is freed twice" in [f["text"] for f in d["findings"]]'
}
check "and so is memory that is freed twice" freed_twice

# libc allocates in a call that the runtime makes for the program; the program has it freed.
cat >attributes.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
int main(void) {
  for (int i = 0; i < 4; i++) {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 1;
    if (pthread_attr_destroy(&attributes) != 0) return 1;
  }
  return 0;
}
END
check "a program that asks for a thread's attributes is built" "$clew" cc -O1 -g -pthread attributes.c -o attributes
attributes() { run 0 run --watch memory,races --json out.json -- ./attributes && json 'd["findings"] == []'; }
check "it frees nothing twice" attributes

cat >released.cc <<'END'
#include <thread>
int* value;
int main() {
  value = new int(1);
  std::thread t([] {
    volatile int seen = *value;
    (void)seen;
  });
  delete value;
  t.join();
}
END
check "a program that frees what another thread reads is built" "$clew" c++ -O1 -g -std=c++20 -pthread released.cc -o released
# The thread that is created runs after the release, or before it.
released() {
  for schedule in none timer; do
    run 0 run --strategy "$schedule" --seed 4 --watch races --json out.json -- ./released || return 1
    json '[sorted(s["at"]["line"] for s in f["sites"]) for f in d["findings"]] == [[6, 9]]' || return 1
  done
}
check "the read races with the release, whichever comes first" released

cat >order.cc <<'END'
#include <mutex>
#include <thread>
std::mutex a, b;
int main() {
  std::thread t([] { std::lock_guard x(a); std::lock_guard y(b); });
  t.join();
  std::thread u([] { std::lock_guard x(a); std::lock_guard y(b); });
  std::thread v([] { std::lock_guard y(b); std::lock_guard x(a); });
  u.join();
  v.join();
}
END
check "a program with locks in two orders is built" "$clew" c++ -O1 -g -std=c++20 -pthread order.cc -o order
cycle() { run 0 run --strategy none --watch lock-order --json out.json -- ./order && json '[f["kind"] for f in d["findings"]] == ["lock-order"] and [s["locks"] for s in d["findings"][0]["sites"]] == [["mutex b"], ["mutex a"]]'; }
check "the cycle is found in a run without a deadlock" cycle

# Correct programs have no findings, under any of these schedules.
clean() { run 0 hunt --seed 2 --schedules 30 --no-passing --fails-if race,lock-order,memory "$1"; }
for program in rwlocks semaphores barriers cpp20_sync c11_threads call_once_exception future_race shared_ptr_race double_checked_init wrong_lock kernel_aio; do
  check "$program has no findings" clean "$programs/pass/$program"
done
part() { "$source/bench/observe/no_findings" --clew "$clew" --schedules 8 --part 2/7 >out.txt; }
check "nor has every seventh of the others" part

# A listener, compiled as a user would.
include=$(dirname "$clew")/../include
check "the example listener is compiled" cc -Wall -Werror -shared -fPIC -I"$include" -o long_locks.so "$examples/listener/long_locks.c"
listened() { run 0 run --seed 3 --listener ./long_locks.so:0 --json out.json -- ./race && json 'd["findings"] and all(f["kind"] == "long-lock" and len(f["sites"]) == 2 for f in d["findings"])'; }
check "it reports" listened
listened_replay() { "$clew" run --seed 5 -- ./race >recorded.txt 2>err.txt && run 0 replay --listener ./long_locks.so:0 --json out.json && json 'd["diverged"] == 0 and d["findings"]'; }
check "a recording replays with a listener that it was made without" listened_replay
listener_fails() { run 1 hunt --seed 1 --schedules 20 --no-passing --listener './long_locks.so:0 fail' --json out.json ./race && json 'd["failure"]["kind"] == "listener"'; }
check "it can fail a run" listener_fails

sed 's/{CLEW_LISTENER_VERSION,/{CLEW_LISTENER_VERSION + 1,/' "$examples/listener/long_locks.c" >other.c
check "a listener of another version is compiled" cc -shared -fPIC -I"$include" -o other.so other.c
refused() { run 122 run --listener ./other.so -- ./race && grep -q 'it is of version 2, this clew has version 1' err.txt; }
check "and refused" refused
sed 's/static void take(const struct clew_event\* event) {/&\n  *(volatile int*)8 = 0;/' "$examples/listener/long_locks.c" >crash.c
check "one that crashes is compiled" cc -shared -fPIC -I"$include" -o crash.so crash.c
crashed() { run 122 run --listener ./crash.so -- ./race && grep -q 'the listener .*crash.so.* crashed' err.txt; }
check "its crash is its own" crashed
missing() { run 125 run --listener ./none.so -- ./race && grep -q 'cannot be read' err.txt; }
check "one that is not there" missing
unknown() { run 124 run --watch speed -- ./race && grep -q 'there is no such watch' err.txt; }
check "an unknown watch" unknown
finish
