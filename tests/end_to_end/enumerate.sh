#!/usr/bin/env bash
# clew enumerate: the figures of the paper, reasons, one read alone, combinations, recordings for explain.
. "$(dirname "$0")/lib.sh"
programs=$source/bench/enumerate/programs
# build PROGRAM OUTPUT OPTIONS...
build() { "$clew" cc -O1 -g "${@:3}" "$programs/$1.c" -o "$2" -pthread || exit 1; }
build figure2 figure2
build figure2 open1 -DOPEN_1
build figure2 open3 -DOPEN_3
build figure4 figure4
build figure4 sleep_first -DSLEEP_IN_FIRST
build figure4 second_first -DSECOND_FIRST
build figure4 repaired -DREPAIRED
check "help with examples" bash -c '"$0" enumerate --help | grep -qi "examples:"' "$clew"

# Terms of the only read with a choice, as "line:status", sorted; 0 is the initial value.
terms="sorted((t['write']['at']['line'] if t['write'] else 0, t['status']) for r in d['reads'] for t in r['terms'])"
line() { grep -n "$2" "$programs/$1.c" | head -n 1 | cut -d: -f1; }
one=$(line figure2 '&a = 1;') two=$(line figure2 '&a = 2;') three=$(line figure2 '&a = 3;')
check "figure 2" run 0 enumerate --seed 1 --json out.json ./figure2
check "... has three terms, and one that a lock rules out" json "$terms == [(0, 'seen'), ($one, 'impossible'), ($two, 'seen'), ($three, 'seen')]"
check "... says why" says err.txt "before the lock is released that the reader takes"
check "... every schedule was executed" json "d['exhausted'] and d['untried'] == ''"
check "... after three runs all terms are seen" json "d['last_new_run'] <= 3"
for open in open1 open3; do
  check "without a lock" run 0 enumerate --seed 1 --json out.json ./$open
  check "... there are four" json "$terms == [(0, 'seen'), ($one, 'seen'), ($two, 'seen'), ($three, 'seen')]"
done

zero=$(line figure4 'n = 0;') good=$(line figure4 'n = 3;')
wait=$(grep -n 'pthread_barrier_wait' "$programs/figure4.c" | tail -n 1 | cut -d: -f1)  # of the third thread
for variant in figure4 sleep_first second_first; do
  check "figure 4: $variant" run 1 enumerate --seed 1 --schedules 60 --json out.json ./$variant
  check "... two terms, and the initial value is ruled out by the barrier" json "$terms == [(0, 'impossible'), ($zero, 'seen'), ($good, 'seen')]"
  check "... with two runs" json "d['last_new_run'] == 2"
  check "... one fails, one passes" json "{t['write']['at']['line']: t['failing_runs'] > 0 and t['passing_runs'] == 0 for t in d['reads'][0]['terms'] if t['status'] == 'seen'} == {$zero: True, $good: False}"
  check "... says which barrier" json "[t['reason']['text'] for t in d['reads'][0]['terms'] if not t['write']] == ['overwritten at figure4.c:$good, ordered by the barrier at figure4.c:$wait']"
  failing=$(python3 -c "import json; print([t['failing'] for t in json.load(open('out.json'))['reads'][0]['terms'] if t['failing']][0])")
  check "... its recording fails again" run 136 replay "$failing"
done
check "the repaired program" run 0 enumerate --seed 1 --json out.json ./repaired
check "... has the same terms, and none fails" json "$terms == [(0, 'impossible'), ($(line figure4 'n = 7;'), 'seen'), ($good, 'seen')] and all(t['failing_runs'] == 0 for r in d['reads'] for t in r['terms'])"
check "one read" run 1 enumerate --seed 1 --schedules 60 --at "figure4.c:$(line figure4 '21 / n'):n" --json out.json ./figure4
check "... alone" json "len(d['reads']) == 1 and d['coverage'] == {'seen': 2, 'impossible': 1, 'open': 0}"
check "no read there" run 125 enumerate --at figure4.c:1 ./figure4
check "... says so" says err.txt "there is no read at figure4.c:1"
check "no place" run 124 enumerate --at figure4.c ./figure4
fail=$source/tests/programs/fail
check "the same pairs as every schedule shows" "$source/bench/enumerate/against_exhaustive" --clew "$clew" \
  "$fail/lost_update_c.c" "$fail/order_violation_null.c" "$fail/future_race.cpp" "$fail/wrong_lock.cpp"
check "as a strategy of a hunt" run 1 hunt --strategy enumerate --seed 1 --no-passing ./figure4
check "... with what it has covered" says err.txt "pairs of write and read seen"
check "a budget of one run" run 0 enumerate --seed 1 --schedules 1 --json out.json ./repaired
check "... leaves what was not tried open" json "d['coverage']['open'] == 1 and not d['exhausted']"

