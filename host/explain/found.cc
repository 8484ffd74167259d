#include "host/explain/found.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <utility>
#include <vector>

#include "clew_abi/watch.h"
#include "host/explain/told_cause.h"
#include "host/names/findings.h"
#include "host/names/run_names.h"
#include "host/observe/event_names.h"

namespace clew {
namespace {

CauseEvent::What what_of(abi::FindingAction action) {
  switch (action) {
    case abi::FindingAction::kRead:
    case abi::FindingAction::kAtomicRead:
      return CauseEvent::What::kReads;
    case abi::FindingAction::kWrite:
    case abi::FindingAction::kAtomicWrite:
      return CauseEvent::What::kWrites;
    case abi::FindingAction::kFree:
      return CauseEvent::What::kFrees;
    default:
      return CauseEvent::What::kCalls;
  }
}

// A finding of the run, and what it is about by name.
class FoundCause {
 public:
  FoundCause(const Replay& failing, const RunResult& run, const FindingReport& found,
             Symbolizer& symbols)
      : run_(run), found_(found), symbols_(symbols) {
    ask_names(failing);
  }

  Cause cause();

 private:
  void ask_names(const Replay& failing);
  ObjectName name(std::uint64_t address);
  std::string lock_name(std::uint64_t address);
  CauseEvent event(const FindingReport::Site& site);
  void race(Cause& cause);
  void lock_order(Cause& cause);
  void memory(Cause& cause);
  void reported(Cause& cause);

  const RunResult& run_;
  const FindingReport& found_;
  Symbolizer& symbols_;
  std::vector<EventObject> named_;
};

void FoundCause::ask_names(const Replay& failing) {
  RunNames globals(symbols_);
  const auto ask = [&](std::uint64_t object, const FindingReport::Site& site,
                       EventObject::Sort sort) {
    if (object == 0 || site.clock == 0 || site.thread >= run_.reports.threads.size() ||
        globals.global(object, 0).known() ||
        std::ranges::find(named_, object, &EventObject::object) != named_.end())
      return;
    named_.push_back({site.clock, run_.reports.threads[site.thread].id, object, sort});
  };
  // The last event of the run is not one that a traced run comes back from: the places before it come first.
  const bool of_locks = found_.kind == abi::FindingKind::kLockOrder;
  for (const FindingReport::Site& site : found_.sites) {
    if (of_locks)
      ask(site.object, site, EventObject::Sort::kSync);
    else
      ask(found_.address, site,
          found_.size == 0 ? EventObject::Sort::kSync : EventObject::Sort::kMemory);
    for (const FindingReport::Lock& lock : site.locks)
      ask(lock.object, site, EventObject::Sort::kSync);
  }
  name_events(failing, named_);
}

ObjectName FoundCause::name(std::uint64_t address) {
  const auto known = std::ranges::find(named_, address, &EventObject::object);
  if (known != named_.end() && known->name.known()) return known->name;
  return RunNames(symbols_).global(address, found_.size);
}

// Of objects that have the same name, such as elements of a container, the address tells which one it is.
std::string FoundCause::lock_name(std::uint64_t address) {
  const std::string text = source_text(name(address));
  const bool ambiguous = std::ranges::any_of(named_, [&](const EventObject& one) {
    return one.object != address && !text.empty() && source_text(one.name) == text;
  });
  return ambiguous ? fmt::format("{} ({:#x})", text, address) : text;
}

CauseEvent FoundCause::event(const FindingReport::Site& site) {
  CauseEvent event;
  event.what = what_of(site.action);
  event.thread = run_.thread_id(site.thread);
  event.clock = site.clock;
  const auto frames = symbols_.frames(site.frames);
  if (const SourceFrame* user = Symbolizer::user_frame(frames); user != nullptr)
    event.at = {user->file, user->line, user->function};
  else if (const auto place = symbols_.place(site.place))
    event.at = place->at;
  for (const FindingReport::Lock& lock : site.locks)
    event.locks.push_back(
        {lock.object, lock_name(lock.object), lock.kind == abi::WaitKind::kReadLock});
  return event;
}

void FoundCause::race(Cause& cause) {
  cause.kind = CauseKind::kDataRace;
  cause.pattern = CausePattern::kRace;
  cause.earlier = event(found_.sites[0]);
  cause.use = event(found_.sites[1]);
}

void FoundCause::lock_order(Cause& cause) {
  cause.kind = CauseKind::kDeadlock;
  cause.pattern = CausePattern::kLockOrder;
  for (const FindingReport::Site& site : found_.sites) {
    WaitFact& fact = cause.waits.emplace_back();
    fact.wait = event(site);
    fact.object = lock_name(site.object);
  }
  cause.use = cause.waits.back().wait;
}

void FoundCause::memory(Cause& cause) {
  cause.kind = CauseKind::kOrderViolation;
  cause.pattern = CausePattern::kUseAfterFree;
  cause.use = event(found_.sites[0]);
  cause.failing_source = event(found_.sites[1]);
  cause.failing_source->what = CauseEvent::What::kFrees;
}

void FoundCause::reported(Cause& cause) {
  cause.pattern = CausePattern::kReported;
  cause.reported = found_.text;
  if (!found_.sites.empty()) cause.use = event(found_.sites.back());
}

Cause FoundCause::cause() {
  Cause cause;
  if (found_.kind != abi::FindingKind::kLockOrder && found_.address != 0) {
    const ObjectName object = name(found_.address);
    cause.variable = source_text(object);
    if (object.kind == ObjectName::Kind::kHeap && object.heap.allocated_at) {
      CauseEvent& made = cause.allocated.emplace();
      made.what = CauseEvent::What::kCalls;
      made.thread = object.heap.allocated_by;
      made.at = *object.heap.allocated_at;
    }
  }
  const std::size_t sites = found_.sites.size();
  if (found_.kind == abi::FindingKind::kRace && sites == 2)
    race(cause);
  else if (found_.kind == abi::FindingKind::kLockOrder && sites > 0)
    lock_order(cause);
  else if (found_.kind == abi::FindingKind::kMemory && sites >= 2)
    memory(cause);
  else
    reported(cause);
  return cause;
}

}  // namespace

bool is_finding(FailureKind kind) {
  return kind == FailureKind::kRace || kind == FailureKind::kLockOrder ||
         kind == FailureKind::kMemory || kind == FailureKind::kListener;
}

bool shows_by_itself(FailureKind kind) {
  return kind == FailureKind::kDeadlock || is_finding(kind);
}

Result<void> tell_finding(const Replay& failing, RunObserver& observer, Explanation& result) {
  Replay quiet = failing;
  quiet.plan.output = OutputMode::kCaptureOnly;
  CLEW_TRY(auto run, run_replay(quiet, observer));
  if (run.interrupted_by != 0) {
    result.interrupted_by = run.interrupted_by;
    return {};
  }
  if (!differences(failing.recording.meta, run).empty())
    return fail(ErrorCode::kBadInput, "the run departs from its recording",
                "clew replay says where");
  // What has ended the run is the last of its kind.
  auto& findings = run.reports.findings;
  const auto ended =
      std::ranges::find_if(findings.rbegin(), findings.rend(), [&](const FindingReport& one) {
        return from_abi(abi::failure_of(one.kind)) == result.failure.kind;
      });
  if (ended == findings.rend()) return {};
  findings = {std::move(*ended)};
  find_stacks_of_findings(failing.recording.path, run, observer);
  Symbolizer symbols(run.reports);
  result.cause = FoundCause(failing, run, findings.front(), symbols).cause();
  add_roots(result.root, result.cause);
  return {};
}

}  // namespace clew
