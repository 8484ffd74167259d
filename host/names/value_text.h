// Values as a person would write them, by their type: `kBusy`, "hello", &queue.items_[3], 3 elements
// {1, 2, 3}.
//
// Memory may hold anything, and types may claim anything: lengths, depths and the number of reads
// are bounded, and the text is one line of printable characters.
#ifndef CLEW_HOST_NAMES_VALUE_TEXT_H_
#define CLEW_HOST_NAMES_VALUE_TEXT_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "host/names/machine.h"
#include "host/names/type.h"

namespace clew {

struct ValueContext {
  ReadMemory read;  // empty: only what is in the bytes themselves can be told
  // What a pointer points to: "queue.items_[3]", "worker"; empty: it has no name.
  std::function<std::string(std::uint64_t address)> name_of = {};
  // Where it has none: "the 24 bytes allocated at cache.cpp:41"; empty: nothing is known of it.
  std::function<std::string(std::uint64_t address)> description_of = {};
};

// REQUIRES: as many bytes as the type has; fewer give "?".
[[nodiscard]] std::string value_text(const Type& type, std::span<const std::uint8_t> bytes,
                                     const ValueContext& context);
// Of an object in memory: also of some whose size is not in the debug information.
[[nodiscard]] std::string value_text_at(const Type& type, std::uint64_t address,
                                        const ValueContext& context);
// Of a bit-field's member, in the bytes of its object.
[[nodiscard]] std::string member_text(const Member& member, std::span<const std::uint8_t> object,
                                      const ValueContext& context);

}  // namespace clew

#endif  // CLEW_HOST_NAMES_VALUE_TEXT_H_
