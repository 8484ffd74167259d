// pthread_exit from nested C++ frames: every destructor on the way runs once, innermost first, even
// while other threads are unwinding.
// EXPECT: pass
#include <pthread.h>

#include <cstdio>
#include <string>
#include <vector>

#include "../check.h"

static void step_aside() { sched_yield(); }

struct Note {
  Note(std::string& log, char name) : log_(log), name_(name) {}
  ~Note() {
    step_aside();
    log_ += name_;
  }
  std::string& log_;
  char name_;
};

static void leave(std::string& log, int depth) {
  Note note(log, static_cast<char>('a' + depth));
  std::vector<int> some(100, depth);
  if (depth == 0) pthread_exit(&log);
  leave(log, depth - 1);
}

static void* work(void* log) {
  leave(*static_cast<std::string*>(log), 5);
  return nullptr;
}

int main() {
  std::string logs[4];
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], nullptr, work, &logs[i]) == 0);
  for (int i = 0; i < 4; i++) {
    void* result = nullptr;
    CHECK(pthread_join(threads[i], &result) == 0);
    CHECK(result == &logs[i]);
    CHECK(logs[i] == "abcdef");
  }
  std::puts("ok");
  return 0;
}
