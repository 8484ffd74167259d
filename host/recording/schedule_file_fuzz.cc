// libFuzzer: the reader of schedule files. The input is a sequence of parts, each with
// its length in two bytes before it; the checksums are made to fit.
#include <cstdint>
#include <filesystem>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "clew_abi/version.h"
#include "host/recording/file.h"
#include "host/recording/resealed.h"
#include "host/recording/schedule_file.h"
#include "host/schedule/fuzz_seed.h"
#include "host/schedule/test_util.h"

namespace {

std::vector<std::uint8_t> schedule_file(std::mt19937_64& random) {
  std::string folder = (std::filesystem::temp_directory_path() / "clew_fuzz.XXXXXX").string();
  if (!::mkdtemp(folder.data())) std::abort();
  const auto path = std::filesystem::path(folder) / "schedule";
  auto writer = clew::ScheduleFileWriter::create(path).value();
  for (const clew::Entry& entry : clew::random_entries(random, clew::below(random, 200)))
    writer.append(entry).value();
  writer.finish({"T0", "T0.1"}).value();
  std::vector<std::uint8_t> bytes = clew::read_file(path, 1 << 20).value();
  std::filesystem::remove_all(folder);
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 8; ++i) {
    std::vector<std::uint8_t> parts;
    const clew::SealedParts sealed = clew::split_sealed(schedule_file(random));
    for (const auto& part : std::span(sealed).subspan(1)) {  // all but the header
      parts.push_back(static_cast<std::uint8_t>(part.size()));
      parts.push_back(static_cast<std::uint8_t>(part.size() >> 8));
      parts.insert(parts.end(), part.begin(), part.end());
    }
    clew::add_seed({*argv, static_cast<std::size_t>(*argc)}, i, parts);
  }
  return 0;
}

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
