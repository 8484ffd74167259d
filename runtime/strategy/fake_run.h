// A run for the tests of strategies that follow a recording: what they would see is set by hand,
// what they say is written down. Tests only.
#ifndef CLEW_RUNTIME_STRATEGY_FAKE_RUN_H_
#define CLEW_RUNTIME_STRATEGY_FAKE_RUN_H_

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "runtime/strategy/run.h"

namespace clew::rt::simulation {

struct FakeThread {
  abi::ThreadKey key;
  std::string name;
  ThreadStatus status = ThreadStatus::kRunnable;
};

class FakeRun final : public Run {
 public:
  [[nodiscard]] Candidate running() const override { return {all[current].key, current, {}}; }
  [[nodiscard]] ThreadIndex threads_created() const override {
    return static_cast<ThreadIndex>(all.size());
  }
  [[nodiscard]] ThreadStatus status(ThreadIndex thread) const override {
    if (thread >= all.size()) return ThreadStatus::kUnknown;
    return thread == current ? ThreadStatus::kRunning : all[thread].status;
  }
  void name(ThreadIndex thread, char* out, std::size_t size) const override {
    std::snprintf(out, size, "%s", all[thread].name.c_str());
  }
  [[nodiscard]] ThreadIndex find(abi::ThreadKey key) const override {
    for (ThreadIndex i = 0; i < all.size(); ++i)
      if (all[i].key == key && all[i].status != ThreadStatus::kEnded) return i;
    return kNoThread;
  }
  [[nodiscard]] bool others_can_run() const override {
    for (ThreadIndex i = 0; i < all.size(); ++i)
      if (i != current && all[i].status == ThreadStatus::kRunnable) return true;
    return false;
  }
  [[nodiscard]] abi::Place place() const override { return current_place; }
  // As if the running thread had executed all events since `first`.
  [[nodiscard]] std::uint64_t own_number(Clock event) const override { return event - first + 1; }
  [[nodiscard]] std::uint32_t& preemptions_here() override { return preemptions; }
  [[nodiscard]] std::uint16_t hash16() const override { return hash; }
  void note(const char* line) override { notes.push_back(line); }
  void depart(Clock event, std::uint64_t thread, abi::Place, const char* what) override {
    departures.push_back(std::to_string(event) + " " + std::to_string(thread) + " " + what);
  }

  std::vector<FakeThread> all{{100, "T0"}, {101, "T0.1"}, {102, "T0.2"}};
  ThreadIndex current = 0;
  abi::Place current_place = 2;
  Clock first = 1;
  std::uint32_t preemptions = 0;
  std::uint16_t hash = 7;
  std::vector<std::string> notes;
  std::vector<std::string> departures;
};

}  // namespace clew::rt::simulation

#endif  // CLEW_RUNTIME_STRATEGY_FAKE_RUN_H_
