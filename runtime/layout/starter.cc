// clew-start: starts the program of an imported recording (docs/export.md) in the place of the
// kernel, so that it finds everything as it was although neither the program nor its libraries are
// where they were.
//
// It loads the program and the dynamic linker from the recording's folder to the addresses of layout.h,
// writes the stack that the kernel would write, and lets the dynamic linker begin. Until the runtime
// takes over, it catches system calls (user dispatch, Linux 5.11): a path by which the dynamic linker
// asks for a file is looked up among the recording's files, and all that are not among them do not
// exist. Names, which a program can see, are therefore those of the recorded run.
//
// There is no libc here, and nothing that needs one: this code stays mapped while the program's is
// loaded.
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "clew_abi/control.h"
#include "clew_abi/start_file.h"
#include "runtime/layout/loaded_files.h"
#include "runtime/layout/places.h"
#include "runtime/raw_syscall.h"

extern "C" {
// What compilers call without being asked to.
void* memcpy(void* to, const void* from, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i)
    static_cast<char*>(to)[i] = static_cast<const char*>(from)[i];
  return to;
}

void* memmove(void* to, const void* from, std::size_t size) {
  if (to <= from) return memcpy(to, from, size);
  for (std::size_t i = size; i-- > 0;)
    static_cast<char*>(to)[i] = static_cast<const char*>(from)[i];
  return to;
}

void* memset(void* to, int byte, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) static_cast<char*>(to)[i] = static_cast<char>(byte);
  return to;
}

int memcmp(const void* a, const void* b, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i)
    if (const int difference =
            static_cast<const unsigned char*>(a)[i] - static_cast<const unsigned char*>(b)[i];
        difference != 0)
      return difference;
  return 0;
}

std::size_t strlen(const char* text) {
  std::size_t size = 0;
  while (text[size] != '\0') ++size;
  return size;
}

// starter_x86_64.S
[[noreturn]] void clew_leave(std::uintptr_t stack, std::uintptr_t entry);
void clew_return_from_handler();
// Of the linker.
extern const char __executable_start[];
extern const char __etext[];
extern const char _end[];
}

