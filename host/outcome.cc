#include "host/outcome.h"

#include <array>
#include <utility>

namespace clew {
namespace {
constexpr std::array<std::pair<Outcome, const char*>, 4> kWords{{
    {Outcome::kPass, "pass"},
    {Outcome::kFail, "fail"},
    {Outcome::kHang, "hang"},
    {Outcome::kUnresolved, "unresolved"},
}};
}  // namespace

const char* to_word(Outcome outcome) {
  for (const auto& [value, word] : kWords)
    if (value == outcome) return word;
  return "unresolved";
}

std::optional<Outcome> outcome_from_word(const std::string& word) {
  for (const auto& [value, name] : kWords)
    if (word == name) return value;
  return std::nullopt;
}

}  // namespace clew
