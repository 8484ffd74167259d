// A start file: how the program of an imported recording is started (docs/export.md). clew export and
// clew import write it, clew-start maps it at a fixed address, and the runtime reads it there.
//
// A StartHeader, then texts, each with its NUL: those of StartText, then three for each file: the path
// by which the dynamic linker asks for it, the file that it gets, and what the file must be ("SIZE
// HASH" in hexadecimal digits), which is for the host alone.
#ifndef CLEW_ABI_START_FILE_H_
#define CLEW_ABI_START_FILE_H_

#include <cstddef>
#include <cstdint>

namespace clew::abi {

inline constexpr std::uint64_t kStartMagic = 0x7472'6174'7377'6c63;  // "clwstart"
inline constexpr std::uint32_t kStartVersion = 1;
inline constexpr std::uintptr_t kStartAddress = 0x6f01'0000'0000;
inline constexpr std::size_t kMaxStartFile = std::size_t{16} << 20;

struct StartHeader {
  std::uint64_t magic;
  std::uint32_t version;
  // Descriptor of a file to which every path that the dynamic linker opens is appended, with its NUL;
  // files that are not in the list are then taken from where they are. -1: none. In a file: -1.
  std::int32_t log;
  std::uint64_t size;  // of the texts
};

enum class StartText : std::uint8_t {
  kStartedAs,  // what was given to exec()
  kProgram,    // the path of the program, as it was
  kProgramFile,
  kLoaderFile,  // the dynamic linker
  kLog,         // the file that StartHeader::log is about; empty: none
};
inline constexpr std::size_t kStartTexts = 5;
inline constexpr std::size_t kTextsOfFile = 3;

// Reads the texts. Needs no library: the starter has none.
class StartTable {
 public:
  StartTable() = default;
  // REQUIRES: the last byte is a NUL, or there is none.
  StartTable(const char* texts, std::size_t size) : begin_(texts), end_(texts + size) {}
  explicit StartTable(const StartHeader* header)
      : StartTable(reinterpret_cast<const char*>(header + 1), header->size) {}

  bool empty() const { return begin_ == end_; }

  const char* text(StartText which) const {
    const char* const at = skip(begin_, static_cast<std::size_t>(which));
    return at != end_ ? at : "";
  }

  // The file for a path; null: none.
  const char* find(const char* path) const {
    for (const char* at = skip(begin_, kStartTexts); at != end_; at = skip(at, kTextsOfFile)) {
      const char* const file = skip(at, 1);
      if (file != end_ && is_same(at, path)) return file;
    }
    return nullptr;
  }

  static bool is_same(const char* a, const char* b) {
    while (*a != '\0' && *a == *b) ++a, ++b;
    return *a == *b;
  }

 private:
  const char* skip(const char* at, std::size_t count) const {
    for (; at != end_ && count > 0; --count) {
      while (*at != '\0') ++at;
      ++at;
    }
    return at;
  }

  const char* begin_ = nullptr;
  const char* end_ = nullptr;
};

}  // namespace clew::abi

#endif  // CLEW_ABI_START_FILE_H_
