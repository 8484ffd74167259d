#include "runtime/record/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "runtime/raw_syscall.h"

namespace clew::rt {

constinit Trace g_trace;

namespace {

abi::TraceHead head_of(abi::TraceKind kind, std::size_t size, const ThreadName& thread, Clock clock,
                       std::uint64_t own, std::uint8_t flags) {
  return {.kind = kind,
          .flags = flags,
          .size = static_cast<std::uint16_t>(size),
          .index = static_cast<std::uint16_t>(thread.index),
          .reserved = 0,
          .thread = thread.key,
          .clock = clock,
          .own = own};
}

}  // namespace

void Trace::begin(abi::Control& control, const abi::Job& job, Decisions decisions,
                  std::uint64_t most) {
  control_ = &control;
  in_file_ = 0;
  first_ = next_ = end_ = nullptr;
  overflow_ = (job.flags & abi::kJobTraceFile) != 0 && control.trace_file >= 0
                  ? Overflow::kToFile
                  : Overflow::kLeaveOut;
  const bool wanted = (job.flags & abi::kJobTrace) != 0;
  std::uint64_t size = control.trace.size;
  if (overflow_ == Overflow::kLeaveOut)
    size = size > abi::kTraceReserve ? size - abi::kTraceReserve : 0;
  const std::uint64_t used = control.trace_used;
  if (overflow_ == Overflow::kLeaveOut && size > used &&
      (size - used) / sizeof(abi::TraceAccess) > most)
    size = used + most * sizeof(abi::TraceAccess);
  const bool room = size > used;
  incomplete_ = wanted && !room;
  created_ = alone_lost_ = false;
  alone_ = 0;
  if (wanted && room) {
    std::uint8_t* const part = reinterpret_cast<std::uint8_t*>(&control) + control.trace.offset;
    first_ = next_ = part + control.trace_used;
    end_ = part + size;
  }
  decisions_ = wanted && room && decisions == Decisions::kTraced;
  window_ = job.window.last == 0 ? Window::none() : Window{job.window.first, job.window.last};
}

Hearing Trace::hearing() const {
  if (next_ == nullptr) return {};
  if (!decisions_ && window_.last == 0) return {.topics = kTopicPoints};
  // What a thread does while it is alone is no scheduling point.
  if (!decisions_)
    return {
        .topics = kTopicPoints | kTopicEvents, .window = window_, .looks = Hearing::Looks::kAtEach};
  return {.topics = kTopicDecisions | kTopicEvents,
          .window = window_,
          .looks = Hearing::Looks::kAtEach};
}

abi::TraceExtent Trace::end() {
  // The next job needs its reserve. If it cannot have it, what it traces may be incomplete.
  if (next_ != nullptr && overflow_ == Overflow::kToFile &&
      control_->trace_used + in_memory() + abi::kTraceReserve > control_->trace.size)
    move_to_file();
  const abi::TraceExtent extent{.file_offset = control_->trace_file_used,
                                .file_size = in_file_,
                                .offset = control_->trace_used,
                                .size = in_memory(),
                                .incomplete = incomplete_ ? 1u : 0u,
                                .reserved = 0};
  control_->trace_used += extent.size;
  control_->trace_file_used += extent.file_size;
  first_ = next_ = nullptr;
  return extent;
}

template <class Record>
void Trace::put(const Record& record) {
  if (CLEW_UNLIKELY(static_cast<std::size_t>(end_ - next_) < sizeof record) &&
      !make_room_slow(sizeof record))
    return;
  *reinterpret_cast<Record*>(next_) = record;
  next_ += sizeof record;
}

bool Trace::make_room_slow(std::size_t size) {
  if (overflow_ == Overflow::kToFile && !incomplete_ && move_to_file() &&
      static_cast<std::size_t>(end_ - next_) >= size)
    return true;
  incomplete_ = true;
  end_ = next_;  // what is smaller is not to follow what did not fit
  if (overflow_ == Overflow::kLeaveOut) first_ = next_ = nullptr;
  return false;
}

// False: the records stay in memory, as the last of the trace.
bool Trace::move_to_file() {
  const std::uint64_t offset = control_->trace_file_used + in_file_;
  const std::uint64_t size = in_memory();
  // Beyond the program's limit the kernel would send a signal.
  rlimit64 limit{};
  raw_syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, reinterpret_cast<long>(&limit));
  const std::uint64_t most =
      limit.rlim_cur < abi::kMostTraceInFile ? limit.rlim_cur : abi::kMostTraceInFile;
  if (offset > most || size > most - offset) return false;
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", control_->host, control_->trace_file);
  const long fd =
      raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  std::uint64_t done = 0;
  while (done < size) {
    const long written =
        raw_syscall(SYS_pwrite64, fd, reinterpret_cast<long>(first_ + done),
                    static_cast<long>(size - done), static_cast<long>(offset + done));
    if (written == -EINTR) continue;
    if (written <= 0) break;
    done += static_cast<std::uint64_t>(written);
  }
  raw_syscall(SYS_close, fd);
  if (done < size) return false;
  in_file_ += size;
  next_ = first_;
  return true;
}

void Trace::before(const Event& event) {
  if (!event.counted || (event.step.object == 0 && !abi::is_access(event.step.kind))) return;
  if (!decisions_) return access_alone(event);
  at({.thread = event.thread, .step = event.step, .clock = event.clock, .own = event.own});
}

// Between threads that were joined and others that are created: what it writes then, they see.
void Trace::access_alone(const Event& event) {
  if (!event.alone || !created_ || !abi::is_access(event.step.kind)) return;
  if (alone_ >= kMostAlone) {
    alone_lost_ = true;
    return;
  }
  ++alone_;
  at({.thread = event.thread, .step = event.step, .clock = event.clock, .own = event.own});
}

void Trace::at(const SchedulingPoint& point) {
  if (next_ == nullptr) return;
  const Step& step = point.step;
  if (step.kind == abi::StepKind::kCreate) {
    created_ = true;
    incomplete_ |= alone_lost_;
  }
  const auto head = [&](abi::TraceKind kind, std::size_t size) {
    return head_of(kind, size, point.thread, point.clock, point.own, point.flags);
  };
  if (abi::is_access(step.kind)) {
    put(abi::TraceAccess{.head = head(abi::TraceKind::kAccess, sizeof(abi::TraceAccess)),
                         .place = step.place,
                         .address = step.object,
                         .enabled = point.enabled,
                         .size = step.size,
                         .kind = step.kind,
                         .value_size = 0,
                         .reserved = 0});
  } else {
    put(abi::TraceSync{.head = head(abi::TraceKind::kSync, sizeof(abi::TraceSync)),
                       .place = step.place,
                       .object = step.object,
                       .enabled = point.enabled,
                       .kind = step.kind,
                       .reserved = {}});
  }
}

void Trace::decided(const DecisionMade& decision) {
  if (next_ == nullptr) return;
  put(abi::TraceDecision{
      .head = head_of(abi::TraceKind::kDecision, sizeof(abi::TraceDecision), decision.thread,
                      decision.event, decision.own_event, 0),
      .place = decision.place,
      .to = decision.to.key,
      .ordinal = decision.own_ordinal,
      .kind = decision.is_preemption ? abi::kScriptPreemption : abi::script_kind(decision.kind),
      .reserved = {}});
}

}  // namespace clew::rt
