#include "host/observe/event_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <unordered_map>
#include <utility>

#include "host/model/code_map.h"
#include "host/names/findings.h"
#include "host/names/run_names.h"
#include "host/observe/run_trace.h"
#include "host/observe/trace_names.h"
#include "host/observe/traced_replay.h"
#include "host/seconds.h"
#include "host/symbolize/symbolizer.h"

namespace clew {
namespace {

// What a traced run may take of memory, and of points: a report should not wait for long. Chosen,
// not measured.
constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;
constexpr std::uint64_t kMostPoints = 1'000'000;

class Patience : public RunObserver {
 public:
  explicit Patience(double most_seconds) : until_(seconds_now() + most_seconds) {}
  [[nodiscard]] bool time_is_up() override { return seconds_now() > until_; }

 private:
  double until_;
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

  // Where a thread stood when an event was counted.
  struct Standing {
    StepIndex step = kNoStep;
    std::uint32_t thread = 0;
  };

  explicit Watcher(const std::vector<EventObject>& objects) : trace(kMostBytes) {
    for (const EventObject& one : objects) {
      sightings[one.object];
      standings[one.clock];
    }
  }

  void block(const BlockRun& run) override {
    const auto step = static_cast<StepIndex>(trace.steps().size());
    trace.block(run);
    for (const RecordedAccess& access : run.block.accesses) {
      const std::uint64_t address = run.address(access);
      if (address == now_.countdown && access.has_value && now_.limit != 0) {
        clock_ = now_.limit - 1 - run.value(access);
        stands(clock_, step);
      }
      see(address, step, access.size);
    }
    if (run.block.call_offset == 0) return;
    // What a function of the runtime is given: a lock, memory to be freed.
    for (std::uint32_t i = 0; i < 3; ++i) see(run.word(run.block.call_offset + 8 * i), step, 0);
  }
  void cut(std::uint64_t address) override { trace.cut(address); }
  void returned(const abi::ReturnMark& mark) override {
    if (!trace.steps().empty() && !left_.contains(now_.thread))
      left_[now_.thread] = {static_cast<StepIndex>(trace.steps().size() - 1), clock_};
    trace.returned(mark);
    now_ = mark;
    clock_ = mark.clock;
    // What was counted while it was in the runtime, by it or by others.
    const auto left = left_.extract(mark.thread);
    if (left.empty()) return;
    for (auto at = standings.upper_bound(left.mapped().clock);
         at != standings.end() && at->first <= mark.clock; ++at)
      at->second.push_back({left.mapped().step, mark.thread});
  }

  RunTrace trace;
  std::map<std::uint64_t, std::vector<Standing>> standings;  // by clock
  std::unordered_map<std::uint64_t, std::vector<Sighting>> sightings;

 private:
  void see(std::uint64_t address, StepIndex step, std::uint32_t size) {
    if (const auto found = sightings.find(address); found != sightings.end())
      found->second.push_back({step, clock_, now_.thread, size});
  }

  void stands(std::uint64_t clock, StepIndex step) {
    if (const auto found = standings.find(clock); found != standings.end())
      found->second.push_back({step, now_.thread});
  }

  struct Left {
    StepIndex step = kNoStep;
    std::uint64_t clock = 0;
  };

