#include "runtime/detect/plug_in.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "clew_abi/findings.h"
#include "include/clew/listener.h"
#include "runtime/arena.h"
#include "runtime/detect/findings.h"
#include "runtime/detect/function_stack.h"
#include "runtime/fiber/context.h"
#include "runtime/fiber/own_stack.h"
#include "runtime/record/end.h"
#include "runtime/record/points.h"
#include "runtime/sched/active.h"
#include "runtime/sched/scheduler.h"
#include "runtime/translate/translate.h"

namespace clew::rt {
namespace {

constexpr std::uint32_t kMost = 16;
// Their memory: below the control memory, above what the kernel gives to programs from the bottom up,
// and far from what it gives from the top down.
constexpr std::uintptr_t kPlugInMemory = 0x3000'0000'0000;
constexpr std::size_t kPage = 4096;
constexpr std::size_t kStack = std::size_t{1} << 20;

constexpr unsigned kAllTopics = CLEW_TOPIC_THREADS | CLEW_TOPIC_LOCKS | CLEW_TOPIC_ORDER |
                                CLEW_TOPIC_ACCESSES | CLEW_TOPIC_MEMORY | CLEW_TOPIC_FUNCTIONS |
                                CLEW_TOPIC_OUTSIDE;

constinit PlugIn g_plug_ins[kMost];
std::uint32_t g_count = 0;
bool g_tells_outside = false;

const char* g_running = nullptr;
std::uint64_t g_calls = 0;
std::uintptr_t g_next_mapping = kPlugInMemory;

// Their code runs in a context of its own: a stack that is large enough for it, and the first thread's
// thread-local storage, whichever thread it is told about.
Context g_context;
Context g_caller;
void (*g_function)(const void*) = nullptr;
const void* g_argument = nullptr;

[[noreturn]] void run_functions() {
  for (;;) {
    g_function(g_argument);
    clew_context_switch(&g_context, &g_caller);
  }
}

// A handler that interrupts their code must not use the part of the thread's own stack that this call
// is on.
class OwnStackInUse {
 public:
  OwnStackInUse() : before_(clew_own_top) {
    constexpr std::uintptr_t kMargin = 1024;
    if (is_on_own_stack())
      clew_own_top = (reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) - kMargin) &
                     ~std::uintptr_t{63};
  }
  ~OwnStackInUse() { clew_own_top = before_; }
  OwnStackInUse(const OwnStackInUse&) = delete;
  OwnStackInUse& operator=(const OwnStackInUse&) = delete;

 private:
  std::uintptr_t before_;
};

// Calls `function` there. What it calls is no event of the program's.
void call(const char* path, void (*function)(const void*), const void* argument) {
  if (g_context.stack_pointer == 0) {
    auto* stack = static_cast<char*>(arena_alloc(kStack));
    init_parked_context(g_context, stack + kStack, run_functions);
  }
  const OffDuty off_duty;
  const Untranslated untranslated;
  const OwnStackInUse in_use;
  auto& waits = reinterpret_cast<abi::Control*>(abi::kControlAddress)->waits_outside;
  ++g_calls;
  g_running = path;
  g_function = function;
  g_argument = argument;
  g_caller.thread_pointer = current_thread_pointer();
  waits.store(abi::kWaitsListener, std::memory_order_relaxed);
  clew_context_switch(&g_caller, &g_context);
  waits.store(abi::WaitsOutside::kNo, std::memory_order_relaxed);
  g_running = nullptr;
}

// --- what they report ----------------------------------------------------------------------------

// Kept until the listener's code has returned: the runtime's own code must not run in its context.
struct Reported {
  bool there;
  char kind[64];
  char text[512];
  clew_finding finding;
};
constexpr std::uint32_t kMostAtOnce = 8;
Reported g_reported[kMostAtOnce];
std::uint32_t g_reported_count = 0;

void take_report(const clew_finding* finding) {
  if (finding == nullptr || g_reported_count == kMostAtOnce) return;
  Reported& kept = g_reported[g_reported_count++];
  kept = {};
  kept.finding = *finding;
  strncpy(kept.kind, finding->kind != nullptr ? finding->kind : "listener", sizeof kept.kind - 1);
  strncpy(kept.text, finding->text != nullptr ? finding->text : "", sizeof kept.text - 1);
  // The run is to end here: nothing of the listener runs any more.
  if (finding->fails != 0) clew_context_switch(&g_context, &g_caller);
}

void hand_on_reports() {
  const std::uint32_t count = g_reported_count;
  g_reported_count = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Reported& one = g_reported[i];
    FoundSomething found;
    found.kind = abi::FindingKind::kListener;
    found.severity = one.finding.severity < static_cast<unsigned>(abi::FindingSeverity::kCount)
                         ? static_cast<abi::FindingSeverity>(one.finding.severity)
                         : abi::FindingSeverity::kError;
    found.name = one.kind;
    found.text = one.text;
    found.address = one.finding.address;
    found.size = one.finding.size;
    found.sites_count = one.finding.places_count < 2 ? one.finding.places_count : 2;
    for (std::uint32_t k = 0; k < found.sites_count; ++k)
      found.sites[k] = {.action = abi::FindingAction::kReport,
                        .thread = one.finding.places[k].thread,
                        .clock = one.finding.places[k].clock,
                        .place = one.finding.places[k].place};
    g_findings.report(found, one.finding.fails != 0 ? Counts::kAsFailure : Counts::kAsFlagged);
  }
}

