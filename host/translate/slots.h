// Where translated code finds its own memory (clew_abi/translation.h), by the program's addresses.
#ifndef CLEW_HOST_TRANSLATE_SLOTS_H_
#define CLEW_HOST_TRANSLATE_SLOTS_H_

#include <cstddef>
#include <cstdint>

#include "clew_abi/translation.h"

namespace clew::slots {

constexpr std::uint64_t slot(std::size_t offset) { return abi::kTranslationAddress + offset; }
constexpr std::uint64_t scratch(unsigned i) {
  return slot(offsetof(abi::TranslationState, scratch) + 8 * i);
}
// Scratch memory: the two registers of what is put between instructions, the third of indirect
// branches, and the one that stands for an address relative to the instruction.
inline constexpr std::uint64_t kSaved0 = scratch(0);
inline constexpr std::uint64_t kSaved1 = scratch(1);
inline constexpr std::uint64_t kSaved2 = scratch(2);
inline constexpr std::uint64_t kSavedBase = scratch(3);
inline constexpr std::uint64_t kBuffer = slot(offsetof(abi::TranslationState, buffer));
inline constexpr std::uint64_t kTarget = slot(offsetof(abi::TranslationState, target));
inline constexpr std::uint64_t kJump = slot(offsetof(abi::TranslationState, jump));
inline constexpr std::uint64_t kAsk = slot(offsetof(abi::TranslationState, ask));
inline constexpr std::uint64_t kExit = slot(offsetof(abi::TranslationState, exit));
inline constexpr std::uint64_t kRequest = slot(offsetof(abi::TranslationState, request));
inline constexpr std::uint64_t kSite = slot(offsetof(abi::TranslationState, site));
inline constexpr std::uint64_t kOutSite = slot(offsetof(abi::TranslationState, out_site));
inline constexpr std::uint64_t kOutStack = slot(offsetof(abi::TranslationState, out_stack));

}  // namespace clew::slots

#endif  // CLEW_HOST_TRANSLATE_SLOTS_H_
