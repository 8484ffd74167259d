#include "host/search/exhaustive.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "host/search/simulated_program.h"

namespace clew {
namespace {

using simulated::Code;
using simulated::End;
using simulated::forked;
using simulated::Op;
using simulated::Program;

constexpr std::uint32_t kUnbounded = 1000;

struct Explored {
  std::set<std::string> outcomes;
  std::set<std::vector<std::uint32_t>> schedules;
  std::uint64_t runs = 0;
  std::uint64_t deadlocks = 0;
  std::uint64_t first_failure_preemptions = 0;
  std::optional<std::string> conclusion;
};

Explored explore(const Program& program, std::uint32_t bound, std::size_t most = 1,
                 ExhaustiveSearch::Options options = {}) {
  Explored explored;
  ExhaustiveSearch search(bound, options);
  bool failed = false;
  for (;;) {
    const std::vector<JobPlan> plans = search.next(most);
    EXPECT_LE(plans.size(), most);
    if (plans.empty()) break;
    EXPECT_FALSE(search.conclusion().has_value());
    for (const JobPlan& plan : plans) {
      EXPECT_EQ(plan.strategy, abi::StrategyKind::kPrefix);
      EXPECT_EQ(plan.flags, abi::kJobTrace | abi::kJobAllPoints);
      const simulated::Run run = simulated::run(program, simulated::decode_prefix(plan.guide));
      EXPECT_LE(run.report.result.preemptions, bound);
      ++explored.runs;
      explored.outcomes.insert(run.outcome);
      EXPECT_TRUE(explored.schedules.insert(run.schedule).second) << "run twice";
      explored.deadlocks += run.end == End::kDeadlock;
      if (run.end != End::kExit && !failed) {
        failed = true;
        explored.first_failure_preemptions = run.report.result.preemptions;
      }
      search.learn(plan, run.report);
    }
  }
  explored.conclusion = search.conclusion();
  return explored;
}

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  Program program() {
    Program p;
    p.join_is_picked_when_done = chance(30);
    p.tries_held_locks = chance(30);
    const std::uint32_t threads = 2 + below(2);
    variables_ = 1 + below(3);
    const bool synchronised = chance(60);
    for (std::uint32_t t = 0; t < threads; ++t) {
      p.threads.push_back(code(t == 0 ? below(4) : 2 + below(threads == 2 ? 4 : 3), synchronised));
    }
    Code& main = p.threads[0];
    for (std::uint32_t t = threads; t-- > 1;) {
      Code& parent = t == 2 && chance(20) ? p.threads[1] : main;
      parent.insert(
          parent.begin() +
              below(static_cast<std::uint32_t>(std::min<std::size_t>(parent.size(), 2)) + 1),
          {Op::kCreate, t});
      if (&parent == &main && chance(75)) main.push_back({Op::kJoin, t});
    }
    main.push_back({Op::kOther, 0});  // exit
    // A skipped creation would leave its thread to be joined for ever.
    for (Code& c : p.threads) {
      for (std::size_t i = 0; i + 1 < c.size(); ++i) {
        const Op next = c[i + 1].op;
        if (next != Op::kCreate) continue;
        if (c[i].op == Op::kReadSkip) c[i].op = Op::kRead;
        if (c[i].op == Op::kTryLock) c[i].op = Op::kLock;
      }
    }
    return p;
  }

 private:
  Code code(std::uint32_t length, bool synchronised) {
    Code c;
    std::vector<std::uint32_t> held;
    while (c.size() + held.size() < length) {
      const std::uint32_t variable = below(variables_);
      switch (below(synchronised ? 14 : 8)) {
        case 0:
        case 1:
          c.push_back({Op::kRead, variable});
          break;
        case 2:
        case 3:
        case 4:
          c.push_back({chance(10) ? Op::kFree : Op::kWrite, variable});
          break;
        case 5:
          c.push_back({Op::kUpdate, variable});
          break;
        case 6:
          c.push_back({Op::kReadSkip, variable});
          break;
        case 7:
          c.push_back({chance(40) ? Op::kReadAssert : Op::kOther, variable});
          break;
        case 8:
        case 9:
        case 10: {
          const std::uint32_t lock = below(2);
          if (std::ranges::find(held, lock) != held.end()) break;
          c.push_back({chance(20) ? Op::kTryLock : Op::kLock, lock});
          held.push_back(lock);
          break;
        }
        case 11:
          if (held.empty()) break;
          c.push_back({Op::kUnlock, held.back()});
          held.pop_back();
          break;
        case 12:
          c.push_back({Op::kSignal, below(2)});
          break;
        case 13:
          c.push_back({chance(50) ? Op::kWait : Op::kSignal, below(2)});
          break;
      }
    }
    while (!held.empty()) {
      c.push_back({Op::kUnlock, held.back()});
      held.pop_back();
    }
    return c;
  }
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }
  bool chance(std::uint32_t percent) { return below(100) < percent; }