const clew_host kHost{CLEW_LISTENER_VERSION, 0, take_report};

// --- loading -------------------------------------------------------------------------------------

struct Loading {
  char path[4096];
  const char* options;
  const clew_listener* listener;
  char problem[512];
};
Loading g_loading;

void load(const void*) {
  Loading& loading = g_loading;
  void* library = dlmopen(LM_ID_NEWLM, loading.path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    snprintf(loading.problem, sizeof loading.problem, "%s",
             why != nullptr ? why : "cannot be loaded");
    return;
  }
  using Start = const clew_listener* (*)(const clew_host*, const char*);
  const auto start = reinterpret_cast<Start>(dlsym(library, "clew_listener_start"));
  if (start == nullptr) {
    snprintf(loading.problem, sizeof loading.problem, "it does not define clew_listener_start");
    return;
  }
  const clew_listener* listener = start(&kHost, loading.options);
  if (listener == nullptr) {
    snprintf(loading.problem, sizeof loading.problem, "it refuses to start");
  } else if (listener->version != CLEW_LISTENER_VERSION) {
    snprintf(loading.problem, sizeof loading.problem,
             "it is of version %u, this clew has version %u", listener->version,
             static_cast<unsigned>(CLEW_LISTENER_VERSION));
  } else if ((listener->topics & ~kAllTopics) != 0) {
    snprintf(loading.problem, sizeof loading.problem,
             "it asks for topics that this clew does not have");
  } else if (listener->event == nullptr) {
    snprintf(loading.problem, sizeof loading.problem, "it has no function for events");
  } else {
    loading.listener = listener;
  }
}

void load(const char* text, PlugIn& plug_in) {
  const char* colon = strchr(text, ':');
  const std::size_t length =
      colon != nullptr ? static_cast<std::size_t>(colon - text) : strlen(text);
  CLEW_CHECK(length < sizeof g_loading.path);
  g_loading = {};
  memcpy(g_loading.path, text, length);
  g_loading.options = colon != nullptr ? colon + 1 : "";
  call(text, load, nullptr);
  if (g_loading.listener == nullptr) {
    static char line[5120];
    snprintf(line, sizeof line, "the listener %s cannot be used: %s", g_loading.path,
             g_loading.problem);
    end_unsupported(line);
  }
  plug_in.path = text;
  plug_in.listener = g_loading.listener;
}

}  // namespace

const char* running_plug_in() { return g_running; }

std::uint64_t plug_in_calls() { return g_calls; }

namespace {

[[noreturn]] void end_plug_in(const char* how) {
  static char line[4096 + 64];
  snprintf(line, sizeof line, "the listener %s %s", g_running, how);
  g_running = nullptr;
  g_sched.active = true;
  end_unsupported(line);
}

}  // namespace

void end_crashed_plug_in() { end_plug_in("crashed or ended the process"); }

void end_hanging_plug_in() { end_plug_in("does not return"); }

std::uintptr_t place_for_plug_in(std::uint64_t size) {
  if (g_running == nullptr) return 0;
  const std::uintptr_t place = g_next_mapping;
  // Aligned as malloc's arenas want to be, and with a gap.
  constexpr std::uintptr_t kAlignment = std::uintptr_t{1} << 21;
  g_next_mapping += ((size + kPage + kAlignment - 1) / kAlignment) * kAlignment;
  return place;
}

