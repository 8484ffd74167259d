// Records of traces as the runtime writes them. Only tests and fuzzers include this.
#ifndef CLEW_HOST_TRACE_TEST_UTIL_H_
#define CLEW_HOST_TRACE_TEST_UTIL_H_

#include <cstdint>
#include <vector>

#include "clew_abi/trace.h"

namespace clew {

template <class Record>
abi::TraceHead trace_head(abi::TraceKind kind, std::uint64_t clock) {
  return {kind, abi::kTraceSwitched, sizeof(Record), 3, 0, 0x77, clock, clock / 2};
}

inline abi::TraceAccess access_record(std::uint64_t clock) {
  return {trace_head<abi::TraceAccess>(abi::TraceKind::kAccess, clock),
          12,
          0x1000,
          5,
          8,
          abi::StepKind::kWrite,
          0,
          0};
}
inline abi::TraceSync sync_record(std::uint64_t clock) {
  return {trace_head<abi::TraceSync>(abi::TraceKind::kSync, clock),
          14,
          0x2000,
          6,
          abi::StepKind::kLock,
          {}};
}
inline abi::TraceDecision decision_record(std::uint64_t clock) {
  return {trace_head<abi::TraceDecision>(abi::TraceKind::kDecision, clock), 16, 0x99, 2, 1, {}};
}

template <class... Records>
std::vector<std::uint8_t> bytes_of(const Records&... records) {
  std::vector<std::uint8_t> bytes;
  const auto append = [&bytes](const auto& record) {
    const auto* data = reinterpret_cast<const std::uint8_t*>(&record);
    bytes.insert(bytes.end(), data, data + sizeof record);
  };
  (append(records), ...);
  return bytes;
}

}  // namespace clew

#endif  // CLEW_HOST_TRACE_TEST_UTIL_H_
