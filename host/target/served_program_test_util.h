// What the tests of ServedProgram share. They run served_program_test_target.cc or another program,
// built with clew.
#ifndef CLEW_HOST_TARGET_SERVED_PROGRAM_TEST_UTIL_H_
#define CLEW_HOST_TARGET_SERVED_PROGRAM_TEST_UTIL_H_

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "host/recording/recording.h"
#include "host/recording/schedule_file.h"
#include "host/target/run_target.h"
#include "host/target/served_program.h"

namespace clew {

namespace fs = std::filesystem;
using abi::JobEnd;
using abi::StrategyKind;

inline constexpr std::uint32_t kPool = 4;
inline constexpr std::uint64_t kBudget = 300'000;
inline constexpr std::uint32_t kAllChoices =
    (1u << static_cast<unsigned>(abi::ChoiceKind::kCount)) - 1;

inline std::string slurp(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Processes whose working folder is this one: those of this test, whatever runs at the same time.
inline std::vector<pid_t> processes_in(const fs::path& folder) {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::error_code gone;
    if (fs::read_symlink(entry.path() / "cwd", gone) == folder) found.push_back(std::stoi(name));
  }
  return found;
}

inline pid_t parent_of(pid_t pid) {
  const std::string stat = slurp(fmt::format("/proc/{}/stat", pid));
  const std::size_t end = stat.rfind(')');
  if (end == std::string::npos) return 0;
  return std::stoi(stat.substr(end + 4));
}

// A job that must give the same result wherever it runs.
inline JobPlan job(StrategyKind strategy, std::uint64_t seed) {
  JobPlan plan;
  plan.strategy = strategy;
  plan.seed = seed;
  plan.flags = seed % 2 == 0 ? abi::kJobAllPoints : 0;
  if (strategy == StrategyKind::kPct) plan.parameters = {3, 100, 0, 0};
  return plan;
}

inline std::vector<JobPlan> some_jobs() {
  std::vector<JobPlan> jobs{job(StrategyKind::kNone, 1)};
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    jobs.push_back(job(StrategyKind::kRandom, seed));
    jobs.push_back(job(StrategyKind::kPct, seed));
    jobs.push_back(job(StrategyKind::kChaos, seed));
  }
  return jobs;
}

// What must be the same.
struct Seen {
  JobEnd end{};
  int status = 0;
  std::uint64_t clock = 0, hash = 0;
  std::uint32_t threads = 0;
  std::string output, errors;
  bool operator==(const Seen&) const = default;
};

inline std::ostream& operator<<(std::ostream& out, const Seen& seen) {
  return out << fmt::format(
             "end {} status {} clock {} hash {:x} threads {}\n--- output\n{}\n---\n{}",
             static_cast<int>(seen.end), seen.status, seen.clock, seen.hash, seen.threads,
             seen.output, seen.errors);
}

inline Seen seen_of(const ServedJob& job) {
  const abi::JobResult& r = job.result;
  return {r.end, r.status, r.clock, r.hash, r.threads, {}, {}};
}

class ServedProgramTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = "/tmp/served_program_test_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = fs::canonical(name);
    std::ofstream(folder_ / "data.txt") << "0123456789 and more";
    std::ofstream(folder_ / "kept.txt") << "kept\n";
    std::ofstream(folder_ / "input.txt") << "line one\nline two\nline three\n";
  }
  void TearDown() override {
    EXPECT_EQ(processes_in(folder_).size(), 0u) << "processes are left behind";
    fs::remove_all(folder_);
  }

  LaunchPlan plan(const std::string& mode) const {
    LaunchPlan plan = plan_here(program_, {program_, mode});
    plan.working_folder = folder_;
    plan.flags = abi::kFlagFromMain;
    plan.seed = 1;
    plan.pool = kPool;
    plan.budget = kBudget;
    return plan;
  }

  FileDescriptor input() const {
    return FileDescriptor(open((folder_ / "input.txt").c_str(), O_RDONLY | O_CLOEXEC));
  }

  ServedProgram serve(const LaunchPlan& launch, const ServeOptions& options) {
    auto started = ServedProgram::start(launch, input().get(), options);
    EXPECT_TRUE(started) << (started ? "" : started.error().message);
    return std::move(*started);
  }
  ServedProgram serve(const std::string& mode, bool in_place, bool capture = false) {
    ServeOptions options;
    options.in_place = in_place;
    options.capture = capture;
    return serve(plan(mode), options);
  }

  static ServedJob run_one(ServedProgram& program, const JobPlan& job) {
    auto ran = program.run({&job, 1}, {}, 0, nullptr);
    EXPECT_TRUE(ran) << (ran ? "" : ran.error().message);
    EXPECT_TRUE(!ran || ran->size() == 1);
    return ran && ran->size() == 1 ? std::move(ran->front()) : ServedJob{};
  }

  // Runs in a separate process, as HuntRecorder does. `schedule`, if not null, gets what was
  // recorded.
  Seen run_anew(LaunchPlan launch, const JobPlan& job, Stream* schedule = nullptr) {
    launch.strategy = job.strategy;
    launch.schedule_seed = job.seed;
    launch.parameters = job.parameters;
    launch.job_flags = job.flags;
    launch.follow = {job.guide, job.names};
    launch.sharing.resize(kSharingBytes);
    launch.output = OutputMode::kCaptureOnly;
    auto store = RecordingStore::open(folder_ / "store");
    auto draft = store->create();
    auto feed = InputFeed::from_file(input(), nullptr);
    RunObserver quiet;
    auto run = run_target(launch, std::move(*feed), &*draft, quiet);
    EXPECT_TRUE(run) << (run ? "" : run.error().message);
    if (!run) return {};
    const RunSummary& summary = run->summary;
    Seen seen{JobEnd::kExited,
              summary.exit_status,
              summary.clock,
              summary.hash,
              static_cast<std::uint32_t>(summary.threads),
              slurp(draft->path() / "stdout"),
              slurp(draft->path() / "stderr")};
    const FailureKind kind = summary.failure ? summary.failure->kind : FailureKind::kExit;
    if (summary.exit_status > 128 &&
        kind != FailureKind::kExit) {  // a signal, often that of abort()
      seen.end = JobEnd::kSignalled;
      seen.status -= 128;
    } else if (kind != FailureKind::kExit) {
      seen.end = JobEnd::kFailed;
    }
    if (schedule != nullptr) {
      auto stream = read_schedule_file(draft->path() / "schedule");
      EXPECT_TRUE(stream) << (stream ? "" : stream.error().message);
      if (stream) *schedule = std::move(*stream);
    }
    return seen;
  }

  // A schedule with many switches, and a job that follows it.
  JobPlan recorded_job(const std::string& mode, std::uint64_t seed) {
    return recorded_job(mode, job(StrategyKind::kRandom, seed));
  }
  JobPlan recorded_job(const std::string& mode, JobPlan source) {
    source.flags = abi::kJobAllPoints;
    LaunchPlan launch = plan(mode);
    launch.choices = kAllChoices;
    Stream schedule;
    run_anew(launch, source, &schedule);
    JobPlan follow;
    follow.strategy = StrategyKind::kSchedule;
    follow.guide = schedule.bytes;
    follow.names = schedule.names;
    return follow;
  }

  static JobPlan up_to(JobPlan plan, std::uint64_t stop_at) {
    plan.flags |= abi::kJobCheckpoint;
    plan.stop_at = stop_at;
    return plan;
  }

  // The clock at main: constructors of static objects come before.
  static std::uint64_t clock_at_main(ServedProgram& program) {
    const ServedJob stopped = run_one(program, up_to(job(StrategyKind::kNone, 1), 1));
    EXPECT_EQ(stopped.result.end, JobEnd::kCheckpoint);
    EXPECT_TRUE(program.leave_checkpoint());
    return stopped.result.clock;
  }
  // The event that is the fraction `part` of the way from main to the end.
  static std::uint64_t event(std::uint64_t first, const Seen& whole, double part) {
    return first + 1 + static_cast<std::uint64_t>(part * static_cast<double>(whole.clock - first));
  }

  std::vector<std::string> listing() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder_))
      if (entry.path().string().find("/store") == std::string::npos)
        names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
  }

  fs::path folder_;
  std::string program_ = CLEW_SERVED_TARGET;
};

}  // namespace clew

#endif  // CLEW_HOST_TARGET_SERVED_PROGRAM_TEST_UTIL_H_
