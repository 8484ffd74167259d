// Yield points: what the pass writes into the binary and the others read.
//
// Every object file contributes an array of Point to the section CLEW_POINT_SECTION;
// the linker concatenates them, so a shared object or executable has one table
// and a point's static id is its index there. A point is one byte: what the runtime asks for. Where
// it is in the source is elsewhere, in a section that is not loaded (point_lines.h).
#ifndef CLEW_ABI_POINT_H_
#define CLEW_ABI_POINT_H_

#include <cstdint>

namespace clew::abi {

// kind, name for people, whether it is an access to memory
#define CLEW_POINT_KINDS(X)                       \
  X(kEntry, "function entry", false)              \
  X(kBackEdge, "loop back edge", false)           \
  X(kLine, "line", false)                         \
  X(kLoad, "read", true)                          \
  X(kStore, "write", true)                        \
  X(kAtomicLoad, "atomic read", true)             \
  X(kAtomicStore, "atomic write", true)           \
  X(kAtomicRmw, "atomic read-modify-write", true) \
  X(kAtomicCas, "compare-exchange", true)         \
  X(kFence, "fence", false)                       \
  X(kBlockRead, "block read", true)               \
  X(kBlockWrite, "block write", true)             \
  X(kPause, "pause", false)                       \
  X(kSyncCall, "synchronisation call", false)     \
  X(kFree, "free", true)                          \
  X(kScopeEnd, "end of scope", true)              \
  X(kSilent, "code without yield points", false)

enum class PointKind : std::uint8_t {
#define CLEW_KIND(name, text, access) name,
  CLEW_POINT_KINDS(CLEW_KIND)
#undef CLEW_KIND
      kCount
};

// Of an atomic access or a fence, as the C++ standard orders them. kNotKnown is taken for the
// strongest: inline assembly, an order that is not a constant.
enum class MemoryOrder : std::uint8_t {
  kNotKnown = 0,
  kRelaxed,
  kAcquire,
  kRelease,
  kAcquireRelease,
  kSequential,
};

// A point of kind kSilent is never passed: it stands for a function that has none (CLEW_NO_YIELD),
// or a file in which accesses are none.
struct Point {
  PointKind kind : 5;
  MemoryOrder order : 3;
};
static_assert(sizeof(Point) == 1);
static_assert(static_cast<unsigned>(PointKind::kCount) < 32);
static_assert(static_cast<unsigned>(MemoryOrder::kSequential) < 8);

// A C identifier, so that the linker defines __start_ and __stop_ for it. Not the name that it had
// when a point had 16 bytes: objects of the two kinds do not link with each other.
#define CLEW_POINT_SECTION "clew_kinds"

// A call of a listed function (sync_calls.def) in code that is to be free of
// yield points stores this instead of a point: the call then does not count.
inline constexpr std::uintptr_t kNoPointSite = 1;

}  // namespace clew::abi

#endif  // CLEW_ABI_POINT_H_
