#include "host/report/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "host/report/names.h"
#include "host/target/syscall_names.h"
#include "host/terminal_text.h"

namespace clew {
namespace {
constexpr std::size_t kMostText = 500;
}

std::string decimal(DeltaCount number) { return fmt::format("{}", number); }

std::string with_commas(DeltaCount number) {
  std::string digits = decimal(number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string counted(std::uint64_t number, std::string_view singular) {
  const bool hisses = singular.ends_with("ch") || singular.ends_with("s");
  return fmt::format("{} {}{}", with_commas(number), singular,
                     number == 1 ? "" : (hisses ? "es" : "s"));
}

std::string hex_hash(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

std::string printable(std::string_view text) {
  std::string result = terminal_text(text.substr(0, kMostText), Newlines::kReplace);
  std::ranges::replace(result, '\t', '?');
  if (text.size() > kMostText) result += "…";
  return result;
}

const char* to_word(HuntStage stage) {
  switch (stage) {
    case HuntStage::kHunting:
      break;
    case HuntStage::kClosePassing:
      return "looking for a passing schedule close to the failing one";
    case HuntStage::kPassing:
      return "looking for a passing schedule";
  }
  return "hunting";
}

const char* to_word(IsolateStage stage) {
  switch (stage) {
    case IsolateStage::kRunning:
      return "running the failing schedule";
    case IsolateStage::kSimplifying:
      return "simplifying";
    case IsolateStage::kPassing:
      return "looking for a passing schedule";
    case IsolateStage::kFollowing:
      return "following the difference to its effect";
    case IsolateStage::kRecording:
      return "recording both sides";
    case IsolateStage::kOrder:
      return "looking for the events whose order decides";
    case IsolateStage::kWindows:
      return "finding out how far each switch can be moved";
    case IsolateStage::kIsolating:
      break;
  }
  return "isolating";
}

std::string choice_word(const Choice& choice) {
  return fmt::format("{}{}{}", to_word(choice.kind), choice.thread ? " " : "",
                     choice.thread ? choice.thread->text() : "");
}

std::string short_path(const std::string& path) {
  std::error_code error;
  const std::string here = std::filesystem::current_path(error).string() + "/";
  return !error && path.starts_with(here) ? path.substr(here.size()) : path;
}

std::string wrapped(std::string_view text, std::string_view indent) {
  constexpr std::size_t kMostColumns = 96;
  std::string result(indent);
  std::size_t column = indent.size();
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (column > indent.size()) {
      const bool fits = column + 1 + word.size() <= kMostColumns;
      result += fits ? " " : fmt::format("\n{}", indent);
      column = fits ? column + 1 : indent.size();
    }
    result += word;
    column += word.size();
  }
  return result + "\n";
}
std::string cut_in_middle(const std::string& text, std::size_t columns) {
  const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; };
  const auto letters = static_cast<std::size_t>(std::ranges::count_if(text, begins));
  if (letters <= columns || columns == 0) return text;
  // The last part in full, up to three quarters: a line number, the end of a name.
  const std::size_t colon = text.rfind(':');
  const std::size_t tail_wanted = colon == std::string::npos ? columns / 2 : text.size() - colon;
  const std::size_t tail = std::min(std::max(tail_wanted, columns / 2), columns * 3 / 4);
  const std::size_t head = columns - 1 - std::min(tail, columns - 1);
  std::string result;
  std::size_t at = 0;
  for (const char c : text) {
    if (begins(c)) ++at;
    if (at == head + 1 && begins(c)) result += "…";
    if (at <= head || at > letters - std::min(tail, columns - 1)) result += c;
  }
  return result;
}

std::string location_text(const Location& location) {
  if (location.file.empty() && !location.function.empty())
    return printable(function_text(location.function));
  std::string text = location.file.empty() ? "unknown file" : printable(short_path(location.file));
  if (location.line != 0) text += fmt::format(":{}", location.line);
  if (!location.function.empty()) text += " " + printable(in_function(location.function));
  return text;
}

const char* to_word(abi::WaitKind kind) {
  switch (kind) {
#define CLEW_KIND(name, text) \
  case abi::WaitKind::name:   \
    return text;
    CLEW_WAIT_KINDS(CLEW_KIND)
#undef CLEW_KIND
    case abi::WaitKind::kCount:
      break;
  }
  return "something";
}

std::string object_text(abi::WaitKind kind, std::uint64_t object, const std::string& variable,
                        const std::string& ending) {
  if (kind == abi::WaitKind::kJoin)
    return "the end of " + (ending.empty() ? std::string("a thread") : ending);
  if (kind == abi::WaitKind::kSleep || kind == abi::WaitKind::kNothing ||
      kind == abi::WaitKind::kSignal)
    return to_word(kind);
  if (std::string call = waiting_call(kind, object); !call.empty()) return call;
  if (variable.empty() && kind == abi::WaitKind::kTasks) return to_word(kind);
  return variable.empty() ? fmt::format("a {} ({:#x})", to_word(kind), object)
                          : fmt::format("{} {}", to_word(kind), printable(variable));
}

const char* waiting_word(abi::WaitKind kind) {
  return waiting_call(kind, 0).empty() ? "for" : "in";
}

std::string place_text(Symbolizer& symbols, abi::Place place) {
  const auto found = symbols.place(place);
  return found ? location_text(found->at) : "unknown place";
}

}  // namespace clew
