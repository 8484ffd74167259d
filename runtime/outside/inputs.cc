#include "runtime/outside/inputs.h"

#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include <cstdio>

#include "runtime/outside/calls.h"
#include "runtime/raw_syscall.h"
#include "runtime/record/callbacks.h"
#include "runtime/record/end.h"
#include "runtime/record/points.h"
#include "runtime/record/stacks.h"
#include "runtime/sched/scheduler.h"

namespace clew::rt {

Inputs g_inputs;

namespace {

// Skips a record; the reader is no longer ok if it is incomplete.
void skip_record(abi::Reader& reader) {
  const auto skip_pieces = [&](std::uint64_t count) {
    for (; count > 0 && reader.ok(); --count) reader.bytes(reader.varint());
  };
  const auto skip_numbers = [&](std::uint64_t count) {
    for (; count > 0 && reader.ok(); --count) reader.varint();
  };
  switch (static_cast<abi::InputKind>(reader.varint())) {
    case abi::InputKind::kAnswer:
      skip_numbers(4);  // call, check, result, flags
      return skip_pieces(reader.varint());
    case abi::InputKind::kBlocks:
      return skip_numbers(1);
    case abi::InputKind::kPoll:
      skip_numbers(2);  // the poll, how long
      skip_numbers(reader.varint());
      return skip_pieces(reader.varint());
    case abi::InputKind::kMapping:
      return skip_pieces(1);
    case abi::InputKind::kFile:
      skip_numbers(3);  // file, its size, offset
      return skip_pieces(1);
    case abi::InputKind::kEnd:
      break;
  }
  reader.bytes(~std::uint64_t{0});
}

}  // namespace

void Inputs::use(abi::Control& control) {
  control_ = &control;
  data_ = reinterpret_cast<std::uint8_t*>(&control) + control.inputs.offset;
  size_ = control.inputs.size;
}

void Inputs::init(abi::Control& control) {
  use(control);
  recording_ = (control.flags & abi::kFlagRecordInputs) != 0;
  replaying_ = (control.flags & abi::kFlagReplayInputs) != 0;
  breaks_off_ = replaying_ && (control.flags & abi::kFlagBreaksOff) != 0;
  if (breaks_off_) size_ = size_of_whole_records();
}

// --- recording -----------------------------------------------------------------------------------

void Inputs::begin(abi::InputKind kind) { put(static_cast<std::uint64_t>(kind)); }

void Inputs::put(std::uint64_t value) {
  std::uint8_t buffer[abi::kMaxVarint];
  put(buffer, abi::put_varint(buffer, value));
}

void Inputs::put(const void* bytes, std::size_t size) {
  const auto* from = static_cast<const std::uint8_t*>(bytes);
  while (size > 0) {
    const std::uint64_t used = at_ - control_->inputs_tail.load(std::memory_order_acquire);
    if (CLEW_UNLIKELY(used >= size_)) {
      publish();  // as in Log::put
      g_record_callbacks.keep_copy();
      if (control_->let_go.load(std::memory_order_relaxed) != 0) return;
      const timespec nap{0, 100'000};
      raw_syscall(SYS_nanosleep, reinterpret_cast<long>(&nap), 0);
      continue;
    }
    const std::uint64_t place = at_ & (size_ - 1);
    std::uint64_t n = size_ - used;
    if (n > size_ - place) n = size_ - place;
    if (n > size) n = size;
    memcpy(data_ + place, from, n);
    at_ += n;
    from += n;
    size -= n;
  }
}

void Inputs::publish() { control_->inputs_head.store(at_, std::memory_order_release); }

void Inputs::put_answer(long call, std::uint16_t check, const Answer& answer, const Piece* pieces,
                        std::size_t count) {
  begin(abi::InputKind::kAnswer);
  put(static_cast<std::uint64_t>(call));
  put(check);
  put(abi::zigzag(answer.result));
  put(answer.flags);
  put(count);
  for (std::size_t i = 0; i < count; ++i) {
    put(pieces[i].size);
    put(pieces[i].address, pieces[i].size);
  }
  publish();
}

void Inputs::put_blocks(long call) {
  begin(abi::InputKind::kBlocks);
  put(static_cast<std::uint64_t>(call));
  publish();
}

void Inputs::put_poll(std::uint64_t poll, Nanos waited, const std::uint32_t* threads,
                      std::size_t threads_count, const siginfo_t* signals,
                      std::size_t signals_count) {
  begin(abi::InputKind::kPoll);
  put(poll);
  put(static_cast<std::uint64_t>(waited));
  put(threads_count);
  for (std::size_t i = 0; i < threads_count; ++i) put(threads[i]);
  put(signals_count);
  for (std::size_t i = 0; i < signals_count; ++i) {
    put(sizeof signals[i]);
    put(&signals[i], sizeof signals[i]);
  }
  publish();
}

void Inputs::put_mapping(const void* content, std::size_t size) {
  begin(abi::InputKind::kMapping);
  put(size);
  put(content, size);
  publish();
}

void Inputs::put_file(const FilePart& part, const void* content, std::size_t size) {
  begin(abi::InputKind::kFile);
  put(part.file);
  put(part.file_size);
  put(part.offset);
  put(size);
  put(content, size);
  publish();
}

// --- replaying -----------------------------------------------------------------------------------

// Where the program makes the call: the point that it has passed last may be far behind.
static abi::Place place_of_call() {
  std::uintptr_t frames[kMaxFrames];
  const std::uintptr_t own = innermost_with_points(frames, walk_stack(frames, kMaxFrames));
  return own != 0 ? place_of_code(reinterpret_cast<const void*>(own))
                  : g_sched.current->reached.place;
}

void Inputs::depart(const char* what, long call) {
  char text[256];
  snprintf(text, sizeof text, "the program calls %s, where the recording has %s",
           call_name(call & ~abi::kPartlyDone), what);
  g_sched.current->reached.place = place_of_call();
  end_departed(g_sched.clock(), g_sched.current->index, g_sched.current->reached.place, text);
}

// The last may have been cut off: a long one goes through the ring in pieces.
std::uint64_t Inputs::size_of_whole_records() {
  abi::Reader reader(data_, size_);
  std::uint64_t whole = 0;
  while (reader.ok() && !reader.at_end()) {
    skip_record(reader);
    if (reader.ok()) whole = reader.position();
  }
  return whole;
}

void Inputs::expect_more(long call) {
  if (!at_end()) return;
  if (breaks_off_) end_broken_off();
  depart("its end", call);
}

std::uint64_t Inputs::number() {
  abi::Reader reader(data_ + at_, size_ - at_);
  const std::uint64_t value = reader.varint();
  at_ += reader.position();
  if (!reader.ok()) at_ = size_;
  return value;
}

const std::uint8_t* Inputs::bytes(std::size_t size) {
  if (size > size_ - at_) {
    at_ = size_;
    return nullptr;
  }
  const std::uint8_t* result = data_ + at_;
  at_ += size;
  return result;
}

abi::InputKind Inputs::peek() {
  return at_ < size_ ? static_cast<abi::InputKind>(data_[at_]) : abi::InputKind::kEnd;
}

Answer Inputs::take_answer(long call, std::uint16_t check, Piece* pieces, std::size_t count) {
  expect_more(call);
  if (peek() != abi::InputKind::kAnswer) depart("something else", call);
  number();
  const auto recorded = static_cast<long>(number());
  const std::uint64_t recorded_check = number();
  if (recorded != call) depart(call_name(recorded), call);
  if (recorded_check != check) depart("the same call with other arguments", call);
  Answer answer;
  answer.result = static_cast<long>(abi::unzigzag(number()));
  answer.flags = static_cast<std::uint8_t>(number());
  const std::uint64_t recorded_count = number();
  for (std::uint64_t i = 0; i < recorded_count; ++i) {
    const std::uint64_t size = number();
    const std::uint8_t* content = bytes(size);
    if (content == nullptr || i >= count || size > pieces[i].room)
      depart("the same call with more data", call);
    memcpy(pieces[i].address, content, size);
  }
  return answer;
}

bool Inputs::next_blocks(long call) {
  if (!next_blocks()) return false;
  const std::uint64_t before = at_;
  number();
  const auto recorded = static_cast<long>(number());
  at_ = before;
  return recorded == call;
}

bool Inputs::take_blocks(long call) {
  if (peek() != abi::InputKind::kBlocks) return false;
  number();
  const auto recorded = static_cast<long>(number());
  if (recorded != call) depart(call_name(recorded & ~abi::kPartlyDone), call);
  return true;
}

bool Inputs::take_poll(std::uint64_t poll, Nanos& waited) {
  if (peek() != abi::InputKind::kPoll) return false;
  const std::uint64_t before = at_;
  number();
  if (number() != poll) {
    at_ = before;
    return false;
  }
  waited = static_cast<Nanos>(number());
  polled_left_ = number();
  return true;
}

bool Inputs::take_polled_thread(std::uint32_t& index) {
  if (polled_left_ == 0) {
    polled_left_ = number();  // of signals
    return false;
  }
  --polled_left_;
  index = static_cast<std::uint32_t>(number());
  return true;
}

bool Inputs::take_polled_signal(siginfo_t& info) {
  if (polled_left_ == 0) return false;
  --polled_left_;
  const std::uint64_t size = number();
  const std::uint8_t* content = bytes(size);
  if (content == nullptr || size != sizeof info) return false;
  memcpy(&info, content, sizeof info);
  return true;
}

std::size_t Inputs::take_mapping(void* out, std::size_t room) {
  expect_more(SYS_mmap);
  if (peek() != abi::InputKind::kMapping) depart("something else", SYS_mmap);
  number();
  const std::uint64_t size = number();
  const std::uint8_t* content = bytes(size);
  if (content == nullptr || size > room) depart("more data", SYS_mmap);
  memcpy(out, content, size);
  return size;
}

bool Inputs::take_file(FilePart& part, const std::uint8_t*& content, std::size_t& size) {
  if (peek() != abi::InputKind::kFile) return false;
  number();
  part.file = number();
  part.file_size = number();
  part.offset = number();
  size = number();
  content = bytes(size);
  if (content == nullptr) size = 0;
  return true;
}

}  // namespace clew::rt
