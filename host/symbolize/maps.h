// The text of /proc/PID/maps: which file a code address belongs to.
#ifndef CLEW_HOST_SYMBOLIZE_MAPS_H_
#define CLEW_HOST_SYMBOLIZE_MAPS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace clew {

struct Mapping {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;  // in the file
  std::string path;          // empty: no file
};

class Maps {
 public:
  Maps() = default;
  // Lines that make no sense are left out: the text is the program's.
  explicit Maps(std::string_view text);

  // Null if the address lies in no mapping of a file.
  const Mapping* find(std::uint64_t address) const;
  // The start of the file whose mappings end nearest before the address: its uninitialised
  // data follow them, in memory of no file. Null if there is none.
  const Mapping* module_before(std::uint64_t address) const;
  const std::vector<Mapping>& all() const { return mappings_; }

 private:
  std::vector<Mapping> mappings_;  // ascending, without overlap
};

}  // namespace clew

#endif  // CLEW_HOST_SYMBOLIZE_MAPS_H_
