// Reads the records of a trace. The bytes come from the program under test, which may have written
// anything, and may change them while they are read: nothing is believed that was not copied and
// checked.
#ifndef CLEW_HOST_TRACE_TRACE_DECODER_H_
#define CLEW_HOST_TRACE_TRACE_DECODER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "host/trace/trace.h"

namespace clew {

class TraceDecoder {
 public:
  // The next bytes of the trace, in pieces of any size.
  void push(std::span<const std::uint8_t> bytes);

  // What was read. Complete unless a record makes no sense, or the last one is cut short: reading
  // stops there.
  [[nodiscard]] Trace finish();

  // Where the record begins that makes no sense, in bytes from the start; nothing: there is none.
  [[nodiscard]] std::optional<std::uint64_t> bad_at() const { return bad_at_; }

 private:
  // The bytes of the record at the start of `bytes` that has been read; 0: it is not all there, or
  // it makes no sense.
  std::size_t take(std::span<const std::uint8_t> bytes);
  bool read(const abi::TraceHead& head, std::span<const std::uint8_t> record);
  template <class Record>
  void read_step(const Record& record, std::uint64_t object, std::uint32_t size);

  Trace trace_;
  std::vector<std::uint8_t> pending_;  // the beginning of a record
  std::uint64_t position_ = 0;
  std::optional<std::uint64_t> bad_at_;
};

}  // namespace clew

#endif  // CLEW_HOST_TRACE_TRACE_DECODER_H_
