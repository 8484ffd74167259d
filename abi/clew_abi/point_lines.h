// Where the points of a table (point.h) are in the source: the section CLEW_LINES_SECTION. Only the host
// reads it, from the file: it is not loaded, like debug information, and llvm-strip removes it.
//
// Every object file contributes one PointLines and `size` bytes after it, which are varints
// (stream.h: put_varint) and texts (a varint length, that many bytes):
//
//   number of files,   for each: its path
//   number of sources, for each: the number of its file, a function's linkage name
//   for each point:    2 * column + (1 if its source is not that of the point before)
//                      the number of its source, in that case
//                      its line minus that of the point before: 2 * n, or 2 * -n - 1 below 0
//
// Before the first point come source 0 and line 0. A line or a column that is not known is 0.
#ifndef CLEW_ABI_POINT_LINES_H_
#define CLEW_ABI_POINT_LINES_H_

#include <cstdint>

namespace clew::abi {

struct PointLines {
  std::uint64_t points;  // the address of the object file's first Point, as linked
  std::uint32_t count;   // of points
  std::uint32_t size;    // of what follows
};
static_assert(sizeof(PointLines) == 16);

#define CLEW_LINES_SECTION ".clew_lines"

// The step from one line to the next, as an unsigned number that is small if the step is.
constexpr std::uint64_t fold_step(std::int64_t step) {
  return static_cast<std::uint64_t>(step) << 1 ^ static_cast<std::uint64_t>(step >> 63);
}
constexpr std::int64_t unfold_step(std::uint64_t folded) {
  return static_cast<std::int64_t>(folded >> 1) ^ -static_cast<std::int64_t>(folded & 1);
}

}  // namespace clew::abi

#endif  // CLEW_ABI_POINT_LINES_H_
