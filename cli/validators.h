// Checks of options that the library's own say less clearly.
#ifndef CLEW_CLI_VALIDATORS_H_
#define CLEW_CLI_VALIDATORS_H_

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <string>

namespace clew::cli {

// The library's own names the largest number there is in its error.
inline CLI::Validator positive() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        double value = 0;
        if (CLI::detail::lexical_cast(text, value) && value > 0 && std::isfinite(value)) return "";
        return fmt::format("{} is not a number greater than 0", text);
      },
      "");
}

}  // namespace clew::cli

#endif  // CLEW_CLI_VALIDATORS_H_
