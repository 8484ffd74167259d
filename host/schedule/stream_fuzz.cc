// libFuzzer: a stream gives the same items in one piece and in pieces; the first byte is the size
// of those.
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "host/schedule/stream.h"

namespace {

bool drain(clew::StreamDecoder& decoder, std::vector<clew::StreamItem>& items) {
  for (;;) {
    auto item = decoder.next();
    if (!item) return false;
    if (!*item) return true;
    items.push_back(**std::move(item));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece = 1 + data[0];
  std::span<const std::uint8_t> bytes(data + 1, size - 1);
  std::vector<clew::StreamItem> whole;
  clew::StreamDecoder once;
  once.push(bytes);
  const bool good = drain(once, whole);
  std::vector<clew::StreamItem> pieces;
  clew::StreamDecoder often;
  bool good_in_pieces = true;
  for (; !bytes.empty() && good_in_pieces; bytes = bytes.subspan(std::min(piece, bytes.size()))) {
    often.push(bytes.first(std::min(piece, bytes.size())));
    good_in_pieces = drain(often, pieces);
  }
  if (good != good_in_pieces || whole != pieces || once.offset() != often.offset()) std::abort();
  (void)clew::to_schedule({{data + 1, data + size}, {"T0", "T0.1"}});
  return 0;
}
