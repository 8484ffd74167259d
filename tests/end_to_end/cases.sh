#!/bin/bash
# clew case new and clew check: a failure kept, found again, mended, moved; edits; bad files; ctest.
# shellcheck source=tests/end_to_end/lib.sh
. "$(dirname "$0")/lib.sh"

cat >bank.cpp <<'CODE'
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Account {
 public:
  explicit Account(std::string name) : name_(std::move(name)) {}
  bool withdraw(int amount) {
#ifdef FIXED
    std::lock_guard<std::mutex> lock(mutex_);
#endif
    const int before = balance();
    if (before < amount) return false;
    set_balance(before - amount);
    return true;
  }
  int total() {
    std::lock_guard<std::mutex> lock(mutex_);
    return balance_;
  }

 private:
  int balance() const { return balance_; }
  void set_balance(int value) { balance_ = value; }
  std::string name_;
  std::mutex mutex_;
  int balance_ = 100;
};

static Account account("savings");

static void spend(int times) {
  for (int i = 0; i < times; ++i) account.withdraw(10);
}

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) threads.emplace_back(spend, 2);
  for (std::thread& thread : threads) thread.join();
  std::printf("%d left\n", account.total());
  return account.total() == 60 ? 0 : 1;
}
CODE
build() { "$clew" c++ -g -pthread -std=c++20 "$@"; }
build -O0 bank.cpp -o bank
build -O0 -DFIXED bank.cpp -o bank_fixed
run 1 hunt --seed 1 ./bank
check "a case is made" run 0 case new --json out.json
check "all runs with the order failed" is proof suffices
check "it is in terms of the program" grep -q 'text = "set_balance(before - amount);"\|text = "balance_ = value;"' bank.clewcase
check "no line number, no clock" sh -c '! grep -Eq "^(line|clock)" bank.clewcase'
check "a file is not overwritten" run 124 case new
check "the failure is still there" run 1 check
check "it says so" says out.txt 'bank.clewcase: fails'
check "with a recording" run 1 replay
check "fixed: the lock is named" run 0 check --program ./bank_fixed --json out.json --junit out.xml
check "not possible any more" is status not-possible
check "by the lock" json '"hold the same lock" in d["cases"][0]["text"]'
check "JUnit" grep -q 'failures="0"' out.xml

# Edits: lines, comments, names of locals, format, another level, another file.
sed -e 's/before/was/g' -e 's/const int was/const  int\n  was \/\* now *\//' -e '1i // a line\n\n' -e 's/^static Account/int unrelated;\nstatic Account/' \
  bank.cpp >other.cpp
build -O1 other.cpp -o other
check "an edited program still fails" run 1 check --program ./other --json out.json
check "in the same order" json 'not d["cases"][0]["other_order"]'
build -O1 -DFIXED other.cpp -o other_fixed
check "and its fixed version does not" run 0 check --program ./other_fixed

# A fix that only moves the window: the hunt around the order finds it.
sed -e 's/set_balance(before - amount);/{ std::lock_guard<std::mutex> lock(mutex_); set_balance(before - amount); }/' \
  -e 's/const int before = balance();/mutex_.lock(); const int before = balance(); mutex_.unlock();/' bank.cpp >moved.cpp
build -O1 moved.cpp -o moved
check "a window that was moved is caught" run 1 check --program ./moved

# Code that is gone.
cat >gone.cpp <<'CODE'
#include <atomic>
#include <thread>
static std::atomic<int> left{0};
static void consume() { left.fetch_add(1); }
int main() {
  std::thread one(consume), two(consume);
  one.join();
  two.join();
  return left == 2 ? 0 : 1;
}
CODE
build -O1 gone.cpp -o gone
check "code that has changed too much" run 122 check --program ./gone
check "says what was looked for" says out.txt 'looked for'

