// The one version that pass, runtime and host share.
#ifndef CLEW_ABI_VERSION_H_
#define CLEW_ABI_VERSION_H_

#include <cstdint>

namespace clew::abi {

// Bumped with every change of a layout or of a meaning in this folder. A
// program built with another version is refused by name, never run half right.
inline constexpr std::uint32_t kVersion = 17;

}  // namespace clew::abi

#endif  // CLEW_ABI_VERSION_H_
