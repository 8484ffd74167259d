#include "host/translate/service.h"

#include <fmt/format.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace clew {
namespace {

using abi::TranslationRequest;
using abi::TranslationTurn;

// What the run writes down before it is taken: small enough to stay in the processor's cache, large enough that
// being asked for more does not count. Chosen, not measured.
constexpr std::uint64_t kPart = std::uint64_t{4} << 20;
static_assert(kPart <= abi::kBufferSize);
// Parts that wait to be read: how far the run may be ahead. Chosen, not measured.
constexpr std::size_t kMostTaken = 4;

long futex(std::atomic<TranslationTurn>& word, int operation, std::uint32_t value,
           const timespec* timeout) {
  return syscall(SYS_futex, &word, operation, value, timeout, nullptr, 0);
}

}  // namespace

Result<std::unique_ptr<TranslationService>> TranslationService::create(TraceDetail detail,
                                                                       Sink sink) {
  return create(
      [detail](std::span<std::uint8_t> memory) {
        return std::make_unique<Translator>(memory, detail);
      },
      std::move(sink));
}

Result<std::unique_ptr<TranslationService>> TranslationService::create(OwnCode& map,
                                                                       CallDetail detail,
                                                                       Sink sink) {
  return create(
      [&map, detail](std::span<std::uint8_t> memory) {
        return std::make_unique<Translator>(memory, map, detail);
      },
      std::move(sink));
}

Result<std::unique_ptr<TranslationService>> TranslationService::create(const MakeTranslator& make,
                                                                       Sink sink) {
  // The program opens the memory by its name there.
  if (access("/proc/self/fd", X_OK) != 0)
    return fail(ErrorCode::kSystem, "tracing needs /proc, which is not there");
  const int descriptor = memfd_create("clew translation", MFD_CLOEXEC);
  if (descriptor < 0 || ftruncate(descriptor, abi::kTranslationSize) != 0)
    return fail(ErrorCode::kSystem,
                fmt::format("cannot create memory to trace with: {}", std::strerror(errno)));
  void* memory = mmap(nullptr, abi::kTranslationSize, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  if (memory == MAP_FAILED) {
    close(descriptor);
    return fail(ErrorCode::kSystem,
                fmt::format("cannot map memory to trace with: {}", std::strerror(errno)));
  }
  // The thread takes no signals: Ctrl-C is for the one that waits for the run.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::unique_ptr<TranslationService> service(new TranslationService(
      descriptor, {static_cast<std::uint8_t*>(memory), abi::kTranslationSize}, make,
      std::move(sink)));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return service;
}

TranslationService::TranslationService(int descriptor, std::span<std::uint8_t> memory,
                                       const MakeTranslator& make, Sink sink)
    : descriptor_(descriptor), memory_(memory), sink_(std::move(sink)), translator_(make(memory)) {
  refill();
  reader_ = std::thread([this] { read(); });
  thread_ = std::thread([this] { serve(); });
}

TranslationService::~TranslationService() {
  finish();
  munmap(memory_.data(), memory_.size());
  close(descriptor_);
}

void TranslationService::finish() {
  if (!thread_.joinable()) return;
  ends_ = true;
  futex(state().turn, FUTEX_WAKE, 1, nullptr);
  thread_.join();
  take();
  {
    const std::lock_guard lock(mutex_);
    all_taken_ = true;
  }
  changed_.notify_all();
  reader_.join();
}

void TranslationService::serve() {
  const timespec round{0, 20'000'000};
  while (!ends_) {
    if (state().turn.load(std::memory_order_acquire) != TranslationTurn::kHost) {
      futex(state().turn, FUTEX_WAIT, static_cast<std::uint32_t>(TranslationTurn::kProgram),
            &round);
      continue;
    }
    answer();
    state().turn.store(TranslationTurn::kProgram, std::memory_order_release);
    futex(state().turn, FUTEX_WAKE, 1, nullptr);
  }
}

