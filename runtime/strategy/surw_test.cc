#include "runtime/strategy/surw.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "host/search/guides.h"
#include "runtime/strategy/strategy_simulation.h"

namespace clew::rt::simulation {
namespace {

constexpr std::uint64_t kRuns = 20'000;

// All rearrangements of the letters that `possible` lets through.
template <class Possible>
std::vector<std::string> arrangements(std::string letters, Possible possible) {
  std::sort(letters.begin(), letters.end());
  std::vector<std::string> all;
  do {
    if (possible(letters)) all.push_back(letters);
  } while (std::next_permutation(letters.begin(), letters.end()));
  return all;
}
std::vector<std::string> arrangements(const std::string& letters) {
  return arrangements(letters, [](const std::string&) { return true; });
}

// The order of the steps at `places` alone.
auto order_at(std::vector<abi::Place> places) {
  return [places](const Outcome& run) {
    std::string order;
    for (std::size_t i = 0; i < run.order.size(); ++i)
      if (std::ranges::count(places, run.steps[i].place) > 0) order += run.order[i];
    return order;
  };
}

TEST(Surw, UniformOverTwoThreadsOfTwoSteps) {
  const Program program{private_steps(0, 2), private_steps(1, 2)};
  const auto guide = surw_guide({{{key_of(0), 2, 0}, {key_of(1), 2, 0}}}, {});
  EXPECT_LT(
      deviation(sample<Surw>(program, make_job(0, &guide), kRuns), uniform(arrangements("aabb"))),
      4);
}

TEST(Surw, UniformOverThreeThreads) {
  const Program program{private_steps(0, 3), private_steps(1, 1), private_steps(2, 2)};
  const auto guide = surw_guide({{{key_of(0), 3, 0}, {key_of(1), 1, 0}, {key_of(2), 2, 0}}}, {});
  EXPECT_LT(
      deviation(sample<Surw>(program, make_job(0, &guide), kRuns), uniform(arrangements("aaabcc"))),
      4);
}

// b's first step must follow a's second, which creates it.
bool after_creation(const std::string& order) {
  const std::size_t b = order.find('b');
  return std::count(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(b), 'a') >= 2;
}

TEST(Surw, UniformWithAThreadCreatedOnTheWay) {
  Program program{
      {{write(0x10, 1), create(1), write(0x20, 2)}}, private_steps(1, 2), private_steps(2, 2)};
  program[1].from_start = false;
  const auto guide = surw_guide({{{key_of(0), 3, 2}, {key_of(1), 2, 0}, {key_of(2), 2, 0}}}, {});
  EXPECT_LT(deviation(sample<Surw>(program, make_job(0, &guide), kRuns),
                      uniform(arrangements("aaabbcc", after_creation))),
            4);
}

// Without the children's counts the creator is too light: the test above can tell.
TEST(Surw, ChildrenCountForTheirCreator) {
  Program program{
      {{write(0x10, 1), create(1), write(0x20, 2)}}, private_steps(1, 2), private_steps(2, 2)};
  program[1].from_start = false;
  const auto guide = surw_guide({{{key_of(0), 3, 0}, {key_of(1), 2, 0}, {key_of(2), 2, 0}}}, {});
  EXPECT_GT(deviation(sample<Surw>(program, make_job(0, &guide), kRuns),
                      uniform(arrangements("aaabbcc", after_creation))),
            10);
}

// a and b have much to do that is not interesting, and creation is not either.
Program selective_program() {
  Program program{private_steps(0, 5), private_steps(1, 1), private_steps(2, 9)};
  program[0].steps.insert(program[0].steps.begin() + 3, create(1));
  program[0].steps.push_back(write(0x40, 1));
  program[1].steps.push_back(write(0x40, 2));
  program[1].from_start = false;
  program[2].steps.insert(program[2].steps.begin(), write(0x40, 3));
  program[2].steps.push_back(write(0x40, 4));
  return program;
}

TEST(Surw, UniformOverInterestingSteps) {
  const Program program = selective_program();
  const std::vector<abi::Place> places{1, 2, 3, 4};
  const auto guide =
      surw_guide({{{key_of(0), 1, 1}, {key_of(1), 1, 0}, {key_of(2), 2, 0}}}, places);
  EXPECT_LT(deviation(sample<Surw>(program, make_job(0, &guide), kRuns, order_at(places)),
                      uniform(arrangements("abcc"))),
            4);
}

TEST(Surw, EveryInterleavingRemainsPossible) {
  const Program program{{{write(0x10, 9), write(0x40, 1)}},
                        {{write(0x20, 9), write(0x40, 2), write(0x30, 9)}}};
  const std::vector<abi::Place> places{1, 2};
  const auto guide = surw_guide({{{key_of(0), 1, 0}, {key_of(1), 1, 0}}}, places);
  EXPECT_EQ(sample<Surw>(program, make_job(0, &guide), 5000).size(), arrangements("aabbb").size());
}

TEST(Surw, WithoutAGuideEveryThreadWeighsTheSame) {
  const Program program{private_steps(0, 2), private_steps(1, 2)};
  const std::map<std::string, double> walk{{"aabb", 1 / 4.}, {"abab", 1 / 8.}, {"abba", 1 / 8.},
                                           {"baab", 1 / 8.}, {"baba", 1 / 8.}, {"bbaa", 1 / 4.}};
  EXPECT_LT(deviation(sample<Surw>(program, make_job(0), kRuns), walk), 4);
  auto bad = surw_guide({{{key_of(0), 200, 0}, {key_of(1), 1, 0}}}, {});
  bad.push_back(1);
  EXPECT_LT(deviation(sample<Surw>(program, make_job(0, &bad), kRuns), walk), 4);
  const std::vector<std::uint8_t> endless{0xff, 0xff, 0xff, 0xff, 0x7f, 1, 2, 3};
  EXPECT_LT(deviation(sample<Surw>(program, make_job(0, &endless), kRuns), walk), 4);
}

TEST(Surw, WrongCountsLoseNothing) {
  const Program program{private_steps(0, 2), private_steps(1, 2)};
  for (const std::uint64_t own : {0u, 1u, 5u}) {
    const auto guide = surw_guide({{{key_of(0), own, 3}, {key_of(1), 2, 0}}}, {});
    EXPECT_EQ(sample<Surw>(program, make_job(0, &guide), 5000).size(), 6u) << own;
  }
}

TEST(Surw, BlockedIntentsDoNotBlockTheProgram) {
  const Program program{{{lock(0x80), write(0x40, 1), unlock(0x80)}},
                        {{lock(0x80), write(0x40, 2), unlock(0x80)}},
                        {{lock(0x80), write(0x40, 3), unlock(0x80)}}};
  const std::vector<abi::Place> places{1, 2, 3};
  const auto guide =
      surw_guide({{{key_of(0), 1, 0}, {key_of(1), 1, 0}, {key_of(2), 1, 0}}}, places);
  EXPECT_LT(deviation(sample<Surw>(program, make_job(0, &guide), kRuns, order_at(places)),
                      uniform(arrangements("abc"))),
            4);
}

TEST(Surw, AnIntentThatWaitsInALoopIsGivenUp) {
  const Program program{{{spin_until_written(0x40, 9), write(0x50, 1)}}, {{write(0x40, 2)}}};
  const std::vector<abi::Place> places{1, 2};
  const auto guide = surw_guide({{{key_of(0), 1, 0}, {key_of(1), 1, 0}}}, places);
  bool spun = false;
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    const Outcome run = run_once<Surw>(program, make_job(seed, &guide), 30'000);
    EXPECT_FALSE(run.too_long);
    spun |= run.order.size() > Surw::kPatience;
  }
  EXPECT_TRUE(spun);
}

}  // namespace
}  // namespace clew::rt::simulation
