#include "host/cases/anchor.h"

#include <array>
#include <cctype>
#include <utility>

namespace clew {
namespace {

using abi::StepKind;

constexpr std::array<std::pair<StepKind, const char*>, 11> kWords{
    {{StepKind::kRead, "read"},
     {StepKind::kWrite, "write"},
     {StepKind::kUpdate, "update"},
     {StepKind::kLock, "lock"},
     {StepKind::kUnlock, "unlock"},
     {StepKind::kWait, "wait"},
     {StepKind::kSignal, "signal"},
     {StepKind::kCreate, "create"},
     {StepKind::kJoin, "join"},
     {StepKind::kFree, "free"},
     {StepKind::kDestroy, "destroy"}}};

}  // namespace

const char* anchor_word(StepKind kind) {
  for (const auto& [one, word] : kWords)
    if (one == kind) return word;
  return nullptr;
}

StepKind anchor_kind(const std::string& word) {
  for (const auto& [kind, one] : kWords)
    if (word == one) return kind;
  return StepKind::kOther;
}

bool may_stand_for(StepKind found, StepKind wanted) {
  using enum StepKind;
  if (found == wanted) return true;
  if (found == kOther)
    return wanted == kLock || wanted == kUnlock || wanted == kWait || wanted == kSignal ||
           wanted == kCreate || wanted == kJoin || wanted == kDestroy;
  const auto either = [&](StepKind a, StepKind b) {
    return (found == a && wanted == b) || (found == b && wanted == a);
  };
  return either(kRead, kUpdate) || either(kWrite, kUpdate) || either(kLock, kUpdate) ||
         either(kUnlock, kUpdate) || either(kFree, kDestroy) || either(kWait, kRead) ||
         either(kSignal, kUpdate);
}

std::string without_indices(const std::string& variable) {
  std::string result;
  for (std::size_t i = 0; i < variable.size(); ++i) {
    result += variable[i];
    if (variable[i] != '[') continue;
    while (i + 1 < variable.size() && variable[i + 1] != ']') ++i;
  }
  return result;
}

std::string source_function(const std::string& demangled) {
  std::string plain;  // template arguments left out, up to the parameters
  int angles = 0;
  for (const char c : demangled) {
    if (c == '(' && angles == 0 && !plain.ends_with("operator")) break;
    if (c == '<' && !plain.ends_with("operator")) ++angles;
    if (angles == 0) plain += c;
    if (c == '>' && angles > 0) --angles;
  }
  if (const std::size_t space = plain.rfind(' '); space != std::string::npos)
    plain.erase(0, space + 1);
  const std::size_t last = plain.rfind("::");
  if (last == std::string::npos || last == 0) return plain;
  const std::size_t before = plain.rfind("::", last - 1);
  return before == std::string::npos ? plain : plain.substr(before + 2);
}

std::string last_name(const std::string& function) {
  const std::size_t colons = function.rfind("::");
  return colons == std::string::npos ? function : function.substr(colons + 2);
}

}  // namespace clew
