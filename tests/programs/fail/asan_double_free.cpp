// Two owners of a connection each close it if the other has not: both may find it open. Built with
// -fsanitize=address.
// ROOT CAUSE: asan_double_free.cpp:18; KIND: data-race
// PREEMPTIONS: 1
// EXPECT: fail sanitizer
#include <cstdio>
#include <cstdlib>
#include <thread>

struct Connection {
  int number;
};

static Connection* const connection = new Connection{7};
static bool closed;

static void close_connection() {
  if (closed) return;
  closed = true;
  delete connection;
}

int main() {
  std::thread first(close_connection);
  std::thread second(close_connection);
  first.join();
  second.join();
  std::puts("closed");
}
