// Lines of code of a function, as Eichinger et al. 2010 count them: those inside its body that are
// neither blank nor comment.
#ifndef CLEW_HOST_MODEL_BODY_LINES_H_
#define CLEW_HOST_MODEL_BODY_LINES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace clew {

struct BodyLines {
  std::uint32_t first = 0;  // with the opening brace
  std::uint32_t last = 0;   // with the closing one
  std::uint32_t code = 0;
};

enum class BodyOf : std::uint8_t { kFunction, kLambda };

// Of the function that is declared in this line of the source, from 1. Nothing: no body begins there.
// Braces that the preprocessor leaves out are counted all the same.
[[nodiscard]] std::optional<BodyLines> body_lines(std::string_view source, std::uint32_t line,
                                                  BodyOf of);

}  // namespace clew

#endif  // CLEW_HOST_MODEL_BODY_LINES_H_
