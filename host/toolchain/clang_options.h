// What clew knows of clang's options: just enough to distinguish inputs from the values of options,
// and calls that link from calls that stop before linking.
#ifndef CLEW_HOST_TOOLCHAIN_CLANG_OPTIONS_H_
#define CLEW_HOST_TOOLCHAIN_CLANG_OPTIONS_H_

#include <cstddef>
#include <string_view>

namespace clew::toolchain {

// How many of the arguments after `option` are its values: 0 for flags and for options whose value
// is joined.
[[nodiscard]] std::size_t values_after(std::string_view option);

// -c, -E, -M and the like: the call produces no executable and no shared library.
[[nodiscard]] bool stops_before_link(std::string_view option);

// -x c++-header and the like: the call produces a precompiled header.
[[nodiscard]] bool is_header_language(std::string_view language);
[[nodiscard]] bool is_header_file(std::string_view path);

}  // namespace clew::toolchain

#endif  // CLEW_HOST_TOOLCHAIN_CLANG_OPTIONS_H_