void load_plug_ins(const abi::Control& control) {
  const char* const texts = reinterpret_cast<const char*>(&control) + control.listeners.offset;
  for (std::size_t at = 0; at < control.listeners.size && g_count < kMost;
       at += strlen(texts + at) + 1) {
    load(texts + at, g_plug_ins[g_count]);
    g_tells_outside |= g_plug_ins[g_count].wants(CLEW_TOPIC_OUTSIDE);
    ++g_count;
  }
  hand_on_reports();
}

void add_plug_ins() {
  for (std::uint32_t i = 0; i < g_count; ++i)
    g_listeners.add(g_plug_ins[i], g_plug_ins[i].hearing());
}

bool plug_ins_want_functions() {
  for (std::uint32_t i = 0; i < g_count; ++i)
    if (g_plug_ins[i].wants(CLEW_TOPIC_FUNCTIONS)) return true;
  return false;
}

void tell_function(std::uint64_t function, std::uint64_t stack) {
  constexpr std::uint32_t kMostThreads = 1u << 16;
  static FunctionStack** stacks = nullptr;
  const Fiber& thread = *g_sched.current;
  if (!g_sched.active || thread.index >= kMostThreads) return;
  if (stacks == nullptr)
    stacks = static_cast<FunctionStack**>(g_pool.take_fresh(kMostThreads * sizeof *stacks));
  if (stacks == nullptr) return;
  if (stacks[thread.index] == nullptr) stacks[thread.index] = g_pool.make<FunctionStack>();
  FunctionStack* const of_thread = stacks[thread.index];
  if (of_thread == nullptr) return;
  const auto tell = [](std::uint64_t address, PlugIn::Passage passage) {
    for (std::uint32_t i = 0; i < g_count; ++i)
      if (g_plug_ins[i].wants(CLEW_TOPIC_FUNCTIONS)) g_plug_ins[i].function(address, passage);
  };
  const auto left = [&](std::uint64_t address) { tell(address, PlugIn::Passage::kLeft); };
  const FunctionStack::Where where{stack, thread.interruptions};
  if (function == 0) return of_thread->leave(where, left);
  of_thread->enter(where, function, left);
  tell(function, PlugIn::Passage::kEntered);
}

void tell_outside(long number, long first_argument) {
  if (CLEW_LIKELY(!g_tells_outside)) return;
  for (std::uint32_t i = 0; i < g_count; ++i)
    if (g_plug_ins[i].wants(CLEW_TOPIC_OUTSIDE)) g_plug_ins[i].outside(number, first_argument);
}

// --- what they are told --------------------------------------------------------------------------

bool PlugIn::wants(unsigned topic) const { return (listener->topics & topic) != 0; }

Hearing PlugIn::hearing() const {
  Hearing hearing{.topics = kTopicEnd};
  if (wants(CLEW_TOPIC_THREADS)) hearing.topics |= kTopicThreads | kTopicSync;
  if (wants(CLEW_TOPIC_LOCKS | CLEW_TOPIC_ORDER)) hearing.topics |= kTopicSync | kTopicEvents;
  if (wants(CLEW_TOPIC_ACCESSES)) hearing.topics |= kTopicEvents;
  if (wants(CLEW_TOPIC_MEMORY)) hearing.topics |= kTopicMemory;
  if ((hearing.topics & kTopicEvents) != 0) hearing.window = Window::all();
  if (wants(CLEW_TOPIC_ACCESSES)) hearing.looks = Hearing::Looks::kAtEach;
  return hearing;
}

void PlugIn::tell(const clew_event& event) const {
  if (g_findings.ending()) return;
  struct Telling {
    const clew_listener* listener;
    const clew_event* event;
  } const telling{listener, &event};
  call(
      path,
      [](const void* argument) {
        const auto& what = *static_cast<const Telling*>(argument);
        what.listener->event(what.event);
      },
      &telling);
  if (g_reported_count != 0) hand_on_reports();
}

