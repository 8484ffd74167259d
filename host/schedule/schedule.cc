#include "host/schedule/schedule.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "host/quote.h"

namespace clew {
namespace {

constexpr std::string_view kGrammarHint =
    "a schedule is a list of CLOCK or CLOCK:THREAD in ascending order, such as \"6:T0.1, 9, "
    "12:T0\"";

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Schedule> parse() {
    Schedule schedule;
    for (;;) {
      auto separator = skip_separator(!schedule.switches.empty());
      if (!separator) return std::unexpected(separator.error());
      if (at_ == text_.size()) return schedule;
      auto item = parse_item();
      if (!item) return std::unexpected(item.error());
      if (!schedule.switches.empty() && item->clock < schedule.switches.back().clock)
        return fail_at(fmt::format("clock {} comes after clock {}", item->clock.value,
                                   schedule.switches.back().clock.value),
                       "put the switches in the order of their clocks");
      schedule.switches.push_back(*std::move(item));
    }
  }

 private:
  // White space, comments, and at most one comma, which only an item may precede.
  Result<void> skip_separator(bool comma_allowed) {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '#') {
        while (at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
      } else if (c == ',') {
        item_ = at_;
        if (!comma_allowed) return fail_at("a comma without a switch before it", kGrammarHint);
        comma_allowed = false;
      } else if (!is_space(c)) {
        break;
      }
    }
    return {};
  }

  Result<Switch> parse_item() {
    item_ = at_;
    ++count_;
    while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '#' && !is_space(text_[at_]))
      ++at_;
    const std::string_view item = text_.substr(item_, at_ - item_);
    const std::size_t colon = item.find(':');
    auto clock = parse_clock(item, item.substr(0, colon));
    if (!clock) return std::unexpected(clock.error());
    if (colon == std::string_view::npos) return Switch{*clock, std::nullopt};
    auto thread = ThreadId::parse(item.substr(colon + 1));
    if (!thread) return fail_at(std::move(thread.error().message), thread.error().hint);
    return Switch{*clock, *std::move(thread)};
  }

  Result<Clock> parse_clock(std::string_view item, std::string_view digits) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc::result_out_of_range ||
        (error == std::errc{} && value > kMaxClock.value))
      return fail_at(fmt::format("the clock of {} is too large", quote(item)),
                     fmt::format("clocks go up to {}", kMaxClock.value));
    if (error != std::errc{} || end != digits.data() + digits.size())
      return fail_at(fmt::format("{} is not a switch", quote(item)), kGrammarHint);
    if (value == 0) return fail_at(fmt::format("{} has clock 0", quote(item)), "clocks begin at 1");
    return Clock{value};
  }

  std::unexpected<Error> fail_at(std::string_view what, std::string_view hint) const {
    std::size_t line = 1;
    std::size_t line_start = 0;
    for (std::size_t i = 0; i < item_; ++i) {
      if (text_[i] != '\n') continue;
      ++line;
      line_start = i + 1;
    }
    return fail(ErrorCode::kUsage,
                fmt::format("bad schedule, line {}, column {} (switch {}): {}", line,
                            item_ - line_start + 1, count_, what),
                std::string(hint));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t item_ = 0;   // where the current item begins
  std::size_t count_ = 0;  // its number, from 1
};

Result<std::string> read_text(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored) &&
      !std::filesystem::is_fifo(path, ignored) &&
      !std::filesystem::is_character_file(path, ignored))
    return fail(ErrorCode::kUsage,
                fmt::format("{} is not a schedule: it is not a file", path.string()));
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::vector<char> chunk(std::size_t{64} << 10);
  while (file && text.size() <= kMaxScheduleText) {
    file.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    text.append(chunk.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (!file.eof() && !file.good())
    return fail(ErrorCode::kSystem, fmt::format("cannot read the schedule {}: {}", path.string(),
                                                std::strerror(errno)));
  if (text.size() > kMaxScheduleText)
    return fail(ErrorCode::kBadInput, fmt::format("the schedule {} is larger than {} MiB",
                                                  path.string(), kMaxScheduleText >> 20));
  if (text.find('\0') != std::string::npos)
    return fail(ErrorCode::kBadInput,
                fmt::format("{} is not a schedule in text form", path.string()),
                "a recording's own schedule is followed by: clew replay RECORDING");
  return text;
}

}  // namespace

Result<Schedule> parse_schedule(std::string_view text) { return Parser(text).parse(); }

std::string format_schedule(const Schedule& schedule) {
  std::string text;
  for (const Switch& item : schedule.switches) {
    if (!text.empty()) text += ", ";
    text += fmt::format_int(item.clock.value).c_str();
    if (item.to) text += ":" + item.to->text();
  }
  return text;
}

Result<Schedule> load_schedule(std::string_view text_or_path) {
  const std::filesystem::path path(text_or_path);
  // Longer or NUL-ridden names are no file's; the file system need not be asked.
  const bool may_be_path = !text_or_path.empty() && text_or_path.size() < 4096 &&
                           text_or_path.find('\0') == std::string_view::npos;
  std::error_code ignored;
  const auto status = may_be_path ? std::filesystem::status(path, ignored)
                                  : std::filesystem::file_status(std::filesystem::file_type::none);
  auto parsed = parse_schedule(text_or_path);
  // A folder "7" must not hide the schedule "7".
  if (!std::filesystem::exists(status) || (std::filesystem::is_directory(status) && parsed)) {
    if (!parsed && parsed.error().hint == kGrammarHint)
      parsed.error().hint += fmt::format("; and there is no file {}", quote(text_or_path));
    return parsed;
  }
  auto text = read_text(path);
  if (!text) return std::unexpected(text.error());
  auto schedule = parse_schedule(*text);
  if (!schedule) schedule.error().message = path.string() + ": " + schedule.error().message;
  return schedule;
}

}  // namespace clew
