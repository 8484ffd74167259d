#include "host/search/period_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>

#include "clew_abi/stream.h"

namespace clew {
namespace {

using abi::kMainThreadKey;
using abi::StepKind;
using abi::ThreadKey;

struct Op {
  StepKind kind;
  std::uint64_t object;
};

// A simulated program: main creates threads that each do a list of steps, and joins them or ends the
// program. It follows a plan as runtime/strategy/plan.h says, and preempts nothing otherwise.
class Program {
 public:
  enum class Main : std::uint8_t { kJoins, kExits };
  explicit Program(std::vector<std::vector<Op>> bodies, Main main = Main::kJoins)
      : bodies_(std::move(bodies)), main_(main) {}

  enum class Linger : std::uint8_t { kNo, kYes };
  std::vector<TraceStep> run(const std::vector<PlanDirective>& plan, Linger linger = Linger::kNo) {
    linger_ = linger;
    next_.assign(1 + bodies_.size(), 0);
    holders_.clear();
    held_.clear();
    trace_.clear();
    std::size_t current = 0;
    std::size_t at = 0;
    std::uint64_t passed = 0;
    for (;;) {
      std::optional<std::size_t> who;
      while (!who && at < plan.size()) {
        const std::size_t thread = index_of(plan[at].thread);
        held_.erase(thread);
        const bool ended = thread < next_.size() && started(thread) && done(thread);
        if (!ended && can_run(thread)) {
          who = thread;
        } else if (!ended && (plan[at].flags & kPlanInsist) != 0) {
          break;
        } else {
          ++at, passed = 0;
        }
      }
      const bool directed = who.has_value();
      if (!who) who = default_of(current);
      if (!who || exits(*who)) return trace_;
      step(*who);
      current = *who;
      if (directed && ++passed == plan[at].times) {
        if ((plan[at].flags & kPlanHold) != 0) held_.insert(*who);
        ++at, passed = 0;
      }
    }
  }

  // The threads' accesses in order, as "1122".
  static std::string order(const std::vector<TraceStep>& trace) {
    std::string text;
    for (const TraceStep& event : trace)
      if (abi::is_access(event.kind)) text += static_cast<char>('0' + event.index);
    return text;
  }

 private:
  std::size_t index_of(ThreadKey key) const {
    if (key == kMainThreadKey) return 0;
    for (std::uint32_t i = 1; i <= bodies_.size(); ++i)
      if (key == abi::child_key(kMainThreadKey, i)) return i;
    ADD_FAILURE() << "no such thread";
    return 0;
  }
  bool exits(std::size_t thread) const {
    return thread == 0 && main_ == Main::kExits && next_[0] == bodies_.size();
  }
  bool lingers(std::size_t thread) const { return linger_ == Linger::kYes && exits(thread); }
  bool started(std::size_t thread) const { return thread == 0 || next_[0] >= thread; }
  // A thread's first step is its start; main's are creations, then joins.
  std::size_t length(std::size_t thread) const {
    return thread == 0 ? 2 * bodies_.size() : 1 + bodies_[thread - 1].size();
  }
  bool done(std::size_t thread) const { return next_[thread] == length(thread); }
  bool can_run(std::size_t thread) {
    if (!started(thread) || done(thread)) return false;
    if (exits(thread)) return true;
    if (thread == 0) return next_[0] < bodies_.size() || done(next_[0] - bodies_.size() + 1);
    if (next_[thread] == 0) return true;
    const Op& op = bodies_[thread - 1][next_[thread] - 1];
    return op.kind != StepKind::kLock || !holders_.contains(op.object);
  }
  std::optional<std::size_t> default_of(std::size_t current) {
    if (can_run(current) && !held_.contains(current) && !lingers(current)) return current;
    std::optional<std::size_t> held;
    for (std::size_t i = 0; i < next_.size(); ++i) {
      if (!can_run(i)) continue;
      if (!held_.contains(i) && !lingers(i)) return i;
      if (!held) held = i;
    }
    if (held) held_.erase(*held);
    return held;
  }
  void step(std::size_t thread) {
    TraceStep event{};
    event.index = static_cast<std::uint16_t>(thread);
    event.thread = thread == 0 ? kMainThreadKey
                               : abi::child_key(kMainThreadKey, static_cast<std::uint32_t>(thread));
    event.place = 2 * (100 * thread + next_[thread]) + 2;
    event.clock = trace_.size() + 1;
    const std::size_t at = next_[thread]++;
    if (thread == 0) {
      event.kind = at < bodies_.size() ? StepKind::kCreate : StepKind::kJoin;
      event.object = 0x900 + at % bodies_.size();
    } else if (at > 0) {
      const Op& op = bodies_[thread - 1][at - 1];
      event.kind = op.kind;
      event.object = op.object;
      event.size = 8;
      if (op.kind == StepKind::kLock) holders_.insert(op.object);
      if (op.kind == StepKind::kUnlock) holders_.erase(op.object);
    }
    trace_.push_back(event);
  }

