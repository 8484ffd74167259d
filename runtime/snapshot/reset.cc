#include "runtime/snapshot/reset.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "clew_abi/control.h"
#include "clew_abi/translation.h"
#include "runtime/arena.h"
#include "runtime/fiber/context.h"
#include "runtime/keep.h"
#include "runtime/libc/user_dispatch.h"
#include "runtime/raw_syscall.h"
#include "runtime/snapshot/fork.h"

namespace clew::rt {
namespace {

constexpr std::uintptr_t kPage = 4096;
// Sizes of tables, and the descriptors above which copies are kept: chosen, not measured.
constexpr std::size_t kEngineStack = 256 * 1024;
constexpr std::uint32_t kMaxRegions = 16 * 1024;
constexpr std::uint32_t kMaxRanges = 64 * 1024;
constexpr std::size_t kTextSize = 4 << 20;
constexpr int kMaxDescriptors = 64;
constexpr int kLowestSaved = 600;
// Pages that a run touches for the first time are remembered too, after this many runs: copying
// zeros is cheaper than a page fault. The number is chosen, not measured.
constexpr std::uint32_t kAdoptions = 3;
// Later ones, each after so many runs that have touched others.
constexpr std::uint32_t kLateAdoptions = 5;
constexpr std::uint32_t kRunsWithFaults = 16;
// Copying more than this costs more than a fork, which shares the pages: 64 MiB, chosen,
// not measured.
constexpr std::size_t kMostPages = 16 * 1024;

struct Region {
  std::uintptr_t begin, end;
  bool writable_private;
};
// Pages whose content is remembered, or ones that are dropped.
struct Range {
  std::uintptr_t begin, end;
  std::uint8_t* copy;
};
struct Layout {
  Range* saved;
  std::uint32_t saved_count;
  Range* dropped;
  std::uint32_t dropped_count;
};
struct Descriptor {
  int number, saved;
  long offset;
  long flags;       // of the descriptor
  long file_flags;  // of the open file
};
struct Size {
  long total, data;
};

// Lives in memory that is kept: nothing here is put back.
struct Engine {
  Context self;  // the engine's own
  Context program;
  bool usable;
  std::uint32_t adoptions;
  std::uint32_t runs_with_faults;  // since the last of them
  long faults;                     // before the run
  Region* regions;                 // all mappings, as they were
  std::uint32_t regions_count;
  Layout layout;
  char* text;
  std::uint8_t* page_bits;
  std::uintptr_t heap_end;
  Size size;
  int size_file, pages_file;
  Descriptor descriptors[kMaxDescriptors];
  int descriptors_count;
  std::uint64_t signal_mask;
  struct KernelAction {
    std::uint64_t words[4];
  } actions[65];
};

Engine* engine() { return static_cast<Engine*>(kept().engine); }

[[noreturn]] void give_up() {
  raw_syscall(SYS_exit_group, kOrderlyEnd);
  __builtin_unreachable();
}

void copy(void* to, const void* from, std::size_t size) {
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
}

// --- mappings --------------------------------------------------------------------------------

long read_whole(const char* path, char* out, std::size_t room) {
  const long fd =
      raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  std::size_t size = 0;
  for (;;) {
    const long n = raw_syscall(SYS_read, fd, reinterpret_cast<long>(out + size),
                               static_cast<long>(room - size));
    if (n <= 0) break;
    size += static_cast<std::size_t>(n);
  }
  raw_syscall(SYS_close, fd);
  return size < room ? static_cast<long>(size) : -1;
}

std::uintptr_t parse_hex(const char*& at) {
  std::uintptr_t value = 0;
  for (;; ++at) {
    const char c = *at;
    if (c >= '0' && c <= '9') {
      value = value << 4 | static_cast<std::uintptr_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      value = value << 4 | static_cast<std::uintptr_t>(c - 'a' + 10);
    } else {
      return value;
    }
  }
}

bool is_ours(std::uintptr_t address) {
  return address == abi::kControlAddress || address == kKeepAddress ||
         address - abi::kTranslationAddress < abi::kTranslationSize;
}

// The process's mappings, without the kernel's own and those shared with the host. False: they
// cannot be read, or there is shared memory, which no copy undoes.
bool read_regions(Region* out, std::uint32_t& count) {
  Engine& e = *engine();
  const long size = read_whole("/proc/self/maps", e.text, kTextSize);
  if (size < 0) return false;
  const char* at = e.text;
  const char* const end = e.text + size;
  count = 0;
  while (at < end) {
    Region region{};
    region.begin = parse_hex(at);
    ++at;
    region.end = parse_hex(at);
    ++at;
    const bool writable = at[1] == 'w';
    const bool shared = at[3] == 's';
    const char* line_end = at;
    while (line_end < end && *line_end != '\n') ++line_end;
    const bool of_kernel = line_end[-1] == ']' && line_end[-2] != 'k' && line_end[-2] != 'p';
    at = line_end + 1;
    if (of_kernel || is_ours(region.begin)) continue;  // [vdso] and so on; [stack] and [heap] count
    if (writable && shared) return false;
    region.writable_private = writable;
    if (count == kMaxRegions) return false;
    out[count++] = region;
  }
  return true;
}

bool read_size(Size& out) {
  char text[256];
  const long n = raw_syscall(SYS_pread64, engine()->size_file, reinterpret_cast<long>(text),
                             sizeof text - 1, 0);
  if (n <= 0) return false;
  text[n] = '\0';
  long fields[7] = {};
  int field = 0;
  for (const char* at = text; *at != '\0' && field < 7; ++at) {
    if (*at >= '0' && *at <= '9') {
      fields[field] = fields[field] * 10 + (*at - '0');
    } else {
      ++field;
    }
  }
  out = {fields[0], fields[5]};
  return true;
}

// What part of a region can hold anything: of the runtime's own memory only what is used.
std::uintptr_t end_of_use(const Region& region) {
  if (region.begin != kArenaAddress) return region.end;
  return (arena_used_until() + kPage - 1) & ~(kPage - 1);
}

bool is_set(const std::uint8_t* bits, std::size_t i) { return (bits[i >> 3] >> (i & 7) & 1) != 0; }
void set(std::uint8_t* bits, std::size_t i) {
  bits[i >> 3] |= static_cast<std::uint8_t>(1u << (i & 7));
}

// Sets a bit in `bits` for each page of [begin, end) that is there.
bool find_present(std::uintptr_t begin, std::uintptr_t end, std::uint8_t* bits) {
  // 4 KiB of /proc/self/pagemap at a time, on the stack.
  constexpr std::size_t kChunk = 512;
  std::uint64_t entries[kChunk];
  for (std::uintptr_t at = begin; at < end;) {
    std::size_t pages = (end - at) / kPage;
    if (pages > kChunk) pages = kChunk;
    const long n = raw_syscall(SYS_pread64, engine()->pages_file, reinterpret_cast<long>(entries),
                               static_cast<long>(pages * 8), static_cast<long>(at / kPage * 8));
    if (n != static_cast<long>(pages * 8)) return false;
    for (std::size_t i = 0; i < pages; ++i, at += kPage) {
      constexpr std::uint64_t kPresentOrSwapped = std::uint64_t{3} << 62;
      if ((entries[i] & kPresentOrSwapped) == 0) continue;
      set(bits, (at - begin) / kPage);
    }
  }
  return true;
}

// --- what is saved ---------------------------------------------------------------------------

bool add(Range* ranges, std::uint32_t& count, std::uintptr_t begin, std::uintptr_t end) {
  if (begin == end) return true;
  if (count == kMaxRanges) return false;
  ranges[count++] = {begin, end, nullptr};
  return true;
}

// Which pages to save: those that are there, and those of `old`; the others are to be dropped.
bool lay_out(const Layout& old, Layout& out) {
  Engine& e = *engine();
  out = {};
  out.saved = static_cast<Range*>(keep_alloc(kMaxRanges * sizeof(Range)));
  out.dropped = static_cast<Range*>(keep_alloc(kMaxRanges * sizeof(Range)));
  std::uint32_t old_at = 0;
  std::size_t pages_saved = 0;
  for (std::uint32_t i = 0; i < e.regions_count; ++i) {
    const Region& region = e.regions[i];
    if (!region.writable_private) continue;
    const std::uintptr_t end = end_of_use(region);
    const std::size_t pages = (end - region.begin) / kPage;
    if (pages / 8 >= kTextSize) return false;
    __builtin_memset(e.page_bits, 0, pages / 8 + 1);
    if (!find_present(region.begin, end, e.page_bits)) return false;
    for (; old_at < old.saved_count && old.saved[old_at].begin < region.end; ++old_at)
      for (std::uintptr_t at = old.saved[old_at].begin; at < old.saved[old_at].end; at += kPage)
        set(e.page_bits, (at - region.begin) / kPage);
    for (std::size_t page = 0; page < pages;) {
      const bool saved = is_set(e.page_bits, page);
      std::size_t last = page;
      while (last < pages && is_set(e.page_bits, last) == saved) ++last;
      const std::uintptr_t from = region.begin + page * kPage;
      const std::uintptr_t to = region.begin + last * kPage;
      if (saved) pages_saved += last - page;
      if (!(saved ? add(out.saved, out.saved_count, from, to)
                  : add(out.dropped, out.dropped_count, from, to)))
        return false;
      page = last;
    }
    if (!add(out.dropped, out.dropped_count, end, region.end)) return false;
  }
  return pages_saved <= kMostPages;
}

// REQUIRES: the process is in the state that is to be restored.
void save_content(Layout& layout) {
  for (std::uint32_t i = 0; i < layout.saved_count; ++i) {
    Range& range = layout.saved[i];
    const std::size_t size = range.end - range.begin;
    range.copy = static_cast<std::uint8_t*>(keep_alloc(size));
    copy(range.copy, reinterpret_cast<const void*>(range.begin), size);
  }
}

// --- descriptors and signals -------------------------------------------------------------------

bool save_descriptors() {
  Engine& e = *engine();
  e.descriptors_count = 0;
  for (int fd = 0; fd < kLowestSaved; ++fd) {
    const long flags = raw_syscall(SYS_fcntl, fd, F_GETFD);
    if (flags < 0) continue;
    if (e.descriptors_count == kMaxDescriptors) return false;
    const long saved = raw_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, kLowestSaved);
    if (saved < 0) return false;
    e.descriptors[e.descriptors_count++] = {fd, static_cast<int>(saved),
                                            raw_syscall(SYS_lseek, fd, 0, SEEK_CUR), flags,
                                            raw_syscall(SYS_fcntl, fd, F_GETFL)};
  }
  return true;
}

// The kernel gives the lowest number that is free.
bool is_free(int fd) {
  const long got = raw_syscall(SYS_fcntl, engine()->size_file, F_DUPFD_CLOEXEC, fd);
  if (got >= 0) raw_syscall(SYS_close, got);
  return got == fd;
}

bool restore_descriptors() {
  Engine& e = *engine();
  int next = 0;
  for (int i = 0; i < e.descriptors_count; ++i) {
    const Descriptor& d = e.descriptors[i];
    if (d.number > next) raw_syscall(SYS_close_range, next, d.number - 1, 0);
    next = d.number + 1;
    if (raw_syscall(SYS_dup3, d.saved, d.number, d.flags & FD_CLOEXEC ? O_CLOEXEC : 0) < 0)
      return false;
    if (d.offset >= 0) raw_syscall(SYS_lseek, d.number, d.offset, SEEK_SET);
    if (raw_syscall(SYS_fcntl, d.number, F_GETFL) != d.file_flags)
      raw_syscall(SYS_fcntl, d.number, F_SETFL, d.file_flags);
  }
  // The runtime's own would be the lowest, if it left one open.
  if (kept().may_have_opened || !calls_are_caught() || !is_free(next))
    raw_syscall(SYS_close_range, next, kLowestSaved - 1, 0);
  kept().may_have_opened = false;
  return true;
}

void save_signals() {
  Engine& e = *engine();
  for (int i = 1; i <= 64; ++i)
    raw_syscall(SYS_rt_sigaction, i, 0, reinterpret_cast<long>(&e.actions[i]), 8);
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, 0, reinterpret_cast<long>(&e.signal_mask), 8);
  kept().changed_signals = 0;
}

