#include "host/report/perfetto.h"

#include <fmt/format.h>

#include <map>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/recording/file.h"
#include "host/report/names.h"
#include "host/report/object_words.h"
#include "host/report/protobuf.h"
#include "host/report/words.h"

namespace clew {
namespace {

// Of perfetto's protos/perfetto/trace: trace_packet.proto, track_event.proto, track_descriptor.proto,
// thread_descriptor.proto, process_descriptor.proto, debug_annotation.proto.
namespace field {
constexpr std::uint32_t kPacket = 1;
constexpr std::uint32_t kTimestamp = 8;
constexpr std::uint32_t kSequence = 10;
constexpr std::uint32_t kTrackEvent = 11;
constexpr std::uint32_t kTrackDescriptor = 60;
constexpr std::uint32_t kUuid = 1;
constexpr std::uint32_t kTrackName = 2;
constexpr std::uint32_t kProcess = 3;
constexpr std::uint32_t kThread = 4;
constexpr std::uint32_t kParent = 5;
constexpr std::uint32_t kPid = 1;
constexpr std::uint32_t kTid = 2;
constexpr std::uint32_t kThreadName = 5;
constexpr std::uint32_t kProcessName = 6;
constexpr std::uint32_t kAnnotation = 4;
constexpr std::uint32_t kType = 9;
constexpr std::uint32_t kTrack = 11;
constexpr std::uint32_t kCategory = 22;
constexpr std::uint32_t kEventName = 23;
constexpr std::uint32_t kUnsigned = 3;
constexpr std::uint32_t kAnnotationName = 10;
}  // namespace field

enum class EventType : std::uint8_t { kBegin = 1, kEnd = 2 };

constexpr std::uint64_t kProcessTrack = 1;
constexpr std::uint64_t kPidOfAll = 1;
constexpr std::size_t kBufferSize = std::size_t{1} << 20;

enum class LockCall : std::uint8_t { kNone, kTake, kTry, kRelease };

LockCall lock_call(std::string_view name) {
  if (name == "pthread_mutex_unlock" || name == "pthread_rwlock_unlock" ||
      name == "pthread_spin_unlock" || name == "mtx_unlock")
    return LockCall::kRelease;
  if (name == "pthread_mutex_lock" || name == "pthread_rwlock_rdlock" ||
      name == "pthread_rwlock_wrlock" || name == "pthread_spin_lock" || name == "mtx_lock")
    return LockCall::kTake;
  if (name == "pthread_mutex_trylock" || name == "pthread_mutex_timedlock" ||
      name == "pthread_mutex_clocklock" || name == "pthread_rwlock_tryrdlock" ||
      name == "pthread_rwlock_trywrlock" || name == "pthread_rwlock_timedrdlock" ||
      name == "pthread_rwlock_timedwrlock" || name == "pthread_rwlock_clockrdlock" ||
      name == "pthread_rwlock_clockwrlock" || name == "pthread_spin_trylock" ||
      name == "mtx_trylock" || name == "mtx_timedlock")
    return LockCall::kTry;
  return LockCall::kNone;
}

// A wait gives the lock, its second argument, back meanwhile.
bool is_condition_wait(std::string_view name) {
  return name == "pthread_cond_wait" || name == "pthread_cond_timedwait" ||
         name == "pthread_cond_clockwait" || name == "cnd_wait" || name == "cnd_timedwait";
}

// What the runtime is called by that no program calls.
bool is_of_clew(std::string_view name) { return name.starts_with("__clew"); }

class Picture {
 public:
  Picture(OutputFile file, const RunTrace& trace, const RunResult& run, ClockWindow window,
          CodeMap& code, Symbolizer& symbols, TraceNames& names)
      : file_(std::move(file)),
        trace_(trace),
        run_(run),
        window_(window),
        code_(code),
        symbols_(symbols),
        names_(names) {}

  Result<PerfettoFigures> write() {
    ProtobufMessage process;
    process.number(field::kPid, kPidOfAll).text(field::kProcessName, "program");
    describe(
        ProtobufMessage().number(field::kUuid, kProcessTrack).message(field::kProcess, process));
    std::size_t mark = 0;
    const auto& marks = trace_.marks();
    for (StepIndex at = 0; at < trace_.steps().size() && status_; ++at) {
      for (; mark < marks.size() && marks[mark].step <= at; ++mark) {
        clock_ = marks[mark].clock;
        limit_ = marks[mark].limit;
        countdown_ = marks[mark].countdown;
      }
      if (clock_ > window_.to) break;
      if (window_.has(clock_) && trace_.steps()[at].executed != 0) step(at);
      count_points(at);
    }
    for (auto& [index, thread] : threads_) {
      if (thread.in_call) event(EventType::kEnd, thread.track);
      for (std::size_t i = 0; i < thread.stack.size(); ++i) event(EventType::kEnd, thread.track);
      for (const auto& [lock, depth] : thread.held)
        for (std::uint32_t i = 0; i < depth; ++i) event(EventType::kEnd, thread.lock_tracks[lock]);
      if (running_ == index) event(EventType::kEnd, thread.runs_track);
    }
    flush();
    if (status_) status_ = file_.close();
    CLEW_CHECK_OK(status_);
    figures_.threads = threads_.size();
    figures_.instructions = now_;
    return figures_;
  }

