// How a program ends: assertions, exceptions, _exit.
#include <stdio.h>
#include <string.h>

#include "runtime/intercept/call.h"
#include "runtime/intercept/init.h"
#include "runtime/record/end.h"

using namespace clew::rt;

namespace {

// libstdc++ or libc++abi, if the program has one; looked up, never linked.
template <class F>
F lookup(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_DEFAULT, name));
}

using TerminateHandler = void (*)();
TerminateHandler g_program_handler = nullptr;

// std::exception::what() of the exception in flight, or null. By the Itanium C++ ABI: the
// type_info of a class answers __do_catch in slot 4; std::exception has what() in slot 2.
const char* what_of_current(const void* type) {
  auto* exception_type = lookup<const void*>("_ZTISt9exception");
  auto* current_exception = lookup<void (*)(void**)>("_ZSt17current_exceptionv");
  if (exception_type == nullptr || current_exception == nullptr) return nullptr;
  void* object = nullptr;
  current_exception(&object);
  if (object == nullptr) return nullptr;
  using DoCatch = bool (*)(const void*, const void*, void**, unsigned);
  const auto do_catch = (*static_cast<const DoCatch* const*>(exception_type))[4];
  if (!do_catch(exception_type, type, &object, 1)) return nullptr;
  using What = const char* (*)(const void*);
  return (*static_cast<const What* const*>(object))[2](object);
}

void describe_exception(char* out, std::size_t size) {
  auto* current_type = lookup<const void* (*)()>("__cxa_current_exception_type");
  const void* type = current_type != nullptr ? current_type() : nullptr;
  if (type == nullptr) {
    snprintf(out, size, "std::terminate was called");
    return;
  }
  const char* mangled = static_cast<const char* const*>(type)[1];
  if (*mangled == '*') ++mangled;
  int status = 0;
  using Demangle = char* (*)(const char*, char*, std::size_t*, int*);
  auto* demangle = lookup<Demangle>("__cxa_demangle");
  const char* name = demangle != nullptr ? demangle(mangled, nullptr, nullptr, &status) : nullptr;
  const char* what = what_of_current(type);
  snprintf(out, size, what != nullptr ? "uncaught %s: %s" : "uncaught %s",
           name != nullptr ? name : mangled, what);
}

void on_terminate() {
  char detail[1024];
  describe_exception(detail, sizeof detail);
  note_symptom(clew::abi::FailureKind::kException, detail);
  if (g_program_handler != nullptr) g_program_handler();
  abort();
}

using SetTerminate = TerminateHandler (*)(TerminateHandler);
SetTerminate real_set_terminate() {
  return reinterpret_cast<SetTerminate>(dlsym(RTLD_NEXT, "_ZSt13set_terminatePFvvE"));
}

}  // namespace

namespace clew::rt {

void install_terminate_handler() {
  if (SetTerminate set = real_set_terminate()) g_program_handler = set(on_terminate);
}

}  // namespace clew::rt

// std::set_terminate: the program's handler runs when all is noted.
CLEW_EXPORT TerminateHandler _ZSt13set_terminatePFvvE(TerminateHandler handler) noexcept {
  if (!g_sched.active) return real_set_terminate()(handler);
  const TerminateHandler before = g_program_handler;
  g_program_handler = handler;
  return before;
}

CLEW_EXPORT void __assert_fail(const char* expression, const char* file, unsigned line,
                               const char* function) noexcept {
  if (g_sched.active) {
    char detail[1024];
    snprintf(detail, sizeof detail, "assertion `%s' failed", expression);
    note_symptom(clew::abi::FailureKind::kAssert, detail, file, line, function);
  }
  CLEW_REAL(__assert_fail)(expression, file, line, function);
  __builtin_unreachable();
}

CLEW_EXPORT void __assert_perror_fail(int error, const char* file, unsigned line,
                                      const char* function) noexcept {
  if (g_sched.active) {
    char detail[256];
    snprintf(detail, sizeof detail, "assert_perror failed: %s", strerrordesc_np(error));
    note_symptom(clew::abi::FailureKind::kAssert, detail, file, line, function);
  }
  CLEW_REAL(__assert_perror_fail)(error, file, line, function);
  __builtin_unreachable();
}

CLEW_EXPORT void exit(int status) noexcept {
  g_exit_status = status;
  if (g_sched.active) g_sched.before_exit();
  CLEW_REAL(exit)(status);
  __builtin_unreachable();
}

CLEW_EXPORT void _exit(int status) {
  if (g_sched.active) {
    g_sched.before_exit();
    leave_program(status);
  }
  CLEW_REAL(_exit)(status);
  __builtin_unreachable();
}

CLEW_EXPORT void _Exit(int status) noexcept { _exit(status); }
