#include "host/isolate/object_names.h"

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/isolate/each_event.h"
#include "host/names/run_names.h"
#include "host/observe/run_trace.h"
#include "host/observe/trace_names.h"
#include "host/observe/traced_replay.h"
#include "host/seconds.h"
#include "host/target/replay.h"

namespace clew {
namespace {

// What a traced run may take of memory, and of points: a report should not wait for long. Chosen,
// not measured.
constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;
constexpr std::uint64_t kMostPoints = 1'000'000;
constexpr double kMostSeconds = 10;

class Patience : public RunObserver {
 public:
  [[nodiscard]] bool time_is_up() override { return seconds_now() > until_; }

 private:
  double until_ = seconds_now() + kMostSeconds;
};

// Something without a name.
struct Nameless {
  std::uint64_t clock = 0;  // 0: at the end
  const std::string* thread = nullptr;
  std::uint64_t object = 0;
  std::string* variable = nullptr;
  ObjectName* name = nullptr;
};

// What the run did at these addresses, while it is kept as a whole.
class Watcher : public CodeTraceListener {
 public:
  struct Sighting {
    StepIndex step = 0;
    std::uint64_t clock = 0;
    std::uint32_t thread = 0;
    std::uint32_t size = 0;
  };

  explicit Watcher(const std::vector<Nameless>& objects) : trace(kMostBytes) {
    for (const Nameless& one : objects) sightings[one.object];
  }

  void block(const BlockRun& run) override {
    const auto step = static_cast<StepIndex>(trace.steps().size());
    trace.block(run);
    for (const RecordedAccess& access : run.block.accesses) {
      const std::uint64_t address = run.address(access);
      if (address == now_.countdown && access.has_value && now_.limit != 0)
        clock_ = now_.limit - 1 - run.value(access);
      see(address, step, access.size);
    }
    if (run.block.call_offset == 0) return;
    // What a function of the runtime is given: a lock, memory to be freed.
    for (std::uint32_t i = 0; i < 3; ++i) see(run.word(run.block.call_offset + 8 * i), step, 0);
  }
  void cut(std::uint64_t address) override { trace.cut(address); }
  void returned(const abi::ReturnMark& mark) override {
    trace.returned(mark);
    now_ = mark;
    clock_ = mark.clock;
  }

  RunTrace trace;
  std::unordered_map<std::uint64_t, std::vector<Sighting>> sightings;

 private:
  void see(std::uint64_t address, StepIndex step, std::uint32_t size) {
    if (const auto found = sightings.find(address); found != sightings.end())
      found->second.push_back({step, clock_, now_.thread, size});
  }

  abi::ReturnMark now_{};
  std::uint64_t clock_ = 0;
};

// The sighting of the event: by its thread, and as near to its clock as there is one.
const Watcher::Sighting* sighting_of(const Nameless& object, const Watcher& watcher,
                                     const RunResult& run) {
  const Watcher::Sighting* best = nullptr;
  const auto distance = [&](const Watcher::Sighting& one) {
    const std::uint64_t clock = object.clock == 0 ? UINT64_MAX : object.clock;
    return std::max(one.clock, clock) - std::min(one.clock, clock);
  };
  for (const Watcher::Sighting& one : watcher.sightings.at(object.object)) {
    if (one.thread >= run.reports.threads.size() ||
        run.reports.threads[one.thread].id != *object.thread)
      continue;
    if (best == nullptr || distance(one) <= distance(*best)) best = &one;
  }
  return best;
}

void name_by(std::uint64_t recording, std::vector<Nameless>& objects) {
  if (objects.empty()) return;
  auto replay = prepare_replay(std::to_string(recording));
  if (!replay || replay->recording.meta.summary.clock > kMostPoints) return;
  replay->plan.output = OutputMode::kCaptureOnly;
  replay->plan.queries = {replay->recording.meta.summary.clock};  // with it comes where code lies
  Watcher watcher(objects);
  Patience patience;
  auto traced = run_traced_replay(*replay, TraceDetail::kCalls, patience, watcher);
  if (!traced || !traced->whole || !traced->differences.empty() || watcher.trace.too_long()) return;
  CodeMap code(traced->run.reports.maps);
  watcher.trace.finish(std::move(traced->blocks), code);
  Symbolizer symbols(traced->run.reports);
  RunNames run_names(symbols);
  TraceNames names(watcher.trace, traced->run, symbols, run_names);
  std::erase_if(objects, [&](const Nameless& object) {
    const Watcher::Sighting* seen = sighting_of(object, watcher, traced->run);
    if (seen == nullptr) return false;
    ObjectName name = names.name(object.object, seen->size, seen->step);
    if (!name.known()) return false;
    name.type = nullptr;
    *object.variable = source_text(name);
    *object.name = std::move(name);
    return true;
  });
}

}  // namespace

void name_objects(IsolateResult& result) {
  std::vector<Nameless> failing;
  std::vector<Nameless> passing;
  for_each_event(result, [&](EventInfo& event, EventSide side) {
    if (event.object == 0 || event.kind == abi::StepKind::kJoin ||
        event.kind == abi::StepKind::kCreate || event.name.known())
      return;
    (side == EventSide::kFailing ? failing : passing)
        .push_back({event.clock, &event.thread, event.object, &event.variable, &event.name});
  });
  for (WaitInfo& wait : result.waits)
    if (wait.object != 0 && !wait.name.known())
      failing.push_back({0, &wait.thread, wait.object, &wait.variable, &wait.name});

  if (result.failing) name_by(*result.failing, failing);
  // What one run does not come to, the other may.
  passing.insert(passing.end(), failing.begin(), failing.end());
  if (result.passing) name_by(*result.passing, passing);
}

}  // namespace clew
