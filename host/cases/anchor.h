// A place of a program in terms of its source, for people and for the next build: what is done, to
// what, in which statement of which function. Never a line number, never a clock.
#ifndef CLEW_HOST_CASES_ANCHOR_H_
#define CLEW_HOST_CASES_ANCHOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "clew_abi/step.h"

namespace clew {

struct Anchor {
  abi::StepKind kind = abi::StepKind::kOther;
  std::string variable;           // "forks[]", indices left out; empty: not known
  std::string function;           // "Cache::evict"; empty: outside of functions, or not known
  std::string file;               // its name without folders: a hint, no more
  std::vector<std::string> text;  // tokens of the statement; empty: the compiler names no line
  std::string shown;              // the same as the source has it, for people
  std::uint32_t occurrence = 1;   // among equal statements of the function
  bool operator==(const Anchor&) const = default;
};

// "read", "write", "lock", ...: the words of case files. Null: steps of that kind are no anchors.
[[nodiscard]] const char* anchor_word(abi::StepKind kind);
// kOther: no such word.
[[nodiscard]] abi::StepKind anchor_kind(const std::string& word);

// Whether a step of kind `found` may be what a step of kind `wanted` has become: another optimisation
// level or an atomic variable makes one update of a read and a write. kOther: a synchronisation call
// that no run has executed.
[[nodiscard]] bool may_stand_for(abi::StepKind found, abi::StepKind wanted);

// "forks[3].owner" without its indices.
[[nodiscard]] std::string without_indices(const std::string& variable);

// "void ns::Cache<int>::evict(int)" as the source has it: "Cache::evict", with the last
// class alone.
[[nodiscard]] std::string source_function(const std::string& demangled);

// "evict" of "Cache::evict".
[[nodiscard]] std::string last_name(const std::string& function);

}  // namespace clew

#endif  // CLEW_HOST_CASES_ANCHOR_H_