cat >two_flags.c <<'C'
#include <assert.h>
#include <pthread.h>
static volatile int x, y, first, second;
static void *a(void *p) { x = 1; first = y; return p; }
static void *b(void *p) { y = 1; second = x; return p; }
int main(void) {
  pthread_t s, t;
  pthread_create(&s, 0, a, 0);
  pthread_create(&t, 0, b, 0);
  pthread_join(s, 0);
  pthread_join(t, 0);
  return first == 1 && second == 1 ? 3 : 0;
}
C
"$clew" cc -O1 -g two_flags.c -o two_flags -pthread || exit 1
check "combinations of two reads" run 1 enumerate --pairs --seed 1 --json out.json ./two_flags
check "... both initial values together are impossible, both ones fail" json "d['exhausted'] and d['combinations'] == {'seen': 3, 'impossible': 1, 'open': 0} and len(d['failing_combinations']) == 1"
# The reads of the second thread come first in the source: which read sees what is still told right.
sed -e '/^static void \*b/d' -e 's/^static void \*a.*/static void *b(void *p) { y = 1; second = x; return p; }\n&/' two_flags.c >swapped_flags.c
"$clew" cc -O1 -g swapped_flags.c -o swapped_flags -pthread || exit 1
check "combinations in another order of lines" run 1 enumerate --pairs --seed 1 --json out.json ./swapped_flags
check "... of which each read sees what fails" json "sorted((d['reads'][t['read']]['variable'], d['reads'][t['read']]['terms'][t['term']]['write']['at']['line']) for c in d['failing_combinations'] for t in c['terms']) == [('x', 5), ('y', 4)]"
check "... and is told by its name" sh -c "tr -s '\\n ' ' ' <err.txt | grep -q 'x at swapped_flags.c:4 (T0.2) sees'"
check "... with the command to replay it" says err.txt 'clew replay'

# Three reads of which any two may see the new values, and all three together fail.
cat >three_flags.c <<'C'
#include <pthread.h>
static volatile int x, y, z, first, second, third;
static void *a(void *p) { first = x; return p; }
static void *b(void *p) { second = y; return p; }
static void *c(void *p) { third = z; return p; }
static void *d(void *p) { x = 1; y = 1; z = 1; return p; }
int main(void) {
  void *(*code[])(void *) = {a, b, c, d};
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, code[i], 0);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
  return first + second + third == 3 ? 3 : 0;
}
C
"$clew" cc -O1 -g three_flags.c -o three_flags -pthread || exit 1
check "combinations of three reads" run 1 enumerate --triples --time 20 --seed 1 --json out.json ./three_flags
check "... all eight are seen, one fails" json "d['together'] == 3 and d['combinations']['seen'] == 8 and len(d['failing_combinations']) == 1 and len(d['failing_combinations'][0]['terms']) == 3"
check "... with a recording that fails" run 3 replay "$(python3 -c "import json; print(json.load(open('out.json'))['failing_combinations'][0]['failing'])")"
check "... and one that passes, to explain" run 0 replay "$(python3 -c "import json; print(json.load(open('out.json'))['failing_combinations'][0]['passing'])")"
check "no read that always fails" run 1 enumerate --seed 1 --json out.json ./three_flags
check "... leaves a pair to explain all the same" json "any(t['failing'] and t['passing_runs'] for r in d['reads'] for t in r['terms']) and any(t['passing'] and not t['failing_runs'] for r in d['reads'] for t in r['terms'])"

# One place that reads all elements of an array: no element is named for another one's writes.
cat >cells.c <<'C'
#include <pthread.h>
static int cells[8];
static volatile int sum;
static void *fill(void *p) {
  for (int i = 2; i < 8; i++) cells[i] = 1;
  return p;
}
int main(void) {
  pthread_t thread;
  int seen = 0;
  pthread_create(&thread, 0, fill, 0);
  for (int i = 0; i < 8; i++) {
    seen += ((volatile int *)cells)[i];
    if (i == 0) sum = seen;
  }
  pthread_join(thread, 0);
  return seen == 4 ? 3 : 0;
}
C
"$clew" cc -O1 -g -fno-unroll-loops -fno-vectorize cells.c -o cells -pthread || exit 1
check "a loop over an array" run 1 enumerate --seed 1 --schedules 400 --json out.json ./cells
check "... those that stand for several have no element's name, others have" json "{r['variable'] for r in d['reads']} == {'cells[2]', 'cells[]'} and all((r['variable'] == 'cells[]') == (r['read']['instance'] == d['later_instances']) for r in d['reads'])"
check "... asked for by one element" run 1 enumerate --seed 1 --schedules 400 --at 'cells.c:13:cells[5]' --json at.json ./cells
check "... it is among those" python3 -c "import json; assert [r['variable'] for r in json.load(open('at.json'))['reads']] == ['cells[]']"
check "... runs of several pairs are not added up" sh -c "tr -s '\\n ' ' ' <err.txt | grep -q 'pairs, each fails in .* of the runs that show it' && ! grep -q 'pairs, fails in' err.txt"

