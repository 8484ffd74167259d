// The sleeper checks whether there is mail, then reads the bell's count and waits for it to change.
// A ring between the two is already in the count it has read: it waits for a second one that never
// comes.
// ROOT CAUSE: atomic_wait_lost.cpp:23; KIND: lost-wakeup
// PREEMPTIONS: 1
// EXPECT: fail deadlock
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
  while (mail.load() == 0) {
    int count = bell.load();
    bell.wait(count);
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
