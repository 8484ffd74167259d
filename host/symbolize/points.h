// The table of yield points in a program or shared library (clew_abi/point.h, point_lines.h).
#ifndef CLEW_HOST_SYMBOLIZE_POINTS_H_
#define CLEW_HOST_SYMBOLIZE_POINTS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "clew_abi/point.h"
#include "host/elf/elf_file.h"
#include "host/error.h"
#include "host/symbolize/point_lines.h"

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

  std::uint64_t size() const { return kinds_.size(); }
  // Nothing for an id past the end or an entry that makes no sense. What the file does not tell is
  // empty or 0.
  std::optional<PointSource> at(std::uint64_t id) const;

 private:
  PointTable(ElfFile file, std::span<const std::byte> kinds, PointLines lines)
      : file_(std::move(file)), kinds_(kinds), lines_(std::move(lines)) {}

  ElfFile file_;  // has the bytes that the others refer to
  std::span<const std::byte> kinds_;
  PointLines lines_;
};

}  // namespace clew

#endif  // CLEW_HOST_SYMBOLIZE_POINTS_H_