  std::mt19937_64 random_;
  std::uint32_t variables_ = 1;
};

std::string text(const Program& program) {
  static constexpr std::array kNames = {"other",  "read",   "read-skip", "read-assert", "write",
                                        "update", "free",   "lock",      "try",         "unlock",
                                        "wait",   "signal", "create",    "join"};
  std::string out = std::string(program.join_is_picked_when_done ? "join when done " : "") +
                    (program.tries_held_locks ? "tries held locks" : "") + "\n";
  for (const Code& code : program.threads) {
    for (const auto& [op, what] : code) {
      out += std::string(kNames[static_cast<std::size_t>(op)]) + " " + std::to_string(what) + "; ";
    }
    out += "\n";
  }
  return out;
}

// CLEW_TEST_PROGRAMS and CLEW_TEST_SEED for more than the build's tests try.
std::uint64_t number(const char* variable, std::uint64_t otherwise) {
  const char* value = std::getenv(variable);
  return value != nullptr ? std::strtoull(value, nullptr, 10) : otherwise;
}

TEST(Exhaustive, ReachesWhatBruteForceReaches) {
  const std::uint64_t programs = number("CLEW_TEST_PROGRAMS", 200);
  const std::uint64_t seed = number("CLEW_TEST_SEED", 1);
  constexpr std::array<std::uint32_t, 5> kBounds = {0, 1, 2, 3, kUnbounded};
  std::array<std::uint64_t, kBounds.size()> runs{}, classes{}, schedules{};
  std::uint64_t deadlocks = 0, lost = 0;
  for (std::uint64_t i = 0; i < programs; ++i) {
    const Program program = Generator(seed * 1'000'000 + i).program();
    for (std::size_t b = 0; b < kBounds.size(); ++b) {
      if (kBounds[b] == kUnbounded && i % 10 != 0) continue;
      const std::set<std::string> expected = simulated::brute_force(program, kBounds[b]);
      const Explored explored = explore(program, kBounds[b]);
      if (explored.outcomes != expected) {
        ++lost;
        if (lost < 4)
          ADD_FAILURE() << "program " << i << ", bound " << kBounds[b] << ": "
                        << explored.outcomes.size() << " of " << expected.size() << " outcomes\n"
                        << text(program);
      }
      deadlocks += explored.deadlocks;
      if (i % 10 != 0) continue;
      schedules[b] += simulated::count_schedules(program, kBounds[b], 200'000);
      runs[b] += explored.runs;
      classes[b] += expected.size();
    }
  }
  EXPECT_EQ(lost, 0u);
  EXPECT_GT(deadlocks, 0u);
  // Of every tenth program; at most 200,000 schedules of each are counted.
  for (std::size_t b = 0; b < kBounds.size(); ++b) {
    std::printf("bound %4u: %llu schedules, %llu run, %llu different\n", kBounds[b],
                static_cast<unsigned long long>(schedules[b]),
                static_cast<unsigned long long>(runs[b]),
                static_cast<unsigned long long>(classes[b]));
  }
}

// The schedules run, and so the answer, do not depend on how many are asked for at a time.
TEST(Exhaustive, DoesNotDependOnTheSizeOfTheRounds) {
  for (std::uint64_t i = 0; i < 150; ++i) {
    const Program program = Generator(7'000'000 + i).program();
    for (const std::uint32_t bound : {0u, 1u, 2u}) {
      const Explored one = explore(program, bound, 1);
      for (const std::size_t most : {2u, 64u}) {
        const Explored many = explore(program, bound, most);
        EXPECT_EQ(one.schedules, many.schedules) << text(program);
        EXPECT_EQ(one.conclusion, many.conclusion) << text(program);
      }
    }
  }
}

TEST(Exhaustive, DoesNotDependOnWhatIsTriedFirst) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Program program = Generator(seed).program();
    const Explored expected = explore(program, 1);
    const Explored explored = explore(
        program, 1, 1 + seed % 5, {.order = ExhaustiveSearch::Order::kDeviations, .seed = seed});
    EXPECT_EQ(explored.schedules, expected.schedules) << seed;
    EXPECT_EQ(explored.conclusion, expected.conclusion) << seed;
  }
}

