// Two owners of a connection each close it if the other has not, and only one can be first. Built
// with -fsanitize=address.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

struct Connection {
  int number;
};

static Connection* const connection = new Connection{7};
static std::atomic<bool> closed;

static void close_connection() {
  if (closed.exchange(true)) return;
  delete connection;
}

int main() {
  std::thread first(close_connection);
  std::thread second(close_connection);
  first.join();
  second.join();
  std::puts("closed");
}
