// What the debug information of a program or library says about its variables. Addresses are those
// of the file, as it was linked; Machine::bias says where it lies in memory.
//
// Everything is read when it is first asked for, and kept. A file without debug information has no
// variables. Thread safety: one thread.
#ifndef CLEW_HOST_NAMES_MODULE_NAMES_H_
#define CLEW_HOST_NAMES_MODULE_NAMES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/error.h"
#include "host/names/machine.h"
#include "host/names/registers.h"
#include "host/names/type.h"

namespace clew {

// Data with a name. Types live as long as the ModuleNames that they come from.
struct NamedData {
  std::string variable;        // with its scopes
  std::string path;            // within it: ".items_[3]"
  const Type* type = nullptr;  // of what lies there; null: not known
  std::uint64_t offset = 0;    // into that
  std::string function;        // of a variable of a function: which
};

// A variable or parameter of a function.
struct Variable {
  std::string name;
  const Type* type = nullptr;  // null: not known
  std::string function;        // that it belongs to; of inlined functions their own
  std::uint32_t line = 0;      // of its declaration; 0: not known
  bool is_parameter = false;
  std::uint64_t key = 0;  // the ModuleNames' own
};

// What the functions around a call of the allocator say.
struct AllocatingCode {
  // What a std::allocator allocates, one or more of it; null: it is none.
  const Type* element = nullptr;
  // All of it is code of the C++ library: the caller of the function knows more.
  bool ends_in_library = true;
};

class ModuleNames {
 public:
  [[nodiscard]] static Result<std::shared_ptr<ModuleNames>> open(const std::string& path);
  ~ModuleNames();
  ModuleNames(const ModuleNames&) = delete;
  ModuleNames& operator=(const ModuleNames&) = delete;

  // The global or static variable at an address. Size 0: not known.
  [[nodiscard]] std::optional<NamedData> global_at(std::uint64_t address, std::uint64_t size);
  // A global or static variable by its name, with or without scopes; nothing: none, or several.
  struct Global {
    std::uint64_t address = 0;
    const Type* type = nullptr;  // null: not known
  };
  [[nodiscard]] std::optional<Global> global_named(const std::string& name);
  // The thread-local variable, by the offset in the module's block of them.
  [[nodiscard]] std::optional<NamedData> thread_local_at(std::uint64_t offset, std::uint64_t size);
  // The size of that block, rounded to its alignment: in a program it ends at the thread pointer.
  // 0: there is none.
  [[nodiscard]] std::uint64_t thread_local_size();

  // Variables in scope at an instruction: those of the innermost block first, and those of
  // inlined functions before the ones of functions that they are inlined into. In a frame that has
  // called another, `pc` is the call, one byte before where it returns to.
  [[nodiscard]] std::vector<Variable> variables_at(std::uint64_t pc);
  // Where one of them is before that instruction is executed.
  [[nodiscard]] Whereabouts locate(const Variable& variable, std::uint64_t pc,
                                   const Machine& machine);
  // The bytes of its value, of the size of its type; nothing: not known.
  [[nodiscard]] std::optional<std::vector<std::uint8_t>> value_of(const Variable& variable,
                                                                  std::uint64_t pc,
                                                                  const Machine& machine);
  // The variable whose value is in a register before the instruction at `pc` is executed. What an
  // instruction puts into a register is asked for at the next one.
  [[nodiscard]] std::optional<Variable> variable_in_register(std::uint64_t pc, unsigned reg);
  // The variable in a frame's memory that an address belongs to.
  [[nodiscard]] std::optional<NamedData> local_at(std::uint64_t address, std::uint64_t size,
                                                  std::uint64_t pc, const Machine& machine);
  // Whether variables may have several places, in the function at `pc`. Otherwise what lies in its
  // frame and is no variable has no name in the source.
  [[nodiscard]] bool is_optimised(std::uint64_t pc);
  // "Cache::get": the innermost function at an instruction, inlined ones included; empty: unknown.
  [[nodiscard]] std::string function_at(std::uint64_t pc);

  // The line of the innermost function; 0: not known.
  [[nodiscard]] std::uint32_t line_at(std::uint64_t pc);

  // The functions, inlined ones included, at the call of an allocator; nothing: not known.
  [[nodiscard]] std::optional<AllocatingCode> allocating_code(std::uint64_t pc);
  // The class whose constructor begins there; null: none does.
  [[nodiscard]] const Type* constructed_by(std::uint64_t entry);
  // Classes whose constructors were inlined at the line of the code.
  [[nodiscard]] std::vector<const Type*> constructed_near(std::uint64_t pc);

  // A class or enumeration by its qualified name; null: there is none.
  [[nodiscard]] const Type* find_type(std::string_view qualified);

  // The canonical frame address of the function at `pc`, and the registers of its caller.
  [[nodiscard]] std::optional<std::uint64_t> cfa(std::uint64_t pc, const Machine& machine);
  [[nodiscard]] std::optional<Registers> caller(std::uint64_t pc, const Machine& machine);

 private:
  struct Impl;
  explicit ModuleNames(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace clew

#endif  // CLEW_HOST_NAMES_MODULE_NAMES_H_