// Four threads have 24 orders without a preemption; a single one is as near.
TEST(Exhaustive, FewDeviationsFirst) {
  Program program;
  program.threads.resize(5);
  for (std::uint32_t t = 1; t < 5; ++t) {
    program.threads[0].push_back({Op::kCreate, t});
    program.threads[t] = {{Op::kRead, 0}, {Op::kWrite, 0}};
  }
  for (std::uint32_t t = 1; t < 5; ++t) program.threads[0].push_back({Op::kJoin, t});
  program.threads[0].push_back({Op::kOther, 0});
  const auto first_with_a_preemption = [&](ExhaustiveSearch::Order order) {
    ExhaustiveSearch search(1, {.order = order, .seed = 1});
    for (std::uint64_t runs = 1;; ++runs) {
      const std::vector<JobPlan> plans = search.next(1);
      if (plans.empty()) return std::uint64_t{0};
      const simulated::Run run = simulated::run(program, simulated::decode_prefix(plans[0].guide));
      if (run.report.result.preemptions > 0) return runs;
      search.learn(plans[0], run.report);
    }
  };
  const std::uint64_t by_preemptions =
      first_with_a_preemption(ExhaustiveSearch::Order::kPreemptions);
  const std::uint64_t by_deviations = first_with_a_preemption(ExhaustiveSearch::Order::kDeviations);
  EXPECT_GT(by_deviations, 0u);
  EXPECT_LT(2 * by_deviations, by_preemptions);
}

TEST(Exhaustive, IndependentThreadsNeedOneSchedule) {
  for (std::uint32_t threads = 1; threads <= 8; ++threads) {
    std::vector<Code> children;
    for (std::uint32_t t = 0; t < threads; ++t) {
      children.push_back({{Op::kWrite, t}, {Op::kRead, t}, {Op::kUpdate, t}, {Op::kRead, 15}});
    }
    for (const std::uint32_t bound : {0u, 1u, 2u, kUnbounded}) {
      const Explored explored = explore(forked(children), bound);
      EXPECT_EQ(explored.runs, 1u) << threads << " threads";
      EXPECT_EQ(explored.conclusion, "the 1 schedule with at most " + std::to_string(bound) +
                                         (bound == 1 ? " preemption" : " preemptions") +
                                         " passes (any other, also with more preemptions, is "
                                         "equivalent to it in what code built with clew does)");
    }
  }
}

// Two threads that write one variable once: two orders, neither needs a preemption.
TEST(Exhaustive, OneConflictHasTwoOrders) {
  const Program program = forked({{{Op::kWrite, 0}}, {{Op::kWrite, 0}}});
  const Explored explored = explore(program, 0);
  EXPECT_EQ(explored.runs, 2u);
  EXPECT_EQ(explored.outcomes, simulated::brute_force(program, kUnbounded));
  EXPECT_EQ(
      explored.conclusion,
      "all 2 schedules with at most 0 preemptions pass (any other of them is equivalent to one "
      "of these in what code built with clew does)");
}

// x = x + 1 twice, not atomic: an update is lost only with a preemption.
TEST(Exhaustive, ALostUpdateNeedsAPreemption) {
  const Code increment = {{Op::kRead, 0}, {Op::kWrite, 0}};
  const Program program = forked({increment, increment});
  EXPECT_EQ(explore(program, 0).outcomes.size(), 2u);
  // read read write write, in both orders of the writes, from either thread's point of view
  EXPECT_EQ(explore(program, 1).outcomes.size(), 4u);
  EXPECT_EQ(explore(program, kUnbounded).outcomes.size(), 4u);
}

TEST(Exhaustive, FindsADeadlockWithTheFewestPreemptions) {
  for (const bool tries : {false, true}) {
    Program program =
        forked({{{Op::kLock, 0}, {Op::kLock, 1}, {Op::kUnlock, 1}, {Op::kUnlock, 0}},
                {{Op::kLock, 1}, {Op::kLock, 0}, {Op::kUnlock, 0}, {Op::kUnlock, 1}}});
    program.tries_held_locks = tries;
    EXPECT_EQ(explore(program, 0).deadlocks, 0u);
    const Explored explored = explore(program, 3);
    EXPECT_GT(explored.deadlocks, 0u);
    EXPECT_EQ(explored.first_failure_preemptions, 1u);
    ASSERT_TRUE(explored.conclusion.has_value());
    EXPECT_NE(explored.conclusion->find(" of "), std::string::npos);
    EXPECT_NE(explored.conclusion->find("fail"), std::string::npos);
  }
}

