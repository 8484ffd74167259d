// Text of others (paths, names of functions, what a program says) on the user's terminal.
#ifndef CLEW_HOST_TERMINAL_TEXT_H_
#define CLEW_HOST_TERMINAL_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace clew {

enum class Newlines : std::uint8_t { kKeep, kReplace };

struct Utf8 {
  std::uint32_t code = 0;
  std::size_t size = 0;  // bytes; 0: not UTF-8
};

// The first character of a text that is not empty.
[[nodiscard]] inline Utf8 first_character(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || size > text.size()) return {};
  std::uint32_t code = lead & (0x7fu >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fu);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[size] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {};
  return {code, size};
}

// Whether a terminal may act on it instead of showing it: the control characters C0 and C1, and
// those that turn the direction of writing ("Trojan Source", Boucher and Anderson 2021).
[[nodiscard]] inline bool drives_terminal(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x202a && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0x2028 || code == 0x2029;
}

// What drives a terminal, and what is not UTF-8, becomes '?'; tabs stay.
[[nodiscard]] inline std::string terminal_text(std::string_view text,
                                               Newlines newlines = Newlines::kKeep) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Utf8 first = first_character(text);
    const bool plain = first.code == '\t' || (first.code == '\n' && newlines == Newlines::kKeep);
    const std::size_t size = first.size == 0 ? 1 : first.size;
    if (first.size == 0 || (drives_terminal(first.code) && !plain))
      result += '?';
    else
      result += text.substr(0, size);
    text.remove_prefix(size);
  }
  return result;
}

}  // namespace clew

#endif  // CLEW_HOST_TERMINAL_TEXT_H_
