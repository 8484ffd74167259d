// Which write each read of a traced run saw, and which others touched the same bytes.
#ifndef CLEW_HOST_ENUMERATE_READS_FROM_H_
#define CLEW_HOST_ENUMERATE_READS_FROM_H_

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "host/trace/trace.h"

namespace clew {

using StepNumber = std::uint32_t;  // a position in a trace
// In place of a write: nobody wrote it in the run, as far as the trace shows.
inline constexpr StepNumber kInitialValue = ~StepNumber{0};

constexpr bool is_read(abi::StepKind kind) {
  return kind == abi::StepKind::kRead || kind == abi::StepKind::kUpdate;
}
// What ends the life of an object is a write to all of it.
constexpr bool is_write(abi::StepKind kind) {
  return abi::is_access(kind) && kind != abi::StepKind::kRead;
}

// A read and a write that one of its bytes comes from.
struct Sight {
  StepNumber read = 0;
  StepNumber write = kInitialValue;
  bool operator==(const Sight&) const = default;
};

// Eight aligned bytes, with all accesses to them.
struct SharedBytes {
  struct Access {
    StepNumber step = 0;
    std::uint32_t life =
        0;  // how often the bytes' owner has ended before: other lives, other objects
    std::uint8_t mask = 0;
    bool writes = false;
  };
  std::vector<Access> accesses;  // in order
};

struct ReadsFrom {
  std::vector<Sight> sights;  // in the order of the reads; each pair once
  std::unordered_map<std::uint64_t, SharedBytes> shared;  // by address / 8
};

enum class Memory : std::uint8_t {
  kShared,  // that two threads touch, one of them to write
  kAll,
};
[[nodiscard]] ReadsFrom reads_from(std::span<const TraceStep> trace, Memory which);

}  // namespace clew

#endif  // CLEW_HOST_ENUMERATE_READS_FROM_H_
