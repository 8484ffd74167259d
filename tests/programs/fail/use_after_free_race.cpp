// A reader fetches the session's address under the lock but uses the session after it has released
// the lock. The closer deletes the session in between; its destructor has cleared the name.
// ROOT CAUSE: use_after_free_race.cpp:29; KIND: order-violation
// PREEMPTIONS: 1
// EXPECT: fail signal
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

struct Session {
  explicit Session(const char* user) : name(user) {}
  ~Session() { name = nullptr; }

  char padding[64] = {};      // what the allocator writes into freed memory goes here
  const char* volatile name;  // volatile: keeps the destructor's store in the program
};

static std::mutex mutex;
static Session* session;

static Session* find_session() {
  std::lock_guard lock(mutex);
  return session;
}

static void greet(int times, int* letters) {
  for (int i = 0; i < times; i++) {
    Session* found = find_session();
    if (found == nullptr) return;
    const volatile char* name = found->name;
    while (*name != 0) {
      name++;
      ++*letters;
    }
  }
}

static void close_session() {
  std::lock_guard lock(mutex);
  delete session;
  session = nullptr;
}

int main(int argc, char** argv) {
  int times = argc > 1 ? std::atoi(argv[1]) : 1;
  int letters = 0;
  session = new Session("ariadne");
  std::thread greeter(greet, times, &letters);
  std::thread closer(close_session);
  greeter.join();
  closer.join();
  std::printf("%d letters\n", letters);
  return letters % 7 == 0 ? 0 : 1;
}
