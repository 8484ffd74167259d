#include "host/target/interrupts.h"

#include <sys/signalfd.h>
#include <unistd.h>

namespace clew {

Interrupts::Interrupts() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, number);
  sigprocmask(SIG_BLOCK, &set, &before_);
  fd_ = FileDescriptor(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

Interrupts::~Interrupts() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

int Interrupts::take() const {
  signalfd_siginfo info{};
  if (read(fd_.get(), &info, sizeof info) != sizeof info) return 0;
  return static_cast<int>(info.ssi_signo);
}

}  // namespace clew
