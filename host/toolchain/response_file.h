// Response files (@file arguments), read as clang on Linux reads them.
#ifndef CLEW_HOST_TOOLCHAIN_RESPONSE_FILE_H_
#define CLEW_HOST_TOOLCHAIN_RESPONSE_FILE_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/toolchain/files.h"

namespace clew::toolchain {

// Clang's rules: blanks separate; ' and " group; \ takes the next character literally, even inside
// either kind of quotes; a quotation that is not closed ends with the text; an empty one is not an
// argument.
[[nodiscard]] std::vector<std::string> split_response_text(std::string_view text);

// The inverse, for arguments that are not empty.
[[nodiscard]] std::string to_response_text(std::span<const std::string> arguments);

struct ExpandedArgument {
  std::string text;
  std::size_t origin = 0;  // index of the argument on the command line that it comes from
  bool from_file = false;
};

// Replaces each @file by its content, including files within files. A file that cannot be read, or
// that includes itself, stays as @file: clang then reports the error.
[[nodiscard]] std::vector<ExpandedArgument> expand_response_files(
    std::span<const std::string> arguments, const Files& files);

}  // namespace clew::toolchain

#endif  // CLEW_HOST_TOOLCHAIN_RESPONSE_FILE_H_