# Each thread takes two numbers: the update that is one step now is not taken for two of its executions.
cat >numbers.cpp <<'CODE'
#include <atomic>
#include <thread>
static std::atomic<int> last{0};
static int numbers[4];
static int next() {
#ifdef FIXED
  int number = last.fetch_add(1) + 1;
#else
  int number = last.load() + 1;
  last.store(number);
#endif
  return number;
}
static void take(int* into) {
  into[0] = next();
  into[1] = next();
}
int main() {
  std::thread one(take, numbers), two(take, numbers + 2);
  one.join();
  two.join();
  return last.load() == 4 ? 0 : 1;
}
CODE
build -O1 numbers.cpp -o numbers
build -O1 -DFIXED numbers.cpp -o numbers_fixed
check "numbers that are given twice" run 1 hunt --seed 1 ./numbers
check "... as a case" run 0 case new -o numbers.clewcase
check "... fail" run 1 check numbers.clewcase
check "... are not possible any more with an atomic update" run 0 check --program numbers_fixed numbers.clewcase
check "... as one step" sh -c "tr -s '\\n ' ' ' <out.txt | grep -q 'not possible any more.*is one atomic step now'"

# Two orders, each of which is possible: under the lock of both reads they are not, together.
cat >torn.cpp <<'CODE'
#include <atomic>
#include <mutex>
#include <thread>
static std::mutex mutex;
static int total, done;
static volatile bool torn;
static void copy() {
  for (int i = 0; i < 2; i++) {
    { std::lock_guard<std::mutex> lock(mutex); total += 10; }
    { std::lock_guard<std::mutex> lock(mutex); done += 10; }
  }
}
static void show() {
#ifdef FIXED
  std::lock_guard<std::mutex> lock(mutex);
#endif
  int of = total;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  int now = done;
  if (now > of) torn = true;
}
int main() {
  std::thread copier(copy), display(show);
  copier.join();
  display.join();
  return torn ? 1 : 0;
}
CODE
build -O1 torn.cpp -o torn
build -O1 -DFIXED torn.cpp -o torn_fixed
cat >torn.clewcase <<'CODE'
clew-case = 2
program = "torn"
failure = "exit"
[event a]
thread = 1
does = "read"
variable = "total"
function = "show"
file = "torn.cpp"
text = "int of = total;"
[event b]
thread = 2
time = 2
does = "write"
variable = "total"
function = "copy"
file = "torn.cpp"
text = "total += 10;"
[event c]
thread = 2
time = 2
does = "write"
variable = "done"
function = "copy"
file = "torn.cpp"
text = "done += 10;"
[event d]
thread = 1
does = "read"
variable = "done"
function = "show"
file = "torn.cpp"
text = "int now = done;"
[orders]
before = a b
before = c d
CODE
check "two fields read at different times" run 1 check torn.clewcase
check "... in the order of the case" says out.txt "The order of the case happens"
check "... not under the lock" run 0 check --hunt 0 --program torn_fixed torn.clewcase
check "... whose sections rule it out" says out.txt "the orders rule each other out"

# A read and the write that it is to see.
cat >divide.cpp <<'CODE'
#include <cstdio>
#include <thread>
static int n = 3;
static int divide() { return 21 / n; }
static void reset() {
  n = 0;
  n = 7;
}
int main() {
  std::thread thread(reset);
  std::printf("%d\n", divide());
  thread.join();
}
CODE
build -O0 divide.cpp -o divide
check "a read sees a write" run 0 case new --read divide.cpp:4:n --sees divide.cpp:6 --json out.json -- ./divide
check "and that fails" is proof suffices
check "it is a sentence" json '"sees" in d["orders"][0]'
check "check finds it" run 1 check divide.clewcase
check "no such read" run 125 case new --read divide.cpp:11:n --sees divide.cpp:6 -- ./divide