void TranslationService::answer() {
  abi::TranslationState& asked = state();
  switch (asked.request) {
    case TranslationRequest::kDrain:
      take();
      return;
    case TranslationRequest::kOrigin: {
      const Translator::Origin origin = translator_->origin(asked.target);
      asked.answer = origin.address;
      asked.saved_registers = origin.saved;
    }
      return;
    default:
      break;
  }
  const std::lock_guard lock(blocks_);
  const std::size_t count = std::min<std::size_t>(asked.bytes_count, abi::kMostCodeBytes);
  const std::uint64_t code = translator_->translate(asked.target, {asked.bytes, count});
  asked.answer = code;
  if (code == 0) return;
  for (std::uint32_t i = 0; i < abi::kTargetTables; ++i) {
    const auto table = static_cast<abi::TargetTable>(i);
    if (asked.exit != abi::exit_of(table)) continue;
    asked.answer = translator_->enlist(table, asked.target, code);
    return;
  }
  translator_->connect(asked.exit, code);
}

std::span<std::uint64_t> TranslationService::counters() {
  return {reinterpret_cast<std::uint64_t*>(memory_.data() + abi::kCountersOffset),
          translator_->counting() != nullptr ? translator_->counting()->counters().size() : 0};
}

void TranslationService::begin_run() {
  drain();
  state().last_thread = UINT32_MAX;
  state().is_last_thread = 0;
  state().out_stack = 0;
}

void TranslationService::stop_at(std::vector<std::uint64_t> offsets,
                                 std::function<void(std::size_t)> reached) {
  stops_ = std::move(offsets);
  reached_ = std::move(reached);
  refill();
}

std::span<std::uint64_t> TranslationService::registers() {
  constexpr std::size_t kGeneral = 16;
  return std::span(state().registers).first(kGeneral);
}

bool TranslationService::continue_at(std::uint64_t address, std::span<const std::uint8_t> bytes) {
  const std::uint64_t code =
      translator_->translate(address, bytes.first(std::min(bytes.size(), abi::kMostCodeBytes)));
  if (code != 0) state().jump = code;
  return code != 0;
}

void TranslationService::drain() {
  take();
  catch_up();
}

void TranslationService::catch_up() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return taken_.empty() && !reads_; });
}

void TranslationService::read() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return all_taken_ || !taken_.empty(); });
    if (taken_.empty()) return;
    std::vector<std::uint8_t> part = std::move(taken_.front());
    taken_.pop_front();
    reads_ = true;
    lock.unlock();
    {
      const std::lock_guard held(blocks_);
      sink_(part);
    }
    lock.lock();
    reads_ = false;
    free_.push_back(std::move(part));
    changed_.notify_all();
  }
}

void TranslationService::take() {
  const std::uint64_t end =
      std::clamp<std::uint64_t>(state().buffer, begin_, abi::kBufferEnd + abi::kBufferBeyond);
  const std::uint64_t offset = begin_ - (abi::kBufferEnd - abi::kBufferSize);
  const std::uint8_t* from = memory_.data() + abi::kBufferOffset + offset;
  if (end != begin_) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return taken_.size() < kMostTaken; });
    std::vector<std::uint8_t> part;
    if (!free_.empty()) {
      part = std::move(free_.back());
      free_.pop_back();
    }
    part.assign(from, from + (end - begin_));
    taken_.push_back(std::move(part));
    changed_.notify_all();
  }
  written_ += end - begin_;
  while (next_stop_ < stops_.size() && stops_[next_stop_] <= written_) {
    // One that lies within a block was never one of this run.
    if (stops_[next_stop_] == written_ && !ends_) reached_(next_stop_);
    ++next_stop_;
  }
  refill();
}

// So that the buffer is full at the next stop.
void TranslationService::refill() {
  const std::uint64_t left = next_stop_ < stops_.size() ? stops_[next_stop_] - written_ : kPart;
  begin_ = abi::kBufferEnd - std::min(left, kPart);
  state().buffer = begin_;
}

}  // namespace clew