namespace clew::rt {
namespace {

[[noreturn]] void give_up(const char* why) {
  for (const char* text : {"clew: cannot start the program of the recording: ", why, "\n"})
    raw_syscall(SYS_write, 2, to_long(text), static_cast<long>(strlen(text)));
  raw_syscall(SYS_exit_group, 127);
  __builtin_unreachable();
}

bool is_error(long result) { return result < 0 && result > -4096; }

LoadedFiles g_loaded;
std::uintptr_t g_loader_begin = 0;
std::uintptr_t g_loader_end = 0;
alignas(64) char g_signal_stack[64 << 10];
volatile char g_selector = 0;
std::uintptr_t g_table_end = 0;
constexpr long kLowestLog = 300;

long answer(long number, long* arguments, bool is_loader) {
  if (g_loaded.asks_for_program(number, arguments))
    return g_loaded.copy_program(arguments + path_argument(number));
  const auto make = [&] {
    return raw_syscall(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
                       arguments[5]);
  };
  return is_loader ? g_loaded.answer(number, arguments, make) : make();
}

void on_system_call(int, siginfo_t*, void* context) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  long arguments[] = {registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
                      registers[REG_R10], registers[REG_R8],  registers[REG_R9]};
  const auto code = static_cast<std::uintptr_t>(registers[REG_RIP]);
  registers[REG_RAX] =
      answer(registers[REG_RAX], arguments, code >= g_loader_begin && code < g_loader_end);
}

void catch_calls() {
  struct {
    void (*handler)(int, siginfo_t*, void*);
    unsigned long flags;
    void (*restorer)();
    std::uint64_t mask;
  } action{on_system_call, 0, clew_return_from_handler, 0};
  constexpr unsigned long kHasRestorer = 0x0400'0000;
  action.flags = SA_SIGINFO | SA_ONSTACK | kHasRestorer;
  stack_t stack{};
  stack.ss_sp = g_signal_stack;
  stack.ss_size = sizeof g_signal_stack;
  raw_syscall(SYS_sigaltstack, to_long(&stack), 0);
  raw_syscall(SYS_rt_sigaction, SIGSYS, to_long(&action), 0, sizeof action.mask);
  constexpr long kUserDispatch = 59;  // PR_SET_SYSCALL_USER_DISPATCH
  constexpr long kOn = 1;
  if (raw_syscall(SYS_prctl, kUserDispatch, kOn, to_long(__executable_start),
                  __etext - __executable_start, to_long(const_cast<char*>(&g_selector))) != 0)
    give_up("this kernel cannot catch system calls (Linux 5.11 can)");
  g_selector = 1;
}

int to_number(const char* digits) {
  int number = 0;
  for (; *digits >= '0' && *digits <= '9'; ++digits) number = number * 10 + (*digits - '0');
  return number;
}

int control_descriptor(char** environment) {
  constexpr std::size_t kName = sizeof abi::kControlVariable - 1;
  for (char** entry = environment; *entry != nullptr; ++entry) {
    if (memcmp(*entry, abi::kControlVariable, kName) != 0 || (*entry)[kName] != '=') continue;
    return to_number(*entry + kName + 1);
  }
  give_up("it is not clew that starts it");
}

template <class T>
T field_of_control(int fd, std::size_t offset) {
  T value{};
  if (raw_syscall(SYS_pread64, fd, to_long(&value), sizeof value, to_long(offset)) != sizeof value)
    give_up("the control memory is not there");
  return value;
}

void read_start_file(int fd) {
  struct stat status{};
  if (raw_syscall(SYS_fstat, fd, to_long(&status)) != 0 || status.st_size <= 0 ||
      static_cast<std::size_t>(status.st_size) > abi::kMaxStartFile)
    give_up("its start file cannot be read");
  const auto size = static_cast<std::size_t>(status.st_size);
  const long got = raw_syscall(SYS_mmap, abi::kStartAddress, to_long(page_up(size)),
                               PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, 0);
  auto& header = *reinterpret_cast<abi::StartHeader*>(abi::kStartAddress);
  if (got != static_cast<long>(abi::kStartAddress) || size <= sizeof header ||
      header.magic != abi::kStartMagic || header.version != abi::kStartVersion ||
      header.size != size - sizeof header ||
      reinterpret_cast<const char*>(&header)[size - 1] != '\0')
    give_up("its start file is damaged");
  g_loaded.files = abi::StartTable(&header);
  g_table_end = abi::kStartAddress + page_up(size);
  const char* const log = g_loaded.files.text(abi::StartText::kLog);
  if (log[0] != '\0') {
    const long low = raw_syscall(SYS_open, to_long(log), O_WRONLY | O_APPEND | O_CLOEXEC, 0);
    // No number that the program would get.
    header.log =
        static_cast<std::int32_t>(raw_syscall(SYS_fcntl, low, F_DUPFD_CLOEXEC, kLowestLog));
    if (header.log < 0) give_up("what it loads cannot be written down");
    raw_syscall(SYS_close, low);
  }
  g_loaded.log = header.log;
  raw_syscall(SYS_close, fd);
}

// As the recorded program had it: the kernel derives addresses from the limit at an exec, and clew set
// a moderate one for that.
void restore_stack_limit(int fd) {
  const auto wanted = field_of_control<std::uint64_t>(fd, offsetof(abi::Control, stack_limit));
  rlimit limit{};
  raw_syscall(SYS_prlimit64, 0, RLIMIT_STACK, 0, to_long(&limit));
  limit.rlim_cur = wanted == UINT64_MAX ? RLIM_INFINITY : wanted;
  if (limit.rlim_cur > limit.rlim_max) limit.rlim_cur = limit.rlim_max;
  raw_syscall(SYS_prlimit64, 0, RLIMIT_STACK, to_long(&limit), 0);
}

void work_off(const Steps& steps) {
  for (long i = 0; i < steps.count; ++i) {
    const long* const a = steps.list[i].arguments;
    if (steps.list[i].number == kStepZero)
      memset(reinterpret_cast<void*>(a[0]), 0, static_cast<std::size_t>(a[1]));
    else if (steps.list[i].number == kStepCopy)
      memcpy(reinterpret_cast<void*>(a[0]), reinterpret_cast<const void*>(a[1]),
             static_cast<std::size_t>(a[2]));
    else if (is_error(raw_syscall(steps.list[i].number, a[0], a[1], a[2], a[3], a[4], a[5])))
      give_up("it could not be loaded where it was");
  }
}

Steps g_steps;
Image g_program;
Image g_loader;

void plan(std::size_t stack_size) {
  Steps& steps = g_steps;
  add_step(steps, SYS_munmap, to_long(kLowest), to_long(kDownwards - kLowest));
  reserve(steps, kDownwards, page_down(reinterpret_cast<std::uintptr_t>(__executable_start)));
  reserve(steps, page_up(reinterpret_cast<std::uintptr_t>(_end)), abi::kStartAddress);
  reserve(steps, g_table_end, kStarterStack);
  reserve(steps, kStarterStack + stack_size, kReservedEnd);
  if (goes_upwards(probe())) reserve(steps, kLowestUpwards, kUpwards);
  add_step(steps, SYS_munmap, to_long(kReservedEnd), to_long(kStackEnd - kReservedEnd));
  add_stack(steps, g_program, reinterpret_cast<const char*>(kStarterStack), stack_size);
  add_image(steps, g_program);
  add_image(steps, g_loader);
  reserve(steps, kStarterStack, kStarterStack + stack_size);
}

}  // namespace

