// What the stages of an isolation share: the program, the means to run it, and the result that they
// fill in.
#ifndef CLEW_HOST_ISOLATE_EXPERIMENT_H_
#define CLEW_HOST_ISOLATE_EXPERIMENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/error.h"
#include "host/isolate/isolate.h"
#include "host/isolate/trials.h"
#include "host/search/hunt_input.h"
#include "host/search/hunt_recorder.h"

namespace clew {

// What is given: a recording, or a program and a schedule.
struct Subject {
  std::optional<Recording> recording;
  LaunchPlan plan;
  Schedule failing;
  HuntInput input;

  [[nodiscard]] std::uint64_t number() const { return recording ? recording->number : 0; }
};

struct Side {
  Schedule schedule;
  Clock end;  // of its run, or where nothing was left to be switched
};
[[nodiscard]] Clock end_of(const abi::JobResult& result);

struct Experiment {
  Experiment(const IsolateOptions& options, RecordingStore& store, Subject subject, Judge judge,
             TrialPulse pulse);

  // One run in a separate process, recorded. Nothing: its verdict was another one.
  [[nodiscard]] Result<std::optional<RecordedJob>> record(const JobPlan& plan, Verdict verdict,
                                                          std::vector<std::uint64_t> queries);
  void doubt(std::string text) { result.doubts.push_back(std::move(text)); }

  const IsolateOptions& options;
  RecordingStore& store;
  Subject subject;
  LaunchPlan plan;
  Judge judge;
  HuntRecorder recorder;
  Trials trials;
  IsolateResult result;

  bool simplifying = false;

  // For the status.
  IsolateStage stage = IsolateStage::kRunning;
  std::optional<DeltaCount> left;
};

}  // namespace clew

#endif  // CLEW_HOST_ISOLATE_EXPERIMENT_H_
