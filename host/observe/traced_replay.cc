#include "host/observe/traced_replay.h"

#include <sys/uio.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "clew_abi/job.h"
#include "host/translate/service.h"

namespace clew {

namespace {

// Tells which process it is.
class Attached final : public RunObserver {
 public:
  explicit Attached(RunObserver& observer) : observer_(observer) {}
  void progress(std::uint64_t clock, double seconds) override {
    observer_.progress(clock, seconds);
  }
  bool time_is_up() override { return observer_.time_is_up(); }
  void before_output() override { observer_.before_output(); }
  Result<int> attached(pid_t pid) override {
    pid_ = pid;
    return observer_.attached(pid);
  }
  // The program waits; the thread that runs it may not have told yet. 0: it does not.
  [[nodiscard]] pid_t pid() const {
    using namespace std::chrono_literals;
    for (int i = 0; i < 2000 && pid_ == 0; ++i) std::this_thread::sleep_for(1ms);
    return pid_;
  }

 private:
  RunObserver& observer_;
  std::atomic<pid_t> pid_ = 0;  // asked by the thread that serves
};

}  // namespace

Result<RunResult> run_changed(const Replay& replay, TraceDetail detail,
                              const std::vector<MemoryChange>& changes, RunObserver& observer,
                              CodeTraceListener& listener) {
  const Translator* translator = nullptr;
  bool whole = true;
  CLEW_TRY(const auto service,
           TranslationService::create(detail, [&](std::span<const std::uint8_t> part) {
             whole = whole && read_code_trace(part, translator->blocks(), listener);
           }));
  translator = &service->translator();
  Attached attached(observer);
  std::vector<std::uint64_t> stops;
  for (const MemoryChange& change : changes) stops.push_back(change.offset);
  std::size_t made = 0;
  service->stop_at(std::move(stops), [&](std::size_t number) {
    const MemoryChange& change = changes[number];
    iovec here{const_cast<std::uint8_t*>(change.bytes.data()), change.bytes.size()};
    iovec there{reinterpret_cast<void*>(change.address), change.bytes.size()};
    made += process_vm_writev(attached.pid(), &here, 1, &there, 1, 0) ==
            static_cast<ssize_t>(change.bytes.size());
  });
  LaunchPlan plan = live_plan(replay);
  plan.output = OutputMode::kCaptureOnly;
  plan.job_flags |= abi::kJobLoose;
  plan.translation = service->descriptor();
  CLEW_TRY(auto input, InputFeed::from_recording(replay.recording));
  CLEW_TRY(auto run, run_target(plan, std::move(input), nullptr, attached));
  service->finish();
  if (made != changes.size())
    return fail(ErrorCode::kSystem, "the run did not come to where it was to be changed");
  return run;
}

Result<TracedReplay> run_traced_replay(const Replay& replay, TraceDetail detail,
                                       RunObserver& observer, CodeTraceListener& listener) {
  TracedReplay result;
  const Translator* translator = nullptr;
  CLEW_TRY(const auto service,
           TranslationService::create(detail, [&](std::span<const std::uint8_t> part) {
             result.bytes += part.size();
             result.whole = result.whole && read_code_trace(part, translator->blocks(), listener);
           }));
  translator = &service->translator();
  Replay traced = replay;
  traced.plan.translation = service->descriptor();
  CLEW_TRY(result.run, run_replay(traced, observer));
  service->finish();
  result.differences = differences(replay.recording.meta, result.run);
  result.blocks = translator->blocks();
  return result;
}

}  // namespace clew
