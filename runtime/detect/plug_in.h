// A listener of the user's (<clew/listener.h>), as one of those who listen. Where it runs: plug_in_host.h.
#ifndef CLEW_RUNTIME_DETECT_PLUG_IN_H_
#define CLEW_RUNTIME_DETECT_PLUG_IN_H_

#include "clew_abi/control.h"
#include "runtime/event/listener.h"

struct clew_event;
struct clew_listener;

namespace clew::rt {

class PlugIn final : public Listener {
 public:
  Hearing hearing() const;
  void before(const Event& event) override;
  void created(const ThreadCreated& thread) override;
  void synchronised(const Synchronised& what) override;
  void changed(const MemoryChange& change) override;
  void ended() override;
  enum class Passage : std::uint8_t { kEntered, kLeft };
  void function(std::uint64_t function, Passage passage) const;

  void outside(long number, long first_argument) const;

  bool wants(unsigned topic) const;

  const char* path = nullptr;
  const clew_listener* listener = nullptr;

 private:
  void tell(const clew_event& event) const;
};

// Loads the libraries that the control memory names. REQUIRES: libc is set up, main has not begun.
void load_plug_ins(const abi::Control& control);
// Adds those that are loaded to the list.
void add_plug_ins();
// Whether one of them wants to be told of functions: then the program's code has to be translated.
bool plug_ins_want_functions();
// The running thread, with this stack pointer, is at the beginning of this function of the program's, or,
// if it is 0, at a return.
void tell_function(std::uint64_t function, std::uint64_t stack);

// The running thread is about to make a system call that reaches the outside.
void tell_outside(long number, long first_argument);

// The library whose code runs, for the report of its crash; null: none does.
const char* running_plug_in();
// How often one has been called so far.
std::uint64_t plug_in_calls();
// REQUIRES of these: one runs. It cannot continue: the run ends, and what was recorded of it stays.
[[noreturn]] void end_crashed_plug_in();
[[noreturn]] void end_hanging_plug_in();
// Where the next mapping of a library goes, if it is one of theirs that asks; 0: it is not.
std::uintptr_t place_for_plug_in(std::uint64_t size);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_DETECT_PLUG_IN_H_
