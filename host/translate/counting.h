// Counting runs: translated code that counts calls instead of writing down all that it does.
//
// Direct calls among the program's own functions have a counter each. What happens between the
// program's own code and that of libraries is written down, with the stack pointer, so that a call that
// comes back through a library (qsort, std::thread) can be told from the marks: who of the program's own
// functions was the last to call out, and has not returned.
#ifndef CLEW_HOST_TRANSLATE_COUNTING_H_
#define CLEW_HOST_TRANSLATE_COUNTING_H_

#include <cstdint>

namespace clew {

// What a counting translation has to know about code. Asked once for each place, by the thread that
// translates; several may ask at the same time.
class OwnCode {
 public:
  virtual ~OwnCode() = default;
  // Code at `address` of this process is about to be translated.
  virtual void see(int process, std::uint64_t address) = 0;
  // It belongs to one of the program's own functions, inlined ones included.
  [[nodiscard]] virtual bool is_own(std::uint64_t address) const = 0;
  // One of them begins there.
  [[nodiscard]] virtual bool is_own_entry(std::uint64_t address) const = 0;
  [[nodiscard]] virtual bool is_same_function(std::uint64_t a, std::uint64_t b) const = 0;
  // The target of calls that the source does not have: clew's own.
  [[nodiscard]] virtual bool is_silent(std::uint64_t target) const = 0;
  // A place in memory that has the address of a library's function, and whether that is clew's own.
  enum class Slot : std::uint8_t { kOther, kLibrary, kSilent };
  [[nodiscard]] virtual Slot slot(std::uint64_t address) const = 0;
  // How often the instruction is executed is to be counted.
  [[nodiscard]] virtual bool is_counted(std::uint64_t address) const = 0;
  // An inlined function of the program's own begins there, within a library's.
  [[nodiscard]] virtual bool is_inlined_entry(std::uint64_t address) const = 0;
};

enum class CallDetail : std::uint8_t {
  kCounters,   // calls between the program's own functions are only counted
  kOwnCalls,   // ... and written down as well
  kEveryCall,  // all calls are written down, and none is counted
  kFunctions,  // nothing is: the runtime is told where functions begin and return
               // (abi::TranslationRequest::kFunction)
};

// What a mark's site number stands for, and what a counter counts.
struct CallSite {
  std::uint64_t address =
      0;  // of the call or jump; of an entry the function's, of a return where to
  // 0: not known, in the mark; a slot of a library's function. Of a counter 0: executions of `address`.
  std::uint64_t target = 0;
};

}  // namespace clew

#endif  // CLEW_HOST_TRANSLATE_COUNTING_H_
