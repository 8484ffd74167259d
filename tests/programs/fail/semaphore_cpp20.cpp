// A semaphore admits as many threads as there are connections, but the search for a free
// connection is not protected. Two threads can take the same one.
// ROOT CAUSE: semaphore_cpp20.cpp:26; KIND: atomicity-violation
// PREEMPTIONS: 2
// EXPECT: fail assert
#include <atomic>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <semaphore>
#include <thread>

static constexpr int kConnections = 2;

struct Connection {
  std::atomic<bool> busy = false;
  std::atomic<int> user = 0;
};

static std::counting_semaphore<kConnections> available(kConnections);
static Connection connections[kConnections];

static Connection* take_connection() {
  available.acquire();
  for (Connection& connection : connections) {
    if (!connection.busy) {
      connection.busy = true;
      return &connection;
    }
  }
  return nullptr;
}

static void give_back(Connection* connection) {
  connection->busy = false;
  available.release();
}

static void query(int user, int times) {
  for (int i = 0; i < times; i++) {
    Connection* connection = take_connection();
    assert(connection != nullptr);
    connection->user = user;
    int seen = connection->user;
    assert(seen == user);
    give_back(connection);
  }
}

int main(int argc, char** argv) {
  int times = argc > 1 ? std::atoi(argv[1]) : 1;
  std::thread first(query, 1, times);
  std::thread second(query, 2, times);
  first.join();
  second.join();
  std::printf("%d queries\n", 2 * times);
  return 0;
}
