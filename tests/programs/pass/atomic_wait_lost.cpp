// fail/atomic_wait_lost.cpp, fixed: the sleeper reads the bell's count before it looks for mail.
// EXPECT: pass
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

static std::atomic<int> mail = 0;
static std::atomic<int> bell = 0;

static void deliver(int letters) {
  mail.store(letters);
  bell.fetch_add(1);
  bell.notify_all();
}

static void receive(int* received) {
  int count = bell.load();
  while (mail.load() == 0) {
    bell.wait(count);
    count = bell.load();
  }
  *received = mail.exchange(0);
}

int main(int argc, char** argv) {
  int letters = argc > 1 ? std::atoi(argv[1]) : 3;
  int received = 0;
  std::thread sleeper(receive, &received);
  std::thread postman(deliver, letters);
  sleeper.join();
  postman.join();
  std::printf("%d letters\n", received);
  return received == letters ? 0 : 1;
}
