#include "runtime/outside/unrecorded.h"

#include <asm/ioctls.h>
#include <stdio.h>
#include <sys/ioctl.h>

#include "runtime/outside/calls.h"
#include "runtime/record/log.h"

namespace clew::rt {
namespace {

struct Unrecorded {
  bool is_request;
  unsigned long what;
  int fd;
};
// Chosen, not measured: as many as a person would read in a note.
constexpr unsigned kMost = 32;
Unrecorded g_seen[kMost];
unsigned g_count = 0;

void add(const Unrecorded& one) {
  for (unsigned i = 0; i < g_count; ++i)
    if (g_seen[i].is_request == one.is_request && g_seen[i].what == one.what) return;
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

void note_request(unsigned long request, int fd) { add({true, request, fd}); }

void note_unknown_call(long number) { add({false, static_cast<unsigned long>(number), -1}); }

void tell_unrecorded() {
  for (unsigned i = 0; i < g_count; ++i) {
    char line[96];
    if (g_seen[i].is_request) {
      snprintf(line, sizeof line, "not recorded: ioctl 0x%lx on fd %d", g_seen[i].what,
               g_seen[i].fd);
    } else {
      snprintf(line, sizeof line, "not recorded: %s", call_name(static_cast<long>(g_seen[i].what)));
    }
    g_log.note(line);
  }
}

bool any_unrecorded() { return g_count > 0; }

}  // namespace clew::rt
