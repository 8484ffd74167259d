// Untrusted text in one-line messages.
#ifndef CLEW_HOST_QUOTE_H_
#define CLEW_HOST_QUOTE_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace clew {

inline constexpr std::size_t kQuoteLimit = 40;

// 'text', shortened to `limit` characters; control characters become \xNN.
[[nodiscard]] inline std::string quote(std::string_view text, std::size_t limit = kQuoteLimit) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string quoted = "'";
  for (const char c : text.substr(0, limit)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      quoted += c;
    } else {
      quoted += "\\x";
      quoted += kDigits[byte >> 4];
      quoted += kDigits[byte & 15];
    }
  }
  if (text.size() > limit) quoted += "...";
  return quoted + "'";
}

}  // namespace clew

#endif  // CLEW_HOST_QUOTE_H_
