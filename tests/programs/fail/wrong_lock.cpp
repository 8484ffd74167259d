// The stock is always changed with a lock held, but the two functions hold different locks.
// Neither keeps the other out, and a delivery is lost.
// ROOT CAUSE: wrong_lock.cpp:27; KIND: data-race
// PREEMPTIONS: 1
// EXPECT: fail exit
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

static std::mutex stock_mutex;
static std::mutex order_mutex;
static int stock = 100;
static int orders = 0;

static void deliver(int times) {
  for (int i = 0; i < times; i++) {
    std::lock_guard lock(stock_mutex);
    stock += 10;
  }
}

static void sell(int times) {
  for (int i = 0; i < times; i++) {
    std::lock_guard lock(order_mutex);
    orders++;
    stock -= 1;
  }
}

int main(int argc, char** argv) {
  int times = argc > 1 ? std::atoi(argv[1]) : 2;
  std::thread supplier(deliver, times);
  std::thread shop(sell, times);
  supplier.join();
  shop.join();
  std::printf("stock %d after %d orders\n", stock, orders);
  return stock == 100 + 9 * times ? 0 : 1;
}
