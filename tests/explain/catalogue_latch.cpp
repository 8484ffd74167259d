// Parts that are loaded side by side, and a latch for both. One of them needs a catalogue that the thread of the other sets up; if it comes before that, it
// says so and counts nothing down. What it has printed is written out at the end, in the thread that waits.
// ROOT CAUSE: catalogue_latch.cpp:30 (looked at too early), catalogue_latch.cpp:46 (set up too late); KIND: order-violation
// SAYS: reads `Loader::catalogue_ready` at catalogue_latch\.cpp:30 .* before T0\.1 has written it at catalogue_latch\.cpp:46
// SAYS: waits for `loaded` at
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <latch>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
class Loader {
 public:
  explicit Loader(std::latch& loaded) : loaded_(loaded) {}
  void load(const std::string& name) {
    if (!parse(name)) {
      std::printf("no catalogue for %s\n", name.c_str());
#ifndef FIXED
      return;
#endif
    }
    loaded_.count_down();
  }

 private:
  bool parse(const std::string& name) {
    if (!catalogue_ready && name == "extra") return false;
    parsed_ += name;
    return true;
  }
  std::latch& loaded_;
  std::string parsed_;

 public:
  static std::atomic<bool> catalogue_ready;
};
std::atomic<bool> Loader::catalogue_ready{false};
int main() {
  std::latch loaded(2);
  Loader base(loaded), extra(loaded);
  std::thread a([&] {
    base.load("base");
    Loader::catalogue_ready = true;
  });
  std::thread b([&] { extra.load("extra"); });
  loaded.wait();
  a.join();
  b.join();
  std::puts("loaded");
}
