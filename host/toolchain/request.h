// What a call of the compiler asks for, read off its arguments.
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
  // Else clang answers a question (--version) or complains, by itself. A file that does not exist
  // is no input: clang says different things about a call with no input at all, and our linker
  // arguments would be one.
  bool has_input = false;
  bool links = false;          // an executable or a shared library comes out
  bool is_executable = false;  // an executable does
  bool has_sanitizer = false;  // an executable with the runtime of a sanitizer does
  std::string granularity = "shared";
  std::vector<std::size_t> own;  // indices of clew's own options, ascending

  // Where clew's linker arguments have to stand, if not at the end: before a C library that is
  // named, because the loader looks for pthread_create in the order of the libraries, and before
  // --, because everything after it is an input.
  std::optional<std::size_t> link_before;
};

// An error for wrong options of clew's own and for what cannot work under clew.
[[nodiscard]] Result<Request> read_request(std::span<const ExpandedArgument> arguments,
                                           const Files& files);

}  // namespace clew::toolchain

#endif  // CLEW_HOST_TOOLCHAIN_REQUEST_H_