void restore_signals() {
  Engine& e = *engine();
  for (std::uint64_t bits = kept().changed_signals; bits != 0; bits &= bits - 1) {
    const int signal = __builtin_ctzll(bits) + 1;
    raw_syscall(SYS_rt_sigaction, signal, reinterpret_cast<long>(&e.actions[signal]), 0, 8);
  }
  kept().changed_signals = 0;
}

// While the engine runs, the program's stacks are being replaced, and the runtime's own stack of
// the running thread holds the frames that the program resumes in, though the stack pointer is not
// on it. A handler would start on top of them (clew_signal_entry). So signals wait from before the
// change to the engine until the program is back on its stack.
void block_signals() {
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&kAll), 0, 8);
}

void unblock_signals() {
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&engine()->signal_mask), 0,
              8);
}

// --- putting back ------------------------------------------------------------------------------

std::uintptr_t program_break(std::uintptr_t wanted) {
  return static_cast<std::uintptr_t>(raw_syscall(SYS_brk, static_cast<long>(wanted)));
}

// Removes the mappings that are new. False: one that was there is gone or changed.
bool restore_mappings() {
  Engine& e = *engine();
  Region* now = e.regions + kMaxRegions;
  std::uint32_t count = 0;
  if (!read_regions(now, count)) return false;
  std::uint32_t i = 0;
  for (std::uint32_t j = 0; j < count; ++j) {
    const Region& region = now[j];
    // A new mapping may have been merged with one that was there, or have grown from it: the rest
    // is cut off.
    std::uintptr_t at = region.begin;
    while (at < region.end) {
      while (i < e.regions_count && e.regions[i].end <= at) ++i;
      const std::uintptr_t known =
          i < e.regions_count && e.regions[i].begin < region.end ? e.regions[i].begin : region.end;
      if (known > at) {
        if (raw_syscall(SYS_munmap, static_cast<long>(at), static_cast<long>(known - at)) != 0)
          return false;
        at = known;
      } else {
        if (e.regions[i].writable_private != region.writable_private) return false;
        at = e.regions[i].end < region.end ? e.regions[i].end : region.end;
      }
    }
  }
  Size size{};
  return read_size(size) && size.total == e.size.total && size.data == e.size.data;
}

