// Where the points of a module are in the source: reads what clew_abi/point_lines.h describes.
#ifndef CLEW_HOST_SYMBOLIZE_POINT_LINES_H_
#define CLEW_HOST_SYMBOLIZE_POINT_LINES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace clew {

struct PointLine {
  std::string_view file;
  std::string_view function;  // linkage name
  std::uint32_t line = 0;     // 0: unknown
  std::uint32_t column = 0;   // 0: unknown
};

class PointLines {
 public:
  // Chosen: more than any program has, and 100 MB.
  static constexpr std::size_t kMostPoints = std::size_t{1} << 23;

  // Of each byte from `table` on, `points` in number. The section is untrusted: what makes no sense,
  // and what it says of other addresses, is left out. REQUIRES: the bytes outlive this.
  PointLines(std::span<const std::byte> section, std::uint64_t table, std::size_t points);

  // Empty if nothing is known.
  PointLine at(std::size_t point) const;

 private:
  struct Source {
    std::string_view file;
    std::string_view function;
  };
  struct Entry {
    std::uint32_t source = 0;  // one more than its index; 0: nothing is known
    std::uint32_t line = 0;
    std::uint32_t column = 0;
  };
  void read(std::span<const std::byte> bytes, std::span<Entry> points);

  std::vector<Source> sources_;
  std::vector<Entry> entries_;
};

}  // namespace clew

#endif  // CLEW_HOST_SYMBOLIZE_POINT_LINES_H_
