// The table of yield points in a program or shared library (clew_abi/point.h).
#ifndef CLEW_HOST_SYMBOLIZE_POINTS_H_
#define CLEW_HOST_SYMBOLIZE_POINTS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "clew_abi/point.h"
#include "host/elf/elf_file.h"
#include "host/error.h"

namespace clew {

struct PointSource {
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string function;  // linkage name
  abi::PointKind kind = abi::PointKind::kCount;
};

// "read", "loop back edge", ...
const char* to_word(abi::PointKind kind);

class PointTable {
 public:
  // A module without points has an empty table.
  [[nodiscard]] static Result<PointTable> open(const std::string& module);
  [[nodiscard]] static PointTable of(ElfFile file);

  std::uint64_t size() const { return section_.bytes.size() / sizeof(abi::Point); }
  // Nothing for an id past the end or an entry that makes no sense. Strings that lie outside of the
  // file are empty.
  std::optional<PointSource> at(std::uint64_t id) const;

 private:
  PointTable(ElfFile file, ElfFile::Section section) : file_(std::move(file)), section_(section) {}
  std::string text(std::uint64_t field_address, std::int32_t offset) const;

  ElfFile file_;
  ElfFile::Section section_;
};

}  // namespace clew

#endif  // CLEW_HOST_SYMBOLIZE_POINTS_H_
