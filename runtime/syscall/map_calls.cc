// Files and segments in memory. A replay has none: it gets the content from the recording.
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>

#include "runtime/raw_syscall.h"
#include "runtime/syscall/families.h"
#include "runtime/syscall/mapped_files.h"

namespace clew::rt {
namespace {

constexpr std::size_t kPage = 4096;
bool g_shared = false;

bool failed(long address) { return address < 0 && address > -4096; }

// A mapping of something that is not a regular file.
long replay_other_mapping(const Call& call) {
  const long flags = (call.a[3] & ~(MAP_SHARED_VALIDATE | MAP_SYNC)) | MAP_ANONYMOUS |
                     ((call.a[3] & MAP_TYPE) == MAP_PRIVATE ? MAP_PRIVATE : MAP_SHARED);
  const long address =
      raw_syscall(SYS_mmap, call.a[0], call.a[1], PROT_READ | PROT_WRITE, flags, -1, 0);
  if (failed(address)) return address;
  const std::size_t room = (static_cast<std::size_t>(call.a[1]) + kPage - 1) / kPage * kPage;
  g_inputs.take_mapping(reinterpret_cast<void*>(address), room);
  raw_syscall(SYS_mprotect, address, call.a[1], call.a[2]);
  return address;
}

long replay_mapping(const Call& call, long recorded_address) {
  if (failed(recorded_address)) return recorded_address;
  const long address = replay_mapped_file(call, recorded_address);
  return address != 0 ? address : replay_other_mapping(call);
}

// --- shared memory of System V -------------------------------------------------------------------

// What a replay has attached.
struct Attached {
  long address;
  std::size_t size;
};
// Chosen, not measured.
constexpr std::size_t kMostAttached = 1024;
Attached g_attached[kMostAttached];

long replay_attaching(const Call& call, long recorded_address) {
  if (failed(recorded_address)) return recorded_address;
  std::size_t size = 0;
  const long address = replay_attached(call, recorded_address, size);
  for (Attached& slot : g_attached) {
    if (slot.size != 0 || failed(address)) continue;
    slot = {address, size};
    break;
  }
  return address;
}

long attach(const Call& call) {
  g_shared |= (call.a[2] & SHM_RDONLY) == 0;
  if (g_inputs.replaying()) return replay_attaching(call, replay_answer(call).result);
  const long address = to_kernel(call);
  if (!g_inputs.recording()) return address;
  record_answer(call, {address, 0});
  shmid_ds segment{};
  if (failed(address)) return address;
  raw_syscall(SYS_shmctl, call.a[0], IPC_STAT, reinterpret_cast<long>(&segment));
  record_attached(call, address, segment.shm_segsz);
  return address;
}

long detach(const Call& call) {
  const long result = recorded(call);
  if (!g_inputs.replaying() || result != 0) return result;
  for (Attached& slot : g_attached) {
    if (slot.size == 0 || slot.address != call.a[0]) continue;
    raw_syscall(SYS_munmap, slot.address, static_cast<long>(slot.size));
    slot = {};
    break;
  }
  return result;
}

}  // namespace

bool shares_memory() { return g_shared; }

long map_call(const Call& call) {
  if (call.number == SYS_shmat) return attach(call);
  if (call.number == SYS_shmdt) return detach(call);
  if (call.number == SYS_mremap) return to_kernel(call);
  g_shared |= (call.a[3] & MAP_SHARED) != 0 && (call.a[2] & PROT_WRITE) != 0;
  const bool has_file = (call.a[3] & MAP_ANONYMOUS) == 0 && static_cast<int>(call.a[4]) >= 0;
  if (!has_file) return to_kernel(call);
  if (g_inputs.replaying()) return replay_mapping(call, replay_answer(call).result);
  const long address = to_kernel(call);
  if (!g_inputs.recording()) return address;
  record_answer(call, {address, 0});
  if (!failed(address) && !record_mapped_file(call, address)) g_inputs.put_mapping(nullptr, 0);
  return address;
}

}  // namespace clew::rt
