// Errors as values: host libraries return them, only cli/ prints them.
#ifndef CLEW_HOST_ERROR_H_
#define CLEW_HOST_ERROR_H_

#include <cstdint>
#include <expected>
#include <string>
#include <utility>

namespace clew {

enum class ErrorCode : std::uint8_t {
  kUsage,     // what the user asked for makes no sense
  kBadInput,  // a file or program that cannot be used as it is
  kSystem,    // the machine said no: disk full, permission, out of memory
  kInternal,  // a fault of clew's own
};

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;  // one line, no full stop
  std::string hint;     // what to do about it; may be empty
};

template <class T>
using Result = std::expected<T, Error>;

[[nodiscard]] inline std::unexpected<Error> fail(ErrorCode code, std::string message,
                                                 std::string hint = {}) {
  return std::unexpected(Error{code, std::move(message), std::move(hint)});
}

}  // namespace clew

#endif  // CLEW_HOST_ERROR_H_
