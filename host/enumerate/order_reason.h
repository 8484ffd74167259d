// Why an order cannot be, or was not found, as data.
#ifndef CLEW_HOST_ENUMERATE_ORDER_REASON_H_
#define CLEW_HOST_ENUMERATE_ORDER_REASON_H_

#include <cstdint>

#include "clew_abi/stream.h"

namespace clew {

struct OrderReason {
  enum class Kind : std::uint8_t {
    kNone,
    kSameThread,   // one thread executes both, in the other order
    kCreate,       // by the creation of threads
    kJoin,         // by the join at `place`
    kBarrier,      // by the barrier at `place`
    kSection,      // overwritten at `place` before its critical section ends, under the same lock
    kOwnWrite,     // the reader's section writes it at `place` before the read, under the same lock
    kSawFirst,     // in all runs: by then the read at `place` has seen the write at `source`
    kWaitedFirst,  // in all runs: by then the wait at `place` is over, because of `source`
    kExhausted,    // every schedule was executed, up to equivalence
  };
  Kind kind = Kind::kNone;
  abi::Place place = 0;
  // kSameThread to kBarrier, kSawFirst, kWaitedFirst: the write that always comes in between; 0:
  // the two events themselves come in the other order.
  abi::Place overwritten = 0;
  abi::Place lock = 0;       // kSection, kOwnWrite: where the reader takes the lock
  std::uint64_t object = 0;  // kBarrier, kSection, kOwnWrite: the synchronisation object
  abi::Place source = 0;     // kSawFirst: the write; kWaitedFirst: the signal
  bool operator==(const OrderReason&) const = default;
};

}  // namespace clew

#endif  // CLEW_HOST_ENUMERATE_ORDER_REASON_H_
