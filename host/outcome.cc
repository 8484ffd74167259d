#include "host/outcome.h"

#include <array>
#include <string_view>
#include <utility>

#include "clew_abi/notes.h"

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

const char* to_word(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return "pass";
    case Verdict::kFail:
      return "fail";
    case Verdict::kUnresolved:
      break;
  }
  return "unresolved";
}

const char* to_word(FailureKind kind) {
  switch (kind) {
#define CLEW_KIND(name, text) \
  case FailureKind::name:     \
    return text;
    CLEW_HOST_FAILURE_KINDS(CLEW_KIND)
#undef CLEW_KIND
  }
  return "unknown";
}

std::optional<FailureKind> failure_kind_from_word(std::string_view word) {
#define CLEW_KIND(name, text) \
  if (word == text) return FailureKind::name;
  CLEW_HOST_FAILURE_KINDS(CLEW_KIND)
#undef CLEW_KIND
  return std::nullopt;
}

FailureKind from_abi(abi::FailureKind kind) {
  switch (kind) {
#define CLEW_KIND(name, text)  \
  case abi::FailureKind::name: \
    return FailureKind::name;
    CLEW_FAILURE_KINDS(CLEW_KIND)
#undef CLEW_KIND
    case abi::FailureKind::kCount:
      break;
  }
  return FailureKind::kUnfinished;
}

std::optional<abi::FailureKind> to_abi(FailureKind kind) {
#define CLEW_KIND(name, text) \
  if (kind == FailureKind::name) return abi::FailureKind::name;
  CLEW_FAILURE_KINDS(CLEW_KIND)
#undef CLEW_KIND
  return std::nullopt;
}

Note note_from_text(std::string text) {
  constexpr std::string_view kNotRecorded = "not recorded: ";
  if (text == abi::kNoteOtherProcesses) return {Note::Kind::kOtherProcesses, std::move(text)};
  if (text.starts_with(abi::kNoteBecame)) return {Note::Kind::kBecame, std::move(text)};
  if (text.starts_with(kNotRecorded)) {
    std::string subject = text.substr(kNotRecorded.size());
    return {Note::Kind::kNotRecorded, std::move(text), std::move(subject)};
  }
  return {Note::Kind::kOther, std::move(text)};
}

}  // namespace clew
