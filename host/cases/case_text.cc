#include <fmt/format.h>

#include "host/cases/case_file.h"

namespace clew {
namespace {

constexpr std::size_t kLongestText = 80;

std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n')
      result += "\\n";
    else if (c == '\t')
      result += "\\t";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      result += c;
  }
  return result + '"';
}

std::string shortened(std::string text) {
  if (text.size() > kLongestText) text = text.substr(0, kLongestText - 3) + "...";
  for (char& c : text)
    if (c == '\n') c = ' ';
  return text;
}

const char* noun_of(abi::StepKind kind) {
  using enum abi::StepKind;
  switch (kind) {
    case kLock:
      return "locking";
    case kUnlock:
      return "unlocking";
    case kWait:
      return "wait";
    case kSignal:
      return "signal";
    case kCreate:
      return "creation of a thread";
    case kJoin:
      return "join";
    case kFree:
      return "release of memory";
    case kDestroy:
      return "end of life";
    default:
      return anchor_word(kind) != nullptr ? anchor_word(kind) : "event";
  }
}

std::string ordinal(std::uint64_t number) {
  const bool teens = number / 10 % 10 == 1;
  const std::uint64_t last = teens ? 0 : number % 10;
  return fmt::format("{}{}", number, last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th");
}

void write(std::string& text, std::string_view key, std::string_view value) {
  if (!value.empty()) text += fmt::format("{} = {}\n", key, in_quotes(value));
}

const char* word_of(CaseOrder::Kind kind) {
  switch (kind) {
    case CaseOrder::Kind::kSees:
      return "sees";
    case CaseOrder::Kind::kBefore:
      return "before";
    case CaseOrder::Kind::kBetween:
      return "between";
    case CaseOrder::Kind::kHolds:
      return "holds";
  }
  return "";
}

void write_criteria(std::string& text, const Criteria& criteria) {
  if (criteria.fails_if_output) write(text, "fails-if-output", *criteria.fails_if_output);
  if (criteria.fails_unless_output)
    write(text, "fails-unless-output", *criteria.fails_unless_output);
  if (criteria.fails_if_output_differs) text += "fails-if-output-differs = \"yes\"\n";
  if (criteria.judge) write(text, "judge", *criteria.judge);
  for (const FailureKind kind : criteria.only) write(text, "only", to_word(kind));
}

}  // namespace

std::string phrase_of(const Anchor& anchor) {
  std::string text = fmt::format("the {}", noun_of(anchor.kind));
  // The runtime's own object for what programs do to files, pipes and sockets.
  if (anchor.variable == "clew_outside")
    text += " of the outside";
  else if (!anchor.variable.empty())
    text += fmt::format(" of `{}`", anchor.variable);
  if (!anchor.function.empty()) text += fmt::format(" in `{}`", anchor.function);
  std::string where = anchor.file;
  if (!anchor.text.empty())
    where += fmt::format("{}`{}`", where.empty() ? "" : ", ", shortened(anchor.shown));
  if (anchor.occurrence > 1)
    where += fmt::format(", the {} such statement there", ordinal(anchor.occurrence));
  if (!where.empty()) text += fmt::format(" ({})", where);
  return text;
}

std::string phrase_of(const CaseEvent& event, Threads threads) {
  std::string text = phrase_of(event.at);
  if (threads == Threads::kNamed) text += fmt::format(" by thread {}", event.thread);
  return event.time > 1 ? fmt::format("{}, for the {} time,", text, ordinal(event.time)) : text;
}

std::string sentence_of(const Case& one, const CaseOrder& order) {
  // Of several orders it matters which thread is the same.
  const Threads threads = one.orders.size() > 1 ? Threads::kNamed : Threads::kUnnamed;
  const auto event = [&](std::size_t i) {
    // What ends the sentence has no comma behind it.
    std::string text = phrase_of(one.events[order.events[i]], threads);
    const bool is_last = order.kind == CaseOrder::Kind::kBetween ? i == 2 : i == 1;
    if (is_last && text.ends_with(',')) text.pop_back();
    return text;
  };
  switch (order.kind) {
    case CaseOrder::Kind::kSees:
      return fmt::format("{} sees {}", event(0), event(1));
    case CaseOrder::Kind::kBefore:
      return fmt::format("{} comes before {}", event(0), event(1));
    case CaseOrder::Kind::kBetween:
      return fmt::format("{}{} comes between {} and {}", event(1),
                         threads == Threads::kNamed ? "" : " by another thread", event(0),
                         event(2));
    case CaseOrder::Kind::kHolds:
      return fmt::format("{} happens while the thread holds the lock of {}", event(0), event(1));
  }
  return "";
}

std::string format_case(const Case& one) {
  std::string text =
      "# A failure that depends on the order of threads, kept for `clew check` (docs/cases.md).\n";
  for (const CaseOrder& order : one.orders) text += fmt::format("# {}\n", sentence_of(one, order));
  if (one.orders.empty()) text += "# no order: the program failed under every schedule tried\n";
  text += fmt::format("\nclew-case = {}\n", kCaseVersion);
  text += fmt::format("program = {}\n", in_quotes(one.program));
  for (const std::string& argument : one.arguments)
    text += fmt::format("argument = {}\n", in_quotes(argument));
  write(text, "input", one.input);
  text += fmt::format("failure = \"{}\"\n", one.expects_failure ? to_word(one.failure) : "none");
  write(text, "detail", one.detail);
  write(text, "found", one.found);
  if (one.with_order != 0)
    text += fmt::format("with-order = {}\nfailed = {}\n", one.with_order, one.failed);
  write_criteria(text, one.criteria);
  for (const std::string& variable : one.beside) write(text, "beside", variable);
  for (const CaseEvent& event : one.events) {
    text += fmt::format("\n[event {}]\nthread = {}\n", event.name, event.thread);
    if (event.time != 0) text += fmt::format("time = {}\n", event.time);
    text += fmt::format("does = \"{}\"\n", anchor_word(event.at.kind));
    write(text, "variable", event.at.variable);
    write(text, "function", event.at.function);
    write(text, "file", event.at.file);
    write(text, "text", event.at.shown);
    if (event.at.occurrence != 1) text += fmt::format("occurrence = {}\n", event.at.occurrence);
  }
  text += "\n[orders]\n";
  for (const CaseOrder& order : one.orders) {
    std::string names;
    for (const std::size_t i : order.events) names += " " + one.events[i].name;
    text += fmt::format("{}{} ={}\n", word_of(order.kind),
                        order.same_data || order.kind == CaseOrder::Kind::kHolds ? "" : "-anywhere",
                        names);
  }
  return text;
}

}  // namespace clew
