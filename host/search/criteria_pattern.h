// A regular expression looked for in a program's output.
#ifndef CLEW_HOST_SEARCH_CRITERIA_PATTERN_H_
#define CLEW_HOST_SEARCH_CRITERIA_PATTERN_H_

#include <cstddef>
#include <regex>
#include <string>
#include <string_view>

#include "host/error.h"

namespace clew {

// ECMAScript without back references; ^ and $ match at line ends, . does not match one.
//
// The library's default matcher recurses once for each character, and dies on long lines; its
// other one (__polynomial) does not, and needs time proportional to the text as long as it is asked
// for a match from the start, so "anything, then" is put before the expression. 120 ms for a
// megabyte, 3 us for a line.
class OutputPattern {
 public:
  // Only so much of a text is looked at.
  static constexpr std::size_t kMostText = std::size_t{8} << 20;

  // `option` is named in the error.
  [[nodiscard]] static Result<OutputPattern> create(const std::string& expression,
                                                    std::string_view option);

  [[nodiscard]] bool found_in(std::string_view text) const;
  [[nodiscard]] const std::string& expression() const { return expression_; }

 private:
  OutputPattern() = default;
  std::string expression_;
  bool literal_ = false;  // nothing in it is special
  std::regex compiled_;
};

}  // namespace clew

#endif  // CLEW_HOST_SEARCH_CRITERIA_PATTERN_H_