# Two reads at once, and who holds which lock.
cat >pair.cpp <<'CODE'
#include <mutex>
#include <thread>
static std::mutex mutex;
static int x, y;
static int first() { return x; }
static int second() { return y; }
static void set() {
  std::lock_guard<std::mutex> lock(mutex);
  x = 1;
  y = 1;
}
int main() {
  std::thread thread(set);
  const int sum = first() + 2 * second();
  thread.join();
  return sum == 3 ? 1 : 0;
}
CODE
build -O0 pair.cpp -o pair
check "two reads that see two writes" run 0 case new --read pair.cpp:5:x --sees pair.cpp:9 --read pair.cpp:6:y --sees pair.cpp:10 --json out.json -- ./pair
check "make a case of two orders" json 'len(d["orders"]) == 2 and d["proof"] == "suffices"'
check "which fails" run 1 check pair.clewcase
sed -e '/^with-order\|^failed/d' -e 's/^\[orders\]/[event lock]\nthread = 2\ndoes = "lock"\nfunction = "set"\ntext = "std::lock_guard<std::mutex> lock(mutex);"\n\n[orders]\nholds = b lock/' \
  pair.clewcase >held.clewcase
check "a write under a lock" run 1 check held.clewcase
check "is a constraint of its own" says out.txt 'happens while the thread'
sed 's/^holds = b lock/holds = a lock/' held.clewcase >mistake.clewcase
check "a lock of another thread is a mistake" run 122 check mistake.clewcase
check "told with its line" says out.txt "mistake.clewcase:$(grep -n '^holds' mistake.clewcase | cut -d: -f1):"
for line in 'before = a' 'before = a nobody' 'later = a b' 'sees = "a" "b"'; do
  sed "s/^holds = b lock/$line/" held.clewcase >mistake.clewcase
  check "a mistake: $line" run 122 check mistake.clewcase
  check "... with its line" says out.txt "mistake.clewcase:$(grep -nFx -- "$line" mistake.clewcase | cut -d: -f1):"
done
rm mistake.clewcase held.clewcase pair.clewcase

# Standard input belongs to a case.
cat >echo.cpp <<'CODE'
#include <cstdio>
#include <thread>
static int n = 3;
int main() {
  int wanted = 0;
  if (std::scanf("%d", &wanted) != 1 || wanted != 42) return 0;
  std::thread thread([] { n = 0; n = 7; });
  const int seen = n;
  thread.join();
  return seen == 0;
}
CODE
build -O0 echo.cpp -o echo
mkdir -p kept
check "a failure that needs input" sh -c "echo 42 | '$clew' hunt --seed 1 ./echo >out.txt 2>err.txt; [ \$? = 1 ]"
check "is kept with it" run 0 case new -o kept/echo.clewcase
check "beside the case" grep -qx 42 kept/echo.clewcase.input
check "and fails again" run 1 check kept/echo.clewcase

# Files that are no cases.
printf 'clew-case = 1\nprogram = "bank"\nfailure = "exit"\nnonsense = "x"\n' >bad.clewcase
check "a bad file is told with its line" run 122 check bad.clewcase
check "by number" says out.txt 'bad.clewcase:4:'
printf 'clew-case = 9\n' >bad.clewcase
check "another version" run 122 check bad.clewcase
check "is named" says out.txt 'version 9'
rm bad.clewcase

# A check and what depends on it, in two critical sections; then both in one function with another name, and with a lock around
# both. In the third program the variable is gone.
cat >bin.cpp <<'CODE'
#include <atomic>
#include <mutex>
#include <thread>

class Bin {
 public:
  bool fits(int weight) const {
    std::lock_guard<std::mutex> guard(mutex_);
    return load_ + weight <= limit_;
  }
  void add(int weight) {
    std::lock_guard<std::mutex> guard(mutex_);
    load_ += weight;
  }
  bool try_add(int weight) {
    std::lock_guard<std::mutex> guard(mutex_);
    if (load_ + weight > limit_) return false;
    load_ += weight;
    return true;
  }
  bool is_full() const { return load_ > limit_; }

 private:
  mutable std::mutex mutex_;
  int limit_ = 10;
  int load_ = 0;
};

static std::mutex hall;
static void put(Bin* bin) {
#if defined(ONE_FUNCTION)
  bin->try_add(6);
#else
#if defined(LOCKED)
  std::lock_guard<std::mutex> guard(hall);
#endif
  if (bin->fits(6)) bin->add(6);
#endif
}