// A page that is not there cannot be touched without one.
long page_faults() {
  rusage usage;
  raw_syscall(SYS_getrusage, RUSAGE_THREAD, reinterpret_cast<long>(&usage));
  return usage.ru_minflt + usage.ru_majflt;
}

void drop(const Layout& layout) {
  for (std::uint32_t i = 0; i < layout.dropped_count; ++i) {
    const Range& range = layout.dropped[i];
    if (raw_syscall(SYS_madvise, static_cast<long>(range.begin),
                    static_cast<long>(range.end - range.begin), MADV_DONTNEED) != 0)
      give_up();
  }
}

void restore_content(const Layout& layout) {
  for (std::uint32_t i = 0; i < layout.saved_count; ++i) {
    const Range& range = layout.saved[i];
    copy(reinterpret_cast<void*>(range.begin), range.copy, range.end - range.begin);
  }
}

void put_back() {
  Engine& e = *engine();
  if (program_break(0) != e.heap_end && program_break(e.heap_end) != e.heap_end) give_up();
  Size size{};
  if (!read_size(size)) give_up();
  if ((size.total != e.size.total || size.data != e.size.data) && !restore_mappings()) give_up();
  Layout wider{};
  // Nearly all runs touch the pages of those before them and no others: then there is nothing to drop,
  // which takes a call for each gap, a third of the time.
  const bool faults = page_faults() != e.faults;
  if (faults) ++e.runs_with_faults;
  const bool early = e.adoptions < kAdoptions;
  bool adopt =
      early || (e.adoptions < kAdoptions + kLateAdoptions && e.runs_with_faults >= kRunsWithFaults);
  if (adopt) ++e.adoptions;
  if (adopt && !lay_out(e.layout, wider)) {
    if (early) give_up();
    adopt = false;
  }
  if (faults || adopt) drop(e.layout);
  restore_content(e.layout);
  if (adopt) {
    e.layout = wider;
    e.runs_with_faults = 0;
    save_content(e.layout);
  }
  if (faults || adopt) e.faults = page_faults();
  if (!restore_descriptors()) give_up();
  restore_signals();
}

