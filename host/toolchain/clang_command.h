// The call of clang behind a call of `clew cc` or `clew c++`.
// The user's arguments stay as they are and in their order. Those that instrument come before them,
// so that the user's take precedence; those that link the runtime come after them, before clang's
// own libraries. Both groups are marked as possibly unused: clang must not warn about what the user
// did not write.
#ifndef CLEW_HOST_TOOLCHAIN_CLANG_COMMAND_H_
#define CLEW_HOST_TOOLCHAIN_CLANG_COMMAND_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host/error.h"
#include "host/toolchain/files.h"
#include "host/toolchain/installation.h"

namespace clew::toolchain {

enum class Language : std::uint8_t { kC, kCxx };

// clang's arguments, without the name of the program. A call without inputs is returned unchanged,
// and so are response files, unless they contain something that concerns clew: then they are
// expanded.
[[nodiscard]] Result<std::vector<std::string>> clang_arguments(
    std::span<const std::string> user_arguments, const Installation& installation,
    const Files& files);

// The compiler found when clew was built; CLEW_CLANG or CLEW_CLANGXX in the environment replaces
// it. A name without a slash must be looked up in PATH.
[[nodiscard]] std::string compiler_for(Language language);

// The variable that replaces the compiler, for messages.
[[nodiscard]] const char* compiler_variable(Language language);

}  // namespace clew::toolchain

#endif  // CLEW_HOST_TOOLCHAIN_CLANG_COMMAND_H_
