#include "runtime/outside/unrecorded.h"

#include <asm/ioctls.h>
#include <stdio.h>
#include <sys/ioctl.h>

#include "runtime/outside/calls.h"
#include "runtime/record/log.h"

namespace clew::rt {
namespace {

enum class Kind : std::uint8_t { kRequest, kUnknownCall, kRefusedCall };

struct Unrecorded {
  Kind kind;
  unsigned long what;
  int fd;
};
// Chosen, not measured: as many as a person would read in a note.
constexpr unsigned kMost = 32;
Unrecorded g_seen[kMost];
unsigned g_count = 0;

void add(const Unrecorded& one) {
  for (unsigned i = 0; i < g_count; ++i)
    if (g_seen[i].kind == one.kind && g_seen[i].what == one.what) return;
  if (g_count < kMost) g_seen[g_count++] = one;
}

}  // namespace

bool is_known_request(unsigned long request) {
  switch (request) {
    case FIONREAD:
    case FIONBIO:
    case FIOCLEX:
    case FIONCLEX:
    case FIOASYNC:
    case TIOCOUTQ:
    case TIOCGPGRP:
    case TIOCSPGRP:
    case TIOCGSID:
    case TIOCMGET:
    case TCGETS:
    case TCSETS:
    case TCSETSW:
    case TCSETSF:
    case TCFLSH:
    case TIOCGWINSZ:
    case TIOCSWINSZ:
    case TIOCSCTTY:
    case TIOCNOTTY:
    case SIOCGIFCONF:
      return true;
    default:
      if (asks_about_interface(request)) return true;
      // Requests of the newer form say themselves what they fill.
      return _IOC_SIZE(request) != 0 || _IOC_DIR(request) != _IOC_NONE;
  }
}

bool asks_about_interface(unsigned long request) {
  switch (request) {
    case SIOCGIFNAME:
    case SIOCGIFFLAGS:
    case SIOCGIFADDR:
    case SIOCGIFDSTADDR:
    case SIOCGIFBRDADDR:
    case SIOCGIFNETMASK:
    case SIOCGIFMETRIC:
    case SIOCGIFMEM:
    case SIOCGIFMTU:
    case SIOCGIFHWADDR:
    case SIOCGIFINDEX:
    case SIOCGIFTXQLEN:
    case SIOCGIFMAP:
      return true;
    default:
      return false;
  }
}

void note_request(unsigned long request, int fd) { add({Kind::kRequest, request, fd}); }

void note_unknown_call(long number) {
  add({Kind::kUnknownCall, static_cast<unsigned long>(number), -1});
}

void note_refused_call(long number) {
  add({Kind::kRefusedCall, static_cast<unsigned long>(number), -1});
}

void tell_unrecorded() {
  for (unsigned i = 0; i < g_count; ++i) {
    const Unrecorded& one = g_seen[i];
    char line[96];
    const char* const call = call_name(static_cast<long>(one.what));
    switch (one.kind) {
      case Kind::kRequest:
        snprintf(line, sizeof line, "not recorded: ioctl 0x%lx on fd %d", one.what, one.fd);
        break;
      case Kind::kUnknownCall:
        snprintf(line, sizeof line, "not recorded: %s", call);
        break;
      case Kind::kRefusedCall:
        snprintf(line, sizeof line, "answered as by a kernel that does not have it: %s", call);
        break;
    }
    g_log.note(line);
  }
}

}  // namespace clew::rt
