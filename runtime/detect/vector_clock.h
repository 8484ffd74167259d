// Vector clocks: for each thread, by its index, how much of what it did is known to have happened.
#ifndef CLEW_RUNTIME_DETECT_VECTOR_CLOCK_H_
#define CLEW_RUNTIME_DETECT_VECTOR_CLOCK_H_

#include "runtime/detect/pool.h"

namespace clew::rt {

class VectorClock {
 public:
  std::uint32_t of(std::uint32_t thread) const { return thread < size_ ? at_[thread] : 0; }
  bool empty() const { return size_ == 0; }

  void set(std::uint32_t thread, std::uint32_t value) {
    if (thread >= size_ && !grow(thread + 1)) return;
    at_[thread] = value;
  }
  void tick(std::uint32_t thread) { set(thread, of(thread) + 1); }
  void join(const VectorClock& other) {
    if (other.size_ > size_ && !grow(other.size_)) return;
    for (std::uint32_t i = 0; i < other.size_; ++i)
      if (other.at_[i] > at_[i]) at_[i] = other.at_[i];
  }
  void assign(const VectorClock& other) {
    size_ = 0;
    if (!grow(other.size_)) return;
    for (std::uint32_t i = 0; i < other.size_; ++i) at_[i] = other.at_[i];
  }
  void clear() { size_ = 0; }
  // The memory is given back.
  void drop() {
    if (room_ != 0) g_pool.give(at_, room_ * sizeof *at_);
    *this = VectorClock();
  }

 private:
  bool grow(std::uint32_t size) {
    if (size > room_) {
      std::uint32_t room = room_ < 8 ? 8 : room_;
      while (room < size) room *= 2;
      auto* more = static_cast<std::uint32_t*>(g_pool.take(room * sizeof *at_));
      if (more == nullptr) return false;
      for (std::uint32_t i = 0; i < size_; ++i) more[i] = at_[i];
      if (room_ != 0) g_pool.give(at_, room_ * sizeof *at_);
      at_ = more;
      room_ = room;
    }
    for (std::uint32_t i = size_; i < size; ++i) at_[i] = 0;
    size_ = size;
    return true;
  }

  std::uint32_t* at_ = nullptr;
  std::uint32_t size_ = 0;
  std::uint32_t room_ = 0;
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_DETECT_VECTOR_CLOCK_H_