  std::vector<std::vector<Op>> bodies_;
  Main main_;
  Linger linger_ = Linger::kNo;
  std::vector<std::size_t> next_;
  std::set<std::uint64_t> holders_;
  std::set<std::size_t> held_;
  std::vector<TraceStep> trace_;
};

std::vector<PlanDirective> decode(const std::vector<std::uint8_t>& bytes) {
  std::vector<PlanDirective> plan;
  abi::Reader reader(bytes.data(), bytes.size());
  for (std::uint64_t n = bytes.empty() ? 0 : reader.varint(); n > 0; --n) {
    PlanDirective directive;
    directive.thread = reader.varint();
    directive.stop = static_cast<PlanStop>(reader.varint());
    directive.place = reader.varint();
    directive.times = reader.varint();
    directive.flags = static_cast<std::uint8_t>(reader.varint());
    plan.push_back(directive);
  }
  EXPECT_TRUE(reader.ok() && reader.at_end());
  return plan;
}

struct Explored {
  std::vector<std::string> orders;  // of the runs that were not calibrations
  bool over = false;
};

Explored explore(PeriodSearch& search, Program& program, std::size_t most, std::size_t limit) {
  Explored explored;
  while (explored.orders.size() < limit) {
    const std::vector<JobPlan> jobs = search.next(most);
    explored.over = jobs.empty();
    if (jobs.empty()) break;
    for (const JobPlan& job : jobs) {
      JobReport report;
      const auto linger =
          job.parameters[abi::kPlanLinger] > 0 ? Program::Linger::kYes : Program::Linger::kNo;
      std::vector<TraceStep> trace = program.run(decode(job.guide), linger);
      if (!job.guide.empty()) explored.orders.push_back(Program::order(trace));
      if ((job.flags & abi::kJobTrace) != 0) report.trace.steps = std::move(trace);
      search.learn(job, report);
    }
  }
  return explored;
}

std::size_t preemptions(const std::string& order) {
  std::size_t count = 0;
  for (std::size_t i = 1; i < order.size(); ++i)
    count += order[i] != order[i - 1] && order.find(order[i - 1], i) != std::string::npos;
  return count;
}

constexpr Op kWriteX{StepKind::kWrite, 0x1000}, kReadX{StepKind::kRead, 0x1000},
    kWriteY{StepKind::kWrite, 0x2000}, kLocal{StepKind::kWrite, 0x7000},
    kOther{StepKind::kOther, 0};

TEST(KeyPoints, AreTheContendedSteps) {
  Program program({{kLocal, kWriteX, kLocal, kWriteX}, {kWriteX}});
  const KeyPoints model = key_points(program.run({}));
  ASSERT_EQ(model.threads.size(), 2u);
  EXPECT_EQ(model.threads[0].steps, 5u);
  ASSERT_EQ(model.threads[0].points.size(), 2u);
  EXPECT_EQ(model.threads[0].points[0].step, 2u);
  EXPECT_EQ(model.threads[0].points[1].step, 4u);
  EXPECT_EQ(model.prelude, 2u);
}

TEST(Periods, AThreadRunsOnceInEach) {
  EXPECT_EQ(periods({{0, 1}, {1, 1}, {2, 1}}), 1u);
  EXPECT_EQ(periods({{0, 1}, {1, 1}, {0, 2}}), 2u);
  EXPECT_EQ(periods({{0, 1}, {1, 1}, {0, 2}, {1, 2}}), 2u);
  EXPECT_EQ(periods({{0, 1}, {1, 1}, {0, 2}, {1, 2}, {0, 3}}), 3u);
}

TEST(Words, AreAllThoseWithoutEqualNeighbours) {
  Words words;
  for (const std::vector<std::uint32_t>& turns : {std::vector<std::uint32_t>{1, 1},
                                                  {2, 1},
                                                  {2, 2},
                                                  {3, 1},
                                                  {3, 2, 2},
                                                  {1, 1, 1, 1},
                                                  {4, 2, 1}}) {
    std::vector<std::uint32_t> letters;
    for (std::uint32_t thread = 0; thread < turns.size(); ++thread)
      letters.insert(letters.end(), turns[thread], thread);
    std::set<std::vector<std::uint32_t>> expected;
    do {
      if (std::ranges::adjacent_find(letters) == letters.end()) expected.insert(letters);
    } while (std::ranges::next_permutation(letters).found);
    ASSERT_EQ(words.count(turns), static_cast<double>(expected.size()));
    std::set<std::vector<std::uint32_t>> listed;
    for (std::size_t rank = 0; rank < expected.size(); ++rank)
      listed.insert(words.word(turns, static_cast<double>(rank)));
    EXPECT_EQ(listed, expected);
  }
  EXPECT_GT(words.count(std::vector<std::uint32_t>(100, 1)), 1e157);
}

TEST(Play, KnowsWhatIsEquivalent) {
  Program program({{kReadX, kWriteY}, {kReadX, kWriteX}, {kWriteY}});
  const KeyPoints model = key_points(program.run({}));
  ASSERT_EQ(model.threads.size(), 3u);
  ASSERT_EQ(model.threads[1].points.size(), 1u);  // nobody else writes x
  const std::uint64_t in_order = play(model, {{0, 2}, {1, 1}, {2, 1}});
  EXPECT_EQ(in_order, play(model, {{0, 1}, {1, 1}, {0, 2}, {2, 1}}));  // x and y commute
  EXPECT_NE(in_order, play(model, {{1, 1}, {0, 2}, {2, 1}}));
  EXPECT_NE(in_order, play(model, {{2, 1}, {0, 2}, {1, 1}}));
}

TEST(PeriodSearch, TwoThreadsOfTwoSteps) {
  Program program({{kWriteX, kWriteX}, {kWriteX, kWriteX}});
  PeriodSearch search(1);
  const Explored explored = explore(search, program, 1, 100);
  EXPECT_TRUE(explored.over);
  ASSERT_EQ(explored.orders.size(), 6u);
  // One period: the two orders. Two periods: one preemption, then two.
  const auto group = [&](std::size_t begin) {
    return std::set<std::string>{explored.orders[begin], explored.orders[begin + 1]};
  };
  EXPECT_EQ(group(0), (std::set<std::string>{"1122", "2211"}));
  EXPECT_EQ(group(2), (std::set<std::string>{"1221", "2112"}));
  EXPECT_EQ(group(4), (std::set<std::string>{"1212", "2121"}));
  EXPECT_EQ(search.conclusion(),
            "all orders of the 4 conflicting steps that were seen were tried, in 6 schedules");
}

TEST(PeriodSearch, IsExhaustiveWithoutRepetition) {
  // 3 + 2 + 2 writes of one variable: 7! / (3! 2! 2!) = 210 orders, none equivalent.
  Program program({{kWriteX, kOther, kWriteX, kWriteX}, {kWriteX, kWriteX}, {kWriteX, kWriteX}});
  PeriodSearch search(3);
  const Explored explored = explore(search, program, 8, 1000);
  EXPECT_TRUE(explored.over);
  std::set<std::string> distinct;
  for (const std::string& order : explored.orders) distinct.insert(order);
  EXPECT_EQ(explored.orders.size(), 210u);
  EXPECT_EQ(distinct.size(), 210u);
}

TEST(PeriodSearch, FewPreemptionsFirst) {
  Program program({{kWriteX, kWriteX, kWriteX}, {kWriteX, kWriteX, kWriteX}});
  PeriodSearch search(5);
  const Explored explored = explore(search, program, 4, 1000);
  EXPECT_EQ(explored.orders.size(), 20u);
  EXPECT_TRUE(std::ranges::is_sorted(explored.orders, {}, preemptions));
}

TEST(PeriodSearch, LeavesOutWhatIsEquivalent) {
  // Reads of x commute: what matters is how many of the four come before the write, per thread.
  Program program({{kReadX, kReadX}, {kReadX, kReadX}, {kWriteX}});
  PeriodSearch search(1);
  const Explored explored = explore(search, program, 8, 1000);
  EXPECT_TRUE(explored.over);
  EXPECT_EQ(explored.orders.size(), 9u);
}

TEST(PeriodSearch, KnowsThatLocksExclude) {
  const Op lock{StepKind::kLock, 0x5000}, unlock{StepKind::kUnlock, 0x5000};
  Program program({{lock, kReadX, kWriteX, unlock}, {lock, kReadX, kWriteX, unlock}});
  PeriodSearch search(1);
  const Explored explored = explore(search, program, 4, 1000);
  EXPECT_TRUE(explored.over);
  EXPECT_EQ((std::set<std::string>{explored.orders.begin(), explored.orders.end()}),
            (std::set<std::string>{"1122", "2211"}));
  EXPECT_EQ(explored.orders.size(), 2u);
}

TEST(PeriodSearch, PrefersToCutBetweenAccessesThatBelongTogether) {
  // The first thread's accesses to x are adjacent; y is far away.
  std::vector<Op> body{kWriteX, kReadX};
  body.insert(body.end(), 40, kLocal);
  body.push_back(kWriteY);
  Program program({body, {kWriteX, kWriteY}});
  PeriodSearch search(1);
  const Explored explored = explore(search, program, 1, 5);
  ASSERT_EQ(explored.orders.size(), 5u);
  EXPECT_EQ(explored.orders[2].substr(0, 4), "1221");
}

TEST(PeriodSearch, ManyThreadsDoNotKeepItFromPreempting) {
  Program program(std::vector<std::vector<Op>>(8, {kReadX, kWriteX}));
  PeriodSearch search(1);
  const Explored explored = explore(search, program, 16, 3 * PeriodSearch::kTurn);
  EXPECT_FALSE(explored.over);
  std::size_t most = 0;
  for (const std::string& order : explored.orders) most = std::max(most, preemptions(order));
  EXPECT_GE(most, 1u);
}

TEST(PeriodSearch, NothingSharedIsOverAtOnce) {
  Program program({{{StepKind::kWrite, 0x1000}}, {{StepKind::kWrite, 0x2000}}});
  PeriodSearch search(1);
  const Explored explored = explore(search, program, 4, 10);
  EXPECT_TRUE(explored.over);
  EXPECT_TRUE(explored.orders.empty());
  EXPECT_TRUE(search.conclusion());
}

JobReport report_of(std::vector<TraceStep> trace) {
  JobReport report;
  report.trace.steps = std::move(trace);
  return report;
}

TEST(Played, IsTheOrderOfTheRun) {
  Program program({{kReadX, kOther, kWriteX}, {kWriteX, kOther, kReadX}});
  const std::vector<TraceStep> in_order = program.run({});
  const KeyPoints model = key_points(in_order);
  EXPECT_EQ(played(model, in_order), play(model, {{0, 2}, {1, 2}}));
  const Turns turns{{1, 1}, {0, 2}, {1, 2}};
  EXPECT_EQ(played(model, program.run(directives(model, turns))), play(model, turns));
  // Another program's.
  Program other({{kReadX, kWriteX}, {kWriteX, kReadX}});
  EXPECT_EQ(played(model, other.run({})), std::nullopt);
}

TEST(PeriodSearch, DoesNotRepeatWhatOthersHaveRun) {
  Program program({{kWriteX, kWriteX}, {kWriteX, kWriteX}});
  PeriodSearch search(1, PeriodSearch::Points::kAll);
  const std::vector<TraceStep> in_order = program.run({});
  search.calibrate(report_of(in_order));
  const KeyPoints model = key_points(in_order);
  search.has_been_run(program.run(directives(model, {{0, 1}, {1, 2}, {0, 2}})));
  const Explored explored = explore(search, program, 1, 100);
  EXPECT_TRUE(explored.over);
  EXPECT_EQ(std::set<std::string>(explored.orders.begin(), explored.orders.end()),
            (std::set<std::string>{"2211", "2112", "1212", "2121"}));
  EXPECT_EQ(explored.orders.size(), 4u);
}

TEST(PeriodSearch, CalibratesOnceAtAllPointsAndAgainAtThoseShared) {
  Program program({{kWriteX, kWriteX}, {kWriteX, kWriteX}});
  PeriodSearch search(1, PeriodSearch::Points::kAll);
  std::vector<JobPlan> jobs = search.next(4);
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_TRUE(jobs[0].flags & abi::kJobAllPoints);
  JobReport report = report_of(program.run({}));
  report.result.sharing_count = 3;
  search.learn(jobs[0], report);
  jobs = search.next(2);
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_FALSE(jobs[0].guide.empty());
  EXPECT_TRUE(jobs[0].flags & abi::kJobAllPoints);
  for (const JobPlan& job : jobs) search.learn(job, {});

  search.use_shared_points();
  jobs = search.next(2);
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_TRUE(jobs[0].guide.empty());
  EXPECT_FALSE(jobs[0].flags & abi::kJobAllPoints);
}

// The default schedule would show nothing of the threads: main has ended the program by then.
TEST(PeriodSearch, SeesThreadsThatNobodyJoins) {
  Program program({{kWriteX, kReadX}, {kWriteX}}, Program::Main::kExits);
  EXPECT_EQ(Program::order(program.run({})), "");
  PeriodSearch search(1);
  const Explored explored = explore(search, program, 16, 1000);
  EXPECT_TRUE(explored.over);
  EXPECT_EQ(std::set<std::string>(explored.orders.begin(), explored.orders.end()),
            (std::set<std::string>{"112", "121", "211"}));
}

TEST(PeriodSearch, LearnsNewPoints) {
  Program small({{kWriteX}, {kWriteX}}), large({{kWriteX, kWriteX}, {kWriteX, kWriteX}});
  PeriodSearch search(1);
  for (int i = 0; i < 2; ++i) {
    const JobPlan job = search.next(1).at(0);
    JobReport report;
    report.trace.steps = small.run({});
    search.learn(job, report);
  }
  const JobPlan job = search.next(1).at(0);
  JobReport report;
  report.trace.steps = large.run({});
  search.learn(job, report);
  EXPECT_EQ(explore(search, large, 4, 100).orders.size(), 6u);
}

TEST(PeriodSearch, CalibratesAgainWhenMoreIsShared) {
  Program program({{kWriteX, kWriteX}, {kWriteX, kWriteX}});
  PeriodSearch search(1);
  for (int i = 0; i < 2; ++i) {
    const std::vector<JobPlan> jobs = search.next(8);
    ASSERT_EQ(jobs.size(), 1u);
    EXPECT_EQ(jobs[0].flags, abi::kJobTrace);
    JobReport report;
    report.trace.steps = program.run({});
    report.result.sharing_count = i == 0 ? 1 : 0;
    search.learn(jobs[0], report);
  }
  const JobPlan job = search.next(1).at(0);
  JobReport report;
  report.result.sharing_count = 1;
  search.learn(job, report);
  const std::vector<JobPlan> jobs = search.next(3);
  EXPECT_TRUE(jobs.at(0).guide.empty());
  EXPECT_EQ(jobs[0].flags, abi::kJobTrace);
  EXPECT_FALSE(jobs.at(1).guide.empty());
}

TEST(PeriodSearch, CalibratesAgainWhenAnothersRunFoundMoreToBeShared) {
  Program program({{kWriteX, kWriteX}, {kWriteX, kWriteX}});
  PeriodSearch search(1);
  JobReport report;
  report.trace.steps = program.run({});
  search.learn(search.next(8).at(0), report);
  EXPECT_FALSE(search.next(2).at(0).guide.empty()) << "it met nothing new: one was enough";
  search.recalibrate();
  EXPECT_TRUE(search.next(2).at(0).guide.empty());
}

TEST(PeriodSearch, WithoutTracesItIsPos) {
  PeriodSearch search(1);
  std::vector<JobPlan> jobs;
  for (int i = 0; i < 10; ++i) {
    jobs = search.next(4);
    for (const JobPlan& job : jobs) search.learn(job, JobReport{});
  }
  ASSERT_EQ(jobs.size(), 4u);
  EXPECT_EQ(jobs[0].strategy, abi::StrategyKind::kPos);
}

TEST(PeriodSearch, SameSeedSameJobs) {
  const auto jobs_of = [](std::uint64_t seed) {
    Program program(std::vector<std::vector<Op>>(4, {kReadX, kWriteX, kWriteY}));
    PeriodSearch search(seed);
    return explore(search, program, 8, 200).orders;
  };
  EXPECT_EQ(jobs_of(1), jobs_of(1));
  EXPECT_NE(jobs_of(1), jobs_of(2));
}

TEST(PeriodSearch, ALongTraceAndOneSidedThreadsAreQuick) {
  Program program({std::vector<Op>(20'000, kWriteX), {kWriteX, kWriteX}});
  PeriodSearch search(1);
  EXPECT_EQ(explore(search, program, 4, 12).orders.size(), 12u);
}

}  // namespace
}  // namespace clew
