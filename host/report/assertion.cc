#include "host/report/assertion.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "host/lines.h"
#include "host/report/names.h"
#include "host/report/words.h"

namespace clew {
namespace {

// Chosen, not measured: a line that a reader takes in, and as many lines as an assertion with two
// values has.
constexpr std::size_t kMostText = 240;
constexpr std::size_t kMostLines = 8;

using Lines = std::vector<std::string_view>;

// Without the colours in which frameworks print on terminals.
std::string without_colours(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\x1b' || i + 1 == text.size() || text[i + 1] != '[') {
      plain += text[i];
      continue;
    }
    i += 2;
    while (i < text.size() && (text[i] < '@' || text[i] > '~')) ++i;
  }
  return plain;
}

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t") == line.npos; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// "a.cc:42" of "a.cc:42: Failure" or "a.cc(42): error"; nothing if it is no such place.
std::optional<std::string> place_of(std::string_view text) {
  const bool brackets = text.ends_with(')');
  if (brackets) text.remove_suffix(1);
  const std::size_t mark = text.rfind(brackets ? '(' : ':');
  if (mark == text.npos || mark == 0 || mark + 1 == text.size()) return std::nullopt;
  const std::string_view number = text.substr(mark + 1);
  if (number.find_first_not_of("0123456789") != number.npos) return std::nullopt;
  return fmt::format("{}:{}", short_path(std::string(text.substr(0, mark))), number);
}

void add(std::string& text, std::string_view more) {
  more = trimmed(more);
  if (more.empty()) return;
  if (!text.empty()) text += ' ';
  text += more;
}

// What a line begins: the place before `mark`, and what stands after it.
struct Begin {
  std::string place;
  std::string_view rest;
};
std::optional<Begin> begin_of(std::string_view line, std::string_view mark) {
  const std::size_t at = line.find(mark);
  if (at == line.npos) return std::nullopt;
  const auto place = place_of(line.substr(0, at));
  if (!place) return std::nullopt;
  return Begin{*place, line.substr(at + mark.size())};
}

// "a.cc:42: Failure", and the lines up to the next one or to a line of the framework's own.
std::optional<Assertion> google_test(const Lines& lines, std::size_t i) {
  constexpr std::string_view kUnknown = "unknown file: Failure";
  const auto begin = begin_of(lines[i], ": Failure");
  const bool whole = begin && is_blank(begin->rest);
  if (!whole && lines[i] != kUnknown) return std::nullopt;
  Assertion result{"", whole ? begin->place : ""};
  for (std::size_t j = i + 1; j < lines.size() && j <= i + kMostLines; ++j) {
    const std::string_view line = lines[j];
    if (is_blank(line) || line.starts_with("[ ") || line.ends_with(": Failure") ||
        line.starts_with("Stack trace:") || line.starts_with("Google Test trace:"))
      break;
    add(result.text, line);
  }
  return result;
}

// "a.cc:14: FAILED:", the expression, and "with expansion:" and the values, or "due to ..." and
// what.
std::optional<Assertion> catch2(const Lines& lines, std::size_t i) {
  const auto begin = begin_of(lines[i], ": FAILED:");
  if (!begin) return std::nullopt;
  Assertion result{"", begin->place};
  for (std::size_t j = i + 1; j < lines.size() && j <= i + kMostLines; ++j) {
    if (is_blank(lines[j]) || lines[j].starts_with("=====") || lines[j].starts_with("-----")) break;
    add(result.text, lines[j]);
  }
  return result;
}

// "a.cc:8: ERROR: CHECK( a == 2 ) is NOT correct!" and "  values: CHECK( 1 == 2 )"
std::optional<Assertion> doctest(const Lines& lines, std::size_t i) {
  auto begin = begin_of(lines[i], ": ERROR: ");
  if (!begin) begin = begin_of(lines[i], ": FATAL ERROR: ");
  if (!begin) return std::nullopt;
  Assertion result{"", begin->place};
  add(result.text, begin->rest);
  for (std::size_t j = i + 1; j < lines.size() && j <= i + kMostLines; ++j) {
    if (!lines[j].starts_with("  ") || is_blank(lines[j])) break;
    add(result.text, lines[j]);
  }
  return result;
}

// "a.cc(10): error: in "suite/case": check x == 2 has failed [1 != 2]"
std::optional<Assertion> boost_test(const Lines& lines, std::size_t i) {
  auto begin = begin_of(lines[i], ": error: in \"");
  if (!begin) begin = begin_of(lines[i], ": fatal error: in \"");
  if (!begin) return std::nullopt;
  Assertion result{"", begin->place};
  const std::size_t name_end = begin->rest.find("\": ");
  add(result.text, begin->rest.substr(name_end == begin->rest.npos ? 0 : name_end + 3));
  return result;
}

}  // namespace

std::optional<Assertion> assertion_in(std::string_view output) {
  const std::string plain = without_colours(output);
  const Lines lines = lines_of(plain);
  for (std::size_t i = 0; i < lines.size(); ++i)
    for (const auto& framework : {google_test, catch2, doctest, boost_test})
      if (auto found = framework(lines, i); found && !found->text.empty()) {
        found->text = printable(found->text.substr(0, kMostText)) +
                      (found->text.size() > kMostText ? "…" : "");
        found->place = printable(found->place);
        return found;
      }
  return std::nullopt;
}

std::optional<Assertion> assertion_in(const LastWords& words) {
  auto found = assertion_in(words.output);
  return found ? found : assertion_in(words.errors);
}

std::string assertion_line(const Assertion& assertion) {
  return assertion.place.empty() ? assertion.text
                                 : fmt::format("{}: {}", assertion.place, assertion.text);
}

}  // namespace clew
