#include "host/observe/traced_replay.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
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

bool make_change(const RunChange& change, pid_t pid, TranslationService& service) {
  if (!change.bytes.empty()) {
    iovec here{const_cast<std::uint8_t*>(change.bytes.data()), change.bytes.size()};
    iovec there{reinterpret_cast<void*>(change.address), change.bytes.size()};
    if (process_vm_writev(pid, &here, 1, &there, 1, 0) != static_cast<ssize_t>(change.bytes.size()))
      return false;
  }
  if (change.reg)
    service.registers()[static_cast<std::size_t>(change.reg->number)] = change.reg->value;
  if (change.continue_at == 0) return true;
  std::array<std::uint8_t, 4096> bytes;
  iovec here{bytes.data(), bytes.size()};
  // Up to the end of the page, which is there if anything is.
  iovec there{reinterpret_cast<void*>(change.continue_at),
              bytes.size() - change.continue_at % bytes.size()};
  const ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);
  return got > 0 &&
         service.continue_at(change.continue_at, {bytes.data(), static_cast<std::size_t>(got)});
}

}  // namespace

Result<ChangedRun> run_changed(const Replay& replay, TraceDetail detail,
                               const std::vector<RunChange>& changes, RunObserver& observer,
                               CodeTraceListener& listener) {
  ChangedRun result;
  const Translator* translator = nullptr;
  CLEW_TRY(const auto service,
           TranslationService::create(detail, [&](std::span<const std::uint8_t> part) {
             result.whole = result.whole && read_code_trace(part, translator->blocks(), listener);
           }));
  translator = &service->translator();
  Attached attached(observer);
  std::vector<std::uint64_t> stops;
  for (const RunChange& change : changes)
    if (stops.empty() || stops.back() != change.offset) stops.push_back(change.offset);
  std::size_t made = 0;
  service->stop_at(stops, [&](std::size_t number) {
    for (const RunChange& change : changes) {
      if (change.offset != stops[number]) continue;
      auto& seen = result.registers.emplace_back();
      std::ranges::copy(service->registers(), seen.begin());
      made += make_change(change, attached.pid(), *service);
    }
  });
  LaunchPlan plan = live_plan(replay);
  plan.output = OutputMode::kCaptureOnly;
  plan.job_flags |= abi::kJobLoose;
  plan.translation = service->descriptor();
  CLEW_TRY(auto input, InputFeed::from_recording(replay.recording));
  CLEW_TRY(result.run, run_target(plan, std::move(input), nullptr, attached));
  service->finish();
  if (result.run.interrupted_by != 0) return result;
  if (made != changes.size())
    return fail(ErrorCode::kSystem, "the run did not come to where it was to be changed");
  result.blocks = translator->blocks();
  return result;
}

Result<TracedReplay> run_traced_replay(const Replay& replay, TraceDetail detail,
                                       RunObserver& observer, CodeTraceListener& listener) {
  return run_traced_replay(
      replay, detail, observer,
      [&](std::span<const std::uint8_t> records, const std::deque<TranslatedBlock>& blocks) {
        return read_code_trace(records, blocks, listener);
      });
}

Result<TracedReplay> run_traced_replay(const Replay& replay, TraceDetail detail,
                                       RunObserver& observer, const TracePartSink& sink) {
  TracedReplay result;
  const Translator* translator = nullptr;
  CLEW_TRY(const auto service,
           TranslationService::create(detail, [&](std::span<const std::uint8_t> part) {
             result.bytes += part.size();
             result.whole = result.whole && sink(part, translator->blocks());
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