void PlugIn::before(const Event& event) {
  const Step& step = event.step;
  clew_event told{};
  told.thread = event.thread.index;
  told.counted = event.counted ? 1 : 0;
  told.clock = event.clock;
  told.address = step.object;
  told.place = step.place;
  const bool by_code = step.point != abi::PointKind::kSyncCall;
  if (!by_code) {
    if (step.kind == abi::StepKind::kLock && wants(CLEW_TOPIC_LOCKS))
      told.kind = CLEW_LOCK_REQUESTED;
    else if (step.kind == abi::StepKind::kWait && wants(CLEW_TOPIC_ORDER))
      told.kind = CLEW_WAIT;
    else if (step.kind == abi::StepKind::kSignal && wants(CLEW_TOPIC_ORDER))
      told.kind = CLEW_WAKE;
    else
      return;
    return tell(told);
  }
  if (!wants(CLEW_TOPIC_ACCESSES) || abi::ends_life(step.kind)) return;
  told.size = step.size;
  told.order = static_cast<std::uint8_t>(step.order);
  switch (step.point) {
    case abi::PointKind::kAtomicLoad:
      told.kind = CLEW_ATOMIC_READ;
      break;
    case abi::PointKind::kAtomicStore:
      told.kind = CLEW_ATOMIC_WRITE;
      break;
    case abi::PointKind::kAtomicRmw:
    case abi::PointKind::kAtomicCas:
      told.kind = CLEW_ATOMIC_UPDATE;
      break;
    default:
      told.kind = step.kind == abi::StepKind::kRead ? CLEW_READ : CLEW_WRITE;
  }
  tell(told);
}

void PlugIn::created(const ThreadCreated& thread) {
  clew_event told{};
  told.kind = CLEW_THREAD_CREATED;
  told.thread = thread.thread.index;
  told.other = thread.parent;
  told.clock = g_sched.clock();
  tell(told);
}

void PlugIn::synchronised(const Synchronised& what) {
  clew_event told{};
  told.thread = what.thread.index;
  told.clock = what.clock;
  told.address = what.object;
  told.place = what.place;
  told.order = static_cast<std::uint8_t>(what.order);
  told.shared = what.lock == abi::WaitKind::kReadLock ? 1 : 0;
  unsigned topic = CLEW_TOPIC_ORDER;
  switch (what.kind) {
    case Synchronised::Kind::kTaken:
      told.kind = CLEW_LOCK_TAKEN;
      topic = CLEW_TOPIC_LOCKS;
      break;
    case Synchronised::Kind::kReleased:
      told.kind = CLEW_LOCK_RELEASED;
      topic = CLEW_TOPIC_LOCKS;
      break;
    case Synchronised::Kind::kReleases:
      told.kind = CLEW_RELEASES;
      break;
    case Synchronised::Kind::kAcquires:
      told.kind = CLEW_ACQUIRES;
      break;
    case Synchronised::Kind::kFence:
      told.kind = CLEW_FENCE;
      break;
    case Synchronised::Kind::kJoined:
      told.kind = CLEW_THREAD_JOINED;
      told.other = static_cast<std::uint32_t>(what.object);
      told.address = 0;
      topic = CLEW_TOPIC_THREADS;
      break;
    case Synchronised::Kind::kEnded:
      told.kind = CLEW_THREAD_ENDED;
      topic = CLEW_TOPIC_THREADS;
      break;
  }
  if (wants(topic)) tell(told);
}

void PlugIn::changed(const MemoryChange& change) {
  if (change.kind == MemoryChange::Kind::kReplaced) return;
  clew_event told{};
  told.kind = change.kind == MemoryChange::Kind::kFreed ? CLEW_FREED : CLEW_ALLOCATED;
  told.thread = change.thread.index;
  told.clock = change.clock;
  told.address = change.address;
  told.size = change.size;
  told.place = change.caller != nullptr ? place_of_code(change.caller) : 0;
  tell(told);
}

void PlugIn::function(std::uint64_t function, Passage passage) const {
  clew_event told{};
  told.kind = passage == Passage::kEntered ? CLEW_FUNCTION_ENTERED : CLEW_FUNCTION_LEFT;
  told.thread = g_sched.current->index;
  told.clock = g_sched.clock();
  told.address = function;
  told.place = (function + 1) << 1 | 1;  // as return addresses are: behind what is meant
  tell(told);
}

void PlugIn::outside(long number, long first_argument) const {
  clew_event told{};
  told.kind = CLEW_OUTSIDE;
  told.thread = g_sched.current->index;
  told.clock = g_sched.clock();
  told.address = static_cast<std::uint64_t>(number);
  told.size = static_cast<std::uint64_t>(first_argument);
  told.place = is_on_own_stack() ? place_of_code(reinterpret_cast<const void*>(entry().code)) : 0;
  tell(told);
}

void PlugIn::ended() {
  if (listener->end == nullptr || g_findings.ending()) return;
  call(
      path, [](const void* argument) { static_cast<const clew_listener*>(argument)->end(); },
      listener);
  if (g_reported_count != 0) hand_on_reports();
}

}  // namespace clew::rt
