// What a program file tells about its functions: where their code is, which calls were inlined where,
// and which names its calls into libraries have.
#ifndef CLEW_HOST_SYMBOLIZE_MODULE_CODE_H_
#define CLEW_HOST_SYMBOLIZE_MODULE_CODE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "host/error.h"

namespace clew {

// As the source has it: instances of a template are one function, and so are the bodies of a
// constructor.
struct SourceFunction {
  std::string name;  // with its scope, without parameters
  std::string file;  // empty: not known
  std::uint32_t line = 0;
  bool own = false;  // of the user's own code (is_user_code)
  bool operator==(const SourceFunction&) const = default;
};

struct ModuleCode {
  // A stretch of code, and whose it is. Addresses are as linked.
  struct Stretch {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint32_t body = 0;            // of `functions`: the one that is not inlined
    std::uint32_t innermost = 0;       // of `functions`
    std::optional<std::uint32_t> own;  // the nearest of the user's own, inlined or not
  };
  // A call that has no instruction: the callee was inlined.
  struct InlinedCall {
    std::uint64_t entry = 0;
    std::uint32_t callee = 0;             // of `functions`
    std::optional<std::uint32_t> caller;  // the nearest of the user's own around it
    bool direct = false;                  // the source of that one has the call
    std::uint64_t first =
        0;  // where debug information says that it begins: `entry`, or another place
    std::uint32_t number = 0;  // of the call: those that differ in `entry` alone have the same
  };
  struct Line {
    std::uint64_t address = 0;  // where a statement of it begins
    std::uint32_t function = 0;
    std::uint32_t line = 0;
  };

  bool has_debug_information = false;
  std::vector<SourceFunction> functions;
  std::vector<Stretch> stretches;                            // ascending, without overlap
  std::unordered_map<std::uint64_t, std::uint32_t> entries;  // of bodies that are not inlined
  std::vector<InlinedCall> inlined;
  // By number: the code of inlined calls that may begin in several places, from and up to.
  std::unordered_map<std::uint32_t, std::vector<std::pair<std::uint64_t, std::uint64_t>>>
      inlined_code;
  std::uint64_t inlined_without_code = 0;                        // of the user's own functions
  std::unordered_map<std::uint64_t, std::string> library_calls;  // code that jumps to a library's
  std::unordered_map<std::uint64_t, std::string> library_slots;  // memory that has its address
  std::vector<Line> lines;                                       // of the user's own functions

  [[nodiscard]] const Stretch* find(std::uint64_t address) const;
};

// A file without debug information has functions by its symbols, all of them the user's own. Of a system
// library, or with `symbols_only`, none is.
enum class ModuleDetail : std::uint8_t { kAll, kSymbolsOnly };
[[nodiscard]] Result<ModuleCode> read_module_code(const std::string& path, ModuleDetail detail);

// A name as people write it: scope and name of a linker's symbol, without parameters.
[[nodiscard]] std::string plain_name(const std::string& linkage_name);

}  // namespace clew

#endif  // CLEW_HOST_SYMBOLIZE_MODULE_CODE_H_
