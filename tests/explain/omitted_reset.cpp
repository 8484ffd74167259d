// A query keeps a pointer to the item that it works on. When it ends it forgets the item, unless it was told to stop: then the clean-up is
// left out, and the next statement finds a pointer to an item that is not there any more.
// ROOT CAUSE: omitted_reset.cpp:33 (goes by `stopping` of another thread), omitted_reset.cpp:57; KIND: data-race or order-violation
// OMITTED: omitted_reset.cpp:36
#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>  // clang-format off
#include <vector>

struct Item {
  int value;
  bool live = true;
};

struct Query {
  Item* item = nullptr;
};

static std::vector<std::unique_ptr<Item>> items;
static bool stopping = false;

class Session {
 public:
  void begin(int value) {
    items.push_back(std::make_unique<Item>(Item{value}));
    query_.item = items.back().get();
    total_ += value;
  }
  void end() {
    Item* used = query_.item;
    // What is stopped is cleaned up by who has stopped it, or so it was meant.
    if (!stopping) {
      log("ended");
      ++ended_;
      query_.item = nullptr;
    }
    used->live = false;
  }
  // 0: nothing was left over.
  int left_over() const { return query_.item != nullptr && !query_.item->live; }

 private:
  static void log(const char* what) { std::puts(what); }
  Query query_;
  int total_ = 0;
  int ended_ = 0;
};

int main() {
  Session session;
  std::thread worker([&] {
    session.begin(7);
    session.end();
  });
  std::thread control([] {
    stopping = true;
  });
  worker.join();
  control.join();
  if (session.left_over() != 0) {
    std::fputs("a dead item is in use\n", stderr);
    return 1;
  }
  return 0;
}
