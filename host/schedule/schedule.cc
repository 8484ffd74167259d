#include "host/schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "host/quote.h"

namespace clew {
namespace {

constexpr std::array kChoiceWords{
#define CLEW_KIND(name, text, value) text,
    CLEW_CHOICE_KINDS(CLEW_KIND)
#undef CLEW_KIND
};

constexpr std::string_view kGrammarHint =
    "a schedule is a list of CLOCK, CLOCK:THREAD and CLOCK/CHOICE in ascending order, such as "
    "\"6:T0.1, 9, 12/pick:T0.3\"";

std::string kinds_hint() { return fmt::format("choices are {}", fmt::join(kChoiceWords, ", ")); }

void append_thread(std::string& text, const std::optional<ThreadId>& thread) {
  if (thread) text += ":" + thread->text();
}

void append_item(std::string& text, const Switch& item) {
  text += fmt::format_int(item.clock.value).c_str();
  append_thread(text, item.to);
}

void append_item(std::string& text, const Choice& item) {
  text += fmt::format_int(item.clock.value).c_str();
  if (item.ordinal != 0) text += fmt::format("/{}", item.ordinal);
  text += fmt::format("/{}", to_word(item.kind));
  append_thread(text, item.thread);
}

// For hints; with `thread` instead of the item's own.
std::string format_with(Choice item, std::optional<ThreadId> thread) {
  item.thread = std::move(thread);
  std::string text;
  append_item(text, item);
  return text;
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Schedule> parse() {
    for (;;) {
      CLEW_CHECK_OK(skip_separator(count_ > 0));
      if (at_ == text_.size()) return std::move(schedule_);
      CLEW_CHECK_OK(parse_item());
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
        if (!comma_allowed) return fail_at("a comma without an item before it", kGrammarHint);
        comma_allowed = false;
      } else if (!is_space(c)) {
        break;
      }
    }
    return {};
  }

  Result<void> parse_item() {
    item_ = at_;
    ++count_;
    while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '#' && !is_space(text_[at_]))
      ++at_;
    const std::string_view item = text_.substr(item_, at_ - item_);
    const std::size_t colon = item.find(':');
    const std::string_view before = item.substr(0, colon);
    const std::size_t slash = before.find('/');
    if (auto done = parse_clock(item, before.substr(0, slash)); !done) return done;
    std::optional<ThreadId> thread;
    if (colon != std::string_view::npos) {
      auto parsed = ThreadId::parse(item.substr(colon + 1));
      if (!parsed) return fail_at(parsed.error().message, parsed.error().hint);
      thread = *std::move(parsed);
    }
    if (slash != std::string_view::npos)
      return parse_choice(item, before.substr(slash + 1), std::move(thread));
    schedule_.switches.push_back({clock_, std::move(thread)});
    return {};
  }

  // To clock_.
  Result<void> parse_clock(std::string_view item, std::string_view digits) {
    std::uint64_t value = 0;
    const std::errc error = parse_number(digits, value);
    if (error == std::errc::result_out_of_range ||
        (error == std::errc{} && value > kMaxClock.value))
      return fail_at(fmt::format("the clock of {} is too large", quote(item)),
                     fmt::format("the largest clock is {}", kMaxClock.value));
    if (error != std::errc{})
      return fail_at(fmt::format("{} is neither a switch nor a choice", quote(item)), kGrammarHint);
    if (value == 0) return fail_at(fmt::format("{} has clock 0", quote(item)), "clocks begin at 1");
    if (value < clock_.value)
      return fail_at(fmt::format("clock {} comes after clock {}", value, clock_.value),
                     "put the items in the order of their clocks");
    clock_.value = value;
    return {};
  }

