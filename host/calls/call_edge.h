// What is counted in a run.
#ifndef CLEW_HOST_CALLS_CALL_EDGE_H_
#define CLEW_HOST_CALLS_CALL_EDGE_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "host/calls/program_code.h"

namespace clew {

// What is counted of a function, the `caller`.
enum class EdgeKind : std::uint8_t {
  kCall,  // it calls `callee`
  kLine,  // its source line `callee` runs
  // By how much its line `callee` runs more often than its line `after`, the next or the one before it in the code:
  // how often a branch was taken.
  kBranch,
  // Between its calls of `after` and `callee` (kNoFunction: of any two; `after` alone: since it began) another thread runs
  // whose last call is of `other`.
  kInterruption,
};

// The context of a call or branch of GraphKind::kReduced by the first thread after all others made their last call.
inline constexpr std::uint32_t kAtTheEnd = UINT32_MAX;

// An edge of the graph. The context is 0 or kAtTheEnd for kReduced, otherwise the thread, its first function, or the number of
// the chain that the caller is.
struct CallEdge {
  std::uint32_t context = 0;
  FunctionNumber caller = kNoFunction;
  FunctionNumber callee = kNoFunction;
  EdgeKind kind = EdgeKind::kCall;
  std::uint32_t after = 0;
  FunctionNumber other = 0;  // of a branch: tells apart those of the same lines
  auto operator<=>(const CallEdge&) const = default;
};

struct CallEdgeHash {
  std::size_t operator()(const CallEdge& edge) const {
    std::uint64_t hash = edge.context;
    hash = hash * 0x9e3779b97f4a7c15 + edge.caller;
    hash = hash * 0x9e3779b97f4a7c15 + edge.callee;
    hash = hash * 0x9e3779b97f4a7c15 + static_cast<std::uint64_t>(edge.kind);
    hash = hash * 0x9e3779b97f4a7c15 + edge.after;
    hash = hash * 0x9e3779b97f4a7c15 + edge.other;
    return hash ^ hash >> 29;
  }
};
using CallCounts = std::unordered_map<CallEdge, std::uint64_t, CallEdgeHash>;

}  // namespace clew

#endif  // CLEW_HOST_CALLS_CALL_EDGE_H_
