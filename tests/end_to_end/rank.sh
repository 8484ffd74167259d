#!/bin/bash
# clew rank: what it counts is right, and the function whose calls differ comes first.
# shellcheck source=tests/end_to_end/lib.sh
. "$(dirname "$0")/lib.sh"

cat >account.cpp <<'CODE'
#include <pthread.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>
int balance = 0;
std::mutex mutex;
int twice(int x) { return x * 2; }
struct Shape {
  virtual ~Shape() = default;
  virtual int size(int) = 0;
};
struct Square : Shape {
  int size(int x) override { return twice(x); }
};
int read_balance() {
  std::lock_guard<std::mutex> lock(mutex);
  return balance;
}
void write_balance(int value) {
  std::lock_guard<std::mutex> lock(mutex);
  balance = value;
}
void deposit(int times) {
  for (int i = 0; i < times; ++i) write_balance(read_balance() + 1);
}
int compare(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }
void sort_all(std::vector<int>& v) { qsort(v.data(), v.size(), sizeof(int), compare); }
int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
void throws(int x) {
  if (x > 2) throw x;
  twice(x);
}
void catches() {
  for (int i = 0; i < 5; ++i) try {
      throws(i);
    } catch (int) {
      twice(0);
    }
}
void* c_thread(void*) {
  deposit(1);
  return nullptr;
}
void complain() { std::printf("lost\n"); }
int main() {
  Square square;
  Shape* shape = &square;
  for (int i = 0; i < 3; ++i) shape->size(i);
  std::vector<int> numbers{5, 3, 9, 1};
  sort_all(numbers);
  std::function<int(int)> function = twice;
  for (int i = 0; i < 4; ++i) function(i);
  fibonacci(6);
  catches();
  std::thread thread(deposit, 2);
  pthread_t other;
  pthread_create(&other, nullptr, c_thread, nullptr);
  thread.join();
  pthread_join(other, nullptr);
  if (balance == 3) return 0;
  complain();
  return 1;
}
CODE
check "the program is built" "$clew" c++ -std=c++20 -g -O0 account.cpp -o account -pthread
check "it is ranked" run 1 rank --seed 5 --schedules 200 --all --json out.json --csv all.csv -- ./account
check "the function that another thread comes between comes first" json 'd["ranking"][0]["function"] == "deposit" and d["ranking"][0]["call"]["kind"] == "interruption"'
check "... which is said" json '"by `deposit`" in d["ranking"][0]["call"]["text"] and "another thread runs whose last call is of `" in d["ranking"][0]["call"]["text"]'
check "... and is no noise" json 'd["ranking"][0]["p"] < 0.01 and not d["noise"]'
check "what comes after all threads is discounted" json 'next(f for f in d["ranking"] if f["function"] == "main")["score"] < 0.34'
check "... and has a column of its own" grep -q '\[end\] main -> complain' all.csv
check "calls alone" run 1 rank --seed 5 --schedules 200 --all --evidence calls --json out.json --csv table.csv --graph graph.svg -- ./account
check "main calls complain only when it fails" json 'd["ranking"][0]["function"] == "main" and d["ranking"][0]["call"]["callee"] == "complain" and d["ranking"][0]["score"] == 1'
check "the answer is no noise" json 'd["ranking"][0]["p"] < 0.01 and not d["noise"]'
check "all fields" json 'all(k in d for k in ("ranking", "runs", "functions", "lines", "stable", "seconds")) and all(k in d["ranking"][0] for k in ("rank", "function", "at", "score", "p", "call", "lines"))'
check "every run counts" json 'd["runs"]["passing"] + d["runs"]["failing"] == 200 and d["runs"]["passing"] > 0'
cat >expected.txt <<'END_OF_CALLS'
Square::size -> twice 3
c_thread -> deposit 1
catches -> throws 5
catches -> twice 2
deposit -> read_balance 3
deposit -> write_balance 3
fibonacci -> fibonacci 24
main -> Square::size 3
main -> c_thread 1
main -> catches 1
main -> complain 0 1
main -> deposit 1
main -> fibonacci 1
main -> pthread_create 1
main -> sort_all 1
main -> twice 4
sort_all -> compare 5
sort_all -> qsort 1
throws -> twice 3
END_OF_CALLS
# The calls above, and how often each was made in any of the runs.
calls() {
  python3 - <<'PY'
import csv
wanted = {line.rsplit(" -> ", 1)[0] + " -> " + line.rsplit(" -> ", 1)[1].split()[0] for line in open("expected.txt")}
rows = list(csv.reader(open("table.csv")))
for name, *counts in sorted(zip(*rows)):
    if name in wanted:
        print(name, *sorted(set(counts), key=int))
PY
}
exact() { calls | LC_ALL=C sort | diff - <(LC_ALL=C sort expected.txt); }
check "the calls are those of the source, in every run" exact
check "the graph is a picture" grep -q '</svg>' graph.svg
for graph in per-thread role tree; do
  check "--calls $graph" run 1 rank --seed 5 --schedules 60 --calls $graph --json out.json -- ./account
  check "... finds it too" json 'd["ranking"][0]["score"] == 1'
