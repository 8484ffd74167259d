// The host's side of the control memory (abi/clew_abi/control.h). The program under test can write
// anywhere in it, so the host keeps its own copy of every offset and size.
#ifndef CLEW_HOST_TARGET_CONTROL_MEMORY_H_
#define CLEW_HOST_TARGET_CONTROL_MEMORY_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "clew_abi/control.h"
#include "clew_abi/findings.h"
#include "host/error.h"
#include "host/recording/file.h"
#include "host/target/launch_plan.h"

namespace clew {

inline constexpr std::uint64_t kRingSize = std::uint64_t{16} << 20;
inline constexpr std::uint64_t kInputsRingSize = std::uint64_t{16} << 20;

// The optional parts of the memory.
struct Room {
  bool record_inputs = false;  // a ring for what the run reads from outside

  // For the jobs of a program that is run many times (abi::kFlagServe).
  std::uint32_t jobs = 1;
  std::uint64_t data = 0;     // guides and names of a batch, bytes
  std::uint64_t sharing = 0;  // bytes
  std::uint64_t trace = 0;    // bytes
};

class ControlMemory {
 public:
  [[nodiscard]] static Result<ControlMemory> create(const LaunchPlan& plan, const Room& room = {});

  ControlMemory(ControlMemory&& other) noexcept;
  ControlMemory& operator=(ControlMemory&&) = delete;
  ControlMemory(const ControlMemory&) = delete;
  ControlMemory& operator=(const ControlMemory&) = delete;
  ~ControlMemory();

  // High, so that it never takes a number the program would get from open().
  int descriptor() const { return fd_.get(); }

  enum class Drained : std::uint8_t { kNothing, kSome, kCorrupted };
  // Hands what the runtime has written since the last call to `take`, in one or two pieces.
  template <class Take>
  Drained drain(Take&& take);
  // Hands on what the run has read from outside in the same way. REQUIRES: there is a ring for it.
  template <class Take>
  Drained drain_inputs(Take&& take);

  std::uint64_t live_clock() const { return control().live_clock.load(std::memory_order_relaxed); }
  bool attached() const { return control().attached.load(std::memory_order_acquire) != 0; }
  // No thread is runnable, and at least one waits for something from outside.
  bool waits_for_children_only() const {
    return control().waits_outside.load(std::memory_order_relaxed) ==
           abi::WaitsOutside::kForChildrenOnly;
  }
  bool waits_outside() const {
    const auto waits = control().waits_outside.load(std::memory_order_relaxed);
    return waits == abi::WaitsOutside::kYes || waits == abi::WaitsOutside::kForChildrenOnly;
  }
  // The code of a listener runs.
  bool is_in_listener() const {
    return control().waits_outside.load(std::memory_order_relaxed) == abi::kWaitsListener;
  }
  // The program continues, but what it reports is no longer read.
  void let_go() const { control().let_go.store(1, std::memory_order_relaxed); }
  // What is there instead of a ring while the program is served (abi::FindingNote).
  std::span<const std::uint8_t> ring() const {
    return {reinterpret_cast<const std::uint8_t*>(data_) + ring_.offset, ring_.size};
  }
  std::uint64_t bytes_drained() const { return ring_.tail + inputs_ring_.tail; }
  // The size of the part for what the run reads from outside, as the host laid it out.
  std::span<std::uint8_t> inputs() const {
    return {reinterpret_cast<std::uint8_t*>(data_) + layout_.inputs.offset, layout_.inputs.size};
  }

  // For a program that is run many times: the parts as the host laid them out, whatever the program
  // has done to the offsets in the memory.
  abi::Control& control() const { return *reinterpret_cast<abi::Control*>(data_); }
  std::byte* at(std::uint64_t offset) const { return data_ + offset; }
  struct Layout {
    std::uint64_t jobs = 0, results = 0, data = 0, data_size = 0;
    abi::Part sharing{}, new_sharing{}, trace{}, inputs{};
  };
  const Layout& layout() const { return layout_; }

 private:
  struct Ring {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;  // a power of two
    std::uint64_t tail = 0;  // bytes taken since the start
  };
  template <class Take>
  Drained drain(Ring& ring, const std::atomic<std::uint64_t>& head,
                std::atomic<std::uint64_t>& tail, Take&& take);

  ControlMemory(FileDescriptor fd, std::byte* data, std::size_t size)
      : fd_(std::move(fd)), data_(data), size_(size) {}

  FileDescriptor fd_;
  std::byte* data_;
  std::size_t size_;
  Ring ring_;
  Ring inputs_ring_;
  Layout layout_;
};

template <class Take>
ControlMemory::Drained ControlMemory::drain(Ring& ring, const std::atomic<std::uint64_t>& head,
                                            std::atomic<std::uint64_t>& tail, Take&& take) {
  const std::uint64_t until = head.load(std::memory_order_acquire);
  const std::uint64_t waiting = until - ring.tail;
  if (waiting > ring.size) return Drained::kCorrupted;  // also when it went backwards
  if (waiting == 0) return Drained::kNothing;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(data_) + ring.offset;
  const std::uint64_t at = ring.tail % ring.size;
  const std::uint64_t first = std::min(waiting, ring.size - at);
  take(std::span(bytes + at, first));
  if (waiting > first) take(std::span(bytes, waiting - first));
  ring.tail = until;
  tail.store(until, std::memory_order_release);
  return Drained::kSome;
}

template <class Take>
ControlMemory::Drained ControlMemory::drain(Take&& take) {
  return drain(ring_, control().head, control().tail, std::forward<Take>(take));
}

template <class Take>
ControlMemory::Drained ControlMemory::drain_inputs(Take&& take) {
  return drain(inputs_ring_, control().inputs_head, control().inputs_tail,
               std::forward<Take>(take));
}

}  // namespace clew

#endif  // CLEW_HOST_TARGET_CONTROL_MEMORY_H_
