// How often a run comes to one place (Job::watch): isolation asks whether a run that passes has
// been where the failing one fails.
#ifndef CLEW_RUNTIME_EVENT_WATCH_H_
#define CLEW_RUNTIME_EVENT_WATCH_H_

#include "runtime/event/listener.h"

namespace clew::rt {

class Watch final : public Listener {
 public:
  // 0: no place.
  void begin(abi::Place place) {
    place_ = place;
    count_ = 0;
  }

  Hearing hearing() const {
    if (place_ == 0) return {};
    return {.topics = kTopicEvents, .window = Window::all(), .looks = Hearing::Looks::kAtEach};
  }

  void before(const Event& event) override {
    if (event.step.place == place_) ++count_;
  }

  std::uint64_t count() const { return count_; }

 private:
  abi::Place place_ = 0;
  std::uint64_t count_ = 0;
};

inline constinit Watch g_watch;

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_EVENT_WATCH_H_
