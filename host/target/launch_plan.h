// What to start and how: everything that a run is a function of.
#ifndef CLEW_HOST_TARGET_LAUNCH_PLAN_H_
#define CLEW_HOST_TARGET_LAUNCH_PLAN_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "clew_abi/control.h"
#include "clew_abi/job.h"
#include "host/recording/inputs_file.h"
#include "host/recording/meta.h"
#include "host/recording/recording.h"
#include "host/schedule/stream.h"
#include "host/target/run_result.h"

namespace clew {

// The programs of Choi and Zeller 2002 end within thousands of points, a server test within
// billions.
inline constexpr std::uint64_t kDefaultBudget = 20'000'000'000;
inline constexpr std::uint64_t kDefaultFairSlice = 1'000'000;

enum class OutputMode : std::uint8_t {
  kPassThrough,  // to clew's own standard output and error
  kCaptureOnly,
};

struct LaunchPlan {
  std::string program;                   // absolute path
  std::string started_as;                // given to exec() instead; empty: `program`
  std::string shown;                     // what the user calls it
  std::vector<std::string> arguments;    // argv, argv[0] first
  std::vector<std::string> environment;  // "NAME=value"; clew's own variables are added
  std::string working_folder;
  std::uint64_t stack_limit = UINT64_MAX;  // RLIMIT_STACK, soft; UINT64_MAX: none
  std::uint64_t blocked_signals = 0;       // as the program sees them: bits 1 << (number - 1)
  std::uint64_t ignored_signals = 0;
  // The path of the runtime, which is loaded into a program that was not built with clew. Empty:
  // the program has it.
  std::string preload;

  // The job (abi::Job).
  abi::StrategyKind strategy = abi::StrategyKind::kTimer;
  std::uint64_t schedule_seed = 0;
  std::array<std::uint64_t, 4> parameters{};
  std::uint32_t job_flags = 0;        // abi::JobFlags
  std::uint32_t choices = 0;          // bits 1 << abi::ChoiceKind that the strategy may answer
  Stream follow;                      // the schedule (kSchedule), or another strategy's guide
  std::vector<std::uint8_t> sharing;  // bits of yield points (abi::Control::sharing)

  std::uint64_t recording = 0;    // that the run becomes; 0: its child processes are not recorded
  std::uint32_t generation = 0;   // of a copy made by fork(): see Meta
  std::uint32_t enter_child = 0;  // the fork after which the process continues as the child
  int translation = -1;           // descriptor of the memory of a translated run; -1: none

  std::uint64_t seed = 0;  // of the program's own randomness
  std::uint32_t pool = 0;  // threads prepared at main (abi::kFlagFromMain)
  std::uint64_t budget = kDefaultBudget;
  std::uint64_t fair_slice = kDefaultFairSlice;
  std::int64_t epoch_ns = 0;
  std::uint32_t clock_speed = 1;       // abi::Control
  std::uint32_t flags = 0;             // abi::ControlFlags, and those of clew_abi/watch.h
  std::vector<std::string> listeners;  // "FILE" or "FILE:OPTIONS"
  bool loaded_elsewhere = false;       // the recording has addresses that are refused here
  std::vector<std::uint64_t> queries;  // clocks, ascending
  // What a replay is given instead of outside input (abi::kFlagReplayInputs); empty if the run read
  // nothing from outside.
  std::optional<RecordedInputs> inputs;

  OutputMode output = OutputMode::kPassThrough;
  // Bytes of standard output and error that are not passed on: they were before.
  std::array<std::uint64_t, 2> shown_before{};
};

// What `clew run` starts: the caller's environment, folder and limits.
LaunchPlan plan_here(std::string program, std::vector<std::string> arguments);

// What `clew replay` starts: everything as it was recorded.
LaunchPlan plan_of(const Recording& recording, Stream schedule);

// What a recording keeps of a plan.
Meta meta_of(const LaunchPlan& plan);
// ... and of the run that was just made by it.
Meta meta_of_run(const LaunchPlan& plan, const RunResult& run, StdinKind input);

}  // namespace clew

#endif  // CLEW_HOST_TARGET_LAUNCH_PLAN_H_
