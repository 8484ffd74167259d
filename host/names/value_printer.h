// How value_text() goes about it: a printer with a budget. Only host/names/ includes this.
#ifndef CLEW_HOST_NAMES_VALUE_PRINTER_H_
#define CLEW_HOST_NAMES_VALUE_PRINTER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/names/type.h"
#include "host/names/value_text.h"

namespace clew {

class ValuePrinter {
 public:
  using Bytes = std::span<const std::uint8_t>;

  explicit ValuePrinter(const ValueContext& context) : context_(context) {}

  std::string print(const Type& type, Bytes bytes, int depth);
  std::string print_at(const Type& type, std::uint64_t address, int depth);
  std::string member(const Member& member, Bytes object, int depth);

  // --- for library_values.cc
  std::optional<std::vector<std::uint8_t>> read(std::uint64_t address, std::uint64_t size);
  std::optional<std::uint64_t> word(std::uint64_t address);
  std::string text_at(std::uint64_t address, std::uint64_t length, bool terminated);
  std::string pointer(const Type* target, std::uint64_t address, int depth);
  std::string number_of(const Type& type, std::uint64_t raw);
  std::string name_of(std::uint64_t address) const {
    return context_.name_of ? context_.name_of(address) : std::string();
  }
  // "3 elements {1, 2, 3}", from what `next` gives until it has no more.
  template <class Next>
  std::string elements(std::uint64_t count, Next&& next);

  static std::uint64_t number(Bytes bytes, std::uint64_t offset, std::size_t size);

 private:
  std::string scalar(const Type& type, Bytes bytes, int depth);
  std::string record(const Type& type, Bytes bytes, int depth);
  std::string array(const Type& type, Bytes bytes, int depth);
  std::string enumeration(const Type& type, std::uint64_t raw) const;

  const ValueContext& context_;
  int reads_ = 0;
  int parts_ = 0;
};

// A class of libstdc++; nothing: none that is known, or not in the state that it should be in.
[[nodiscard]] std::optional<std::string> library_value(ValuePrinter& printer, const Type& type,
                                                       ValuePrinter::Bytes bytes, int depth);

inline constexpr std::uint64_t kShownElements = 5;

template <class Next>
std::string ValuePrinter::elements(std::uint64_t count, Next&& next) {
  if (count == 0) return "empty";
  std::string text = std::to_string(count) + (count == 1 ? " element {" : " elements {");
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i == kShownElements) {
      text += ", ...";
      break;
    }
    const std::optional<std::string> one = next(i);
    if (i > 0) text += ", ";
    if (!one) {
      text += "?";
      break;
    }
    text += *one;
  }
  return text + "}";
}

}  // namespace clew

#endif  // CLEW_HOST_NAMES_VALUE_PRINTER_H_