int main() {
  Bin bin;
  std::thread one(put, &bin), two(put, &bin);
  one.join();
  two.join();
  return bin.is_full() ? 1 : 0;
}
CODE
build -O1 bin.cpp -o bin
build -O1 -DONE_FUNCTION bin.cpp -o bin_merged
build -O1 -DLOCKED bin.cpp -o bin_locked
run 1 hunt --seed 1 ./bin
check "a check that is out of date is a case" run 0 case new --seed 1 --json out.json
check "it fails" run 1 check bin.clewcase
for fixed in bin_merged bin_locked; do
  check "$fixed is mended" run 0 check --program $fixed bin.clewcase --json out.json
  check "by a lock, though no run has all of the events" json "d['cases'][0]['status'] == 'not-possible' and 'the same lock' in d['cases'][0]['text']"
done

# A check and what depends on it for each of several objects, all under one lock that is released in between. The same worker may take
# both objects in the failing run and one of them in a passing one. Both repairs put the two into one function.
cat >jobs.cpp <<'CODE'
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

enum class State { Queued, Running, Done, Cancelled };
struct Job {
  State state = State::Queued;
  bool has_run = false;
};

class Board {
 public:
  Board() : jobs_{std::make_shared<Job>(), std::make_shared<Job>()} {}
  bool cancel(int number) {
    Job& job = *jobs_[number];
#if defined(LOCKED)
    std::lock_guard<std::mutex> lock(mutex_);
    if (job.state != State::Queued) return false;
    job.state = State::Cancelled;
    return true;
#elif defined(CLAIMED)
    return claim(job, State::Cancelled);
#else
    if (!is_queued(job)) return false;
    mark(job, State::Cancelled);
    return true;
#endif
  }
  void work() {
    while (std::shared_ptr<Job> job = take()) {
#if defined(LOCKED)
      {
        std::lock_guard<std::mutex> lock(mutex_);
        if (job->state != State::Queued) continue;
        job->state = State::Running;
      }
#elif defined(CLAIMED)
      if (!claim(*job, State::Running)) continue;
#else
      if (!is_queued(*job)) continue;
      mark(*job, State::Running);
#endif
      job->has_run = true;
      mark(*job, State::Done);
    }
  }
  bool has_run(int number) const { return jobs_[number]->has_run; }

 private:
  std::shared_ptr<Job> take() {
    std::lock_guard<std::mutex> lock(mutex_);
    return next_ < jobs_.size() ? jobs_[next_++] : nullptr;
  }
#if defined(CLAIMED)
  bool claim(Job& job, State next) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (job.state != State::Queued) return false;
    job.state = next;
    return true;
  }
#endif
#if !defined(LOCKED) && !defined(CLAIMED)
  bool is_queued(const Job& job) {
    std::lock_guard<std::mutex> lock(mutex_);
    return job.state == State::Queued;
  }
#endif
  void mark(Job& job, State state) {
    std::lock_guard<std::mutex> lock(mutex_);
    job.state = state;
  }
  std::mutex mutex_;
  std::vector<std::shared_ptr<Job>> jobs_;
  size_t next_ = 0;
};

int main() {
  Board board;
  std::thread one([&] { board.work(); }), two([&] { board.work(); });
  const bool first = board.cancel(0), second = board.cancel(1);
  one.join();
  two.join();
  return (first && board.has_run(0)) || (second && board.has_run(1));
}
CODE
build -O1 jobs.cpp -o jobs
build -O1 -DLOCKED jobs.cpp -o jobs_locked
build -O1 -DCLAIMED jobs.cpp -o jobs_claimed
run 1 hunt --seed 1 ./jobs
check "a check of one of several objects is a case" run 0 case new --seed 1 --json out.json
check "of one order, which suffices" json 'len(d["orders"]) == 1 and d["proof"] == "suffices"'
check "in terms of the data, not of locks" grep -q 'text = "return job.state == State::Queued;"' jobs.clewcase
check "it fails" run 1 check jobs.clewcase
for fixed in jobs_locked jobs_claimed; do
  check "$fixed is mended" run 0 check --program $fixed jobs.clewcase --json out.json
  check "by a lock, with both statements where they are now" json "d['cases'][0]['status'] == 'not-possible' and 'hold the same lock' in d['cases'][0]['text'] and [e['fit'] for e in d['cases'][0]['events'] if e['looked_for'].startswith('the read')] == ['nearest']"
