#include "host/isolate/source_view.h"

#include <algorithm>
#include <charconv>

#include "host/isolate/each_event.h"
#include "host/trace/overlap.h"

namespace clew {
namespace {

using abi::StepKind;

// What fits on a screen beside the rest of the report.
constexpr std::size_t kMostLines = 14;
// Shown around each event of the pair and where threads switch, besides what touches the same data.
constexpr std::size_t kNeighbours = 1;

}  // namespace

bool is_user_location(const Location& at) {
  SourceFrame frame;
  frame.file = at.file;
  return is_user_code(frame);
}

abi::ThreadKey key_of_thread(std::string_view id) {
  abi::ThreadKey key = abi::kMainThreadKey;
  for (std::size_t dot = id.find('.'); dot != std::string_view::npos; dot = id.find('.')) {
    id.remove_prefix(dot + 1);
    std::uint32_t ordinal = 0;
    std::from_chars(id.data(), id.data() + id.size(), ordinal);
    key = abi::child_key(key, ordinal);
  }
  return key;
}

std::optional<SharedCall> shared_call(const std::vector<SourceFrame>& first,
                                      const std::vector<SourceFrame>& second) {
  // From the outermost inwards: frames that are the same call, then one in which the lines part.
  auto a = first.rbegin();
  auto b = second.rbegin();
  std::optional<SharedCall> shared;
  for (; a != first.rend() && b != second.rend() && a->function == b->function; ++a, ++b) {
    if (is_user_code(*a)) shared = SharedCall{location_of(*a), location_of(*b)};
    if (a->address != b->address) {
      ++a;
      ++b;
      break;
    }
  }
  const bool innermost = a == first.rend() && b == second.rend();
  return innermost ? std::nullopt : shared;
}

SourceView::SourceView(const RunResult& run) : run_(run), symbols_(run.reports) {
  for (const ThreadInfo& thread : run.reports.threads)
    threads_.emplace(key_of_thread(thread.id), thread.id);
}

std::string SourceView::thread(abi::ThreadKey key) const {
  const auto found = threads_.find(key);
  return found == threads_.end() ? "?" : found->second;
}

std::optional<Location> SourceView::location(abi::Place place) {
  const auto info = symbols_.place(place);
  if (!info) return std::nullopt;
  return info->at;
}

EventInfo SourceView::event(const TraceStep& event) {
  EventInfo info;
  info.clock = event.clock;
  info.thread = thread(event.thread);
  info.at = location(event.place);
  info.kind = event.kind;
  info.object = event.object;
  if (event.kind == StepKind::kLock) {
    const auto known = locks_.find(event.clock);
    info.lock = known == locks_.end() ? LockStep::kUnclear : known->second;
  }
  // The thread that is joined is given by its index.
  if (event.kind == StepKind::kJoin)
    info.variable = event.object < run_.reports.threads.size()
                        ? run_.thread_id(static_cast<ThreadIndex>(event.object))
                        : "";
  else if (event.object != 0)
    info.name = is_synchronisation(event.kind) ? names_.global_sync_object(event.object)
                                               : names_.global(event.object, event.size);
  if (info.name.known()) info.variable = source_text(info.name);
  info.name.type = nullptr;
  return info;
}

void SourceView::know_locks(const Trace& trace) {
  const std::vector<LockStep> steps = lock_steps(trace);
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (steps[i] != LockStep::kNone) locks_[trace.steps[i].clock] = steps[i];
}

Standpoint SourceView::standpoint(const ThreadPosition& position) const {
  Standpoint point;
  point.thread = run_.thread_id(position.thread);
  if (position.thread < run_.reports.threads.size())
    point.name = run_.reports.threads[position.thread].name;
  point.stack = position.stack;
  point.at = position.at;
  // A line in a library's header tells the reader little; a thread without any code has not begun.
  if (!point.at || !is_user_location(*point.at)) {
    const SourceFrame* frame = Symbolizer::user_frame(point.stack);
    point.at = frame != nullptr && is_user_code(*frame) ? std::optional(location_of(*frame))
                                                        : std::nullopt;
  }
  return point;
}

const Moment& SourceView::moment(std::uint64_t clock) {
  const auto known = moments_.find(clock);
  if (known != moments_.end()) return known->second;
  return moments_.emplace(clock, moments(run_, {clock}, symbols_).front()).first->second;
}

std::optional<Standpoint> SourceView::standing(std::uint64_t clock, const std::string& thread) {
  const Moment& now = moment(clock);
  if (now.running && run_.thread_id(now.running->thread) == thread) return standpoint(*now.running);
  for (const ThreadPosition& other : now.others)
    if (run_.thread_id(other.thread) == thread) return standpoint(other);
  return std::nullopt;
}

std::optional<Standpoint> SourceView::running(std::uint64_t clock) {
  const Moment& now = moment(clock);
  if (!now.running) return std::nullopt;
  return standpoint(*now.running);
}

std::vector<WaitInfo> SourceView::waits() {
  std::vector<WaitInfo> waits;
  for (const WaitReport& report : run_.reports.waits) {
    if (report.kind == abi::WaitKind::kNothing) continue;  // it has just ended
    WaitInfo wait;
    wait.thread = run_.thread_id(report.thread);
    const std::vector<SourceFrame> frames = symbols_.frames(report.frames);
    if (const SourceFrame* frame = Symbolizer::user_frame(frames)) wait.at = location_of(*frame);
    wait.kind = report.kind;
    // For a join the holder is the thread that has to end.
    if (report.kind == abi::WaitKind::kJoin) {
      if (report.holder) wait.ending = run_.thread_id(*report.holder);
    } else {
      wait.object = report.object;
      wait.name = names_.global_sync_object(report.object);
      wait.name.type = nullptr;
      wait.variable = source_text(wait.name);
      if (report.holder) wait.holder = run_.thread_id(*report.holder);
      for (const HoldReport& hold : run_.reports.holds)
        if (report.holder && hold.thread == *report.holder && hold.object == report.object) {
          const std::vector<SourceFrame> taken = symbols_.frames({hold.address});
          const SourceFrame* frame = Symbolizer::user_frame(taken);
          if (frame != nullptr && is_user_code(*frame)) wait.taken_at = location_of(*frame);
        }
    }
    waits.push_back(std::move(wait));
  }
  std::ranges::sort(waits, {}, [](const WaitInfo& wait) {
    return std::pair(wait.thread.size(), wait.thread);  // T0.2 before T0.10
  });
  return waits;
}

std::vector<CourseLine> SourceView::course(std::span<const TraceStep> trace,
                                           const std::optional<EventPair>& pair, EventSide side) {
  const auto marked = [&](const TraceStep& event) {
    if (!pair) return false;
    return side == EventSide::kFailing
               ? event.clock == pair->first.clock || event.clock == pair->second.clock
               : event.clock == pair->first_when_passing ||
                     event.clock == pair->second_when_passing;
  };
  std::unordered_map<abi::Place, bool> is_users;
  const auto in_user_code = [&](abi::Place place) {
    const auto known = is_users.find(place);
    if (known != is_users.end()) return known->second;
    const auto at = location(place);
    return is_users[place] = at && is_user_location(*at);
  };
  std::vector<TraceStep> events;
  for (const TraceStep& event : trace)
    if (event.kind != StepKind::kOther && (marked(event) || in_user_code(event.place)))
      events.push_back(event);
  // Up to a little behind the last event of the pair, or a screenful.
  std::size_t end = std::min(events.size(), kMostLines);
  for (std::size_t i = 0; i < events.size(); ++i)
    if (marked(events[i])) end = std::min(events.size(), i + 2 * kNeighbours + 1);
  std::vector<bool> shown(end);
  const auto show_around = [&](std::size_t at) {
    for (std::size_t i = at > kNeighbours ? at - kNeighbours : 0; i < end && i <= at + kNeighbours;
         ++i)
      shown[i] = true;
  };
  for (std::size_t i = 0; i < end; ++i) {
    if (marked(events[i]) || (i > 0 && events[i].thread != events[i - 1].thread)) show_around(i);
    if (pair && (overlap(events[i], pair->first) || overlap(events[i], pair->second)))
      shown[i] = true;
    if (!pair) shown[i] = true;
  }
  // The last ones, if there are too many: the pair is at the end.
  std::size_t left = kMostLines;
  for (std::size_t i = end; i-- > 0;) {
    if (!shown[i]) continue;
    if (left == 0 && !marked(events[i])) shown[i] = false;
    if (left > 0) --left;
  }
  std::vector<CourseLine> lines;
  for (std::size_t i = 0; i < end; ++i)
    if (shown[i])
      lines.push_back(
          {event(events[i]), marked(events[i]), i > 0 && events[i].thread != events[i - 1].thread});
  return lines;
}

}  // namespace clew
