// A pool gives a slot back when its last user leaves. The count of users is read, lowered and written back by each of them; if two do so at once, the
// count never comes to 0, and the slot is not given back.
// ROOT CAUSE: omitted_release.cpp:22, omitted_release.cpp:25 (the count is not lowered in one step); KIND: data-race
// OMITTED: omitted_release.cpp:31
#include <cstdio>
#include <thread>

struct Slot {
  int users = 2;
  bool free = false;
};

class Pool {
 public:
  explicit Pool(Slot& slot) : slot_(slot) {}
  void leave() {
    if (lower() == 0) release();
  }

 private:
  int lower() {
    const int before = slot_.users;
    const int now = before - 1;
    // The other user may have come here, too.
    slot_.users = now;
    return now;
  }
  void release() {
    ++released_;
    // The last one.
    slot_.free = true;
  }

  Slot& slot_;
  int released_ = 0;
};

class Client {
 public:
  explicit Client(Pool& pool) : pool_(pool) {}
  void work() {
    for (int i = 0; i < 2; ++i) done_ += i;
    pool_.leave();
  }

 private:
  Pool& pool_;
  int done_ = 0;
};

int main() {
  Slot slot;
  Pool pool(slot);
  Client first(pool);
  Client second(pool);
  std::thread one([&] { first.work(); });
  std::thread two([&] { second.work(); });
  one.join();
  two.join();
  std::printf("%s\n", slot.free ? "free" : "never given back");
  return slot.free ? 0 : 1;
}
