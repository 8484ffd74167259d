#include "host/isolate/simplify.h"

#include <gtest/gtest.h>

#include <set>

#include "host/isolate/moved.h"
#include "host/isolate/placed.h"
#include "host/isolate/resample.h"
#include "host/search/sampling.h"

namespace clew {
namespace {

using Subset = std::vector<std::size_t>;

// Fails if and only if all of these are there.
struct Needs {
  Subset items;
  std::size_t asked = 0;

  FailsTogether oracle() {
    return [this](const std::vector<Subset>& parts) -> Result<std::vector<bool>> {
      std::vector<bool> answers;
      for (const Subset& part : parts) {
        ++asked;
        answers.push_back(std::ranges::includes(part, items));
      }
      return answers;
    };
  }
};

TEST(Reduce, NothingIsEnough) {
  Needs needs{Subset{}};
  const auto reduced = reduce(10, needs.oracle());
  EXPECT_TRUE(reduced->kept.empty());
  EXPECT_TRUE(reduced->minimal);
  EXPECT_EQ(needs.asked, 1);
}

TEST(Reduce, OneOfThousandsIsFoundByHalving) {
  for (const std::size_t wanted : {0, 1, 1234, 3769}) {
    Needs needs{{wanted}};
    const auto reduced = reduce(3770, needs.oracle());
    EXPECT_EQ(reduced->kept, Subset{wanted});
    EXPECT_LE(needs.asked, 2 * 12 + 8);
  }
}

TEST(Reduce, SeveralAreAllKept) {
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    const std::size_t size = 1 + random.below(60);
    std::set<std::size_t> wanted;
    for (std::uint64_t i = random.below(5); i-- > 0;) wanted.insert(random.below(size));
    Needs needs{{wanted.begin(), wanted.end()}};
    const auto reduced = reduce(size, needs.oracle());
    EXPECT_EQ(reduced->kept, needs.items);
    EXPECT_TRUE(reduced->minimal);
  }
}

// Whatever the program does, what is left fails, and does not without any one of its items.
TEST(Reduce, IsOneMinimalForAnyProgram) {
  Random random(2);
  for (int round = 0; round < 300; ++round) {
    const std::size_t size = 2 + random.below(12);
    const std::uint64_t salt = random.next();
    const std::uint64_t rarity = 2 + random.below(6);
    const auto fails_with = [&](const Subset& part) {
      std::uint64_t hash = salt;
      for (const std::size_t item : part) hash = mix(hash, item);
      return part.size() == size || hash % rarity == 0;
    };
    const auto reduced = reduce(size, [&](const std::vector<Subset>& parts) {
      std::vector<bool> answers;
      for (const Subset& part : parts) answers.push_back(fails_with(part));
      return Result<std::vector<bool>>(answers);
    });
    EXPECT_TRUE(fails_with(reduced->kept));
    ASSERT_TRUE(reduced->minimal);
    for (std::size_t i = 0; i < reduced->kept.size(); ++i) {
      Subset rest = reduced->kept;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_FALSE(fails_with(rest)) << "round " << round << " without item " << i;
    }
  }
}

TEST(Reduce, StopsWhenTold) {
  std::size_t left = 3;
  const auto reduced = reduce(1000, [&](const std::vector<Subset>& parts) {
    if (left-- == 0) return Result<std::vector<bool>>(std::vector<bool>{});
    std::vector<bool> answers;
    for (const Subset& part : parts) answers.push_back(std::ranges::includes(part, Subset{7, 900}));
    return Result<std::vector<bool>>(answers);
  });
  EXPECT_FALSE(reduced->minimal);
  EXPECT_TRUE(std::ranges::includes(reduced->kept, Subset{7, 900}));
}

TEST(ThreadScript, CountsItsPreemptions) {
  const ThreadScript script{{5, 3, abi::kScriptPreemption, 0, 6}, {6, 2, 4, 1, 0}};
  EXPECT_EQ(preemptions_of(script), 1);
}

TEST(Simpler, FewerItemsThenFewerPreemptions) {
  constexpr std::uint8_t kAnswer = 1 + static_cast<std::uint8_t>(abi::ChoiceKind::kWake);
  const ScriptItem preemption{1, 5, 0, 0, 2};
  const ScriptItem answer{1, 7, kAnswer, 0, 2};
  EXPECT_TRUE(is_simpler({preemption}, {preemption, preemption}));
  EXPECT_TRUE(is_simpler({preemption}, {preemption, answer}));
  EXPECT_TRUE(is_simpler({answer, answer}, {preemption, answer}));
  EXPECT_FALSE(is_simpler({preemption}, {preemption}));
  EXPECT_TRUE(is_simpler({preemption}, {answer, answer, answer}));
  EXPECT_FALSE(is_simpler({answer, answer, answer}, {preemption}));
}

// Two threads that write what both use before their events 10, 20, 30; T1 also has events of its own.
std::vector<TraceStep> two_writers() {
  std::vector<TraceStep> trace;
  const auto step = [&](abi::ThreadKey thread, std::uint64_t own, std::uint64_t object,
                        abi::StepKind kind) {
    trace.push_back({.thread = thread,
                     .place = 2 * own,
                     .object = object,
                     .clock = trace.size() + 1,
                     .own = own,
                     .size = 8,
                     .index = static_cast<std::uint16_t>(thread),
                     .kind = kind});
  };
  step(0, 1, 7, abi::StepKind::kCreate);
  step(0, 2, 8, abi::StepKind::kCreate);
  for (const std::uint64_t own : {10, 20, 30})
    for (const abi::ThreadKey thread : {1, 2}) step(thread, own, 0x1000, abi::StepKind::kWrite);
  step(1, 40, 0x2000, abi::StepKind::kWrite);
  return trace;
}

TEST(Moved, LeavesOneItemOutAndMovesAnotherToWhereItsThreadMeetsOthers) {
  const ScriptItem first{1, 20, 0, 0, 2};
  const ScriptItem second{2, 20, 0, 0, 1};
  const std::vector<TraceStep> trace = two_writers();
  const auto at = [](ScriptItem item, std::uint64_t own) {
    item.own = own;
    return ThreadScript{item};
  };
  // Both lie next to 10 and 30; where only one thread writes nothing can matter.
  const std::vector<ThreadScript> expected{at(second, 10), at(second, 30), at(first, 10),
                                           at(first, 30)};
  EXPECT_EQ(moved({first, second}, trace, 100), expected);
  EXPECT_EQ(moved({first, second}, trace, 2).size(), 2u);
}

TEST(Moved, TheNearestPlacesComeFirst) {
  const ScriptItem one{1, 10, 0, 0, 2};
  const ScriptItem other{2, 10, 0, 0, 1};
  const std::vector<ThreadScript> scripts = moved({one, other}, two_writers(), 100);
  ASSERT_EQ(scripts.size(), 4u);
  EXPECT_EQ(scripts[0].front().own, 20u);
  EXPECT_EQ(scripts[1].front().own, 20u);
  EXPECT_EQ(scripts[2].front().own, 30u);
}

TEST(CriticalPreemptions, WhereAThreadMeetsOthersWithEachThreadAsTheTarget) {
  const std::vector<ScriptItem> items = critical_preemptions(two_writers(), 100);
  const auto at = [](abi::ThreadKey thread, std::uint64_t own, abi::ThreadKey to) {
    return ScriptItem{thread, own, abi::kScriptPreemption, 0, to};
  };
  // Three steps of each of two threads, two targets; not what only one thread writes.
  EXPECT_EQ(items.size(), 12u);
  for (const std::uint64_t own : {10, 20, 30}) {
    EXPECT_NE(std::ranges::find(items, at(1, own, 2)), items.end());
    EXPECT_NE(std::ranges::find(items, at(2, own, 1)), items.end());
    EXPECT_NE(std::ranges::find(items, at(1, own, 0)), items.end());
  }
  EXPECT_EQ(critical_preemptions(two_writers(), 5).size(), 5u);
}

}  // namespace
}  // namespace clew
