// Files that the kernel shows. They may end with their process while they are read: then nothing
// stands in them.
#ifndef CLEW_HOST_TARGET_SLURP_H_
#define CLEW_HOST_TARGET_SLURP_H_

#include <fstream>
#include <sstream>
#include <string>

namespace clew {

inline std::string slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  // Not by iterators, out of which a failure to read comes as an exception.
  text << file.rdbuf();
  return std::move(text).str();
}

}  // namespace clew

#endif  // CLEW_HOST_TARGET_SLURP_H_
