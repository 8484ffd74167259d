// Files of /proc. Their process may end while they are read: then they are empty.
#ifndef CLEW_HOST_TARGET_SLURP_H_
#define CLEW_HOST_TARGET_SLURP_H_

#include <fstream>
#include <sstream>
#include <string>

namespace clew {

inline std::string slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  // Iterators are not used, because they turn a failure to read into an exception.
  text << file.rdbuf();
  return std::move(text).str();
}

}  // namespace clew

#endif  // CLEW_HOST_TARGET_SLURP_H_
