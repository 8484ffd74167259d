#include "host/search/criteria_pattern.h"

#include <fmt/format.h>

#include "host/quote.h"

namespace clew {
namespace {

constexpr char kSpecial[] = "^$\\.*+?()[]{}|";
// Longer ones take the library minutes to compile.
constexpr std::size_t kMostExpression = 10'000;

const char* reason(const std::regex_error& error) {
  using namespace std::regex_constants;
  switch (error.code()) {
    case error_brack:
      return "a [ has no ]";
    case error_paren:
      return "parentheses do not match";
    case error_brace:
    case error_badbrace:
      return "bad repetition in braces";
    case error_escape:
      return "bad escape";
    case error_range:
      return "bad range of characters";
    case error_badrepeat:
      return "nothing to repeat before *, + or ?";
    case error_ctype:
    case error_collate:
      return "unknown class of characters";
    case error_backref:
    case error_complexity:
      return "back references are not supported";
    case error_space:
      return "it is too large";
    default:
      return "it cannot be understood";
  }
}

std::unexpected<Error> bad(const std::string& expression, std::string_view option,
                           const char* why) {
  return fail(ErrorCode::kUsage,
              fmt::format("{} {}: not a regular expression: {}", option, quote(expression), why),
              "ECMAScript syntax; \\ before a special character makes it an ordinary one");
}

}  // namespace

Result<OutputPattern> OutputPattern::create(const std::string& expression,
                                            std::string_view option) {
  if (expression.size() > kMostExpression) return bad(expression, option, "it is too long");
  OutputPattern pattern;
  pattern.expression_ = expression;
  pattern.literal_ = expression.find_first_of(kSpecial) == std::string::npos;
  if (pattern.literal_) return pattern;
  using namespace std::regex_constants;
  const auto flags = ECMAScript | multiline | nosubs | __polynomial;
  try {
    // By itself first: "a)(b" would be good after the prefix.
    [[maybe_unused]] const std::regex alone(expression, flags);
    pattern.compiled_ = std::regex("[^]*?(?:" + expression + ")", flags);
  } catch (const std::regex_error& error) {
    return bad(expression, option, reason(error));
  }
  return pattern;
}

bool OutputPattern::found_in(std::string_view text) const {
  text = text.substr(0, kMostText);
  if (literal_) return text.find(expression_) != std::string_view::npos;
  return std::regex_search(text.begin(), text.end(), compiled_,
                           std::regex_constants::match_continuous);
}

}  // namespace clew
