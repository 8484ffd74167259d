// SIGINT, SIGTERM and SIGHUP as something to poll for, while a program runs.
#ifndef CLEW_HOST_TARGET_INTERRUPTS_H_
#define CLEW_HOST_TARGET_INTERRUPTS_H_

#include <signal.h>

#include "host/recording/file.h"

namespace clew {

// Signals are blocked while this object exists; those that came and were not taken act as usual
// afterwards.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  int descriptor() const { return fd_.get(); }
  // The next signal that has come; 0: none.
  int take() const;

 private:
  FileDescriptor fd_;
  sigset_t before_{};
};

}  // namespace clew

#endif  // CLEW_HOST_TARGET_INTERRUPTS_H_
