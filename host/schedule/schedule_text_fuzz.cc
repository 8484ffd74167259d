// libFuzzer: what parse_schedule accepts reads back as itself.
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

#include "host/schedule/fuzz_seed.h"
#include "host/schedule/stream.h"
#include "host/schedule/test_util.h"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 8; ++i) {
    const std::string text = clew::format_schedule(clew::random_schedule(random));
    clew::add_seed({*argv, static_cast<std::size_t>(*argc)}, i,
                   {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto schedule = clew::parse_schedule({reinterpret_cast<const char*>(data), size});
  if (!schedule) return 0;
  if (clew::parse_schedule(clew::format_schedule(*schedule)) != *schedule) std::abort();
  if (clew::to_schedule(clew::encode(*schedule)) != *schedule) std::abort();
  return 0;
}
