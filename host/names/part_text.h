// The values of what an access covers, if that is not one variable: two members that the compiler reads
// at once, some characters of a string.
#ifndef CLEW_HOST_NAMES_PART_TEXT_H_
#define CLEW_HOST_NAMES_PART_TEXT_H_

#include <cstdint>
#include <span>
#include <string>

#include "host/names/type.h"
#include "host/names/value_text.h"

namespace clew {

// What lies in these bytes, which begin `offset` bytes into an object of the type (or into the first of
// several, one after the other): "{low = 4, high = 64}", "\"abc\"", with "..." for what cannot be told.
// Empty: nothing that the type says of them.
[[nodiscard]] std::string part_text(const Type& type, std::uint64_t offset,
                                    std::span<const std::uint8_t> bytes,
                                    const ValueContext& context);

}  // namespace clew

#endif  // CLEW_HOST_NAMES_PART_TEXT_H_
