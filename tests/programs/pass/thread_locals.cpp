// thread_local objects: one for each thread, constructed on first use, destroyed in reverse order
// at the thread's end, before join returns; plain, with constructors, in functions, and set by
// other destructors.
// EXPECT: pass
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "../check.h"

static std::atomic<int> constructed = 0;
static std::atomic<int> destroyed = 0;

static thread_local std::string order;  // constructed first, destroyed last
static thread_local std::string* report = nullptr;

struct Tracked {
  explicit Tracked(char n) : name(n) { constructed++; }
  ~Tracked() {
    destroyed++;
    if (report != nullptr) *report += name;
  }
  char name;
};

static thread_local int plain = 5;
static thread_local std::vector<int> numbers = {1, 2, 3};

static int& in_function() {
  static thread_local int counter = 100;
  return ++counter;
}

static void use(int id, std::string* destruction_order) {
  CHECK(plain == 5);
  plain = id;
  order = "thread ";
  order += std::to_string(id);
  report = destruction_order;

  static thread_local Tracked first('a');
  static thread_local Tracked second('b');
  if (id % 2 == 0) {
    static thread_local Tracked third('c');
    CHECK(third.name == 'c');
  }
  numbers.push_back(id);
  CHECK(in_function() == 101 && in_function() == 102);
  std::this_thread::yield();
  CHECK(plain == id);
  CHECK(numbers.size() == 4 && numbers.back() == id);
  CHECK(order == "thread " + std::to_string(id));
  CHECK(first.name == 'a' && second.name == 'b');
}

int main(int argc, char** argv) {
  int count = argc > 1 ? std::atoi(argv[1]) : 6;
  plain = 77;
  std::vector<std::string> orders(count);
  std::vector<std::thread> threads;
  for (int i = 0; i < count; i++) threads.emplace_back(use, i, &orders[i]);
  for (int i = 0; i < count; i++) {
    threads[i].join();
    CHECK(orders[i] == (i % 2 == 0 ? "cba" : "ba"));
  }
  CHECK(plain == 77);
  CHECK(numbers.size() == 3);
  CHECK(constructed == 2 * count + (count + 1) / 2);
  CHECK(destroyed == constructed);
  std::puts("ok");
}
