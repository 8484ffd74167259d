// Any bytes are a case or an error; a case that was read is written and read again as the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "host/cases/test_util.h"
#include "host/schedule/fuzz_seed.h"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  const std::string text = clew::format_case(clew::example_case());
  clew::add_seed({*argv, static_cast<std::size_t>(*argc)}, 0,
                 {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto one = clew::parse_case(text, "fuzz");
  if (!one) return 0;
  const auto again = clew::parse_case(clew::format_case(*one), "fuzz");
  if (!again || again->events.size() != one->events.size() ||
      again->orders.size() != one->orders.size())
    std::abort();
  return 0;
}
