#include "host/toolchain/response_file.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace clew::toolchain {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_blank(char c) { return kBlanks.find(c) != std::string_view::npos; }
bool is_quote(char c) { return c == '\'' || c == '"'; }

class Expander {
 public:
  explicit Expander(const Files& files) : files_(files) {}

  void add(const std::string& text, std::size_t origin) {
    if (text.size() > 1 && text.front() == '@') {
      const std::string path = text.substr(1);
      const bool recursive = std::ranges::find(open_, path) != open_.end();
      if (auto content = recursive ? std::nullopt : files_.read(path)) {
        open_.push_back(path);
        for (const std::string& inner : split_response_text(*content)) add(inner, origin);
        open_.pop_back();
        return;
      }
    }
    result_.push_back({.text = text, .origin = origin, .from_file = !open_.empty()});
  }

  std::vector<ExpandedArgument> take() { return std::move(result_); }

 private:
  const Files& files_;
  std::vector<std::string> open_;  // the files we are inside of
  std::vector<ExpandedArgument> result_;
};

}  // namespace

std::vector<std::string> split_response_text(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::vector<std::string> arguments;
  std::string current;
  char open_quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && i + 1 < text.size()) {
      current += text[++i];
    } else if (open_quote != '\0') {
      if (c == open_quote) {
        open_quote = '\0';
      } else {
        current += c;
      }
    } else if (is_quote(c)) {
      open_quote = c;
    } else if (is_blank(c)) {
      if (!current.empty()) arguments.push_back(std::exchange(current, {}));
    } else {
      current += c;
    }
  }
  if (!current.empty()) arguments.push_back(std::move(current));
  return arguments;
}

std::string to_response_text(std::span<const std::string> arguments) {
  std::string text;
  for (const std::string& argument : arguments) {
    for (const char c : argument) {
      if (is_blank(c) || is_quote(c) || c == '\\') text += '\\';
      text += c;
    }
    text += '\n';
  }
  return text;
}

std::vector<ExpandedArgument> expand_response_files(std::span<const std::string> arguments,
                                                    const Files& files) {
  Expander expander(files);
  for (std::size_t i = 0; i < arguments.size(); ++i) expander.add(arguments[i], i);
  return expander.take();
}

}  // namespace clew::toolchain
