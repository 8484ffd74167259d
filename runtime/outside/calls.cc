#include "runtime/outside/calls.h"

#include <asm/ioctls.h>
#include <fcntl.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <cstdio>

#include "runtime/outside/unrecorded.h"
#include "runtime/raw_syscall.h"

// Headers of older kernels do not know these.
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#ifndef SYS_futex_wake
#define SYS_futex_wake 454
#define SYS_futex_wait 455
#define SYS_futex_requeue 456
#endif

namespace clew::rt {
namespace {

enum class PartKind : std::uint8_t {
  kNone,
  kFixed,
  kResult,
  kCounted,
  kSized,
  kVector,
  kMessage,
  kSets,
  kControl,   // of fcntl, ioctl, semctl
  kReceived,  // msgbuf
};

struct Part {
  PartKind kind = PartKind::kNone;
  std::uint8_t argument = 0;
  std::uint8_t other = 0;
  std::uint16_t unit = 0;
};

constexpr Part fixed(std::uint8_t a, std::uint16_t size) { return {PartKind::kFixed, a, 0, size}; }
constexpr Part result(std::uint8_t a, std::uint16_t unit) {
  return {PartKind::kResult, a, 0, unit};
}
constexpr Part counted(std::uint8_t a, std::uint8_t b, std::uint16_t unit) {
  return {PartKind::kCounted, a, b, unit};
}
constexpr Part sized(std::uint8_t a, std::uint8_t b) { return {PartKind::kSized, a, b, 0}; }
constexpr Part vector(std::uint8_t a, std::uint8_t b) { return {PartKind::kVector, a, b, 0}; }
constexpr Part message(std::uint8_t a) { return {PartKind::kMessage, a, 0, 0}; }
constexpr Part sets(std::uint8_t a, std::uint8_t b) { return {PartKind::kSets, a, b, 0}; }
constexpr Part control(std::uint8_t a) { return {PartKind::kControl, a, 0, 0}; }
constexpr Part received(std::uint8_t a) { return {PartKind::kReceived, a, 0, 0}; }

// Above all numbers of system calls on x86-64; no call of calls.def has more parts.
constexpr long kLastCall = 512;
constexpr std::size_t kMaxParts = 3;

struct Entry {
  const char* name = nullptr;
  Treatment treatment = Treatment::kUnknown;
  Part parts[kMaxParts] = {};
};

struct Table {
  Entry entries[kLastCall] = {};
  constexpr Table() {
#define CLEW_CALL(name, treatment, ...) \
  entries[SYS_##name] = {#name, Treatment::treatment, {__VA_ARGS__}};
#include "runtime/outside/calls.def"
  }
};
constexpr Table kTable;

const Entry* entry_of(long number) {
  return number >= 0 && number < kLastCall ? &kTable.entries[number] : nullptr;
}

// What semctl fills. Only the kernel knows how many semaphores there are; a replay takes as many as
// were recorded.
std::size_t semaphores_room(const Call& call) {
  constexpr std::size_t kMost = 32'000;  // the kernel's SEMMSL
  semid_ds set{};
  switch (call.a[2]) {
    case IPC_STAT:
    case SEM_STAT:
    case SEM_STAT_ANY:
      return sizeof set;
    case IPC_INFO:
    case SEM_INFO:
      return sizeof(seminfo);
    case GETALL:
      if (g_inputs.replaying()) return kMost * sizeof(unsigned short);
      raw_syscall(SYS_semctl, call.a[0], 0, IPC_STAT, reinterpret_cast<long>(&set));
      return set.sem_nsems * sizeof(unsigned short);
    default:
      return 0;
  }
}

// What fcntl, ioctl and semctl fill.
std::size_t control_room(const Call& call) {
  if (call.number == SYS_semctl) return semaphores_room(call);
  if (call.number == SYS_fcntl)
    return call.a[1] == F_GETLK || call.a[1] == F_OFD_GETLK ? sizeof(struct flock) : 0;
  const auto request = static_cast<unsigned>(call.a[1]);
  switch (request) {
    case FIONREAD:
    case TIOCOUTQ:
    case TIOCGPGRP:
    case TIOCGSID:
    case TIOCMGET:
      return sizeof(int);
    case TCGETS:
      return 36;  // the kernel's struct termios
    case TIOCGWINSZ:
      return sizeof(winsize);
    case SIOCGIFCONF:
      return sizeof(ifconf);
    default:
      if (asks_about_interface(request)) return sizeof(ifreq);
      return _IOC_DIR(request) & _IOC_READ ? _IOC_SIZE(request) : 0;
  }
}

// The list of parts while it is put together.
struct Pieces {
  Piece* out;
  std::size_t room;
  std::size_t count = 0;
  void add(void* address, std::size_t size) {
    if (count == room) return;
    out[count++] = {address, address != nullptr ? size : 0, 0};
  }
};

void add_message(Pieces& pieces, msghdr* header, std::size_t address_room,
                 std::size_t control_room) {
  if (header == nullptr) return;
  pieces.add(header, sizeof *header);
  pieces.add(header->msg_name, address_room);
  pieces.add(header->msg_control, control_room);
  for (std::size_t i = 0; i < header->msg_iovlen; ++i)
    pieces.add(header->msg_iov[i].iov_base, header->msg_iov[i].iov_len);
}

template <class T>
T* pointer(long argument) {
  return reinterpret_cast<T*>(argument);
}

void add_part(const Call& call, const Part& part, Pieces& pieces) {
  const long address = call.a[part.argument];
  switch (part.kind) {
    case PartKind::kNone:
      return;
    case PartKind::kFixed:
      return pieces.add(pointer<void>(address), part.unit);
    case PartKind::kResult: {
      // The size of the buffer is the next argument; getcwd and the like have it too.
      const auto most = static_cast<std::size_t>(call.a[part.argument + 1]);
      return pieces.add(pointer<void>(address), most * part.unit);
    }
    case PartKind::kCounted:
      return pieces.add(pointer<void>(address),
                        static_cast<std::size_t>(call.a[part.other]) * part.unit);
    case PartKind::kSized: {
      auto* size = pointer<socklen_t>(call.a[part.other]);
      pieces.add(pointer<void>(address), size != nullptr ? call.address_room : 0);
      return pieces.add(size, sizeof *size);
    }
    case PartKind::kVector:
      for (long i = 0; i < call.a[part.other]; ++i)
        pieces.add(pointer<iovec>(address)[i].iov_base, pointer<iovec>(address)[i].iov_len);
      return;
    case PartKind::kMessage:
      return add_message(pieces, pointer<msghdr>(address), call.address_room, call.control_room);
    case PartKind::kSets:
      return pieces.add(pointer<void>(address),
                        static_cast<std::size_t>((call.a[part.other] + 63) / 64 * 8));
    case PartKind::kControl:
      pieces.add(pointer<void>(address), control_room(call));
      if (call.number == SYS_ioctl && call.a[1] == SIOCGIFCONF && address != 0) {
        const ifconf list = *pointer<ifconf>(address);
        pieces.add(list.ifc_buf, list.ifc_len > 0 ? static_cast<std::size_t>(list.ifc_len) : 0);
      }
      return;
    case PartKind::kReceived:
      return pieces.add(pointer<void>(address), sizeof(long) + static_cast<std::size_t>(call.a[2]));
  }
}

std::size_t at_most(std::size_t size, std::size_t most) { return size < most ? size : most; }

// Spreads `left` bytes over parts of a vector.
void fill_in_order(Piece* pieces, std::size_t count, std::size_t left) {
  for (std::size_t i = 0; i < count; ++i) {
    pieces[i].size = at_most(left, pieces[i].room);
    left -= pieces[i].size;
  }
}

std::size_t measure_message(msghdr* header, std::size_t bytes, Piece* pieces) {
  if (header == nullptr) return 0;
  pieces[0].size = pieces[0].room;
  pieces[1].size = at_most(header->msg_namelen, pieces[1].room);
  pieces[2].size = at_most(header->msg_controllen, pieces[2].room);
  fill_in_order(pieces + 3, header->msg_iovlen, bytes);
  return 3 + header->msg_iovlen;
}

std::size_t measure_part(const Call& call, const Part& part, long result, Piece* pieces) {
  const auto bytes = static_cast<std::size_t>(result);
  switch (part.kind) {
    case PartKind::kNone:
      return 0;
    case PartKind::kResult:
      pieces[0].size = at_most(bytes * part.unit, pieces[0].room);
      return 1;
    case PartKind::kReceived:
      pieces[0].size = at_most(sizeof(long) + bytes, pieces[0].room);
      return 1;
    case PartKind::kSized: {
      const auto* size = pointer<socklen_t>(call.a[part.other]);
      pieces[0].size = size != nullptr ? at_most(*size, pieces[0].room) : 0;
      pieces[1].size = size != nullptr ? sizeof *size : 0;
      return 2;
    }
    case PartKind::kVector: {
      const auto count = static_cast<std::size_t>(call.a[part.other]);
      fill_in_order(pieces, count, bytes);
      return count;
    }
    case PartKind::kMessage:
      return measure_message(pointer<msghdr>(call.a[part.argument]), bytes, pieces);
    default:
      pieces[0].size = pieces[0].room;
      return 1;
  }
}

}  // namespace

void note_room(Call& call) {
  const Entry* entry = entry_of(call.number);
  if (entry == nullptr) return;
  for (const Part& part : entry->parts) {
    if (part.kind == PartKind::kSized && call.a[part.other] != 0)
      call.address_room = *pointer<socklen_t>(call.a[part.other]);
    if (part.kind == PartKind::kMessage && call.a[part.argument] != 0) {
      const auto& header = *pointer<msghdr>(call.a[part.argument]);
      call.address_room = header.msg_namelen;
      call.control_room = header.msg_controllen;
    }
  }
}

Treatment treatment_of(long number) {
  const Entry* entry = entry_of(number);
  return entry != nullptr ? entry->treatment : Treatment::kUnknown;
}

const char* call_name(long number) {
  const Entry* entry = entry_of(number);
  if (entry != nullptr && entry->name != nullptr) return entry->name;
  static char text[2][40];
  static unsigned turn = 0;
  char* out = text[turn++ & 1];
  snprintf(out, sizeof text[0], "system call %ld", number);
  return out;
}

std::size_t pieces_before(const Call& call, Piece* out, std::size_t room) {
  const Entry* entry = entry_of(call.number);
  if (entry == nullptr) return 0;
  Pieces pieces{out, room};
  for (const Part& part : entry->parts) add_part(call, part, pieces);
  return pieces.count;
}

void measure_pieces(const Call& call, long result, Piece* pieces, std::size_t count) {
  const Entry* entry = entry_of(call.number);
  if (entry == nullptr || result < 0 || count == 0) return;
  std::size_t at = 0;
  for (const Part& part : entry->parts)
    if (at < count) at += measure_part(call, part, result, pieces + at);
}

// Only the first argument counts: registers of arguments that a call does not have hold garbage,
// and addresses on a stack may move.
std::uint16_t check_of(const Call& call) {
  // Larger ones may be addresses. Chosen: no program is mapped below a mebibyte.
  constexpr long kLargestPlain = 1 << 20;
  const Entry* entry = entry_of(call.number);
  const bool without = entry != nullptr && entry->treatment == Treatment::kRecorded &&
                       entry->parts[0].kind == PartKind::kNone;
  const auto first = static_cast<int>(call.a[0]);
  const bool plain =
      !without && call.a[0] == first && first > -kLargestPlain && first < kLargestPlain;
  const std::uint64_t h = (static_cast<std::uint64_t>(call.number) << 32 ^
                           static_cast<std::uint64_t>(plain ? first : 0)) *
                          0x9e3779b97f4a7c15;
  return static_cast<std::uint16_t>(h >> 40);
}

}  // namespace clew::rt