void check_failed(const char* what, const char*, int) { give_up(what); }

// REQUIRES: the stack is the starter's own. `words`: what the kernel has put on the first one.
extern "C" [[noreturn]] void clew_begin(long* words) {
  // Its own name and the descriptor of the start file come before the program's arguments.
  constexpr long kOwn = 2;
  if (words[0] < kOwn) give_up("it is not clew that starts it");
  const long count = words[0] - kOwn;
  auto** const arguments = reinterpret_cast<char**>(words + 1 + kOwn);
  char** const environment = arguments + count + 1;
  const int control = control_descriptor(environment);
  read_start_file(to_number(arguments[-1]));
  restore_stack_limit(control);
  if (!g_program.open(g_loaded.files.text(abi::StartText::kProgramFile)))
    give_up("its file cannot be read");
  if (!g_loader.open(g_loaded.files.text(abi::StartText::kLoaderFile)) || !g_loader.can_be_moved())
    give_up("its dynamic linker cannot be read");
  place(g_program, g_loader);
  NewPlaces places{};
  places.segments = g_program.bias + g_program.find(PT_LOAD)->p_vaddr + g_program.header.e_phoff -
                    g_program.find(PT_LOAD)->p_offset;
  places.entry = g_program.bias + g_program.header.e_entry;
  places.loader = g_loader.bias;
  places.mark_type = kMarkType;
  places.mark = kMarked | kMarkedByStarter;
  places.segment_count = g_program.header.e_phnum;
  places.started_as = g_loaded.files.text(abi::StartText::kStartedAs);
  const StartOfStack start{count, arguments, environment, nullptr, ""};
  const std::size_t size = size_of_first_stack(start, places.started_as);
  auto* const image = reinterpret_cast<char*>(kStarterStack);
  if (raw_syscall(SYS_mmap, kStarterStack, to_long(size), PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != kStarterStack)
    give_up("the addresses are in use");
  FirstStack stack = write_first_stack(start, places, image, size, kStackEnd);
  if (!tell_kernel(g_program, stack, image + size - (kStackEnd - stack.vector))) {
    places.mark |= kMarkedWithoutHeap;
    stack = write_first_stack(start, places, image, size, kStackEnd);
  }
  plan(size);
  work_off(g_steps);
  g_loader_begin = g_loader.bias + g_loader.begin();
  g_loader_end = g_loader.bias + g_loader.end();
  catch_calls();
  clew_leave(stack.pointer, g_loader.bias + g_loader.header.e_entry);
}

}  // namespace clew::rt
