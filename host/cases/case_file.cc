#include "host/cases/case_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "host/cases/source_file.h"
#include "host/recording/file.h"

namespace clew {
namespace {

constexpr std::size_t kMostArguments = 1000;
constexpr std::size_t kMostTokens = 1000;
constexpr std::size_t kMostBeside = 1000;
constexpr std::uint64_t kMostTime = 1'000'000;

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

class Parser {
 public:
  explicit Parser(std::string_view name) : name_(name) {}

  Result<Case> run(std::string_view text) {
    while (!text.empty()) {
      ++line_;
      const std::size_t end = text.find('\n');
      const std::string_view line = trimmed(text.substr(0, end));
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      if (line.empty() || line.front() == '#') continue;
      CLEW_CHECK_OK(line.front() == '[' ? section(line) : field(line));
    }
    CLEW_CHECK_OK(finish());
    return std::move(case_);
  }

 private:
  enum class Section : std::uint8_t { kTop, kEvent, kOrders };

  [[nodiscard]] std::unexpected<Error> bad(std::string what) const {
    return fail(ErrorCode::kBadInput, fmt::format("{}:{}: {}", name_, line_, what),
                "docs/cases.md describes the file");
  }

  Result<void> section(std::string_view line) {
    if (line == "[orders]") {
      section_ = Section::kOrders;
      has_orders_ = true;
      return {};
    }
    constexpr std::string_view kEvent = "[event ";
    if (!line.starts_with(kEvent) || line.back() != ']')
      return bad(fmt::format("'{}' is no section: [event NAME] or [orders]", line));
    const std::string event(trimmed(line.substr(kEvent.size(), line.size() - kEvent.size() - 1)));
    if (event.empty() || event.find_first_of(" \t[]=\"") != std::string::npos)
      return bad("the name of an event is one word");
    for (const CaseEvent& other : case_.events)
      if (other.name == event) return bad(fmt::format("there are two events '{}'", event));
    if (case_.events.size() == kMostCaseEvents)
      return bad(fmt::format("there are more than {} events", kMostCaseEvents));
    section_ = Section::kEvent;
    seen_.clear();
    case_.events.emplace_back().name = event;
    return {};
  }

  Result<void> field(std::string_view line) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos)
      return bad(fmt::format("'{}' is not of the form key = value", line.substr(0, 40)));
    const std::string key(trimmed(line.substr(0, equals)));
    const std::string_view value = trimmed(line.substr(equals + 1));
    if (!version_ && key != "clew-case")
      return bad("the first field must be clew-case, the version of the format");
    if (section_ == Section::kOrders) return order(key, value);
    const bool repeats =
        section_ == Section::kTop && (key == "argument" || key == "only" || key == "beside");
    if (!repeats && !seen_.insert(key).second) return bad(fmt::format("'{}' is given twice", key));
    return section_ == Section::kTop ? top(key, value) : event(key, value);
  }

  Result<std::uint64_t> number(std::string_view value, std::uint64_t most) const {
    std::uint64_t result = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
    if (error != std::errc() || end != value.data() + value.size() || result < 1 || result > most)
      return bad(fmt::format("'{}' is not a number from 1 to {}", value.substr(0, 40), most));
    return result;
  }