  // `text` is what lies between the first slash and the colon: "[ordinal/]kind".
  Result<void> parse_choice(std::string_view item, std::string_view text,
                            std::optional<ThreadId> thread) {
    Choice choice{.clock = clock_, .thread = std::move(thread)};
    if (const std::size_t slash = text.find('/'); slash != std::string_view::npos) {
      const std::errc error = parse_number(text.substr(0, slash), choice.ordinal);
      if (error == std::errc::result_out_of_range)
        return fail_at(fmt::format("the number of the choice in {} is too large", quote(item)),
                       fmt::format("choices at one clock are numbered 0 to {}", UINT64_MAX));
      if (error != std::errc{})
        return fail_at(
            fmt::format("{} is not the number of a choice", quote(text.substr(0, slash))),
            "write CLOCK/CHOICE or CLOCK/NUMBER/CHOICE, such as 12/1/pick:T0.3");
      text.remove_prefix(slash + 1);
    }
    const auto kind = choice_kind_from_word(text);
    if (!kind) return fail_at(fmt::format("{} is not a choice", quote(text)), kinds_hint());
    choice.kind = *kind;
    if (abi::names_thread(*kind) && !choice.thread)
      return fail_at(
          fmt::format("{} names no thread", quote(item)),
          fmt::format("say which thread, as in {}", format_with(choice, ThreadId().child(1))));
    if (!abi::names_thread(*kind) && choice.thread)
      return fail_at(fmt::format("{} names a thread, but {} takes none", quote(item), text),
                     fmt::format("write {}", format_with(choice, std::nullopt)));
    if (auto done = check_order(choice); !done) return done;
    schedule_.choices.push_back(std::move(choice));
    return {};
  }

  Result<void> check_order(const Choice& choice) const {
    if (schedule_.choices.empty()) return {};
    const Choice& last = schedule_.choices.back();
    if (last.clock != choice.clock || last.ordinal < choice.ordinal) return {};
    if (last.ordinal == choice.ordinal)
      return fail_at(
          fmt::format("choice {} at clock {} occurs twice", choice.ordinal, choice.clock.value),
          fmt::format("number the choices at one clock, as in {0}/timeout, {0}/1/cas",
                      choice.clock.value));
    return fail_at(fmt::format("choice {} at clock {} comes after choice {}", choice.ordinal,
                               choice.clock.value, last.ordinal),
                   "put the choices at one clock in the order of their numbers");
  }

  // Parses all of `digits`, or returns invalid_argument or result_out_of_range.
  static std::errc parse_number(std::string_view digits, std::uint64_t& value) {
    const char* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    return error == std::errc{} && stop != end ? std::errc::invalid_argument : error;
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
                fmt::format("bad schedule, line {}, column {} (item {}): {}", line,
                            item_ - line_start + 1, count_, what),
                std::string(hint));
  }

  std::string_view text_;
  Schedule schedule_;
  Clock clock_;  // of the last item
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
                "to follow the schedule of a recording, use: clew replay RECORDING");
  return text;
}

}  // namespace

const char* to_word(abi::ChoiceKind kind) {
  return kChoiceWords.at(static_cast<std::size_t>(kind));
}

std::optional<abi::ChoiceKind> choice_kind_from_word(std::string_view word) {
  const auto it = std::ranges::find(kChoiceWords, word);
  if (it == kChoiceWords.end()) return std::nullopt;
  return static_cast<abi::ChoiceKind>(it - kChoiceWords.begin());
}

Result<Schedule> parse_schedule(std::string_view text) { return Parser(text).parse(); }

std::string format_schedule(const Schedule& schedule) {
  std::string text;
  for_each_item(schedule, [&text](const auto& item) {
    if (!text.empty()) text += ", ";
    append_item(text, item);
  });
  return text;
}

Result<Schedule> load_schedule(std::string_view text_or_path) {
  const std::filesystem::path path(text_or_path);
  // No file has a name that is longer or contains NULs; the file system need not be asked.
  const bool may_be_path = !text_or_path.empty() && text_or_path.size() < 4096 &&
                           text_or_path.find('\0') == std::string_view::npos;
  std::error_code ignored;
  const auto status = may_be_path ? std::filesystem::status(path, ignored)
                                  : std::filesystem::file_status(std::filesystem::file_type::none);
  auto parsed = parse_schedule(text_or_path);
  // A folder "7" must not hide the schedule "7".
  if (!std::filesystem::exists(status) || (std::filesystem::is_directory(status) && parsed)) {
    if (!parsed && (parsed.error().hint == kGrammarHint || parsed.error().hint == kinds_hint()))
      parsed.error().hint += fmt::format("; and there is no file {}", quote(text_or_path));
    return parsed;
  }
  CLEW_TRY(auto text, read_text(path));
  auto schedule = parse_schedule(text);
  if (!schedule) schedule.error().message = path.string() + ": " + schedule.error().message;
  return schedule;
}

}  // namespace clew
