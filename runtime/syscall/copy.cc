#include "runtime/syscall/copy.h"

#include <linux/sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "clew_abi/adoption.h"
#include "runtime/libc/refused.h"
#include "runtime/libc/user_dispatch.h"
#include "runtime/outside/children.h"
#include "runtime/outside/perform.h"
#include "runtime/outside/signal_descriptors.h"
#include "runtime/raw_syscall.h"
#include "runtime/record/adoption.h"
#include "runtime/record/generation.h"
#include "runtime/record/log.h"
#include "runtime/record/points.h"
#include "runtime/sched/active.h"
#include "runtime/signal/signals.h"
#include "runtime/signal/stuck.h"
#include "runtime/snapshot/created_files.h"
#include "runtime/syscall/timers.h"
#include "runtime/thread/thread_block.h"
#include "runtime/time/deadline.h"
#include "runtime/time/time_stamp.h"

namespace clew::rt {
namespace {

bool g_unkept = false;             // nobody receives yet what this process reports
bool g_strategy_to_begin = false;  // with its first thread
abi::Branch g_branch;              // of one that is not kept

abi::Control& control() { return *reinterpret_cast<abi::Control*>(abi::kControlAddress); }

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t whole_pages(std::uint64_t size) {
  return (size + kPage - 1) & ~(kPage - 1);
}

// Between the control memory and the arena.
constexpr std::uintptr_t kNewControlAddress = abi::kControlAddress + (std::uintptr_t{1} << 39);

bool map(std::uintptr_t address, std::uint64_t size, long flags, long fd) {
  return raw_syscall(SYS_mmap, static_cast<long>(address), static_cast<long>(size),
                     PROT_READ | PROT_WRITE, flags, fd, 0) == static_cast<long>(address);
}

void make_own(std::uint64_t offset, std::uint64_t size) {
  CLEW_CHECK(map(abi::kControlAddress + offset, whole_pages(size),
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1));
}

// Replaces the parts of the control memory that this process would write to, which belong to the
// original. The rest, which is only read, stays shared.
void leave_control_memory() {
  static char header[sizeof(abi::Control)];
  memcpy(header, reinterpret_cast<const void*>(abi::kControlAddress), sizeof header);
  const abi::Part inputs = control().inputs;
  const abi::Part ring{control().ring_offset, control().ring_size};
  make_own(0, sizeof header);
  make_own(inputs.offset, inputs.size);
  make_own(ring.offset, ring.size);
  memcpy(reinterpret_cast<void*>(abi::kControlAddress), header, sizeof header);
  for (auto* position :
       {&control().head, &control().tail, &control().inputs_head, &control().inputs_tail})
    position->store(0, std::memory_order_relaxed);
}

// Moves to the memory that clew has sent, with what has been reported so far. Nothing of it has
// been taken from the rings yet.
bool move_to(int fd) {
  struct stat status;
  const bool known = raw_syscall(SYS_fstat, fd, reinterpret_cast<long>(&status)) == 0;
  const auto size = known ? static_cast<std::uint64_t>(status.st_size) : 0;
  const bool mapped = size >= sizeof(abi::Control) &&
                      map(kNewControlAddress, size, MAP_SHARED | MAP_FIXED_NOREPLACE, fd);
  raw_syscall(SYS_close, fd);
  if (!mapped) return false;
  auto& next = *reinterpret_cast<abi::Control*>(kNewControlAddress);
  if (next.magic != abi::kControlMagic || next.version != abi::kVersion ||
      next.size_of_control != sizeof(abi::Control) || next.ring_size != control().ring_size ||
      next.inputs.size != control().inputs.size) {
    raw_syscall(SYS_munmap, static_cast<long>(kNewControlAddress), static_cast<long>(size));
    return false;
  }
  const auto copy = [&](std::uint64_t to, std::uint64_t from, std::uint64_t length) {
    memcpy(reinterpret_cast<char*>(&next) + to, reinterpret_cast<char*>(&control()) + from, length);
  };
  copy(next.ring_offset, control().ring_offset, g_log.written());
  copy(next.inputs.offset, control().inputs.offset, g_inputs.written());
  next.head.store(control().head.load(std::memory_order_relaxed), std::memory_order_release);
  next.inputs_head.store(control().inputs_head.load(std::memory_order_relaxed),
                         std::memory_order_release);
  next.live_clock.store(g_sched.clock(), std::memory_order_relaxed);
  raw_syscall(SYS_munmap, abi::kControlAddress, static_cast<long>(control().total_size));
  CLEW_CHECK(raw_syscall(SYS_mremap, static_cast<long>(kNewControlAddress), static_cast<long>(size),
                         static_cast<long>(size), MREMAP_MAYMOVE | MREMAP_FIXED,
                         abi::kControlAddress) == static_cast<long>(abi::kControlAddress));
  g_inputs.use(control());
  control().attached.store(1, std::memory_order_release);
  return true;
}

// The number that the kernel writes for the child: in a replay there is no kernel to do it.
int* number_for_child(const Call& call) {
  if (call.number == SYS_clone && (call.a[0] & CLONE_CHILD_SETTID) != 0)
    return reinterpret_cast<int*>(call.a[3]);
  if (call.number != SYS_clone3) return nullptr;
  const auto& wanted = *reinterpret_cast<const clone_args*>(call.a[0]);
  if ((wanted.flags & CLONE_CHILD_SETTID) == 0) return nullptr;
  return reinterpret_cast<int*>(wanted.child_tid);
}

}  // namespace

bool copies_can_be_recorded() { return g_inputs.recording() && control().recording != 0; }

void begin_copy() {
  created_files_leave();
  forget_arrived();
  renew_user_dispatch();
  watch_for_stuck_threads_again();
  g_strategy_to_begin = true;
  // A copy of a copy continues with what that one has kept to itself.
  if (g_unkept) return;
  g_branch = {control().recording,
              g_log.entries(),
              g_inputs.position(),
              g_sched.threads.count(),
              points_given(),
              0,
              0};
  leave_control_memory();
  g_log.begin_anew();
  g_inputs.begin_anew();
  g_unkept = true;
}

void continue_as_copy(const Call& call) {
  if (!is_entered_child()) ++g_generation;
  g_sched.forget_others();
  g_sched.begin_processor_time();
  forget_timers();
  forget_pending();
  forget_what_signals_show();
  // An entered child is the run's own process, and keeps its number: its job continues, and it has
  // no parent.
  const long number = is_entered_child()
                          ? g_sched.process
                          : answered(Call{SYS_gettid, {}}, [] { return raw_syscall(SYS_getpid); });
  if (int* wanted = number_for_child(call)) *wanted = static_cast<int>(number);
  if (is_entered_child()) return leave_pool();
  set_number_of_copy(*g_sched.current, static_cast<int>(number));
  // The process that made the copy may send it signals.
  g_poller.expect_signals();
  static constexpr abi::Job kNothing{};
  if (g_inputs.recording()) g_sched.begin_job(kNothing);
}

void continue_without_clew() {
  keep_clocks_without_clew();
  leave_duty();
  g_inputs.stop();
  clew_in_charge = 0;
  end_user_dispatch();
  watch_for_stuck_threads_no_more();
  enable_time_stamp();
  hand_signals_to_kernel(*g_sched.current);
  forget_pending();
}

bool keep_copy() {
  if (!g_unkept) return true;
  // An earlier attempt failed, and part of the reports was lost since.
  if (control().let_go.load(std::memory_order_relaxed) != 0) return false;
  g_branch.generation = g_generation;
  const int fd = ask_for_recording_of_copy(control().host, g_branch);
  if (fd < 0 || !move_to(fd)) {
    control().let_go.store(1, std::memory_order_relaxed);
    return false;
  }
  g_unkept = false;
  return true;
}

bool keep_copy_with_threads() {
  if (!g_strategy_to_begin) return true;
  if (!keep_copy()) return false;
  g_strategy_to_begin = false;
  g_sched.begin_job(*reinterpret_cast<const abi::Job*>(reinterpret_cast<const char*>(&control()) +
                                                       control().jobs_offset));
  return true;
}

}  // namespace clew::rt
