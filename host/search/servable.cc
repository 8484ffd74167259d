#include "host/search/servable.h"

#include <algorithm>
#include <string_view>

#include "host/elf/elf_file.h"

namespace clew {
namespace {

// Sanitizers keep state of their own about memory, in mappings too large to copy.
struct Sanitizer {
  std::string_view symbol;
  const char* name;
};
constexpr Sanitizer kSanitizers[] = {
    {"__asan_init", "AddressSanitizer"},
    {"__ubsan_handle_type_mismatch_v1", "UndefinedBehaviorSanitizer"},
};

}  // namespace

Servable how_to_serve(const std::string& program) {
  const auto file = ElfFile::open(program);
  if (!file) return {};
  const auto names = file->section(".dynstr");
  if (!names) return {};
  std::string_view text(reinterpret_cast<const char*>(names->bytes.data()), names->bytes.size());
  while (!text.empty()) {
    const std::string_view name = text.substr(0, text.find('\0'));
    for (const Sanitizer& sanitizer : kSanitizers)
      if (name == sanitizer.symbol) return {sanitizer.name};
    text.remove_prefix(std::min(text.size(), name.size() + 1));
  }
  return {};
}

}  // namespace clew
