// Valid inputs for a fuzz target to start from. Only fuzz targets include this.
#ifndef CLEW_HOST_SCHEDULE_FUZZ_SEED_H_
#define CLEW_HOST_SCHEDULE_FUZZ_SEED_H_

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

namespace clew {

// Adds `bytes` to the corpus, the one folder among the arguments of the target. libFuzzer reads the
// corpus after LLVMFuzzerInitialize, which calls this.
inline void add_seed(std::span<char*> arguments, int number, std::span<const std::uint8_t> bytes) {
  for (const std::filesystem::path folder : arguments.subspan(1)) {
    if (!std::filesystem::is_directory(folder)) continue;
    std::ofstream file(folder / ("seed" + std::to_string(number)), std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    if (!file) std::abort();
  }
}

}  // namespace clew

#endif  // CLEW_HOST_SCHEDULE_FUZZ_SEED_H_
