#include "runtime/libc/user_dispatch.h"

#include <link.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "runtime/libc/code_range.h"
#include "runtime/raw_syscall.h"

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_ON 1
#endif

extern "C" const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

namespace clew::rt {
namespace {

constexpr char kAllowed = 0;  // SYSCALL_DISPATCH_FILTER_ALLOW
constexpr char kCaught = 1;   // SYSCALL_DISPATCH_FILTER_BLOCK

volatile char g_selector = kAllowed;
bool g_on = false;

bool switch_on() {
  const CodeRange ours = range_of_object(reinterpret_cast<std::uintptr_t>(&__ehdr_start));
  return raw_syscall(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON,
                     static_cast<long>(ours.begin), static_cast<long>(ours.end - ours.begin),
                     reinterpret_cast<long>(&g_selector)) == 0;
}

}  // namespace

bool begin_user_dispatch() {
  g_on = switch_on();
  if (g_on) g_selector = kCaught;
  return g_on;
}

bool user_dispatch_is_on() { return g_on; }
bool calls_are_caught() { return g_selector == kCaught; }

void renew_user_dispatch() {
  if (g_on) switch_on();
}

void end_user_dispatch() {
  g_on = false;
  g_selector = kAllowed;
}

Uncaught::Uncaught() : before_(g_selector) { g_selector = kAllowed; }
Uncaught::~Uncaught() { g_selector = before_; }

}  // namespace clew::rt
