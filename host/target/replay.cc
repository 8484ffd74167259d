#include "host/target/replay.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "host/quote.h"
#include "host/recording/start_file.h"
#include "host/target/program.h"

namespace clew {
namespace {

constexpr std::uint64_t kMostBeyond = 1'000'000;

// What is executed must be what was checked: the path that is given to exec() may be another one.
Result<void> check_started(const Meta& meta) {
  if (meta.started_as.empty() || meta.started_as == meta.program) return {};
  if (is_start_file(meta.started_as)) {
    CLEW_TRY(const auto start, check_start_file(meta.started_as));
    if (start.files[kBundledProgram].file == meta.program) return {};
    return fail(ErrorCode::kBadInput, "the recording starts another program than it names",
                "import it again");
  }
  const std::filesystem::path started =
      std::filesystem::path(meta.working_folder) / meta.started_as;
  struct stat checked{};
  struct stat executed{};
  if (stat(meta.program.c_str(), &checked) == 0 && stat(started.c_str(), &executed) == 0 &&
      checked.st_dev == executed.st_dev && checked.st_ino == executed.st_ino)
    return {};
  return fail(ErrorCode::kBadInput,
              fmt::format("the recording starts {}, which is not {}, the program that it names",
                          quote(started.string(), 200), quote(meta.program, 200)),
              "record a new one with clew run");
}

Result<void> check_identity(const Recording& recording) {
  const Meta& meta = recording.meta;
  const std::string again = "record a new one with clew run";
  if (access(meta.program.c_str(), F_OK) != 0)
    return fail(ErrorCode::kBadInput,
                fmt::format("{}, the program of this recording, no longer exists", meta.program),
                again);
  CLEW_TRY(const auto identity, identify_program(meta.program));
  if (identity == meta.identity) return check_started(meta);
  return fail(ErrorCode::kBadInput,
              fmt::format("{} has been rebuilt since it was recorded", meta.program), again);
}

// The path by which the runtime was loaded, for an imported recording.
Result<std::string> bundled_runtime(const std::string& start_file) {
  CLEW_TRY(const auto start, read_start_file(start_file));
  for (const BundledFile& file : start.files)
    if (file.path.ends_with("/libclew_rt.so")) return file.path;
  return fail(ErrorCode::kBadInput, "clew's runtime is not among the recording's files",
              "export the recording again");
}

std::string outcome_text(const RunSummary& summary) {
  return !summary.failure ? to_word(summary.outcome)
                          : fmt::format("{} ({}: {})", to_word(summary.outcome),
                                        to_word(summary.failure->kind), summary.failure->detail);
}

bool same_outcome(const RunSummary& a, const RunSummary& b) {
  if (a.outcome != b.outcome || a.failure.has_value() != b.failure.has_value()) return false;
  return !a.failure ||
         (a.failure->kind == b.failure->kind && a.failure->detail == b.failure->detail);
}

bool has_note(const RunSummary& summary, Note::Kind kind) {
  return std::ranges::find(summary.notes, kind, &Note::kind) != summary.notes.end();
}

void compare_stream(const char* name, const Captured& recorded, const Captured& now,
                    std::vector<std::string>& lines) {
  if (recorded.size == now.size && recorded.hash == now.hash) return;
  lines.push_back(fmt::format("{}: {} bytes with hash {:016x} instead of {} with {:016x}", name,
                              now.size, now.hash, recorded.size, recorded.hash));
}

}  // namespace

Result<Replay> prepare_replay(const std::string& selector) {
  CLEW_TRY(const auto store, RecordingStore::open());
  CLEW_TRY(auto recording, store.load(selector));
  CLEW_TRY(auto stream, read_schedule_file(recording.schedule_file()));
  CLEW_CHECK_OK(check_identity(recording));
  LaunchPlan plan = plan_of(recording, std::move(stream));
  CLEW_TRY(auto preload, preload_for(plan.program, plan.shown));
  if (!preload.empty() && is_start_file(plan.started_as)) {
    CLEW_TRY(auto own, bundled_runtime(plan.started_as));
    preload = std::move(own);
  }
  plan.preload = std::move(preload);
  if (was_interrupted(recording.meta)) {
    plan.budget = recording.meta.summary.clock + 1;
    plan.flags |= abi::kFlagBreaksOff;
  } else {
    // A run that continues much longer than the recorded one has departed from it.
    plan.budget = std::min(plan.budget, recording.meta.summary.clock + kMostBeyond);
  }
  return Replay{std::move(recording), std::move(plan)};
}

Result<RunResult> run_replay(const Replay& replay, RunObserver& observer) {
  // What it read from its standard input is among its inputs.
  CLEW_TRY(auto input,
           replay.plan.inputs ? InputFeed::empty() : InputFeed::from_recording(replay.recording));
  return run_target(replay.plan, std::move(input), nullptr, observer);
}

LaunchPlan live_plan(const Replay& replay) {
  LaunchPlan plan = replay.plan;
  plan.flags &=
      ~static_cast<std::uint32_t>(abi::kFlagReplay | abi::kFlagReplayInputs | abi::kFlagBreaksOff);
  plan.inputs.reset();
  plan.budget = replay.recording.meta.budget;
  return plan;
}

Result<void> check_runs_live(const Recording& recording) {
  if (recording.meta.generation == 0) return {};
  return fail(ErrorCode::kBadInput,
              fmt::format("recording {} is of a copy that the program made by fork(), which can "
                          "only be replayed",
                          recording.number),
              fmt::format("clew replay {}", recording.number));
}

bool was_interrupted(const Meta& meta) {
  const auto& failure = meta.summary.failure;
  return (failure && failure->kind == FailureKind::kInterrupted) || meta.summary.hash == 0;
}

std::vector<std::string> differences(const Meta& recorded, const RunResult& run) {
  std::vector<std::string> lines;
  if (run.reports.departure) {
    lines.push_back(run.reports.departure->what);
    return lines;
  }
  if (was_interrupted(recorded)) {
    if (run.summary.clock < recorded.summary.clock)
      lines.push_back(fmt::format("it ended at clock {}, before {}", run.summary.clock,
                                  recorded.summary.clock));
    return lines;
  }
  const RunSummary& then = recorded.summary;
  const RunSummary& now = run.summary;
  // From there on its end and its output are those of another program, which is not started.
  const bool became = has_note(then, Note::Kind::kBecame);
  if (!became && !same_outcome(then, now))
    lines.push_back(
        fmt::format("outcome: {} instead of {}", outcome_text(now), outcome_text(then)));
  if (!became && then.exit_status != now.exit_status)
    lines.push_back(
        fmt::format("exit status: {} instead of {}", now.exit_status, then.exit_status));
  // What other processes wrote is not written again; what a child process wrote was not kept.
  if (recorded.parent == 0 && !became && !has_note(then, Note::Kind::kOtherProcesses)) {
    compare_stream("standard output", recorded.stdout_data, run.output, lines);
    compare_stream("standard error", recorded.stderr_data, run.errors, lines);
  }
  // Without its last message (a program killed from outside), a run has neither of these.
  if (run.reports.end && then.hash != 0) {
    if (then.clock != now.clock)
      lines.push_back(fmt::format("clock: {} instead of {}", now.clock, then.clock));
    if (then.hash != now.hash)
      lines.push_back(fmt::format("hash: {:016x} instead of {:016x}", now.hash, then.hash));
  } else if (then.hash != 0) {
    lines.push_back("the run did not reach its end");
  }
  return lines;
}

}  // namespace clew
