// Against brute force: what all schedules of small programs show.
#include "host/enumerate/enumerate_search.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "host/enumerate/occurrences.h"
#include "host/search/simulated_program.h"

namespace clew {
namespace {

using simulated::Code;
using simulated::forked;
using simulated::Machine;
using simulated::Op;
using simulated::Operation;
using simulated::Program;

using Pair = std::pair<EventKey, EventKey>;

// What the reads of a run see, and which of them are of memory that others come to in that run.
struct RunPairs {
  std::set<Pair> pairs;
  std::set<EventKey> shared;
};
RunPairs pairs_of(const Trace& trace) {
  const std::vector<std::uint64_t> times = occurrences(trace.steps);
  const auto key = [&](StepNumber step) {
    if (step == kInitialValue) return EventKey{};
    return EventKey{
        trace.steps[step].thread, trace.steps[step].place,
        static_cast<std::uint32_t>(std::min<std::uint64_t>(times[step], kLaterInstances))};
  };
  RunPairs result;
  for (const Sight& sight : reads_from(trace.steps, Memory::kAll).sights)
    result.pairs.insert({key(sight.read), key(sight.write)});
  for (const Sight& sight : reads_from(trace.steps, Memory::kShared).sights)
    result.shared.insert(key(sight.read));
  return result;
}

// What all schedules show; nothing: there are too many.
std::optional<std::set<Pair>> all_pairs(const Program& program, std::uint64_t most) {
  RunPairs all;
  std::uint64_t runs = 0;
  const auto explore = [&](const auto& self, const Machine& at, const Trace& trace) -> void {
    if (runs > most) return;
    if (at.end() != simulated::End::kRuns) {
      ++runs;
      RunPairs one = pairs_of(trace);
      all.pairs.merge(one.pairs);
      all.shared.merge(one.shared);
      return;
    }
    for (std::uint32_t i = 0; i < 64; ++i) {
      if ((at.enabled() >> i & 1) == 0) continue;
      Machine after = at;
      Trace longer = trace;
      longer.steps.push_back(after.step(i));
      self(self, after, longer);
    }
  };
  explore(explore, Machine(program), {});
  if (runs > most) return std::nullopt;
  std::erase_if(all.pairs, [&](const Pair& pair) { return !all.shared.contains(pair.first); });
  return all.pairs;
}

simulated::Run run(const Program& program, const JobPlan& plan) {
  return simulated::run(program, plan.strategy == abi::StrategyKind::kPrefix
                                     ? simulated::decode_prefix(plan.guide)
                                     : std::vector<std::uint32_t>{});
}

struct Enumerated {
  std::set<Pair> seen;
  std::set<Pair> ruled_out;  // by an order, not by exhaustion
  std::uint64_t last_new = 0;
  std::uint64_t runs = 0;
};

void make_runs(const Program& program, EnumerateSearch& search, std::uint64_t most) {
  while (search.runs() < most) {
    const std::vector<JobPlan> plans = search.next(1);
    if (plans.empty()) break;
    for (const JobPlan& plan : plans) search.learn(plan, run(program, plan).report);
  }
}

Enumerated enumerate(const Program& program) {
  EnumerateSearchOptions options;
  options.end = EnumerateSearchOptions::End::kExhausted;
  EnumerateSearch search(options);
  make_runs(program, search, 200'000);
  EXPECT_TRUE(search.exhausted());
  Enumerated result;
  for (const Term& term : search.terms().all()) {
    if (!search.terms().is_shared(term.read)) continue;
    if (term.seen()) result.seen.insert({term.read, term.write});
    EXPECT_EQ(term.seen(), term.systematic) << "every schedule shows what others do";
    if (!term.seen() && !term.may_be && term.reason.kind != OrderReason::Kind::kNone)
      result.ruled_out.insert({term.read, term.write});
  }
  result.last_new = search.terms().last_new_run();
  result.runs = search.runs();
  return result;
}

// MacDonald, Chen, Novillo 2006, figure 2.
Program figure2(bool first_locks, bool third_locks) {
  const auto under = [](bool locks, Code code) {
    if (locks) {
      code.insert(code.begin(), {Op::kLock, 0});
      code.push_back({Op::kUnlock, 0});
    }
    return code;
  };
  return forked({under(first_locks, {{Op::kWrite, 0}, {Op::kWrite, 0}}),
                 under(true, {{Op::kWrite, 0}}), under(third_locks, {{Op::kRead, 0}})});
}

TEST(EnumerateSearch, FigureTwoHasThreeTermsAndFourWithoutALock) {
  const Enumerated locked = enumerate(figure2(true, true));
  EXPECT_EQ(locked.seen.size(), 3u);
  EXPECT_EQ(locked.ruled_out.size(), 1u);
  EXPECT_LE(locked.last_new, 3u);
  const Enumerated first_open = enumerate(figure2(false, true));
  EXPECT_EQ(first_open.seen.size(), 4u);
  EXPECT_EQ(first_open.ruled_out.size(), 0u);
  EXPECT_LE(first_open.last_new, 5u);
  EXPECT_EQ(enumerate(figure2(true, false)).seen.size(), 4u);
}

Code random_code(std::mt19937_64& random, std::uint32_t length) {
  Code code;
  std::vector<std::uint32_t> held;
  while (code.size() + held.size() < length) {
    const std::uint32_t what = random() % 3 == 0;
    switch (random() % 9) {
      case 0:
      case 1:
      case 2:
        code.push_back({Op::kWrite, what});
        break;
      case 3:
      case 4:
        code.push_back({Op::kRead, what});
        break;
      case 5:
        code.push_back({random() % 2 == 0 ? Op::kUpdate : Op::kReadSkip, what});
        break;
      case 6:
      case 7:
        if (std::ranges::find(held, what) != held.end()) break;
        code.push_back({Op::kLock, what});
        held.push_back(what);
        break;
      case 8:
        code.push_back({random() % 2 == 0 ? Op::kSignal : Op::kOther, 0});
        break;
    }
    if (!held.empty() && random() % 3 == 0) {
      if (code.back().op == Op::kReadSkip) code.push_back({Op::kOther, 0});
      code.push_back({Op::kUnlock, held.back()});
      held.pop_back();
    }
  }
  if (!code.empty() && code.back().op == Op::kReadSkip) code.push_back({Op::kOther, 0});
  for (; !held.empty(); held.pop_back()) code.push_back({Op::kUnlock, held.back()});
  for (std::size_t i = 0; i + 1 < code.size(); ++i)
    if (code[i].op == Op::kReadSkip && code[i + 1].op == Op::kLock) code[i].op = Op::kRead;
  return code;
}

// A critical section with a few accesses to one variable.
Code section(std::mt19937_64& random) {
  Code code{{Op::kLock, 0}};
  for (std::uint64_t left = 1 + random() % 3; left > 0; --left)
    code.push_back({random() % 2 == 0 ? Op::kWrite : Op::kRead, 0});
  code.push_back({Op::kUnlock, 0});
  return code;
}

TEST(EnumerateSearch, SeesWhatBruteForceSeesAndRulesOutNothingElse) {
  std::uint64_t compared = 0;
  std::uint64_t ruled_out = 0;
  std::uint64_t needed = 0;
  std::uint64_t pairs = 0;
  for (std::uint64_t seed = 1; seed <= 240; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<Code> children;
    const std::uint32_t threads = 2 + (random() % 4 == 0);
    for (std::uint32_t t = 0; t < threads; ++t)
      children.push_back(seed % 3 == 0 && threads == 2
                             ? section(random)
                             : random_code(random, threads == 2 ? 2 + random() % 4 : 1 + t % 2));
    const Program program = forked(std::move(children));
    const auto expected = all_pairs(program, 3000);
    if (!expected) continue;
    ++compared;
    const Enumerated got = enumerate(program);
    EXPECT_EQ(got.seen, *expected) << "seed " << seed;
    for (const Pair& pair : got.ruled_out) EXPECT_FALSE(expected->contains(pair)) << seed;
    ruled_out += got.ruled_out.size();
    needed += got.last_new;
    pairs += expected->size();
  }
  EXPECT_GT(compared, 100u);
  EXPECT_GT(ruled_out, 10u);
  // About as many runs as there are pairs, at most.
  EXPECT_LT(needed, pairs * 2);
  RecordProperty("runs", static_cast<int>(needed));
  RecordProperty("pairs", static_cast<int>(pairs));
}

// Accesses with a wait or a signal in their midst, so that threads know of each other by what they
// read and wait for.
Code waiting_code(std::mt19937_64& random, Operation in_between) {
  Code code;
  const std::uint64_t before = random() % 3;
  const std::uint64_t length = before + 1 + random() % 3;
  for (std::uint64_t i = 0; i < length; ++i) {
    if (i == before) code.push_back(in_between);
    constexpr Op kAccesses[] = {Op::kWrite, Op::kWrite, Op::kRead, Op::kRead, Op::kUpdate};
    code.push_back({kAccesses[random() % 5], static_cast<std::uint32_t>(random() % 2)});
  }
  code.push_back({Op::kOther, 0});
  return code;
}

// What a search calls impossible because its runs order it, long before it has executed every
// schedule, against one that has: it is told to be at rest after few runs.
TEST(EnumerateSearch, WhatAllRunsOrderNoScheduleShows) {
  std::uint64_t compared = 0;
  std::uint64_t ordered = 0;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    std::mt19937_64 random(seed);
    // A semaphore, or a flag that is checked: then what comes behind it is skipped.
    std::vector<Code> children{
        waiting_code(random, {Op::kSignal, 0}),
        waiting_code(random,
                     random() % 4 != 0 ? Operation{Op::kWait, 0} : Operation{Op::kReadSkip, 0})};
    if (random() % 2 == 0) children.push_back({{Op::kRead, 0}, {Op::kWrite, 1}});
    const Program program = forked(std::move(children));
    EnumerateSearchOptions options;
    options.quiet = 16;
    EnumerateSearch early(options);
    make_runs(program, early, 60);
    if (early.exhausted()) continue;
    options.end = EnumerateSearchOptions::End::kExhausted;
    EnumerateSearch whole(options);
    make_runs(program, whole, 5000);
    if (!whole.exhausted()) continue;
    ++compared;
    std::set<Pair> possible;
    for (const Term& term : whole.terms().all())
      if (term.seen()) possible.insert({term.read, term.write});
    for (const Term& term : early.terms().all()) {
      if (term.seen() || early.status(term) == TermStatus::kOpen) continue;
      ordered += term.may_be ? 1 : 0;
      EXPECT_FALSE(possible.contains({term.read, term.write}))
          << "seed " << seed << " T" << term.read.thread << " " << term.read.place << " "
          << term.write.place;
    }
  }
  EXPECT_GT(compared, 40u);
  EXPECT_GT(ordered, 10u);
  RecordProperty("compared", static_cast<int>(compared));
  RecordProperty("ordered", static_cast<int>(ordered));
}

}  // namespace
}  // namespace clew
