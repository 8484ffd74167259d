// The simulation itself, and what it needs in place of the runtime.
#include "runtime/strategy/strategy_simulation.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "runtime/arena.h"

namespace clew::rt {

namespace {

struct Block {
  std::unique_ptr<char[]> data;
  std::size_t size = 0;
};
std::vector<Block>& blocks() {
  static std::vector<Block> all;
  return all;
}
alignas(64) char g_small[64 << 10];
std::size_t g_small_used = 0;

}  // namespace

void* arena_alloc(std::size_t size) {
  const std::size_t rounded = (size + 63) & ~std::size_t{63};
  if (rounded <= sizeof(g_small) - g_small_used) {
    void* result = g_small + g_small_used;
    g_small_used += rounded;
    return result;
  }
  blocks().push_back({std::make_unique<char[]>(rounded + 64), rounded + 64});
  auto address = reinterpret_cast<std::uintptr_t>(blocks().back().data.get());
  return reinterpret_cast<void*>((address + 63) & ~std::uintptr_t{63});
}

const std::uint8_t* guide_of(const abi::Job& job) {
  return reinterpret_cast<const std::uint8_t*>(job.guide.offset);
}

const char* names_of(const abi::Job& job) {
  return reinterpret_cast<const char*>(job.names.offset);
}

namespace simulation {

void forget_arena() {
  std::memset(g_small, 0, g_small_used);
  g_small_used = 0;
  blocks().clear();
}

abi::Job make_job(std::uint64_t seed, const std::vector<std::uint8_t>* guide) {
  abi::Job job{};
  job.seed = seed;
  if (guide != nullptr) {
    job.guide.offset = reinterpret_cast<std::uintptr_t>(guide->data());
    job.guide.size = guide->size();
  }
  return job;
}

namespace {

class Default final : public Strategy {
 public:
  explicit Default(const abi::Job&) : Strategy(kAtEveryPoint) {}
};

// Writes down what it is told.
class Diary final : public Strategy {
 public:
  Diary() : Strategy(kAtEveryPoint) {}
  std::uint32_t pick(const Candidates& c) override {
    text += c.current_first ? " [" : " (";
    for (std::uint32_t i = 0; i < c.count; ++i) text += std::to_string(c.list[i].index);
    text += c.current_first ? "]" : ")";
    return c.count - 1;
  }
  void learn(const Occurrence& o) override {
    const std::string index = std::to_string(o.thread.index);
    if (o.kind == Occurrence::Kind::kExecuted) text += " x" + index;
    if (o.kind == Occurrence::Kind::kCreated) text += " +" + index + "/" + std::to_string(o.parent);
    if (o.kind == Occurrence::Kind::kFinished) text += " -" + index;
  }
  std::string text;
};

class EveryThird final : public Strategy {
 public:
  explicit EveryThird(const abi::Job&) : Strategy(kByClock) {}
  Clock next_decision(Clock now) override { return (now / 3 + 1) * 3; }
  Decision preempt(Clock event) override {
    if (event == last_) return {};
    last_ = event;
    return {Decision::Kind::kNext};
  }

 private:
  Clock last_ = 0;
};

TEST(Simulation, DefaultRunsThreadsToTheirEndInOrder) {
  const Program program{private_steps(0, 2), private_steps(1, 3), private_steps(2, 1)};
  EXPECT_EQ(run_once<Default>(program, make_job(1)).order, "aabbbc");
}

TEST(Simulation, TellsTheStrategyWhatTheHeaderSays) {
  Program program{{{create(1), write(0x10, 1)}}, {{write(0x20, 2), write(0x30, 3)}, false}};
  Diary diary;
  EXPECT_EQ(Simulation(program, diary).run().order, "abab");
  EXPECT_EQ(diary.text, " +0/0 x0 +1/1000 [01] x1 [10] x0 -0 x1 -1");
}

TEST(Simulation, LocksBlock) {
  const Program program{{{lock(0x80), write(0x10, 1), unlock(0x80)}},
                        {{lock(0x80), write(0x10, 2), unlock(0x80)}}};
  Diary last_always;
  const Outcome run = Simulation(program, last_always).run();
  EXPECT_EQ(run.order, "bbbaaa");
  EXPECT_FALSE(run.deadlock);
}

TEST(Simulation, FindsDeadlocks) {
  const Program program{{{lock(0x80), lock(0x90)}}, {{lock(0x90), lock(0x80)}}};
  Diary last_always;
  const Outcome run = Simulation(program, last_always).run();
  EXPECT_TRUE(run.deadlock);
  EXPECT_EQ(run.order, "ba");
}

TEST(Simulation, DecidesByTheClock) {
  const Program program{private_steps(0, 5), private_steps(1, 3)};
  EXPECT_EQ(run_once<EveryThird>(program, make_job(1)).order, "aabbbaaa");
}

TEST(Simulation, DeviationTellsRightFromWrong) {
  EXPECT_LT(deviation({{"a", 5020}, {"b", 4980}}, {{"a", 0.5}, {"b", 0.5}}), 1);
  EXPECT_GT(deviation({{"a", 5300}, {"b", 4700}}, {{"a", 0.5}, {"b", 0.5}}), 4);
  EXPECT_GT(deviation({{"a", 5000}, {"b", 5000}, {"c", 1}}, {{"a", 0.5}, {"b", 0.5}}), 1e9);
}

}  // namespace
}  // namespace simulation
}  // namespace clew::rt