const Program kTwoWriters = forked({{{Op::kWrite, 0}}, {{Op::kWrite, 0}}});

JobReport follow(const JobPlan& plan) {
  return simulated::run(kTwoWriters, simulated::decode_prefix(plan.guide)).report;
}

TEST(Exhaustive, ClaimsNothingForMoreThreadsThanATraceCanName) {
  ExhaustiveSearch search(2);
  const JobPlan plan = search.next(4).at(0);
  JobReport report = follow(plan);
  report.result.threads = 65;
  search.learn(plan, report);
  EXPECT_TRUE(search.next(4).empty());
  EXPECT_EQ(search.conclusion(), "no answer: the program has more than 64 threads");
}

TEST(Exhaustive, ClaimsNothingWithoutATrace) {
  ExhaustiveSearch search(2);
  const JobPlan plan = search.next(4).at(0);
  JobReport report = follow(plan);
  report.trace.steps.clear();
  search.learn(plan, report);
  EXPECT_TRUE(search.next(4).empty());
  EXPECT_EQ(search.conclusion(), "no answer: a run had too many steps for its trace to be kept");
}

TEST(Exhaustive, SaysThatARunDeparted) {
  ExhaustiveSearch search(0);
  const JobPlan first = search.next(4).at(0);
  search.learn(first, follow(first));
  const JobPlan second = search.next(4).at(0);
  search.learn(second, follow(first));  // does not follow its prefix
  EXPECT_TRUE(search.next(4).empty());
  EXPECT_EQ(search.conclusion(),
            "no failure in 2 schedules with at most 0 preemptions; 1 unresolved, 1 of them because "
            "the run departed from its schedule: there may be others that were not tried");
}

TEST(Exhaustive, SaysWhatItHasNotCovered) {
  for (const auto& [what, words] :
       {std::pair{abi::kUncoveredTime, "other times of clocks and deadlines"},
        {abi::kUncoveredRegions, "switches in code without yield points"},
        {abi::kUncoveredLibraries, "switches in code not built with clew"},
        {abi::kUncoveredOutside, "input that comes at other points"},
        {abi::kUncoveredRest, "the rest of runs that are too long"},
        {abi::kUncoveredRounds, "further rounds of loops in which threads wait"}}) {
    ExhaustiveSearch search(0);
    for (int i = 0; i < 2; ++i) {
      const JobPlan plan = search.next(1).at(0);
      JobReport report = follow(plan);
      if (i == 1) report.result.uncovered = what;
      search.learn(plan, report);
    }
    EXPECT_EQ(search.conclusion(), "all 2 schedules with at most 0 preemptions pass, apart from " +
                                       std::string(words) + ", which are not tried");
    EXPECT_FALSE(search.all_pass());
  }
}

// The only step that conflicts is the release, of memory that is much larger than what is read.
TEST(Exhaustive, AReleaseConflictsWithEveryAccess) {
  const Program program = forked({{{Op::kRead, 15}, {Op::kRead, 15}}, {{Op::kFree, 0}}});
  EXPECT_EQ(explore(program, 0).outcomes.size(), 2u);
  EXPECT_EQ(explore(program, 1).outcomes, simulated::brute_force(program, 1));
  EXPECT_EQ(explore(program, 1).outcomes.size(), 3u);
  const Program twice = forked({{{Op::kFree, 0}}, {{Op::kFree, 3}}});
  EXPECT_EQ(explore(twice, 0).outcomes.size(), 2u);
}

TEST(Exhaustive, CountsTheUnresolved) {
  ExhaustiveSearch search(0);
  const JobPlan first = search.next(4).at(0);
  JobReport report = follow(first);
  report.verdict = Verdict::kUnresolved;
  search.learn(first, report);
  const JobPlan second = search.next(4).at(0);
  EXPECT_FALSE(search.conclusion().has_value());
  search.learn(second, follow(second));
  EXPECT_EQ(search.conclusion(),
            "no failure in 2 schedules with at most 0 preemptions; 1 unresolved");
}

}  // namespace
}  // namespace clew