// Runs on a stack of its own, which is kept.
[[noreturn]] void run_engine() {
  Engine& e = *engine();
  e.usable = lay_out(Layout{}, e.layout) && read_size(e.size);
  if (e.usable) save_content(e.layout);
  for (;;) {
    clew_context_switch(&e.self, &e.program);
    put_back();
  }
}

void engine_entry() { run_engine(); }

}  // namespace

CLEW_NOINLINE void grow_main_stack() {
  volatile char room[512 * 1024];
  room[0] = 0;
}

bool remember_here() {
  kept().engine = keep_alloc(sizeof(Engine));
  Engine& e = *engine();
  e = {};
  e.regions = static_cast<Region*>(keep_alloc(2 * kMaxRegions * sizeof(Region)));
  e.text = static_cast<char*>(keep_alloc(kTextSize));
  e.page_bits = static_cast<std::uint8_t*>(keep_alloc(kTextSize));
  e.heap_end = program_break(0);
  const auto open_high = [](const char* path) {
    const long low =
        raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), O_RDONLY | O_CLOEXEC);
    const long high = raw_syscall(SYS_fcntl, low, F_DUPFD_CLOEXEC, kLowestSaved);
    raw_syscall(SYS_close, low);
    return static_cast<int>(high);
  };
  e.size_file = open_high("/proc/self/statm");
  e.pages_file = open_high("/proc/self/pagemap");
  if (e.size_file < 0 || e.pages_file < 0 || !save_descriptors()) return false;
  save_signals();
  if (!read_regions(e.regions, e.regions_count)) return false;

  // The engine's first context: as clew_context_switch would have left it.
  auto* stack = static_cast<std::uint8_t*>(keep_alloc(kEngineStack)) + kEngineStack;
  init_parked_context(e.self, stack, engine_entry);
  e.program.thread_pointer = current_thread_pointer();
  block_signals();
  clew_context_switch(&e.program, &e.self);
  unblock_signals();
  return e.usable;
}

bool is_remembered(std::uintptr_t begin, std::uintptr_t end) {
  const Engine* e = engine();
  if (e == nullptr) return false;
  for (std::uint32_t i = 0; i < e->regions_count && e->regions[i].begin < end; ++i)
    if (begin < e->regions[i].end) return true;
  return false;
}

void go_back() {
  block_signals();
  Context unused;
  clew_context_switch(&unused, &engine()->self);
  __builtin_unreachable();
}

}  // namespace clew::rt
