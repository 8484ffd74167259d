// The stream: how a run's switches are written down.
//
// The runtime appends entries to a ring in the control memory while it runs
// (record), and reads the same encoding back (replay, given schedule). An entry is
//
//   varint head = (clock - clock of the entry before) << kKindBits | kind
//
// followed by what its kind asks for. Varints are LEB128, unsigned, at most ten
// bytes. Both sides treat what they read as untrusted: Reader never passes its end.
//
// A clock in the stream is the number of the event that is about to happen: "switch at
// clock 6" means that event 6 belongs to the thread switched to.
#ifndef CLEW_ABI_STREAM_H_
#define CLEW_ABI_STREAM_H_

#include <cstddef>
#include <cstdint>

namespace clew::abi {

enum class EntryKind : std::uint8_t {
  kSwitchNext = 0,  // preempt; the next in the run queue runs
  kSwitchTo = 1,    // preempt; varint index into the thread names
  kCheck = 2,       // varint thread, varint place, 2 bytes of the hash (little endian)
  kMessage = 3,     // varint MessageType, varint length, that many bytes
  kChoice = 4,      // varint ordinal, varint ChoiceKind, varint value
};
inline constexpr unsigned kKindBits = 3;

// Where the program's course depends on more than the switches at yield points. An entry stands for
// an answer other than the default, to question number `ordinal` (from 0) of those that arise
// before the event `clock` and after the one before it. All of these are legal: a program must
// tolerate them.
//
// kind, word in schedules, what the value is
#define CLEW_CHOICE_KINDS(X)                                                                     \
  X(kPick, "pick", "thread that runs when the running one is blocked; not the longest runnable") \
  X(kWake, "wake", "thread that is woken or gets the lock; not the longest waiting")             \
  X(kSpurious, "spurious", "1: a condition wait wakes up spuriously")                            \
  X(kTimeout, "timeout", "1: time passes until the deadline of the wait that begins")            \
  X(kTrylock, "trylock", "1: an attempt to lock fails though the lock is free")                  \
  X(kCas, "cas", "1: a weak compare-exchange fails though the values are equal")

enum class ChoiceKind : std::uint8_t {
#define CLEW_KIND(name, text, value) name,
  CLEW_CHOICE_KINDS(CLEW_KIND)
#undef CLEW_KIND
      kCount
};
// Whether the value names a thread (an index into the names).
constexpr bool names_thread(ChoiceKind kind) {
  return kind == ChoiceKind::kPick || kind == ChoiceKind::kWake;
}

// A place: a yield point or a call site outside instrumented code.
//   id << 1          the point with this process-wide id: a module's base + static id;
//                    ids begin at 1, 0 is "nowhere"
//   address << 1 | 1 a code address
using Place = std::uint64_t;

// Payloads are sequences of varints (v), strings (s: varint length, bytes) and
// frame lists (f: varint count, that many varint code addresses, innermost first).
enum class MessageType : std::uint8_t {
  kThread = 1,   // v index, v parent, v ordinal among the parent's children, v start address
  kModule = 2,   // v base point id, v number of points, s path
  kFailure = 3,  // v FailureKind, v thread, s detail, s file, v line, s function, f
  kWaits = 4,    // v thread, v WaitKind, v object, v holder thread + 1 (0: nobody), v place,
                 // v clock when it began, f
  kHolds = 5,    // v thread, v WaitKind, v object, v clock when taken, v code address of the taking
  kSlice = 6,  // v thread, v first clock, v last clock, v first place, v last place, v SliceEnd, v
               // WaitKind, v object (for kJoin the thread's index)
  kStack = 7,  // v clock, v thread, v 1 if it is the one that runs at that clock, v place, f
  kMaps = 8,   // s text of /proc/self/maps
  kNote = 9,   // s one line for the user
  kDeparted =
      10,  // v clock, v expected thread, v actual thread, v expected place, v actual place, s what
  kEnd = 11,      // v clock, v switches, v preemptions, v threads, v hash
  kName = 12,     // v thread, s name given by the program
  kStatus = 13,   // v how the process ends, as waitpid() tells it; after kEnd
  kBecomes = 14,  // s path of the program that it becomes by exec(), after kEnd; empty: exec()
                  // failed, and the run continues
  kCreated = 15,  // v number, v CreatedKind, v device, v inode, s path; what is told of a number
                  // again holds from then on, and an empty path says that it is to stay
  kFinding = 16,  // watch.h
};

// What a run can create that has a name. A queue's name is the one that mq_unlink() takes, without
// the slash.
enum class CreatedKind : std::uint8_t { kFile, kFolder, kQueue, kCount };

// kind, word in JSON.
#define CLEW_FAILURE_KINDS(X)                                                                \
  X(kExit, "exit")                                                                           \
  X(kSignal, "signal")                                                                       \
  X(kAssert, "assert")                                                                       \
  X(kException, "exception")                                                                 \
  X(kDeadlock, "deadlock")                                                                   \
  X(kHang, "hang")                                                                           \
  X(kSanitizer, "sanitizer")                                                                 \
  X(kUnsupported, "unsupported")                                                             \
  X(kInfeasible, "infeasible")                                                               \
  X(kMisuse, "misuse") /* of a destroyed object */                                           \
  X(kRace, "race")     /* this and the next: a finding (watch.h) that counts as a failure */ \
  X(kLockOrder, "lock-order")                                                                \
  X(kMemory, "memory")                                                                       \
  X(kListener, "listener")

enum class FailureKind : std::uint8_t {
#define CLEW_KIND(name, text) name,
  CLEW_FAILURE_KINDS(CLEW_KIND)
#undef CLEW_KIND
      kCount
};

#define CLEW_WAIT_KINDS(X)              \
  X(kNothing, "nothing")                \
  X(kMutex, "mutex")                    \
  X(kCondition, "condition variable")   \
  X(kReadLock, "read lock of rwlock")   \
  X(kWriteLock, "write lock of rwlock") \
  X(kSpin, "spin lock")                 \
  X(kBarrier, "barrier")                \
  X(kSemaphore, "semaphore")            \
  X(kFutex, "atomic wait (futex)")      \
  X(kOnce, "once initialisation")       \
  X(kJoin, "end of thread")             \
  X(kSleep, "time to pass")             \
  X(kDescriptor, "a descriptor")        \
  X(kSignal, "a signal")                \
  X(kChild, "a child process")          \
  X(kFileLock, "a file lock")           \
  X(kTasks, "tasks (OpenMP)")           \
  X(kOpenMpLock, "OpenMP lock")

enum class WaitKind : std::uint8_t {
#define CLEW_KIND(name, text) name,
  CLEW_WAIT_KINDS(CLEW_KIND)
#undef CLEW_KIND
      kCount
};

enum class SliceEnd : std::uint8_t { kPreempted, kBlocked, kYielded, kFinished, kRunEnded };

inline constexpr std::size_t kMaxVarint = 10;

// Writes at most kMaxVarint bytes; returns how many.
inline std::size_t put_varint(std::uint8_t* out, std::uint64_t value) {
  std::size_t n = 0;
  while (value >= 0x80) {
    out[n++] = static_cast<std::uint8_t>(value) | 0x80;
    value >>= 7;
  }
  out[n++] = static_cast<std::uint8_t>(value);
  return n;
}

// A cursor over bytes that may be cut short or wrong. After the first bad read
// ok() is false, every further read gives 0 and position() stays at the bad byte.
class Reader {
 public:
  Reader(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  bool ok() const { return ok_; }
  bool at_end() const { return position_ == size_; }
  std::size_t position() const { return position_; }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    std::size_t at = position_;
    for (unsigned shift = 0; shift < 64 && at < size_ && ok_; shift += 7) {
      const std::uint8_t byte = data_[at++];
      if (shift == 63 && byte > 1) break;
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) {
        position_ = at;
        return value;
      }
    }
    ok_ = false;
    return 0;
  }

  std::uint16_t u16() {
    const std::uint8_t* p = bytes(2);
    return p ? static_cast<std::uint16_t>(p[0] | p[1] << 8) : std::uint16_t{0};
  }

  // The next `count` bytes, or null.
  const std::uint8_t* bytes(std::uint64_t count) {
    if (!ok_ || count > size_ - position_) {
      ok_ = false;
      return nullptr;
    }
    const std::uint8_t* p = data_ + position_;
    position_ += count;
    return p;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t position_ = 0;
  bool ok_ = true;
};

}  // namespace clew::abi

#endif  // CLEW_ABI_STREAM_H_
