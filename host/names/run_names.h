// What the addresses of a run are called: variables of its program and libraries, and of its
// threads' frames.
//
// Nothing is guessed: what no debug information knows has no name.
#ifndef CLEW_HOST_NAMES_RUN_NAMES_H_
#define CLEW_HOST_NAMES_RUN_NAMES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/names/machine.h"
#include "host/names/module_names.h"
#include "host/names/object_name.h"
#include "host/names/registers.h"
#include "host/names/type.h"
#include "host/symbolize/symbolizer.h"

namespace clew {

// A thread where it stands.
struct ThreadState {
  std::string id;       // "T0.2"
  Registers registers;  // pc: the instruction that is executed next
  std::optional<std::uint64_t> thread_pointer;
};

// The program at a moment.
struct Situation {
  ReadMemory read;
  std::vector<ThreadState> threads;  // those that are known; the one whose access it is, first
};

// A frame of a stack.
struct StackFrame {
  std::uint64_t pc = 0;  // in memory; of an outer frame the call, not where it returns to
  std::shared_ptr<ModuleNames> module;
  Machine machine;

  std::uint64_t linked() const { return pc - machine.bias; }
};

// Types live as long as this.
// Thread safety: one thread.
class RunNames {
 public:
  explicit RunNames(Symbolizer& symbols) : symbols_(symbols) {}

  // Size 0: not known. Names of `situation` are of that moment.
  [[nodiscard]] ObjectName name(std::uint64_t address, std::uint64_t size,
                                const Situation& situation);
  // The variable of one of these frames that has the address; kUnknown: none of them.
  [[nodiscard]] ObjectName local(std::uint64_t address, std::uint64_t size,
                                 std::span<const StackFrame> frames);
  // In which of the frames it lies, of what local() does not know: kTemporary, kFrame.
  [[nodiscard]] ObjectName in_frame(std::uint64_t address, std::span<const StackFrame> frames);
  // The thread-local variable of the program that a thread has there.
  [[nodiscard]] ObjectName thread_local_variable(std::uint64_t address, std::uint64_t size,
                                                 std::uint64_t thread_pointer);
  // Without a situation: global variables alone.
  [[nodiscard]] ObjectName global(std::uint64_t address, std::uint64_t size);
  // ... that are locks, condition variables and the like.
  [[nodiscard]] ObjectName global_sync_object(std::uint64_t address);

  // Innermost first, as far as it can be followed.
  [[nodiscard]] std::vector<StackFrame> frames(const ThreadState& thread, const ReadMemory& read);

  // "which variable does this instruction find in that register?" (ModuleNames has the details)
  [[nodiscard]] std::optional<Variable> variable_in_register(std::uint64_t pc, unsigned reg);

  // The module with the code or data at an address, and what has to be taken off to get to its own
  // addresses; null: none that can be read.
  struct Module {
    std::shared_ptr<ModuleNames> names;
    std::uint64_t bias = 0;
    bool is_program = false;
  };
  [[nodiscard]] std::optional<Module> module_of(std::uint64_t address);

 private:
  Symbolizer& symbols_;
  std::map<std::string, std::shared_ptr<ModuleNames>> modules_;  // null: cannot be read
};

}  // namespace clew

#endif  // CLEW_HOST_NAMES_RUN_NAMES_H_
