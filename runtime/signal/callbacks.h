// What signals need of the folders above this one.
#ifndef CLEW_RUNTIME_SIGNAL_CALLBACKS_H_
#define CLEW_RUNTIME_SIGNAL_CALLBACKS_H_

#include <signal.h>

#include <cstddef>

namespace clew::rt {

// Filled in when the runtime takes over.
struct SignalCallbacks {
  // Signals may come from outside at any time from now on: the kernel has to be asked.
  void (*expect_signals)() = nullptr;
  // How many signals may be pending at once; 0: not known.
  std::size_t (*most_pending)() = nullptr;
  // A signal is no longer pending. If a timer sent it, `info` gets the number of times that it was
  // due since, and the timer is armed again.
  void (*taken)(siginfo_t& info) = nullptr;
};
extern SignalCallbacks g_signal_callbacks;

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SIGNAL_CALLBACKS_H_
