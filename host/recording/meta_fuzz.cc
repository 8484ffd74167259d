// libFuzzer: parse_meta, as it is and with a checksum that fits.
#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "host/recording/content_hash.h"
#include "host/recording/meta.h"
#include "host/recording/test_util.h"
#include "host/schedule/fuzz_seed.h"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  clew::add_seed({*argv, static_cast<std::size_t>(*argc)}, 0,
                 clew::bytes_of(clew::format_meta(clew::sample_meta())));
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  (void)clew::parse_meta(text, "m");
  nlohmann::json object = nlohmann::json::parse(text, nullptr, false);
  if (!object.is_object()) return 0;
  object.erase("checksum");
  const std::string body = object.dump();
  object["checksum"] = fmt::format(
      "{:016x}",
      clew::content_hash({reinterpret_cast<const std::uint8_t*>(body.data()), body.size()}));
  const auto meta = clew::parse_meta(object.dump(), "m");
  if (meta && !clew::parse_meta(clew::format_meta(*meta), "m")) __builtin_trap();
  return 0;
}
