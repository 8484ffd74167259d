// A text, line by line.
#ifndef CLEW_HOST_LINES_H_
#define CLEW_HOST_LINES_H_

#include <algorithm>
#include <string_view>
#include <vector>

namespace clew {

// Without their ends ("\n" or "\r\n"). They point into the text.
[[nodiscard]] inline std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace clew

#endif  // CLEW_HOST_LINES_H_
