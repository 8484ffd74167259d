// Asynchronous I/O of the kernel (io_submit and the like). An operation is complete when io_submit
// returns, as it may be without clew. It is executed, and recorded, as the plain call that it
// stands for.
#include <errno.h>
#include <linux/aio_abi.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "runtime/raw_syscall.h"
#include "runtime/sched/scheduler.h"
#include "runtime/signal/signals.h"
#include "runtime/syscall/families.h"
#include "runtime/syscall/mapped_files.h"
#include "runtime/time/deadline.h"

namespace clew::rt {
namespace {

constexpr std::uint32_t kMostEvents = 65536;  // /proc/sys/fs/aio-max-nr, unless it was changed

// Its address is what the program knows it by.
struct AsyncContext {
  std::size_t size() const { return sizeof *this + room * sizeof(io_event); }
  // They follow it in memory.
  io_event* events() { return reinterpret_cast<io_event*>(this + 1); }
  void put(const io_event& event) { events()[(first + count++) % room] = event; }
  io_event take() {
    const io_event event = events()[first];
    first = (first + 1) % room;
    --count;
    return event;
  }

  // libaio looks here for the kernel's ring of events, and finds none.
  std::uint64_t no_ring[4];
  AsyncContext* next;
  std::uint32_t room;
  std::uint32_t first;
  std::uint32_t count;  // of operations that are complete and have not been fetched
};
AsyncContext* g_contexts = nullptr;

// Null: the program has none there.
AsyncContext* context_at(long address) {
  for (AsyncContext* context = g_contexts; context != nullptr; context = context->next)
    if (reinterpret_cast<long>(context) == address) return context;
  return nullptr;
}

// What a thread that waits for events waits for, as reports name it (host/target/syscall_names.cc).
const void* awaited() { return reinterpret_cast<const void*>(long{SYS_io_getevents} << 32); }

long set_up(std::uint32_t room, long* context) {
  if (*context != 0 || room == 0) return -EINVAL;
  if (room > kMostEvents) return -EAGAIN;
  const long size = static_cast<long>(sizeof(AsyncContext) + room * sizeof(io_event));
  const long address =
      raw_syscall(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address < 0 && address > -4096) return address;
  auto* made = reinterpret_cast<AsyncContext*>(address);
  made->room = room;
  made->next = g_contexts;
  g_contexts = made;
  *context = address;
  return 0;
}

long destroy(long address) {
  AsyncContext* context = context_at(address);
  if (context == nullptr) return -EINVAL;
  AsyncContext** link = &g_contexts;
  while (*link != context) link = &(*link)->next;
  *link = context->next;
  raw_syscall(SYS_munmap, address, static_cast<long>(context->size()));
  g_sched.wake_all(awaited());
  return 0;
}

long made(const Call& call) {
  const long result =
      treatment_of(call.number) == Treatment::kTransfer ? transfer_call(call) : recorded(call);
  follow_change_of_files(call, result);
  return result;
}

long transferred(long number, const iocb& operation, const iovec* parts, std::size_t count) {
  Call call{number,
            {static_cast<int>(operation.aio_fildes), reinterpret_cast<long>(parts),
             static_cast<long>(count), operation.aio_offset, 0, operation.aio_rw_flags}};
  const long result = made(call);
  if (result != -ESPIPE) return result;
  call.a[3] = -1;  // a stream has no offset
  return made(call);
}

// The result of the operation.
long performed(const iocb& operation) {
  const int fd = static_cast<int>(operation.aio_fildes);
  const iovec only{reinterpret_cast<void*>(operation.aio_buf), operation.aio_nbytes};
  const auto* parts = reinterpret_cast<const iovec*>(operation.aio_buf);
  switch (operation.aio_lio_opcode) {
    case IOCB_CMD_PREAD:
      return transferred(SYS_preadv2, operation, &only, 1);
    case IOCB_CMD_PWRITE:
      return transferred(SYS_pwritev2, operation, &only, 1);
    case IOCB_CMD_PREADV:
      return transferred(SYS_preadv2, operation, parts, operation.aio_nbytes);
    case IOCB_CMD_PWRITEV:
      return transferred(SYS_pwritev2, operation, parts, operation.aio_nbytes);
    case IOCB_CMD_FSYNC:
      return made({SYS_fsync, {fd}});
    default:
      return made({SYS_fdatasync, {fd}});
  }
}

// As kernels before 4.18, which could not poll either.
bool is_known(std::uint16_t operation) {
  return operation <= IOCB_CMD_FDSYNC || operation == IOCB_CMD_PREADV ||
         operation == IOCB_CMD_PWRITEV;
}

long submit_one(long address, iocb& operation) {
  AsyncContext* context = context_at(address);
  if (context == nullptr || operation.aio_reserved2 != 0 || !is_known(operation.aio_lio_opcode))
    return -EINVAL;
  if (context->count == context->room) return -EAGAIN;
  operation.aio_key = 0;
  const long result = performed(operation);
  if (result == -EBADF) return result;
  // Another thread may have ended the context meanwhile.
  context = context_at(address);
  if (context == nullptr || context->count == context->room) return 0;
  context->put({operation.aio_data, reinterpret_cast<std::uint64_t>(&operation), result, 0});
  g_sched.announce_sync(Synchronised::Kind::kReleases, context);
  if ((operation.aio_flags & IOCB_FLAG_RESFD) != 0) {
    const std::uint64_t one = 1;
    made({SYS_write,
          {static_cast<int>(operation.aio_resfd), reinterpret_cast<long>(&one), long{sizeof one}}});
  }
  g_sched.wake_all(awaited());
  return 0;
}

long submit(long context, long count, iocb* const* operations) {
  if (count < 0 || context_at(context) == nullptr) return -EINVAL;
  for (long i = 0; i < count; ++i)
    if (const long error = submit_one(context, *operations[i])) return i > 0 ? i : error;
  return count;
}

struct Wanted {
  long least;
  long most;
  io_event* events;
  const timespec* timeout;
};

long fetch(long address, const Wanted& wanted) {
  if (wanted.least < 0 || wanted.least > wanted.most || context_at(address) == nullptr)
    return -EINVAL;
  Nanos deadline = kForever;
  if (wanted.timeout != nullptr) {
    if (!is_duration(*wanted.timeout)) return -EINVAL;
    deadline = deadline_after(*wanted.timeout);
  }
  long fetched = 0;
  while (true) {
    AsyncContext* context = context_at(address);
    if (context == nullptr) return fetched > 0 ? fetched : -EINVAL;
    // Whoever fetches the result comes after whoever has asked for it.
    if (context->count > 0 && fetched < wanted.most)
      g_sched.announce_sync(Synchronised::Kind::kAcquires, context);
    while (context->count > 0 && fetched < wanted.most) wanted.events[fetched++] = context->take();
    if (fetched >= wanted.least || deadline <= g_sched.now()) return fetched;
    const Woke woke =
        g_sched.block(abi::WaitKind::kDescriptor, awaited(), deadline, kSignalsAlways);
    if (woke == Woke::kBySignal) return fetched > 0 ? fetched : -EINTR;
  }
}

// Of io_pgetevents.
struct MaskArgument {
  const std::uint64_t* mask;
  std::size_t size;
};

long fetch_with_mask(const Call& call, const Wanted& wanted) {
  const auto* argument = reinterpret_cast<const MaskArgument*>(call.a[5]);
  const std::uint64_t* mask = argument != nullptr ? argument->mask : nullptr;
  if (mask != nullptr && argument->size != sizeof *mask) return -EINVAL;
  const TemporaryMask temporary(mask);
  return fetch(call.a[0], wanted);
}

}  // namespace

long async_call(const Call& call) {
  const Wanted wanted{call.a[1], call.a[2], reinterpret_cast<io_event*>(call.a[3]),
                      reinterpret_cast<const timespec*>(call.a[4])};
  switch (call.number) {
    case SYS_io_setup:
      return set_up(static_cast<std::uint32_t>(call.a[0]), reinterpret_cast<long*>(call.a[1]));
    case SYS_io_destroy:
      return destroy(call.a[0]);
    case SYS_io_submit:
      return submit(call.a[0], call.a[1], reinterpret_cast<iocb* const*>(call.a[2]));
    case SYS_io_getevents:
      return fetch(call.a[0], wanted);
    case SYS_io_pgetevents:
      return fetch_with_mask(call, wanted);
    default:  // io_cancel: nothing is pending
      return context_at(call.a[0]) != nullptr ? -EAGAIN : -EINVAL;
  }
}

}  // namespace clew::rt
