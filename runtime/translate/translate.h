// Translated runs (clew_abi/translation.h): the program's code runs as a translation of itself. The
// host translates; here is what runs it. The runtime's own code runs as it is: translated code
// leaves by a call of it, and the stubs (fiber/own_stack_x86_64.S) return to translated code.
#ifndef CLEW_RUNTIME_TRANSLATE_TRANSLATE_H_
#define CLEW_RUNTIME_TRANSLATE_TRANSLATE_H_

#include <ucontext.h>

#include <cstdint>

#include "clew_abi/control.h"
#include "clew_abi/translation.h"

extern "C" {
// Whether the stubs return to translated code; a page of its own.
extern unsigned char clew_translating[4096] __attribute__((visibility("hidden")));
// How pthread_once ends, by a tail call: returns 0 to the program, translated if the run is.
int clew_return_zero(int* control, void (*routine)(void)) __attribute__((visibility("hidden")));
// Calls the program's function, translated if the run is.
long clew_call_function(void* function, long a, long b, long c)
    __attribute__((visibility("hidden")));
}

namespace clew::rt {

// Maps the memory, if the host has some. From now on what returns to the program is translated.
void begin_translating(abi::Control& control);

// While the runtime itself calls libraries that call the runtime: what returns to them is not
// translated.
class Untranslated {
 public:
  Untranslated() : before_(clew_translating[0]) { clew_translating[0] = 0; }
  ~Untranslated() { clew_translating[0] = before_; }
  Untranslated(const Untranslated&) = delete;
  Untranslated& operator=(const Untranslated&) = delete;

 private:
  unsigned char before_;
};
// In a copy of the process that runs a job: from now on its code is translated, as the original's was.
void continue_translating(const abi::Control& control);

// Another thread is about to run.
void note_switched_thread_slow();
inline void note_switched_thread() {
  if (__builtin_expect(clew_translating[0] != 0, 0)) note_switched_thread_slow();
}

// By their order of creation: for counting runs.
void note_created_thread(std::uint32_t creator, std::uint32_t created);

// Whether a signal has interrupted translated code within an instruction of the program's: no other
// thread may run before the handler returns.
bool is_translated(const ucontext_t& context);
// Whether a signal that has found this stack pointer has interrupted a question to the host, which is asked
// on a stack of its own: what asks may be a function that the runtime has called, from its own stack.
inline bool is_asking_host(std::uintptr_t stack) {
  return stack - abi::kTranslationAddress <= abi::kTargetsOffset;
}
// Of a signal's context that is in translated code, between two instructions of the program's: makes
// it the program's. Leaves others alone.
void show_origin(ucontext_t& context);
// The way back.
void resume_translated(ucontext_t& context);

// Set when the runtime takes over.
struct TranslationCallbacks {
  abi::ReturnMark (*mark)() = nullptr;
  // TranslationRequest::kFunction: the function, or 0, and the program's stack pointer.
  void (*function)(std::uint64_t function, std::uint64_t stack) = nullptr;
};
extern TranslationCallbacks g_translation_callbacks;

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_TRANSLATE_TRANSLATE_H_
