// libFuzzer: read_archive, with the file as it is, and with the input as the content of a frame, so that the
// code behind the decompression is reached.
#include <zstd.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "clew_abi/version.h"
#include "host/recording/archive_format.h"
#include "host/recording/archive_test_util.h"
#include "host/schedule/fuzz_seed.h"

namespace {

std::vector<std::uint8_t> framed(std::span<const std::uint8_t> content) {
  std::vector<std::uint8_t> file(clew::archive_format::kMagic.begin(),
                                 clew::archive_format::kMagic.end());
  for (const std::uint32_t version : {clew::kArchiveVersion, clew::abi::kVersion})
    for (int i = 0; i < 4; ++i) file.push_back(static_cast<std::uint8_t>(version >> 8 * i));
  const std::size_t header = file.size();
  file.resize(header + ZSTD_compressBound(content.size()));
  file.resize(header + ZSTD_compress(file.data() + header, file.size() - header, content.data(),
                                     content.size(), 1));
  return file;
}

void read(std::span<const std::uint8_t> bytes) {
  clew::MemorySink sink;
  const std::size_t size = bytes.size();
  (void)clew::read_archive(clew::source_of(bytes), size, "a", sink);
  for (const auto& [name, content] : sink.parts_)
    if (name.starts_with('/') || name.find("..") == 0 || name.find("/../") != std::string::npos)
      __builtin_trap();
}

// The content of the frame of an exported recording.
std::vector<std::uint8_t> sample() {
  std::string name = (std::filesystem::temp_directory_path() / "clew_fuzz.XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) std::abort();
  const std::filesystem::path folder = name;
  if (!clew::export_sample(folder, folder / "a")) std::abort();
  const std::string file = clew::slurp(folder / "a");
  std::filesystem::remove_all(folder);
  std::vector<std::uint8_t> content(std::size_t{1} << 20);
  constexpr std::size_t kHeader = clew::archive_format::kHeader;
  content.resize(ZSTD_decompress(content.data(), content.size(), file.data() + kHeader,
                                 file.size() - kHeader));
  return content;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  const auto content = sample();
  clew::add_seed({*argv, static_cast<std::size_t>(*argc)}, 0, content);
  clew::add_seed({*argv, static_cast<std::size_t>(*argc)}, 1, framed(content));
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read({data, size});
  read(framed({data, size}));
  return 0;
}
