// agreement PROGRAM...: a job gives the same run in a process that is put back after each job, in a
// forked one, and in a new one: clock, hash, end and kind of failure. Prints where that is not so;
// the exit status is 1 then.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "clew_abi/late_start.h"
#include "host/search/hunt.h"
#include "host/search/hunt_input.h"
#include "host/search/hunt_recorder.h"
#include "host/search/servable.h"
#include "host/target/program.h"
#include "host/target/served_program.h"

namespace clew {
namespace {

constexpr std::uint32_t kPool = 8;
constexpr std::uint64_t kBudget = 20'000'000;

std::vector<JobPlan> some_jobs() {
  using abi::StrategyKind;
  std::vector<JobPlan> jobs;
  const auto add = [&](StrategyKind strategy, std::uint64_t seed) {
    JobPlan job;
    job.strategy = strategy;
    job.seed = seed;
    job.flags = abi::kJobAllPoints;
    jobs.push_back(job);
  };
  add(StrategyKind::kPlan, 0);
  add(StrategyKind::kRoundRobin, 0);
  for (const std::uint64_t seed : {1u, 2u}) {
    add(StrategyKind::kTimer, seed);
    add(StrategyKind::kPos, seed);
  }
  return jobs;
}

// What an exit status or a signal is, is known of every run; what the failure was, if the runtime
// said so.
std::string text_of(const abi::JobResult& r) {
  const bool exited = r.end == abi::JobEnd::kExited;
  return fmt::format("{} {} threads {} clock {} hash {:016x}", exited ? "status" : "failure",
                     exited ? r.status : static_cast<int>(r.failure), r.threads, r.clock, r.hash);
}

using Texts = std::vector<std::string>;

Result<Texts> served(const LaunchPlan& plan, const HuntInput& input, std::span<const JobPlan> jobs,
                     bool in_place) {
  CLEW_TRY(auto opened, input.open());
  ServeOptions options;
  options.in_place = in_place;
  CLEW_TRY(auto program, ServedProgram::start(plan, opened.get(), options));
  CLEW_TRY(const auto ran, program.run(jobs, {}, kAllChoices, nullptr));
  Texts texts;
  for (const ServedJob& job : ran) texts.push_back(text_of(job.result));
  return texts;
}

Result<Texts> anew(HuntRecorder& recorder, std::span<const JobPlan> jobs) {
  const std::vector<std::uint8_t> nothing;
  Texts texts;
  for (const JobPlan& job : jobs) {
    CLEW_TRY(const auto ran,
             recorder.run_anew({job, nothing, kAllChoices, kPool, Origin{}}, [] { return true; }));
    texts.push_back(text_of(ran.job.result));
  }
  return texts;
}

int differences(const std::string& name, const char* what, const Texts& a, const Texts& b) {
  int count = 0;
  for (std::size_t i = 0; i < a.size() || i < b.size(); ++i) {
    const std::string left = i < a.size() ? a[i] : "not run";
    const std::string right = i < b.size() ? b[i] : "not run";
    if (left != right && ++count <= 2)
      fmt::print("{}, job {}: {}\n  {}\n  {}\n", name, i, what, left, right);
  }
  return count;
}

enum class Start : std::uint8_t { kAtMain, kLate };

Result<int> check(const std::string& path, Start start, const HuntInput& input,
                  RecordingStore& store) {
  CLEW_TRY(auto plan, plan_program({path}));
  plan.seed = 1;
  plan.flags |= abi::kFlagFromMain;
  if (start == Start::kLate) {
    plan.flags |= abi::kFlagLateStart;
    CLEW_TRY(const auto opened, input.open());
    // A program that ends before there is anything to decide has no jobs.
    if (!ServedProgram::start(plan, opened.get(), ServeOptions{})) return 0;
  }
  plan.budget = kBudget;
  plan.pool = kPool;
  const std::string name = std::filesystem::path(path).filename().string() +
                           (start == Start::kLate ? ", jobs that begin late" : "");
  CLEW_TRY(auto judge, Judge::create({}));
  HuntRecorder recorder(plan, input, store, judge);
  const std::vector<JobPlan> jobs = some_jobs();
  CLEW_TRY(const auto fresh, anew(recorder, jobs));
  CLEW_TRY(const auto forked, served(plan, input, jobs, false));
  int count = differences(name, "a new process, and a forked one", fresh, forked);
  if (how_to_serve(plan.program).not_in_place) return count;
  std::vector<JobPlan> twice = jobs;
  twice.insert(twice.end(), jobs.begin(), jobs.end());
  CLEW_TRY(auto in_place, served(plan, input, twice, true));
  in_place.resize(twice.size());
  const auto half = in_place.begin() + static_cast<std::ptrdiff_t>(jobs.size());
  count += differences(name, "a new process, and one that is put back", fresh,
                       Texts(in_place.begin(), half));
  count += differences(name, "in one process, the first time and the second",
                       Texts(in_place.begin(), half), Texts(half, in_place.end()));
  return count;
}

int check_all(std::span<char*> paths) {
  const auto folder = std::filesystem::temp_directory_path() /
                      fmt::format("clew_agreement_{}", static_cast<int>(getpid()));
  std::filesystem::create_directories(folder);
  std::filesystem::current_path(folder);
  int count = 0;
  auto store = RecordingStore::open(folder);
  auto input = HuntInput::from_here();
  for (const char* path : paths) {
    for (const Start start : {Start::kAtMain, Start::kLate}) {
      const auto checked = store && input ? check(path, start, *input, *store)
                                          : fail(ErrorCode::kSystem, "no store");
      if (!checked) fmt::print("{}: {}\n", path, checked.error().message);
      count += checked ? *checked : 1;
    }
  }
  std::filesystem::current_path("/");
  std::filesystem::remove_all(folder);
  fmt::print("{} programs, {} differences\n", paths.size(), count);
  return count != 0;
}

}  // namespace
}  // namespace clew

int main(int count, char** arguments) {
  return clew::check_all(std::span(arguments, static_cast<std::size_t>(count)).subspan(1));
}
