// Who calls whom in one file of machine code (a program, a shared library), as far as the code says. What a
// call by pointer calls is one of the functions whose address is taken somewhere: those are its
// candidates. Functions are read when they are asked for, so that a large file opens quickly. The file is
// untrusted; what makes no sense is not there.
#ifndef CLEW_HOST_MODEL_CALL_GRAPH_H_
#define CLEW_HOST_MODEL_CALL_GRAPH_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/elf/elf_file.h"
#include "host/error.h"
#include "host/model/code_map.h"

namespace clew {

class CallGraph {
 public:
  using Number = std::uint32_t;  // of a function, in the order of addresses

  struct Function {
    CodeRange range;        // as linked
    std::string_view name;  // its symbol; empty: stripped
  };
  struct Call {
    std::uint64_t address = 0;  // of the instruction, as linked
    enum class Kind : std::uint8_t {
      kFunction,  // of `callee`
      kLibrary,   // of what the dynamic linker finds for `symbol`
      kPointer,   // of one of candidates()
      kUnknown,   // of code that belongs to no function
    } kind = Kind::kUnknown;
    bool takes_place = false;  // a jump: the caller is not returned to
    Number callee = 0;
    std::string_view symbol;
  };

  [[nodiscard]] static Result<CallGraph> open(const std::string& path);

  // By the tables for unwinding, which stripped files have, too.
  [[nodiscard]] const std::vector<Function>& functions() const { return functions_; }
  [[nodiscard]] std::optional<Number> function_at(std::uint64_t address) const;
  [[nodiscard]] std::optional<Number> function_named(std::string_view symbol) const;
  // The calls in the function's code, ascending, jumps to other functions included.
  [[nodiscard]] const std::vector<Call>& calls(Number function);
  // Functions whose address the code or the data of the file takes, ascending. Reads all of the code.
  [[nodiscard]] const std::vector<Number>& candidates();

 private:
  explicit CallGraph(ElfFile file) : file_(std::move(file)) {}
  void read();
  [[nodiscard]] Call call_of(const Instruction& instruction, const CodeRange& inside) const;
  [[nodiscard]] std::string_view library_function(std::uint64_t stub) const;
  [[nodiscard]] std::span<const std::uint8_t> code(const CodeRange& range) const;
  template <class Visit>
  void each_instruction(const CodeRange& range, const Visit& visit) const;
  void take_addresses_in_data(std::vector<bool>& taken) const;

  ElfFile file_;
  std::vector<Function> functions_;
  std::vector<CodeRange> stubs_;
  std::unordered_map<std::uint64_t, std::string_view> slots_;
  std::unordered_map<std::string_view, Number> by_name_;
  std::map<Number, std::vector<Call>> calls_;  // that were asked for
  std::optional<std::vector<Number>> candidates_;
};

}  // namespace clew

#endif  // CLEW_HOST_MODEL_CALL_GRAPH_H_
