#include "runtime/outside/descriptors.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "clew_abi/inputs.h"
#include "runtime/arena.h"
#include "runtime/raw_syscall.h"

namespace clew::rt {
namespace {

constexpr unsigned kMost = 1 << 20;  // sysctl fs.nr_open's usual value

struct Slot {
  Descriptor known;
  Timeouts timeouts;
  std::uint32_t blocking_epoch = 0;
};

Slot* g_slots = nullptr;
std::uint32_t g_blocking_epoch = 1;
bool g_inside_counts = true;
struct Identity {
  std::uint64_t device, inode;
};
Identity g_outputs[2];  // of standard output and error

bool status_of(int fd, struct stat& status) {
  return raw_syscall(SYS_fstat, fd, reinterpret_cast<long>(&status)) == 0;
}

bool is_counter(int fd) {
  static constexpr char kName[] = "anon_inode:[eventfd]";
  char link[32];
  char name[sizeof kName] = {};
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  raw_syscall(SYS_readlink, reinterpret_cast<long>(link), reinterpret_cast<long>(name),
              sizeof name - 1);
  return strcmp(name, kName) == 0;
}

Leads learn(int fd, std::uint8_t& output) {
  struct stat status;
  if (!status_of(fd, status)) return Leads::kNowhere;
  for (int i = 0; i < 2; ++i) {
    if (g_outputs[i].inode != status.st_ino || g_outputs[i].device != status.st_dev) continue;
    output = i == 0 ? abi::kToStdout : abi::kToStderr;
    return Leads::kOutput;
  }
  if (S_ISSOCK(status.st_mode)) return Leads::kSocket;
  if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode) || S_ISBLK(status.st_mode))
    return Leads::kFile;
  if (S_ISCHR(status.st_mode) && major(status.st_rdev) == 1) {
    const unsigned device = minor(status.st_rdev);  // null, zero, full, random, urandom, ...
    return device == 8 || device == 9 ? Leads::kRandom : Leads::kFile;
  }
  if (S_ISFIFO(status.st_mode)) return Leads::kPipe;
  return (status.st_mode & S_IFMT) == 0 && is_counter(fd) ? Leads::kCounter : Leads::kStream;
}

}  // namespace

void descriptors_init() {
  g_slots = static_cast<Slot*>(arena_alloc(kMost * sizeof(Slot)));
  for (int i = 0; i < 2; ++i) {
    struct stat status;
    const bool open = status_of(i + 1, status);
    const bool null = open && S_ISCHR(status.st_mode) && major(status.st_rdev) == 1;
    g_outputs[i] = open && !null ? Identity{status.st_dev, status.st_ino} : Identity{};
  }
}

Descriptor& descriptor(int fd) {
  static Descriptor nowhere{Leads::kNowhere, true, true, true, false, 0};
  if (static_cast<unsigned>(fd) >= kMost) return nowhere;
  Slot& slot = g_slots[fd];
  Descriptor& known = slot.known;
  if (known.leads == Leads::kNotKnown || known.leads == Leads::kNowhere)
    known.leads = learn(fd, known.output);
  if (slot.blocking_epoch != g_blocking_epoch && known.can_be_waited_for()) {
    slot.blocking_epoch = g_blocking_epoch;
    const long flags = raw_syscall(SYS_fcntl, fd, F_GETFL);
    known.blocking = flags >= 0 && (flags & O_NONBLOCK) == 0;
    known.reads = (flags & O_ACCMODE) != O_WRONLY;
    known.writes = (flags & O_ACCMODE) != O_RDONLY;
  }
  return known;
}

Timeouts& timeouts_of(int fd) {
  static Timeouts none;
  return static_cast<unsigned>(fd) < kMost ? g_slots[fd].timeouts : none;
}

void forget_descriptor(int fd) {
  if (static_cast<unsigned>(fd) < kMost) g_slots[fd] = {};
}

void forget_descriptors(unsigned first, unsigned last) {
  if (last >= kMost) last = kMost - 1;
  // Slots that were never used are not touched: their pages do not exist yet.
  for (unsigned fd = first; fd <= last; ++fd)
    if (g_slots[fd].known.leads != Leads::kNotKnown || g_slots[fd].known.inside) g_slots[fd] = {};
}

void forget_blocking() { ++g_blocking_epoch; }

void note_inside(int fd) {
  if (static_cast<unsigned>(fd) < kMost) g_slots[fd].known.inside = g_inside_counts;
}

namespace {
bool g_streams_made = false;
}
bool streams_were_made() { return g_streams_made; }
void note_stream_made() { g_streams_made = true; }

void nothing_is_inside() {
  g_inside_counts = false;
  for (unsigned fd = 0; fd < 4096; ++fd) g_slots[fd].known.inside = false;
}

}  // namespace clew::rt
