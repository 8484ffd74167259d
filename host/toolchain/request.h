// What a call of the compiler requests, derived from its arguments.
#ifndef CLEW_HOST_TOOLCHAIN_REQUEST_H_
#define CLEW_HOST_TOOLCHAIN_REQUEST_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/error.h"
#include "host/toolchain/files.h"
#include "host/toolchain/response_file.h"

namespace clew::toolchain {

struct Request {
  // If false, clang answers a question (--version) or complains by itself. A file that does not
  // exist is not an input: clang reports a call without any input differently, and our linker
  // arguments would be one.
  bool has_input = false;
  bool links = false;          // the call produces an executable or a shared library
  bool is_executable = false;  // the call produces an executable
  bool has_sanitizer = false;  // the call produces an executable with the runtime of a sanitizer
  std::string granularity = "shared";
  std::vector<std::size_t> own;  // indices of clew's own options, ascending

  // Where clew's linker arguments must be placed, if not at the end: before an explicit C library,
  // because the loader looks for pthread_create in the order of the libraries, and before --,
  // because everything after it is an input.
  std::optional<std::size_t> link_before;
};

// Fails for wrong values of clew's own options and for what cannot work under clew.
[[nodiscard]] Result<Request> read_request(std::span<const ExpandedArgument> arguments,
                                           const Files& files);

}  // namespace clew::toolchain

#endif  // CLEW_HOST_TOOLCHAIN_REQUEST_H_
