// One thread copies a global shared_ptr while another replaces it. The reference count is atomic,
// the pointer itself is not: the copy may take hold of an object that was destroyed a moment
// before.
// ROOT CAUSE: shared_ptr_race.cpp:29; KIND: data-race
// PREEMPTIONS: 1
// EXPECT: fail assert
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

struct Settings {
  explicit Settings(int v) : value(v) {}
  ~Settings() { state = kDestroyed; }

  static constexpr int kAlive = 1;
  static constexpr int kDestroyed = 2;

  char padding[64] = {};        // what the allocator writes into freed memory goes here
  volatile int state = kAlive;  // volatile: keeps the destructor's store in the program
  int value;
};

static std::shared_ptr<Settings> current;

static void read_settings(int times, int* sum) {
  for (int i = 0; i < times; i++) {
    std::shared_ptr<Settings> mine = current;
    int state = mine->state;
    assert(state == Settings::kAlive);
    *sum += mine->value;
  }
}

static void replace_settings(int times) {
  for (int i = 0; i < times; i++) current = std::make_shared<Settings>(1);
}

int main(int argc, char** argv) {
  int times = argc > 1 ? std::atoi(argv[1]) : 1;
  current = std::make_shared<Settings>(1);
  int sum = 0;
  std::thread reader(read_settings, times, &sum);
  std::thread writer(replace_settings, times);
  reader.join();
  writer.join();
  std::printf("sum %d\n", sum);
  return sum == times ? 0 : 1;
}
