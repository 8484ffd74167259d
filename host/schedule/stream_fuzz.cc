// libFuzzer: a stream gives the same items in one piece and in several; the first byte is the size
// of the pieces.
#include <cstdint>
#include <cstdlib>
#include <random>
#include <span>
#include <vector>

#include "host/schedule/fuzz_seed.h"
#include "host/schedule/stream.h"
#include "host/schedule/test_util.h"

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

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 8; ++i) {
    std::vector<std::uint8_t> bytes = clew::encode(clew::random_schedule(random)).bytes;
    bytes.insert(bytes.begin(), static_cast<std::uint8_t>(clew::below(random, 64)));
    clew::add_seed({*argv, static_cast<std::size_t>(*argc)}, i, bytes);
  }
  return 0;
}

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
