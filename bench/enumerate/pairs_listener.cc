// A listener that notes which write each read of a run saw: the reference for clew enumerate, made without any of its
// code. The runs are those of `clew hunt --strategy exhaustive`.
//
//   clew hunt --strategy exhaustive --bound 10000 --keep-going --listener ./pairs.so:FILE PROGRAM
//
// A line of FILE is a pair that some run showed: thread, place and instance of the read, and of the write (0 0 0: nobody
// wrote it before), and whether its memory was shared in the run: two threads touch it and one of them writes, in pieces
// of eight bytes. As clew enumerate has it: instances from the fourth on are one; memory that is freed is written; what main writes before it
// creates a thread is the initial value.
#include <clew/listener.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

constexpr std::size_t kSlots = 1u << 20;  // hashes of pairs that were noted
constexpr std::uint64_t kLaterInstances = 4;

struct Access {
  std::uint32_t thread;
  bool reads, writes;
  std::uint64_t place, instance, address, size;
};

struct State {
  std::vector<Access> accesses;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> instances;
  std::vector<std::string> names{"T0"};
  std::vector<std::uint32_t> children{0};
  std::uint64_t* noted = nullptr;  // in a file, so that it outlives a run
  int file = -1;
};
State* state;

void on_event(const clew_event* event) {
  State& s = *state;
  if (event->kind == CLEW_THREAD_CREATED) {
    const std::uint32_t most = std::max(event->thread, event->other);
    if (s.names.size() <= most) s.names.resize(most + 1), s.children.resize(most + 1);
    s.names[event->thread] =
        s.names[event->other] + "." + std::to_string(++s.children[event->other]);
    return;
  }
  const bool update = event->kind == CLEW_ATOMIC_UPDATE;
  const bool reads = event->kind == CLEW_READ || event->kind == CLEW_ATOMIC_READ || update;
  const bool writes = event->kind == CLEW_WRITE || event->kind == CLEW_ATOMIC_WRITE || update ||
                      event->kind == CLEW_FREED;
  // What is done while there is one thread is no step of a schedule: it is the initial value.
  if ((!reads && !writes) || event->address == 0 || s.names.size() < 2) return;
  // What the clock does not count is no step of its own: it has no instance.
  const std::uint64_t instance =
      std::min(++s.instances[{event->thread, event->place}], kLaterInstances);
  s.accesses.push_back(
      {event->thread, reads, writes, event->place, instance, event->address, event->size});
}

std::string key(const State& s, const Access* access) {
  if (access == nullptr) return "- 0 0";
  return s.names[access->thread] + " " + std::to_string(access->place) + " " +
         std::to_string(access->instance);
}

void note(State& s, const std::string& line) {
  std::uint64_t hash = 1469598103934665603u;
  for (const char c : line) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  hash |= 1;
  for (std::size_t i = hash % kSlots;; i = (i + 1) % kSlots) {
    if (s.noted[i] == hash) return;
    if (s.noted[i] != 0) continue;
    s.noted[i] = hash;
    if (write(s.file, line.data(), line.size()) < 0) _exit(3);
    return;
  }
}

void on_end() {
  State& s = *state;
  struct Granule {
    std::uint32_t thread = ~0u;
    bool two = false, written = false;
    std::array<const Access*, 8> last{};
  };
  std::unordered_map<std::uint64_t, Granule> granules;
  const auto each_byte = [](const Access& a, auto&& visit) {
    const std::uint64_t size =
        std::min<std::uint64_t>(std::max<std::uint64_t>(a.size, 1), 1u << 16);
    for (std::uint64_t b = a.address; b < a.address + size; ++b) visit(b);
  };
  for (const Access& a : s.accesses)
    each_byte(a, [&](std::uint64_t b) {
      Granule& g = granules[b / 8];
      if (g.thread == ~0u) g.thread = a.thread;
      g.two |= g.thread != a.thread;
      g.written |= a.writes;
    });
  for (const Access& a : s.accesses) {
    std::set<const Access*> seen;
    bool shared = false;
    each_byte(a, [&](std::uint64_t b) {
      Granule& g = granules[b / 8];
      shared |= g.two && g.written;
      if (a.reads) seen.insert(g.last[b % 8]);
      if (a.writes) g.last[b % 8] = &a;
    });
    for (const Access* w : seen)
      note(s, key(s, &a) + " " + key(s, w) + (shared ? " shared\n" : " alone\n"));
  }
}

const clew_listener kListener{CLEW_LISTENER_VERSION,
                              CLEW_TOPIC_THREADS | CLEW_TOPIC_ACCESSES | CLEW_TOPIC_MEMORY,
                              on_event, on_end};

}  // namespace

extern "C" const clew_listener* clew_listener_start(const clew_host*, const char* options) {
  state = new State;
  state->file = open(options, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const int table =
      open((std::string(options) + ".noted").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (state->file < 0 || table < 0 || ftruncate(table, kSlots * 8) != 0) return nullptr;
  void* noted = mmap(nullptr, kSlots * 8, PROT_READ | PROT_WRITE, MAP_SHARED, table, 0);
  if (noted == MAP_FAILED) return nullptr;
  state->noted = static_cast<std::uint64_t*>(noted);
  state->accesses.reserve(1 << 16);
  return &kListener;
}