done
c++ -std=c++20 -g -O1 -pthread -DLOCKED jobs.cpp -o jobs_plain
check "a program that was not built with clew" run 122 check --program jobs_plain jobs.clewcase
check "is not said to have changed" says out.txt 'was not built with clew'
# A file that was cut off asks for less, and must not pass for that.
sed '/^\[orders\]/,$d' jobs.clewcase >cut.clewcase
check "a case without its orders" run 122 check --program jobs_locked cut.clewcase
check "is cut off" says out.txt 'cut off'
rm -f jobs.clewcase cut.clewcase

cat >flag.c <<'CODE'
#include <pthread.h>
static int ready, value;
static int seen = 7;
static void *use(void *unused) {
#ifdef GONE
  (void)value;
#else
  if (ready) seen = value;
#endif
  return unused;
}
int main(void) {
  pthread_t user;
  pthread_create(&user, NULL, use, NULL);
#ifndef GONE
  ready = 1;
#endif
  value = 7;
  pthread_join(user, NULL);
  return seen == 7 ? 0 : 1;
}
CODE
"$clew" cc -g -O0 -pthread flag.c -o flag
sed '/#ifdef GONE/,/#endif/c (void)value;' flag.c | sed '/#ifndef GONE/,/#endif/d; s/static int ready, value/static int value/' >gone.c
"$clew" cc -g -O0 -pthread gone.c -o gone
check "a flag that is set too early" run 0 case new --read flag.c:8:ready --sees flag.c:16 -o flag.clewcase -- ./flag
check "without the flag" run 0 check --program gone flag.clewcase
check "it is gone" says out.txt 'is called `ready` any more'
check "another program is missing" run 122 check --program nowhere flag.clewcase
check "what to do is said" says out.txt 'build it, or name another build'
rm -f flag.clewcase bin.clewcase

# As a user: the tool is installed into a prefix, a project of its own finds it there.
check "the tool is installed" sh -c "cmake --install '$(dirname "$clew")/..' --prefix '$work/prefix' >install.txt 2>&1"
mkdir -p project
cp bank.cpp bank.clewcase project/
cat >project/CMakeLists.txt <<CODE
cmake_minimum_required(VERSION 3.20)
project(bank CXX)
enable_testing()
find_package(clew REQUIRED)
find_package(Threads REQUIRED)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_FLAGS "-g -O1")
add_executable(bank bank.cpp)
add_executable(bank_fixed bank.cpp)
target_compile_definitions(bank_fixed PRIVATE FIXED)
target_link_libraries(bank Threads::Threads)
target_link_libraries(bank_fixed Threads::Threads)
clew_add_case(case_fails bank.clewcase PROGRAM bank)
clew_add_case(case_fixed bank.clewcase PROGRAM bank_fixed TIME 30 HUNT 50)
CODE
check "a project is configured" sh -c "cmake -S project -B project/build -DCMAKE_PREFIX_PATH=$work/prefix -DCMAKE_CXX_COMPILER=$work/prefix/bin/clew-c++ >cmake.txt 2>&1"
check "with the installed tool" grep -q "CLEW_EXECUTABLE.*=$work/prefix/bin/clew$" project/build/CMakeCache.txt
check "and built" sh -c "cmake --build project/build >>cmake.txt 2>&1"
check "the fixed program's case passes in ctest" sh -c "ctest --test-dir project/build -R case_fixed >ctest.txt 2>&1"
check "the other one fails there" sh -c "! ctest --test-dir project/build -R case_fails >ctest.txt 2>&1"
finish
