// The functions that a thread is in, from where each of them begins and returns. A function may be left
// without a return: by a jump to the next function, an exception, or longjmp. It is taken for left as
// soon as the thread is seen at a place where its frame cannot exist any more.
#ifndef CLEW_RUNTIME_DETECT_FUNCTION_STACK_H_
#define CLEW_RUNTIME_DETECT_FUNCTION_STACK_H_

#include "runtime/detect/pool.h"
#include "runtime/rt.h"

namespace clew::rt {

class FunctionStack {
 public:
  struct Where {
    std::uintptr_t stack = 0;  // the stack pointer, at the return address
    std::uint32_t interruptions =
        0;  // handlers of signals that the thread is in: they may have a stack
            // of their own
  };

  // The thread is at a function's first instruction. Calls `left(function)` for each that it has left
  // before.
  template <class Left>
  void enter(Where where, std::uintptr_t function, Left&& left) {
    leave(where, left);
    if (count_ == room_ && !grow()) return;
    frames_[count_++] = {where, function};
  }
  // The thread is at a return.
  template <class Left>
  void leave(Where where, Left&& left) {
    while (count_ > 0 && is_left(frames_[count_ - 1].where, where))
      left(frames_[--count_].function);
  }

 private:
  struct Frame {
    Where where;
    std::uintptr_t function;
  };
  static bool is_left(const Where& frame, const Where& now) {
    if (frame.interruptions != now.interruptions) return frame.interruptions > now.interruptions;
    return frame.stack <= now.stack;
  }
  // False: there is no more memory. What is deeper is not told.
  bool grow() {
    const std::uint32_t room = room_ == 0 ? 64 : 2 * room_;
    auto* frames = static_cast<Frame*>(g_pool.take(room * sizeof(Frame)));
    if (frames == nullptr) return false;
    for (std::uint32_t i = 0; i < count_; ++i) frames[i] = frames_[i];
    if (frames_ != nullptr) g_pool.give(frames_, room_ * sizeof(Frame));
    frames_ = frames;
    room_ = room;
    return true;
  }

  Frame* frames_ = nullptr;
  std::uint32_t count_ = 0;
  std::uint32_t room_ = 0;
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_DETECT_FUNCTION_STACK_H_
