// libFuzzer: a trace gives the same values in one piece and in several; the first byte is the size
// of the pieces. What is computed from a trace accepts any values.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "host/schedule/fuzz_seed.h"
#include "host/trace/flipped_pairs.h"
#include "host/trace/test_util.h"
#include "host/trace/trace_decoder.h"
#include "host/trace/trace_sharing.h"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  using namespace clew;
  std::vector<std::uint8_t> bytes =
      bytes_of(decision_record(2), access_record(2), sync_record(4), access_record(6));
  for (const std::uint8_t piece : {0, 40, 255}) {
    bytes.insert(bytes.begin(), piece);
    add_seed({*argv, static_cast<std::size_t>(*argc)}, piece, bytes);
    bytes.erase(bytes.begin());
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece = 1 + data[0];
  std::span<const std::uint8_t> bytes(data + 1, size - 1);
  clew::TraceDecoder once;
  once.push(bytes);
  const clew::Trace whole = once.finish();
  clew::TraceDecoder often;
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(piece, bytes.size())))
    often.push(bytes.first(std::min(piece, bytes.size())));
  const clew::Trace pieces = often.finish();
  if (whole.steps != pieces.steps || whole.decisions != pieces.decisions ||
      whole.complete != pieces.complete || once.bad_at() != often.bad_at())
    std::abort();
  (void)clew::contended(whole.steps);
  (void)clew::flipped_pairs(whole, pieces, 100);
  return 0;
}