 private:
  struct Thread {
    std::uint64_t track = 0;
    std::uint64_t runs_track = 0;
    // Of the slices that are open, outermost first.
    std::vector<FrameIndex> stack;
    std::vector<std::uint64_t> functions;  // theirs
    const OutsideCall* in_call = nullptr;
    std::map<std::uint64_t, std::uint32_t> held;  // locks, and how often
    std::map<std::uint64_t, std::uint64_t> lock_tracks;
  };

  void packet(const ProtobufMessage& content) {
    buffer_ += ProtobufMessage().message(field::kPacket, content).bytes();
    if (buffer_.size() >= kBufferSize) flush();
  }
  void flush() {
    if (status_)
      status_ =
          file_.write({reinterpret_cast<const std::uint8_t*>(buffer_.data()), buffer_.size()});
    buffer_.clear();
  }
  void describe(const ProtobufMessage& track) {
    packet(ProtobufMessage().number(field::kSequence, 1).message(field::kTrackDescriptor, track));
  }
  void event(EventType type, std::uint64_t track, std::string_view name = {},
             std::string_view category = {}) {
    ProtobufMessage event;
    event.number(field::kType, static_cast<std::uint64_t>(type)).number(field::kTrack, track);
    if (!category.empty()) event.text(field::kCategory, category);
    if (!name.empty()) event.text(field::kEventName, name);
    if (type == EventType::kBegin)
      event.message(
          field::kAnnotation,
          ProtobufMessage().text(field::kAnnotationName, "clock").number(field::kUnsigned, clock_));
    packet(ProtobufMessage()
               .number(field::kTimestamp, now_)
               .number(field::kSequence, 1)
               .message(field::kTrackEvent, event));
  }

  std::uint64_t new_track(std::string_view name, std::uint64_t parent) {
    const std::uint64_t track = ++tracks_;
    describe(ProtobufMessage()
                 .number(field::kUuid, track)
                 .text(field::kTrackName, name)
                 .number(field::kParent, parent));
    return track;
  }

  Thread& thread(std::uint16_t index) {
    const auto [found, added] = threads_.try_emplace(index);
    Thread& made = found->second;
    if (!added) return made;
    const auto& all = run_.reports.threads;
    std::string name = index < all.size() ? all[index].id : fmt::format("thread {}", index);
    if (index < all.size() && !all[index].name.empty()) name += " " + all[index].name;
    made.track = ++tracks_;
    // Threads are listed by these numbers.
    ProtobufMessage descriptor;
    descriptor.number(field::kPid, kPidOfAll)
        .number(field::kTid, index + kPidOfAll)
        .text(field::kThreadName, name);
    describe(ProtobufMessage()
                 .number(field::kUuid, made.track)
                 .number(field::kParent, kProcessTrack)
                 .message(field::kThread, descriptor));
    made.runs_track = new_track("runs", made.track);
    return made;
  }

  void step(StepIndex at) {
    const BlockStep& step = trace_.steps()[at];
    Thread& here = thread(step.thread);
    if (running_ != step.thread) {
      if (running_) event(EventType::kEnd, threads_[*running_].runs_track);
      event(EventType::kBegin, here.runs_track, "runs", "schedule");
      running_ = step.thread;
    }
    if (!step.hidden) {
      if (here.in_call != nullptr) end_call(here);
      enter(here, step.frame);
      jump(here, trace_.address(at));
    }
    now_ += step.executed;
    const OutsideCall* call = step.hidden ? nullptr : trace_.outside_call(at);
    if (call != nullptr && !call->name.empty() && !is_of_clew(call->name)) begin_call(here, *call);
  }

  // Ends and begins slices until those that are open are the frame and its callers.
  void enter(Thread& here, FrameIndex frame) {
    if (!here.stack.empty() && here.stack.back() == frame) return;
    std::vector<FrameIndex> wanted;
    for (; frame != kNoFrame; frame = trace_.frames()[frame].parent) wanted.push_back(frame);
    std::size_t same = 0;
    while (same < wanted.size() && same < here.stack.size() &&
           wanted[wanted.size() - 1 - same] == here.stack[same])
      ++same;
    for (; here.stack.size() > same; here.stack.pop_back()) {
      event(EventType::kEnd, here.track);
      here.functions.pop_back();
    }
    while (here.stack.size() < wanted.size()) {
      here.stack.push_back(wanted[wanted.size() - 1 - here.stack.size()]);
      begin_function(here, trace_.frames()[here.stack.back()].entry);
    }
  }

