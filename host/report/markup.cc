#include "host/report/markup.h"

namespace clew {

std::string escaped_markup(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '&':
        result += "&amp;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    }
  }
  return result;
}

std::string escaped_label(std::string_view text) {
  std::string result;
  for (const char c : escaped_markup(text)) {
    if (c == '\\') result += c;
    result += c;
  }
  return result;
}

}  // namespace clew
