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
  kSystem,    // the system refused: disk full, permission, out of memory
  kInternal,  // a fault of clew itself
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

// Both return the error of a Result from the enclosing function, whose own type is a Result too;
// the arguments may contain commas.
//
//   CLEW_TRY(auto file, open_file(path));  // file is the value, moved out of the Result
//   CLEW_CHECK_OK(file.flush());           // the value, if there is one, is not needed here
//
// In place of the declaration, CLEW_TRY may name a variable that exists.
// CLEW_TRY is several statements: it cannot be the only statement of an if or a loop.
#define CLEW_TRY(declaration, ...) \
  CLEW_TRY_AS(CLEW_TRY_NAME(clew_result_, __COUNTER__), declaration, __VA_ARGS__)
#define CLEW_CHECK_OK(...) CLEW_CHECK_OK_AS(CLEW_TRY_NAME(clew_result_, __COUNTER__), __VA_ARGS__)

#define CLEW_TRY_AS(result, declaration, ...)                                          \
  auto&& result = (__VA_ARGS__);                                                       \
  if (!result) return std::unexpected(std::forward<decltype(result)>(result).error()); \
  declaration = *std::forward<decltype(result)>(result)
#define CLEW_CHECK_OK_AS(result, ...)                                         \
  do {                                                                        \
    if (auto&& result = (__VA_ARGS__); !result)                               \
      return std::unexpected(std::forward<decltype(result)>(result).error()); \
  } while (false)
// The counter is expanded before it is joined.
#define CLEW_TRY_NAME(a, b) CLEW_TRY_JOIN(a, b)
#define CLEW_TRY_JOIN(a, b) a##b

#endif  // CLEW_HOST_ERROR_H_
