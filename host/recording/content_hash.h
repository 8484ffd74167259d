// Content hashes: XXH3, 64 bits. They detect accidents, not attacks.
#ifndef CLEW_HOST_RECORDING_CONTENT_HASH_H_
#define CLEW_HOST_RECORDING_CONTENT_HASH_H_

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "host/error.h"
#include "host/recording/file.h"

struct XXH3_state_s;

namespace clew {

inline constexpr std::uint64_t kEmptyContentHash = 0x2d06800538d394c2;  // of no bytes

[[nodiscard]] std::uint64_t content_hash(std::span<const std::uint8_t> bytes);

struct FileContent {
  std::uint64_t size = 0;
  std::uint64_t hash = kEmptyContentHash;
};
// `expected`: a file of another size is not read; only its size is in the result.
[[nodiscard]] Result<FileContent> hash_file(const std::filesystem::path& path,
                                            Whose whose = Whose::kAnybodys,
                                            std::optional<std::uint64_t> expected = std::nullopt);

// Hashes bytes that come in pieces.
class ContentHasher {
 public:
  ContentHasher();
  ContentHasher(const ContentHasher& other);
  ContentHasher& operator=(const ContentHasher& other);
  ContentHasher(ContentHasher&&) noexcept = default;
  ContentHasher& operator=(ContentHasher&&) noexcept = default;
  ~ContentHasher() = default;

  void update(std::span<const std::uint8_t> bytes);
  [[nodiscard]] std::uint64_t digest() const;

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;
};

}  // namespace clew

#endif  // CLEW_HOST_RECORDING_CONTENT_HASH_H_
