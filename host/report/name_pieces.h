// A demangled name as a tree of brackets: what names.cc reads and shortens.
#ifndef CLEW_HOST_REPORT_NAME_PIECES_H_
#define CLEW_HOST_REPORT_NAME_PIECES_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clew {

struct Piece;
using Pieces = std::vector<Piece>;

struct Piece {
  std::string text;          // a word, an operator, "::", " "; of a bracket: the opening one
  std::vector<Pieces> args;  // of a bracket, between commas
  bool bracket = false;

  [[nodiscard]] bool is(std::string_view other) const { return !bracket && text == other; }
  [[nodiscard]] bool opens(char what) const { return bracket && text[0] == what; }
};

// Nothing: it is no name, or one nested beyond reason.
[[nodiscard]] std::optional<Pieces> pieces_of(std::string_view text);

// As text again.
[[nodiscard]] std::string render(const Piece& piece);
[[nodiscard]] std::string render(const Pieces& pieces);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_NAME_PIECES_H_
