// Files in memory. A replay has no file: it gets the content from the recording.
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "runtime/fiber/raw_syscall.h"
#include "runtime/outside/descriptors.h"
#include "runtime/outside/perform.h"

namespace clew::rt {
namespace {

constexpr std::size_t kPage = 4096;

// The bytes of the mapping that are in the file.
std::size_t bytes_in_file(const Call& call) {
  struct stat status;
  if (raw_syscall(SYS_fstat, call.a[4], reinterpret_cast<long>(&status)) != 0) return 0;
  if (!S_ISREG(status.st_mode) || status.st_size <= call.a[5]) return 0;
  const auto left = static_cast<std::size_t>(status.st_size - call.a[5]);
  const auto size = static_cast<std::size_t>(call.a[1]);
  return left < size ? left : size;
}

void record_content(const Call& call, long address) {
  const std::size_t size = bytes_in_file(call);
  if ((call.a[2] & PROT_READ) != 0 || size == 0) {
    g_inputs.put_mapping(reinterpret_cast<const void*>(address), size);
    return;
  }
  // Not readable where it is.
  const long copy = raw_syscall(SYS_mmap, 0, static_cast<long>(size), PROT_READ, MAP_PRIVATE,
                                call.a[4], call.a[5]);
  g_inputs.put_mapping(reinterpret_cast<const void*>(copy), copy > 0 ? size : 0);
  if (copy > 0) raw_syscall(SYS_munmap, copy, static_cast<long>(size));
}

long replay_mapping(const Call& call, long recorded_address) {
  if (recorded_address < 0 && recorded_address > -4096) return recorded_address;
  const long flags = (call.a[3] & ~(MAP_SHARED_VALIDATE | MAP_SYNC)) | MAP_ANONYMOUS |
                     ((call.a[3] & MAP_TYPE) == MAP_PRIVATE ? MAP_PRIVATE : MAP_SHARED);
  const long address =
      raw_syscall(SYS_mmap, call.a[0], call.a[1], PROT_READ | PROT_WRITE, flags, -1, 0);
  if (address < 0 && address > -4096) return address;
  const std::size_t room = (static_cast<std::size_t>(call.a[1]) + kPage - 1) / kPage * kPage;
  g_inputs.take_mapping(reinterpret_cast<void*>(address), room);
  raw_syscall(SYS_mprotect, address, call.a[1], call.a[2]);
  return address;
}

}  // namespace

long map_call(const Call& call) {
  const bool has_file = (call.a[3] & MAP_ANONYMOUS) == 0 && static_cast<int>(call.a[4]) >= 0;
  if (!has_file) return to_kernel(call);
  if (g_inputs.replaying()) return replay_mapping(call, replay_answer(call).result);
  const long address = to_kernel(call);
  if (!g_inputs.recording()) return address;
  record_answer(call, {address, 0});
  if (!(address < 0 && address > -4096)) record_content(call, address);
  return address;
}

}  // namespace clew::rt
