// All calls here go to the kernel: they are made before the runtime is in charge, or on its own
// behalf.
#include "runtime/record/adoption.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>

#include "clew_abi/adoption.h"
#include "runtime/raw_syscall.h"

namespace clew::rt {
namespace {

constexpr int kMostAncestors = 64;

// 0: unknown.
int parent_of(int process) {
  char path[32];
  snprintf(path, sizeof path, "/proc/%d/stat", process);
  const long file =
      raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[512];
  const long size = raw_syscall(SYS_read, file, reinterpret_cast<long>(text), sizeof text - 1);
  raw_syscall(SYS_close, file);
  text[size > 0 ? size : 0] = '\0';
  const char* name_end = strrchr(text, ')');  // the name may hold anything
  if (name_end == nullptr || strlen(name_end) < 4) return 0;
  return atoi(name_end + 4);  // ") S 123"
}

// Whether it is that process of the same user at the other end, and not one that has taken its name.
bool leads_to(long connection, int process) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return raw_syscall(SYS_getsockopt, connection, SOL_SOCKET, SO_PEERCRED,
                     reinterpret_cast<long>(&peer), reinterpret_cast<long>(&size)) == 0 &&
         peer.pid == process && peer.uid == static_cast<uid_t>(raw_syscall(SYS_geteuid));
}

// Waits a little while the other end has too many connections to take.
long connect_soon(long connection, const sockaddr_un& address, long size) {
  constexpr int kAttempts = 200;
  long error = 0;
  for (int i = 0; i < kAttempts; ++i) {
    error = raw_syscall(SYS_connect, connection, reinterpret_cast<long>(&address), size);
    if (error != -EAGAIN) return error;
    const timespec nap{0, 10'000'000};
    raw_syscall(SYS_nanosleep, reinterpret_cast<long>(&nap), 0);
  }
  return error;
}

// A connection to the process, if it is a clew of the same user that records. -1: it is not.
int connect_to(int process) {
  for (int i = 0; i < abi::kAdoptionNames; ++i) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    char ending[4] = {};
    if (i > 0) snprintf(ending, sizeof ending, ".%d", i);
    const int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "%s%d%s",
                                abi::kAdoptionPrefix, process, ending);
    const long size = static_cast<long>(offsetof(sockaddr_un, sun_path)) + 1 + length;
    // Whoever has the name must not stop the program by not answering.
    const long connection =
        raw_syscall(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (connection < 0) return -1;
    const long error = connect_soon(connection, address, size);
    if (error == 0 && leads_to(connection, process)) {
      raw_syscall(SYS_fcntl, connection, F_SETFL, 0);  // it does answer
      return static_cast<int>(connection);
    }
    raw_syscall(SYS_close, connection);
    if (error == -ECONNREFUSED) return -1;  // nobody has this name, nor those after it
  }
  return -1;
}

// -1: there is none.
int connect_to_ancestor() {
  int process = static_cast<int>(raw_syscall(SYS_getppid));
  for (int i = 0; i < kMostAncestors && process > 1; ++i, process = parent_of(process))
    if (const int connection = connect_to(process); connection >= 0) return connection;
  return -1;
}

int petition(int connection, const abi::Petition& text) {
  if (raw_syscall(SYS_sendto, connection, reinterpret_cast<long>(&text), sizeof text, MSG_NOSIGNAL,
                  0, 0) != sizeof text)
    return -1;
  char answer = 0;
  iovec part{&answer, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const long got =
      raw_syscall(SYS_recvmsg, connection, reinterpret_cast<long>(&message), MSG_CMSG_CLOEXEC);
  const cmsghdr* rights = got == 1 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (rights == nullptr || rights->cmsg_level != SOL_SOCKET || rights->cmsg_type != SCM_RIGHTS)
    return -1;
  int memory;
  memcpy(&memory, CMSG_DATA(rights), sizeof memory);
  return memory;
}

}  // namespace

int ask_ancestors_for_control() {
  static abi::Petition text;
  const auto* started_as = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  if (started_as == nullptr || strlen(started_as) >= sizeof text.started_as) return -1;
  const int connection = connect_to_ancestor();
  if (connection < 0) return -1;
  text.size = static_cast<std::uint32_t>(strlen(started_as));
  memcpy(text.started_as, started_as, text.size);
  const int memory = petition(connection, text);
  raw_syscall(SYS_close, connection);
  return memory;
}

int ask_for_recording_of_copy(int host, const abi::Branch& branch) {
  static abi::Petition text;
  const int connection = connect_to(host);
  if (connection < 0) return -1;
  text.purpose = abi::PetitionFor::kCopy;
  text.branch = branch;
  const int memory = petition(connection, text);
  raw_syscall(SYS_close, connection);
  return memory;
}

}  // namespace clew::rt
