// The functions of a program under test by the addresses of its code, for counting runs and for what
// they counted.
#ifndef CLEW_HOST_CALLS_PROGRAM_CODE_H_
#define CLEW_HOST_CALLS_PROGRAM_CODE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "host/symbolize/module_code.h"
#include "host/translate/counting.h"

namespace clew {

// A function of the program's own, or, from kFirstLeaf on, one of a library that it calls.
using FunctionNumber = std::uint32_t;
inline constexpr FunctionNumber kFirstLeaf = 0x8000'0000;
inline constexpr FunctionNumber kNoFunction = 0xffff'ffff;

struct ProgramFunction {
  SourceFunction source;
  std::uint32_t lines = 0;      // of code
  std::uint32_t last_line = 0;  // 0: not known
};

enum class CountLevel : std::uint8_t { kCalls, kLines, kCallsAndLines };

class ProgramCode final : public OwnCode {
 public:
  explicit ProgramCode(CountLevel level) : level_(level) {}
  [[nodiscard]] CountLevel level() const { return level_; }

  void see(int process, std::uint64_t address) override;
  [[nodiscard]] bool is_own(std::uint64_t address) const override;
  [[nodiscard]] bool is_own_entry(std::uint64_t address) const override;
  [[nodiscard]] bool is_same_function(std::uint64_t a, std::uint64_t b) const override;
  [[nodiscard]] bool is_silent(std::uint64_t target) const override;
  [[nodiscard]] Slot slot(std::uint64_t address) const override;
  [[nodiscard]] bool is_counted(std::uint64_t address) const override;
  [[nodiscard]] bool is_inlined_entry(std::uint64_t address) const override;

  // Whose code it is: the nearest function of the program's own.
  [[nodiscard]] FunctionNumber owner(std::uint64_t address) const;
  // The function whose machine code it is: that one, or the one into which it was inlined. kNoFunction: a
  // library's.
  [[nodiscard]] FunctionNumber body(std::uint64_t address) const;
  // Whether that function's source has what is there, not an inlined library function's.
  [[nodiscard]] bool is_in_own_source(std::uint64_t address) const;
  // What a call to `target` calls. kNoFunction: what does not count, or is told when it is entered.
  [[nodiscard]] FunctionNumber callee(std::uint64_t target);

  struct Edge {
    FunctionNumber caller = kNoFunction;
    FunctionNumber callee = kNoFunction;
  };
  // The inlined calls that begin there. kNoFunction as the caller: it is within a library's function.
  [[nodiscard]] std::vector<Edge> inlined_at(std::uint64_t address);
  // The line that begins there, if lines are counted.
  struct Beside {
    std::uint64_t address = 0;
    std::uint32_t line = 0;
  };
  struct OwnLine {
    FunctionNumber function = kNoFunction;
    std::uint32_t line = 0;
    // What the code of the function has before and behind it.
    std::optional<Beside> before = {};
    std::optional<Beside> behind = {};
  };
  [[nodiscard]] std::optional<OwnLine> line_at(std::uint64_t address) const;

  // All of the program's own functions, whether they ran or not. Only grows.
  [[nodiscard]] std::vector<ProgramFunction> functions() const;
  [[nodiscard]] std::string name_of(FunctionNumber function) const;
  // What could not be told of this program, a sentence each.
  [[nodiscard]] std::vector<std::string> lacks() const;

 private:
  struct Module {
    std::string path;
    ModuleCode code;
    std::vector<FunctionNumber> numbers;  // of its functions; leaves are numbered when called
    std::unordered_map<std::uint64_t, std::vector<std::size_t>> inlined;  // by entry
    std::unordered_map<std::uint64_t, std::size_t> lines;                 // by address
  };
  struct Mapped {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t bias = 0;          // the address is the linked one and this
    std::shared_ptr<Module> module;  // null: a library's
    std::string path;                // of the file
    std::uint64_t offset = 0;        // in it
  };

  const Mapped* find(std::uint64_t address) const;
  const ModuleCode::Stretch* stretch(std::uint64_t address) const;
  std::shared_ptr<Module> load(const std::string& path);
  FunctionNumber leaf(const std::string& name);
  // By the symbols of a library's file.
  std::string library_function(const Mapped& mapped, std::uint64_t address);

  CountLevel level_;
  mutable std::shared_mutex mutex_;
  std::vector<Mapped> mapped_;  // ascending
  std::map<std::string, std::shared_ptr<Module>> modules_;
  std::map<std::string, std::shared_ptr<ModuleCode>> libraries_;  // that were asked for
  std::deque<ProgramFunction> functions_;
  std::map<std::tuple<std::string, std::uint32_t, std::string>, FunctionNumber> number_of_;
  std::unordered_set<std::string> own_names_;
  std::deque<std::string> leaves_;
  std::unordered_map<std::string, FunctionNumber> leaf_of_;
  std::vector<std::string> lacks_;
};

}  // namespace clew

#endif  // CLEW_HOST_CALLS_PROGRAM_CODE_H_
