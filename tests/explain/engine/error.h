// What statements are refused with.
#ifndef ENGINE_ERROR_H_
#define ENGINE_ERROR_H_

#include <stdexcept>
#include <string>

namespace engine {

enum class Code { kSyntax, kNoTable, kTableExists, kNoColumn, kLockRefused, kDuplicate, kFull };

class SqlError : public std::runtime_error {
 public:
  SqlError(Code code, const std::string& message) : std::runtime_error(message), code_(code) {}
  Code code() const { return code_; }

 private:
  Code code_;
};

}  // namespace engine

#endif  // ENGINE_ERROR_H_
