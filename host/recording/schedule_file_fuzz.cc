// libFuzzer: the reader of schedule files. The input is a sequence of parts, each with
// its length in two bytes before it; the checksums are made to fit.
#include <cstdint>
#include <span>

#include "clew_abi/version.h"
#include "host/recording/resealed.h"
#include "host/recording/schedule_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::span<const std::uint8_t> rest(data, size);
  (void)clew::read_schedule_bytes(rest, "s");
  clew::SealedParts parts{{'c', 'l', 'e', 'w', 's', 'c', 'h', 0,  //
                           clew::schedule_format::kVersion, 0, 0, 0, clew::abi::kVersion, 0, 0, 0}};
  while (rest.size() >= 2) {
    const std::size_t length = std::min<std::size_t>(rest[0] | rest[1] << 8, rest.size() - 2);
    parts.emplace_back(rest.begin() + 2, rest.begin() + 2 + static_cast<std::ptrdiff_t>(length));
    rest = rest.subspan(2 + length);
  }
  (void)clew::read_schedule_bytes(clew::join_sealed(parts), "s");
  return 0;
}