  abi::ReturnMark now_{};
  std::uint64_t clock_ = 0;
  std::unordered_map<std::uint32_t, Left> left_;  // threads that are in the runtime
};

// The sighting of the event: by its thread, and as near to its clock as there is one.
const Watcher::Sighting* sighting_of(const EventObject& object, const Watcher& watcher,
                                     const RunResult& run) {
  const Watcher::Sighting* best = nullptr;
  const auto distance = [&](const Watcher::Sighting& one) {
    const std::uint64_t clock = object.clock == 0 ? UINT64_MAX : object.clock;
    return std::max(one.clock, clock) - std::min(one.clock, clock);
  };
  for (const Watcher::Sighting& one : watcher.sightings.at(object.object)) {
    if (one.thread >= run.reports.threads.size() ||
        run.reports.threads[one.thread].id != object.thread)
      continue;
    // At the end the last one; otherwise what follows the event's own may be of another frame.
    if (best == nullptr || distance(one) < distance(*best) ||
        (object.clock == 0 && distance(one) == distance(*best)))
      best = &one;
  }
  return best;
}

// Where its thread stood when the event was counted; kNoStep: not known.
StepIndex standing_at(const EventObject& object, const Watcher& watcher, const RunResult& run) {
  for (const Watcher::Standing& one : watcher.standings.at(object.clock))
    if (one.thread < run.reports.threads.size() &&
        run.reports.threads[one.thread].id == object.thread)
      return one.step;
  return kNoStep;
}

ObjectName name_of(const EventObject& object, const Watcher& watcher, const RunResult& run,
                   TraceNames& names) {
  const Watcher::Sighting* seen = sighting_of(object, watcher, run);
  const StepIndex stood = standing_at(object, watcher, run);
  const auto named_at = [&](StepIndex step) {
    return object.sort == EventObject::Sort::kSync
               ? names.sync_object(object.object, step)
               : names.name(object.object, seen == nullptr ? 0 : seen->size, step);
  };
  ObjectName name;
  if (seen != nullptr) {
    name = named_at(seen->step);
    // A frame of another moment may have something else there.
    if (name.kind == ObjectName::Kind::kLocal && stood != kNoStep && seen->clock != object.clock)
      name = {};
  }
  if (name.known() || stood == kNoStep) return name;
  name = named_at(stood);
  return name.known() ? name : names.in_frame(object.object, stood);
}

// Whether what is waited for is known by an address.
bool is_object(abi::WaitKind kind) {
  switch (kind) {
    case abi::WaitKind::kMutex:
    case abi::WaitKind::kCondition:
    case abi::WaitKind::kReadLock:
    case abi::WaitKind::kWriteLock:
    case abi::WaitKind::kSpin:
    case abi::WaitKind::kBarrier:
    case abi::WaitKind::kSemaphore:
    case abi::WaitKind::kFutex:
    case abi::WaitKind::kOnce:
    case abi::WaitKind::kOpenMpLock:
      return true;
    default:
      return false;
  }
}

struct Waited {
  abi::WaitKind kind = abi::WaitKind::kNothing;
  std::uint64_t object = 0;
  ThreadIndex thread = 0;
  std::uint64_t clock = 0;  // 0: at the end
};

// Each object once.
std::vector<Waited> waited_in(const RunResult& run) {
  std::vector<Waited> all;
  const auto add = [&](const Waited& one) {
    if (one.object != 0 && is_object(one.kind) &&
        std::ranges::find(all, one.object, &Waited::object) == all.end())
      all.push_back(one);
  };
  for (const WaitReport& wait : run.reports.waits) add({wait.kind, wait.object, wait.thread, 0});
  for (const HoldReport& hold : run.reports.holds)
    add({hold.kind, hold.object, hold.thread, hold.clock});
  for (const SliceReport& slice : run.reports.slices)
    if (slice.end == abi::SliceEnd::kBlocked)
      add({slice.wait, slice.object, slice.thread, slice.last_clock});
  return all;
}

}  // namespace

void name_events(const Replay& replay, std::vector<EventObject>& objects, double most_seconds) {
  if (objects.empty() || replay.recording.meta.summary.clock > kMostPoints) return;
  Replay quiet = replay;
  quiet.plan.output = OutputMode::kCaptureOnly;
  // At the first event the program calls the runtime: what follows is looked at, the constructors of
  // static objects too. With the last comes where code lies.
  quiet.plan.queries = {1, replay.recording.meta.summary.clock};
  Watcher watcher(objects);
  Patience patience(most_seconds);
  auto traced = run_traced_replay(quiet, TraceDetail::kCalls, patience, watcher);
  if (!traced || !traced->whole || !traced->differences.empty() || watcher.trace.too_long()) return;
  CodeMap code(traced->run.reports.maps);
  watcher.trace.finish(std::move(traced->blocks), code);
  Symbolizer symbols(traced->run.reports);
  RunNames run_names(symbols);
  TraceNames names(watcher.trace, traced->run, symbols, run_names);
  for (EventObject& object : objects) {
    object.name = name_of(object, watcher, traced->run, names);
    object.name.type = nullptr;
  }
}

void name_waited(RunResult& run, Symbolizer& symbols) {
  RunNames names(symbols);
  for (const Waited& one : waited_in(run))
    if (const ObjectName name = names.global_sync_object(one.object);
        name.kind == ObjectName::Kind::kGlobal)
      run.reports.names[one.object] = name.path;
}

void name_waited(const Replay& replay, RunResult& run, Symbolizer& symbols) {
  name_waited(run, symbols);
  std::vector<EventObject> nameless;
  for (const Waited& one : waited_in(run))
    if (one.thread < run.reports.threads.size() && !run.reports.names.contains(one.object))
      nameless.push_back(
          {one.clock, run.reports.threads[one.thread].id, one.object, EventObject::Sort::kSync});
  name_events(replay, nameless);
  for (const EventObject& one : nameless) {
    const std::string text = source_text(one.name);
    if (text.empty() || one.name.kind == ObjectName::Kind::kSymbol) continue;
    // Of a type there may be several: which one it is, the address tells.
    run.reports.names[one.object] = one.name.kind == ObjectName::Kind::kHeap
                                        ? fmt::format("{} ({:#x})", text, one.object)
                                        : text;
  }
}

namespace {

std::string place_text(const std::optional<Location>& at) {
  if (!at || at->file.empty()) return "";
  return fmt::format(" at {}:{}", std::filesystem::path(at->file).filename().string(), at->line);
}

// As in host/report/object_words.h, without quotes: what a finding says is kept in the recording.
std::string words_of(const ObjectName& name) {
  if (name.kind == ObjectName::Kind::kLocal && !name.function.empty())
    return fmt::format("{} (a variable of {} in {})", name.path, name.function, name.thread);
  if (name.kind == ObjectName::Kind::kTemporary)
    return fmt::format("an unnamed object of {} in {}", name.function, name.thread);
  if (name.kind == ObjectName::Kind::kFrame)
    return fmt::format("memory in the frame of {} in {}", name.function, name.thread);
  if (name.kind != ObjectName::Kind::kHeap) return name.path;
  const ObjectName::Heap& heap = name.heap;
  std::string text = source_text(name);
  if (heap.part == ObjectName::Heap::Part::kControlBlock)
    text = fmt::format("the control block of a shared_ptr<{}>", heap.type);
  else if (heap.part == ObjectName::Heap::Part::kLibrary)
    text = "data of the C++ library";
  else if (heap.part == ObjectName::Heap::Part::kThread)
    text = "the function and arguments of a std::thread";
  else if (text.empty())
    text = fmt::format("byte {} of {} of memory", name.offset, heap.size);
  return fmt::format("{} (allocated{} by {})", text, place_text(heap.allocated_at),
                     heap.allocated_by);
}

}  // namespace

void name_findings(const Replay& replay, RunResult& run, Symbolizer& symbols) {
  RunNames globals(symbols);
  std::vector<EventObject> nameless;
  const auto add = [&](std::uint64_t object, std::uint64_t size, const FindingReport::Site& site,
                       EventObject::Sort sort) {
    if (object == 0 || site.clock == 0 || site.thread >= run.reports.threads.size() ||
        run.reports.names.contains(object) || globals.global(object, size).known() ||
        std::ranges::find(nameless, object, &EventObject::object) != nameless.end())
      return;
    nameless.push_back({site.clock, run.reports.threads[site.thread].id, object, sort});
  };
  for (const FindingReport& found : run.reports.findings)
    for (const FindingReport::Site& site : found.sites) {
      const bool is_lock = found.kind == abi::FindingKind::kLockOrder;
      // A listener that says no size may mean a lock.
      if (!is_lock)
        add(found.address, found.size, site,
            found.size == 0 ? EventObject::Sort::kSync : EventObject::Sort::kMemory);
      if (is_lock) add(site.object, 0, site, EventObject::Sort::kSync);
      for (const FindingReport::Lock& lock : site.locks)
        add(lock.object, 0, site, EventObject::Sort::kSync);
    }
  if (nameless.empty()) return;
  name_events(replay, nameless);
  for (const EventObject& one : nameless)
    if (one.name.known() && one.name.kind != ObjectName::Kind::kSymbol)
      run.reports.names[one.object] = words_of(one.name);
  locate_findings(run, symbols);
}

}  // namespace clew