  void begin_function(Thread& here, std::uint64_t entry) {
    ++figures_.calls;
    here.functions.push_back(entry);
    event(EventType::kBegin, here.track, function(entry), "function");
  }

  // A call at a function's end is a jump: what is called takes the place of the caller.
  void jump(Thread& here, std::uint64_t address) {
    if (here.functions.back() == address) return;
    const auto [begins, added] = begins_.try_emplace(address);
    if (added) {
      const auto range = code_.function(address);
      begins->second = range && range->begin == address;
    }
    if (!begins->second) return;
    event(EventType::kEnd, here.track);
    here.functions.pop_back();
    begin_function(here, address);
  }

  void begin_call(Thread& here, const OutsideCall& call) {
    here.in_call = &call;
    ++figures_.calls;
    const LockCall kind = lock_call(call.name);
    std::string name(call.name);
    if (kind != LockCall::kNone) name += " " + lock_name(call.registers.arguments[0], call.step);
    event(EventType::kBegin, here.track, name, kind == LockCall::kNone ? "call" : "lock");
    if (kind == LockCall::kRelease) release(here, call.registers.arguments[0]);
    if (is_condition_wait(call.name)) release(here, call.registers.arguments[1]);
  }

  void end_call(Thread& here) {
    const OutsideCall& call = *std::exchange(here.in_call, nullptr);
    event(EventType::kEnd, here.track);
    if (call.back == kNoStep) return;
    const LockCall kind = lock_call(call.name);
    if (kind == LockCall::kTake || (kind == LockCall::kTry && call.result == 0))
      take(here, call.registers.arguments[0], call.step);
    if (is_condition_wait(call.name)) take(here, call.registers.arguments[1], call.step);
  }

  void take(Thread& here, std::uint64_t lock, StepIndex at) {
    const auto [track, added] = here.lock_tracks.try_emplace(lock);
    const std::string name = lock_name(lock, at);
    if (added) track->second = new_track("holds " + name, here.track);
    ++here.held[lock];
    ++figures_.locks;
    event(EventType::kBegin, track->second, "holds " + name, "lock");
  }

  void release(Thread& here, std::uint64_t lock) {
    const auto held = here.held.find(lock);
    if (held == here.held.end()) return;  // taken before the window, or not seen
    event(EventType::kEnd, here.lock_tracks[lock]);
    if (--held->second == 0) here.held.erase(held);
  }

  void count_points(StepIndex at) {
    const auto& accesses = trace_.block_of(at).accesses;
    for (std::uint32_t i = 0; i < accesses.size(); ++i)
      if (limit_ != 0 && accesses[i].has_value && trace_.access_address(at, i) == countdown_)
        clock_ = limit_ - 1 - trace_.access_value(at, i);
  }

  const std::string& function(std::uint64_t address) {
    const auto [name, added] = functions_.try_emplace(address);
    if (added) {
      const auto frames = symbols_.frames({address});
      name->second = frames.empty() || frames.back().function.empty()
                         ? fmt::format("0x{:x}", address)
                         : printable(function_text(frames.back().function));
    }
    return name->second;
  }

  const std::string& lock_name(std::uint64_t address, StepIndex at) {
    const auto [name, added] = locks_.try_emplace(address);
    if (added) name->second = short_object_words(names_.sync_object(address, at));
    if (name->second.empty()) name->second = fmt::format("0x{:x}", address);
    return name->second;
  }

  OutputFile file_;
  const RunTrace& trace_;
  const RunResult& run_;
  ClockWindow window_;
  CodeMap& code_;
  Symbolizer& symbols_;
  TraceNames& names_;
  Result<void> status_;
  std::string buffer_;
  std::uint64_t tracks_ = kProcessTrack;
  std::map<std::uint16_t, Thread> threads_;
  std::optional<std::uint16_t> running_;
  std::unordered_map<std::uint64_t, std::string> functions_;
  std::unordered_map<std::uint64_t, bool> begins_;  // a function, by the address of a block
  std::unordered_map<std::uint64_t, std::string> locks_;
  std::uint64_t now_ = 0;  // instructions
  std::uint64_t clock_ = 0;
  std::uint64_t limit_ = 0;
  std::uint64_t countdown_ = 0;
  PerfettoFigures figures_;
};

}  // namespace

Result<PerfettoFigures> write_perfetto(const std::filesystem::path& path, const RunTrace& trace,
                                       const RunResult& run, ClockWindow window, CodeMap& code,
                                       Symbolizer& symbols, TraceNames& names) {
  std::filesystem::path part = path;
  part += ".part";
  std::error_code error;
  std::filesystem::remove(part, error);
  CLEW_TRY(auto file, OutputFile::create(part));
  auto figures = Picture(std::move(file), trace, run, window, code, symbols, names).write();
  if (figures) {
    std::filesystem::rename(part, path, error);
    if (error) figures = std::unexpected(system_error("write", path, error.value()));
  }
  if (!figures) std::filesystem::remove(part, error);
  return figures;
}

}  // namespace clew
