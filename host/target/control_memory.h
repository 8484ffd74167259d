// The host's side of the control memory (abi/control.h). The program under test can write
// anywhere in it, so the host keeps its own copy of every offset and size.
#ifndef CLEW_HOST_TARGET_CONTROL_MEMORY_H_
#define CLEW_HOST_TARGET_CONTROL_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "clew_abi/control.h"
#include "host/error.h"
#include "host/recording/file.h"
#include "host/target/launch_plan.h"

namespace clew {

inline constexpr std::uint64_t kRingSize = std::uint64_t{16} << 20;

// Room for the jobs of a program that is run many times (abi::kFlagServe).
struct JobRoom {
  std::uint32_t jobs = 1;
  std::uint64_t data = 0;     // guides and names of a batch, bytes
  std::uint64_t sharing = 0;  // bytes
  std::uint64_t trace = 0;    // bytes
};

class ControlMemory {
 public:
  [[nodiscard]] static Result<ControlMemory> create(const LaunchPlan& plan,
                                                    const JobRoom& room = {});

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

  std::uint64_t live_clock() const { return control().live_clock.load(std::memory_order_relaxed); }
  bool attached() const { return control().attached.load(std::memory_order_acquire) != 0; }
  std::uint64_t bytes_drained() const { return tail_; }

  // For a program that is run many times. The parts as the host laid them out, whatever the program
  // has made of the offsets in the memory.
  abi::Control& control() const { return *reinterpret_cast<abi::Control*>(data_); }
  std::byte* at(std::uint64_t offset) const { return data_ + offset; }
  struct Layout {
    std::uint64_t jobs = 0, results = 0, data = 0, data_size = 0;
    abi::Part sharing{}, new_sharing{}, trace{};
  };
  const Layout& layout() const { return layout_; }

 private:
  ControlMemory(FileDescriptor fd, std::byte* data, std::size_t size)
      : fd_(std::move(fd)), data_(data), size_(size) {}

  FileDescriptor fd_;
  std::byte* data_;
  std::size_t size_;
  std::uint64_t ring_offset_ = 0;
  std::uint64_t tail_ = 0;
  Layout layout_;
};

template <class Take>
ControlMemory::Drained ControlMemory::drain(Take&& take) {
  const std::uint64_t head = control().head.load(std::memory_order_acquire);
  const std::uint64_t waiting = head - tail_;
  if (waiting > kRingSize) return Drained::kCorrupted;  // also when it went backwards
  if (waiting == 0) return Drained::kNothing;
  const auto* ring = reinterpret_cast<const std::uint8_t*>(data_) + ring_offset_;
  const std::uint64_t at = tail_ % kRingSize;
  const std::uint64_t first = std::min(waiting, kRingSize - at);
  take(std::span(ring + at, first));
  if (waiting > first) take(std::span(ring, waiting - first));
  tail_ = head;
  control().tail.store(tail_, std::memory_order_release);
  return Drained::kSome;
}

}  // namespace clew

#endif  // CLEW_HOST_TARGET_CONTROL_MEMORY_H_