# What a semaphore, a condition variable and a flag order is impossible, with a reason.
cat >ordered.cpp <<'C'
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <semaphore>
#include <thread>
struct Box { int by_semaphore = 0, by_condition = 0, by_flag = 0; };
static std::binary_semaphore posted{0};
static std::mutex mutex;
static std::condition_variable changed;
static bool ready;
static std::atomic<bool> flag;
int main() {
  Box* box = new Box;
  std::thread writer([box] {
    box->by_flag = 1;
    flag.store(true);
    box->by_semaphore = 1;
    posted.release();
    box->by_condition = 1;
    std::lock_guard lock(mutex);
    ready = true;
    changed.notify_one();
  });
  int sum = 0;
  if (flag.load()) sum += box->by_flag;
  posted.acquire();
  sum += box->by_semaphore;
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [] { return ready; });
  }
  sum += box->by_condition;
  writer.join();
  delete box;
  return sum < 2;
}
C
"$clew" c++ -std=c++20 -O0 -g ordered.cpp -o ordered -pthread || exit 1
check "order by what is read and waited for" run 0 enumerate --time 40 --seed 1 --json out.json ./ordered
for member in flag semaphore condition; do
  reads="[t for r in d['reads'] if r['variable'] == 'Box::by_$member' for t in r['terms'] if t['status'] != 'seen']"
  check "... by the $member: nothing else can be seen, and it is said why" json \
    "$reads and all(t['status'] == 'impossible' and t['reason']['kind'] in ('saw first', 'waited first') for t in $reads)"
done
check "... nothing is seen that is not what was written" json "all(t['status'] != 'seen' or t['write'] for r in d['reads'] if r['variable'].startswith('Box::') for t in r['terms'])"
# Writes that no run executed: to a global variable and to a member by a pointer, and one in a function that nothing calls.
cat >account.cpp <<'CODE'
#include <cstdlib>
#include <thread>
struct Account {
  int id = 0;
  long balance = 10;
};
static long total;
static Account* account;
static void freeze(Account* which, long amount) {
  if (amount > 1000) {
    total = -1;
    which->balance -= amount;
  }
}
void never(Account* which) { which->balance = 5; }
static void work(Account* which, long amount) {
  which->balance += amount;
  total += amount;
  freeze(which, amount);
}
int main(int argc, char**) {
  account = new Account;
  std::thread one(work, account, argc), two(work, account, argc);
  one.join();
  two.join();
  return account->balance + total > 1000;
}
CODE
written="[(w['variable'], w['at']['line']) for w in d['unexecuted_writes'] if not w['by_text']]"
for level in -O0 -O1 -O2; do
  "$clew" c++ $level -g -pthread account.cpp -o account || exit 1
  check "enumerate at $level" run 0 enumerate --seed 1 --json out.json ./account
  check "writes that no run executed, from the code" json "('total', 11) in $written"
  check "... of members, too" json "('Account::balance', 12) in $written"
done

# Reads that see the initial value alone: the writes that no run executed are what they might see.
cat >frozen.cpp <<'CODE'
#include <mutex>
#include <thread>
struct Limits { int low, high; };
struct Account { long balance; Limits limits; bool frozen; };
static Account* account;
static std::mutex mutex;
static void deposit(int amount) {
  std::lock_guard<std::mutex> guard(mutex);
  if (amount > 1000) account->frozen = true; else account->balance += amount;
  if (amount < 0) account->limits.low = amount;
}
static bool may(int amount) {
  std::lock_guard<std::mutex> guard(mutex);
  return !account->frozen && amount >= account->limits.low;
}
int main(int argc, char**) {
  account = new Account{0, {4, 64}, false};
  bool allowed = false;
  std::thread one(deposit, argc * 10), two([&] { allowed = may(argc * 20); });
  one.join();
  two.join();
  const long balance = account->balance;
  delete account;
  return balance != 10 || !allowed;
}
CODE
for level in -O0 -O1 -O2; do
  "$clew" c++ $level -g -pthread frozen.cpp -o frozen || exit 1
  run 0 enumerate --seed 1 --json out.json ./frozen
  check "members that no run writes, at $level" json "('Account::frozen', 9) in $written and ('Account::limits.low', 10) in $written"
done
# Where every schedule was executed, random runs try what schedules do not: a weak exchange that fails spuriously.
cat >weak.c <<'CODE'
#include <pthread.h>
#include <stdatomic.h>
static atomic_int seats = 1;
static int sold, other;
static void* sell(void* arg) {
  int seen = seats;
  if (atomic_compare_exchange_weak(&seats, &seen, seen - 1)) sold = 1;
  return arg;
}
static void* idle(void* arg) {
  other = 1;
  return arg;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, sell, 0);
  pthread_create(&b, 0, idle, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return sold ? 0 : 1;
}
CODE
"$clew" cc -g -O0 -pthread weak.c -o weak
check "a weak exchange that fails spuriously" run 1 enumerate --seed 1 --at weak.c:20 --json out.json ./weak
check "... is found though every schedule was executed" json "d['exhausted'] and d['coverage']['seen'] == 2"
finish
