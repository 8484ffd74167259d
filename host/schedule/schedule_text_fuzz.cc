// libFuzzer: what parse_schedule takes reads back as itself.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "host/schedule/stream.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto schedule = clew::parse_schedule({reinterpret_cast<const char*>(data), size});
  if (!schedule) return 0;
  if (clew::parse_schedule(clew::format_schedule(*schedule)) != *schedule) std::abort();
  if (clew::to_schedule(clew::encode(*schedule)) != *schedule) std::abort();
  return 0;
}