  Result<std::string> string(std::string_view value) const {
    if (value.size() < 2 || value.front() != '"' || value.back() != '"')
      return bad("the value must be in double quotes");
    std::string result;
    value = value.substr(1, value.size() - 2);
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (value[i] == '"') return bad("a double quote in a value is written \\\"");
      if (value[i] != '\\') {
        result += value[i];
        continue;
      }
      if (++i == value.size()) return bad("a backslash in a value is written \\\\");
      if (value[i] == 'n') {
        result += '\n';
      } else if (value[i] == 't') {
        result += '\t';
      } else if (value[i] == 'x') {
        unsigned code = 0;
        const auto [end, error] = std::from_chars(
            value.data() + i + 1, value.data() + std::min(i + 3, value.size()), code, 16);
        if (error != std::errc() || end != value.data() + i + 3 || code == 0)
          return bad("\\x is followed by two hexadecimal digits, not 00");
        result += static_cast<char>(code);
        i += 2;
      } else if (value[i] == '"' || value[i] == '\\') {
        result += value[i];
      } else {
        return bad(fmt::format("'\\{}' means nothing here", value[i]));
      }
    }
    if (result.find('\0') != std::string::npos) return bad("a value has a zero byte");
    return result;
  }

  Result<void> top(const std::string& key, std::string_view value) {
    if (key == "clew-case") {
      CLEW_TRY(const auto version, number(value, UINT32_MAX));
      if (version > kCaseVersion)
        return bad(
            fmt::format("the case has version {} of the format, this clew reads versions up to {}",
                        version, kCaseVersion));
      version_ = version;
      return {};
    }
    if (key == "with-order" || key == "failed") {
      CLEW_TRY((key == "failed" ? case_.failed : case_.with_order), number(value, kMostTime));
      return {};
    }
    CLEW_TRY(auto text, string(value));
    Criteria& criteria = case_.criteria;
    if (key == "program")
      case_.program = std::move(text);
    else if (key == "argument")
      case_.arguments.push_back(std::move(text));
    else if (key == "input")
      case_.input = std::move(text);
    else if (key == "beside")
      case_.beside.push_back(std::move(text));
    else if (key == "detail")
      case_.detail = std::move(text);
    else if (key == "found")
      case_.found = std::move(text);
    else if (key == "fails-if-output")
      criteria.fails_if_output = std::move(text);
    else if (key == "fails-unless-output")
      criteria.fails_unless_output = std::move(text);
    else if (key == "judge")
      criteria.judge = std::move(text);
    else if (key == "fails-if-output-differs" && text == "yes")
      criteria.fails_if_output_differs = true;
    else if (key == "failure")
      return failure(text);
    else if (key == "only")
      return only(text);
    else
      return bad(fmt::format("there is no field '{}' here", key));
    if (case_.arguments.size() > kMostArguments) return bad("there are too many arguments");
    if (case_.beside.size() > kMostBeside) return bad("there are too many variables beside");
    return {};
  }

  Result<void> failure(const std::string& word) {
    case_.expects_failure = word != "none";
    if (!case_.expects_failure) return {};
    const auto kind = failure_kind_from_word(word);
    if (!kind) return bad(fmt::format("'{}' is no kind of failure", word));
    case_.failure = *kind;
    return {};
  }
  Result<void> only(const std::string& word) {
    const auto kind = failure_kind_from_word(word);
    if (!kind) return bad(fmt::format("'{}' is no kind of failure", word));
    case_.criteria.only.push_back(*kind);
    return {};
  }

  Result<void> event(const std::string& key, std::string_view value) {
    CaseEvent& now = case_.events.back();
    if (key == "thread" || key == "time" || key == "occurrence") {
      CLEW_TRY(const auto count, number(value, key == "thread" ? kMostCaseThreads : kMostTime));
      if (key == "thread") now.thread = static_cast<std::uint32_t>(count);
      if (key == "time") now.time = count;
      if (key == "occurrence") now.at.occurrence = static_cast<std::uint32_t>(count);
      return {};
    }
    CLEW_TRY(auto text, string(value));
    if (key == "variable")
      now.at.variable = std::move(text);
    else if (key == "function")
      now.at.function = std::move(text);
    else if (key == "file")
      now.at.file = std::move(text);
    else if (key == "does") {
      now.at.kind = anchor_kind(text);
      if (now.at.kind == abi::StepKind::kOther)
        return bad(fmt::format("'{}' is nothing that an event does", text));
    } else if (key == "text") {
      for (SourceToken& token : source_tokens(text)) now.at.text.push_back(std::move(token.text));
      if (now.at.text.size() > kMostTokens) return bad("the text is too long");
      now.at.shown = std::move(text);
    } else {
      return bad(fmt::format("an event has no field '{}'", key));
    }
    return {};
  }

  Result<void> order(std::string_view key, std::string_view value) {
    constexpr std::string_view kAnywhere = "-anywhere";
    CaseOrder order;
    order.same_data = !key.ends_with(kAnywhere);
    if (!order.same_data) key.remove_suffix(kAnywhere.size());
    if (key == "sees")
      order.kind = CaseOrder::Kind::kSees;
    else if (key == "before")
      order.kind = CaseOrder::Kind::kBefore;
    else if (key == "between")
      order.kind = CaseOrder::Kind::kBetween;
    else if (key == "holds")
      order.kind = CaseOrder::Kind::kHolds;
    else
      return bad(fmt::format("'{}' is no order: sees, before, between or holds", key));
    const bool holds = order.kind == CaseOrder::Kind::kHolds;
    if (holds) order.same_data = false;
    while (!value.empty()) {
      const std::size_t end = std::min(value.find_first_of(" \t"), value.size());
      CLEW_TRY(const auto at, find(value.substr(0, end)));
      order.events.push_back(at);
      value = trimmed(value.substr(end));
    }
    const std::size_t wanted = order.kind == CaseOrder::Kind::kBetween ? 3 : 2;
    if (order.events.size() != wanted)
      return bad(fmt::format("'{}' takes the names of {} events", key, wanted));
    const auto thread = [&](std::size_t i) { return case_.events[order.events[i]].thread; };
    if (!holds && thread(0) == thread(1)) return bad("the first two events are of one thread");
    if (holds && thread(0) != thread(1)) return bad("the two events must be of one thread");
    if (holds && case_.events[order.events[1]].at.kind != abi::StepKind::kLock)
      return bad("the second event of 'holds' must be a lock");
    if (wanted == 3 && thread(0) != thread(2))
      return bad("the first and the third event must be of one thread");
    if (case_.orders.size() == kMostCaseOrders)
      return bad(fmt::format("there are more than {} orders", kMostCaseOrders));
    case_.orders.push_back(std::move(order));
    return {};
  }
  Result<std::size_t> find(std::string_view name) const {
    for (std::size_t i = 0; i < case_.events.size(); ++i)
      if (case_.events[i].name == name) return i;
    return bad(fmt::format("there is no event '{}' above", name.substr(0, 40)));
  }

  Result<void> finish() {
    if (!version_) return bad("there is no field clew-case: this is no case");
    if (case_.program.empty()) return bad("there is no field program");
    if (case_.failed > case_.with_order) return bad("more runs failed than had the order");
    for (const CaseEvent& event : case_.events) {
      if (event.at.kind == abi::StepKind::kOther)
        return bad(fmt::format("event '{}' has no field does", event.name));
      if (event.at.function.empty() && event.at.text.empty())
        return bad(fmt::format("event '{}' has neither function nor text", event.name));
    }
    if (*version_ > 1 && !has_orders_)
      return bad("there is no section [orders]: the file may be cut off");
    for (std::size_t i = 0; i < case_.events.size(); ++i)
      if (std::ranges::none_of(case_.orders, [&](const CaseOrder& order) {
            return std::ranges::find(order.events, i) != order.events.end();
          }))
        return bad(fmt::format("no order has the event '{}': the file may be cut off",
                               case_.events[i].name));
    return {};
  }

  std::string_view name_;
  std::size_t line_ = 0;
  Section section_ = Section::kTop;
  bool has_orders_ = false;
  std::optional<std::uint64_t> version_;
  std::set<std::string> seen_;
  Case case_;
};

}  // namespace

Result<Case> parse_case(std::string_view text, std::string_view name) {
  if (text.size() > kMostCaseBytes)
    return fail(ErrorCode::kBadInput,
                fmt::format("{}: a case has at most {} bytes", name, kMostCaseBytes));
  return Parser(name).run(text);
}

Result<Case> read_case(const std::string& path) {
  auto bytes = read_file_start(path, kMostCaseBytes + 1);
  if (!bytes)
    return fail(ErrorCode::kBadInput, std::move(bytes.error().message), "clew case new writes one");
  return parse_case({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, path);
}

}  // namespace clew