done
check "--level block" run 1 rank --seed 5 --schedules 100 --level block --json out.json -- ./account
check "... names the line" json 'd["ranking"][0]["call"]["line"] in range(60, 80)'
check "--method paper" run 1 rank --seed 5 --schedules 200 --method paper --json out.json -- ./account
check "... main first" json 'd["ranking"][0]["function"] == "main"'

# What depends on the input alone.
cat >parity.cpp <<'CODE'
#include <cstdlib>
int even(int n) { return n; }
int odd(int n) { return n; }
int choose(int n) { return n % 2 == 0 ? even(n) : odd(n); }
int main(int, char** arguments) { return choose(std::atoi(arguments[1])) % 2; }
CODE
check "a program with one thread is built" "$clew" c++ -g -O0 parity.cpp -o parity
check "--vary-seed in the arguments" run 1 rank --seed 1 --schedules 120 --vary-seed N --json out.json -- ./parity N
check "... choose" json 'd["ranking"][0]["function"] == "choose" and d["ranking"][0]["score"] == 1 and d["stable"]'
cat >limit.cpp <<'CODE'
#include <cstdio>
#include <cstdlib>
int lower(int n) {
  if (n > 4)
    n = 4;
  return n;
}
int raise(int n) { return n + 1; }
int main(int, char** arguments) { return lower(raise(std::atoi(arguments[1]) % 8)) == 4; }
CODE
check "a program that calls the same in all runs is built" "$clew" c++ -g -O0 limit.cpp -o limit
check "it is ranked" run 1 rank --seed 1 --schedules 120 --vary-seed N --json out.json -- ./limit N
check "... by a branch" json 'd["ranking"][0]["function"] == "lower" and d["ranking"][0]["call"]["kind"] == "branch" and d["ranking"][0]["call"]["line"] in (4, 5, 6)'
printf '1\n2\n3\n4\n' >inputs.txt
check "--inputs" run 1 rank --seed 1 --schedules 60 --inputs inputs.txt --json out.json -- ./parity
check "... choose" json 'd["ranking"][0]["function"] == "choose"'
check "--generate" run 1 rank --seed 1 --schedules 60 --generate 'echo 1' --json out.json -- ./parity
check "bad inputs" run 124 rank --inputs inputs.txt --generate 'echo' -- ./parity

# Without debug information there are names only.
check "built without -g" "$clew" c++ -O0 parity.cpp -o parity_bare
check "is ranked" run 1 rank --seed 1 --schedules 60 --vary-seed N --json out.json -- ./parity_bare N
check "... and what is missing is said" grep -q 'no debug information' err.txt
strip parity_bare
check "without symbols nothing is ranked, and nothing breaks" run 1 rank --seed 1 --schedules 60 --vary-seed N -- ./parity_bare N

# With what is inlined: how often something is called does not depend on preemptions, and what threads do is not the end.
cat >store.c <<'CODE'
#include <pthread.h>
#include <stdio.h>
#include <string.h>
struct table { int values[4]; };
static struct { pthread_mutex_t lock; struct table live, saved; int changes; } store;
static void clear(struct table *t) { memset(t->values, 0, sizeof t->values); }
static void set(struct table *t, int key, int value) { t->values[key] = value; }
static void prepare(void) {
  pthread_mutex_init(&store.lock, NULL);
  clear(&store.live);
  clear(&store.saved);
}
static void append(void) { store.changes++; }
static void put(int key, int value) {
  pthread_mutex_lock(&store.lock);
  append();
  set(&store.live, key, value);
  pthread_mutex_unlock(&store.lock);
}
static void save(void) {
  pthread_mutex_lock(&store.lock);
  if (store.changes > 0) store.saved = store.live, store.changes = 0;
  pthread_mutex_unlock(&store.lock);
}
static void *client(void *arg) {
  put(0, 1);
  put(1, 1);
  return arg;
}
static void *saver(void *arg) {
  save();
  return arg;
}
static void complain(void) { puts("not saved"); }
int main(void) {
  pthread_t threads[2];
  prepare();
  pthread_create(&threads[0], NULL, client, NULL);
  pthread_create(&threads[1], NULL, saver, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  if (store.changes == 1) {
    complain();
    return 1;
  }
  return 0;
}
CODE
check "an optimised program is built" "$clew" cc -g -O1 store.c -o store -pthread
check "... and ranked" run 1 rank --seed 1 --schedules 300 --all --csv store.csv -- ./store
cat >phases.py <<'CODE'
import csv
rows = list(csv.reader(open("store.csv")))
columns = {name: {row[i] for row in rows[1:]} for i, name in enumerate(rows[0])}
assert len(columns["prepare -> clear"]) == 1, columns["prepare -> clear"]
at_the_end = {name for name, values in columns.items() if name.startswith("[end]") and values != {"0"}}
assert "[end] main -> complain" in at_the_end, at_the_end
assert not any(of.split()[1] in ("client", "put", "append", "set", "save", "saver") for of in at_the_end), at_the_end
CODE
check "... calls are not counted twice, and only main does something at the end" python3 phases.py
finish
