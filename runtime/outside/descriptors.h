// What the descriptors of the program refer to, as far as that decides how a call on one is made.
// It is learned from the kernel when first needed, and forgotten when a call changes the
// descriptor.
#ifndef CLEW_RUNTIME_OUTSIDE_DESCRIPTORS_H_
#define CLEW_RUNTIME_OUTSIDE_DESCRIPTORS_H_

#include "runtime/rt.h"

namespace clew::rt {

enum class Leads : std::uint8_t {
  kNotKnown,
  kNowhere,  // not open
  kFile,     // never waits: regular files, folders, most devices
  kOutput,   // clew's own end of standard output and error
  kRandom,   // /dev/random, /dev/urandom
  // What can be waited for:
  kSocket,
  kPipe,
  kCounter,  // eventfd, and what stands in for timerfd and signalfd
  kStream,   // terminals, inotify, epoll, ...
};

struct Descriptor {
  bool can_be_waited_for() const { return leads >= Leads::kSocket; }
  bool is_stream() const { return leads > Leads::kSocket; }
  Leads leads = Leads::kNotKnown;
  bool blocking = true;
  bool reads = true;  // it was opened for reading
  bool writes = true;
  bool inside = false;      // both ends are this program's: only it can make it ready
  std::uint8_t output = 0;  // abi::AnswerFlags
};

// SO_RCVTIMEO and SO_SNDTIMEO; 0: none. Known in a replay too.
struct Timeouts {
  Nanos receive = 0;
  Nanos send = 0;
};
Timeouts& timeouts_of(int fd);

void descriptors_init();
// Asks the kernel if necessary. REQUIRES: not in a replay.
Descriptor& descriptor(int fd);
// The number now stands for something else.
void forget_descriptor(int fd);
void forget_descriptors(unsigned first, unsigned last);
// O_NONBLOCK was changed somewhere; copies of a descriptor share it.
void forget_blocking();
// The program itself has made both ends of the descriptor.
void note_inside(int fd);
// Whether the program has made pipes, sockets or the like: the kernel keeps their content, and no
// checkpoint restores it.
bool streams_were_made();
void note_stream_made();
// From now on other processes may have copies of any descriptor.
void nothing_is_inside();

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_OUTSIDE_DESCRIPTORS_H_
