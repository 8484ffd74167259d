#include "host/names/findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "clew_abi/findings.h"
#include "host/names/run_names.h"
#include "host/target/replay.h"

namespace clew {
namespace {

constexpr std::array kKinds = {
#define CLEW_KIND(name, text, failure) text,
    CLEW_FINDING_KINDS(CLEW_KIND)
#undef CLEW_KIND
};
constexpr std::array kActions = {
#define CLEW_KIND(name, text) text,
    CLEW_FINDING_ACTIONS(CLEW_KIND)
#undef CLEW_KIND
};
constexpr std::array kSeverities = {"note", "warning", "error"};
constexpr std::array kLocks = {
#define CLEW_KIND(name, text) text,
    CLEW_WAIT_KINDS(CLEW_KIND)
#undef CLEW_KIND
};

template <class Enum, std::size_t Size>
const char* word(const std::array<const char*, Size>& words, Enum value) {
  return words.at(static_cast<std::size_t>(value));
}

std::string bytes_text(std::uint64_t size) {
  return size == 1 ? "1 byte" : fmt::format("{} bytes", size);
}

// Names that are known besides global variables' (host/observe/event_names.h).
using OtherNames = std::map<std::uint64_t, std::string>;

// "queue.items_[3]", "forks+40"; empty: it has none.
std::string name_of(Symbolizer& symbols, const OtherNames& others, std::uint64_t address,
                    std::uint64_t size) {
  if (const auto known = others.find(address); known != others.end()) return known->second;
  const ObjectName name = RunNames(symbols).global(address, size);
  if (!name.known() || name.path.empty()) return symbols.object_name(address);
  return name.offset == 0 ? name.path : fmt::format("{}+{}", name.path, name.offset);
}

// "counter, 4 bytes", "4 bytes at 0x5555...".
std::string variable_text(Symbolizer& symbols, const OtherNames& others, std::uint64_t address,
                          std::uint64_t size) {
  const std::string name = name_of(symbols, others, address, size);
  return name.empty() ? fmt::format("{} at {:#x}", bytes_text(size), address)
                      : fmt::format("{}, {}", name, bytes_text(size));
}

std::string lock_text(Symbolizer& symbols, const OtherNames& others, abi::WaitKind kind,
                      std::uint64_t object) {
  const std::string name = name_of(symbols, others, object, 0);
  return name.empty() ? fmt::format("{} at {:#x}", word(kLocks, kind), object)
                      : fmt::format("{} {}", word(kLocks, kind), name);
}

std::string text_of(const FindingReport& found, Symbolizer& symbols, const OtherNames& others) {
  switch (found.kind) {
    case abi::FindingKind::kRace:
      return "data race on " + variable_text(symbols, others, found.address, found.size);
    case abi::FindingKind::kLockOrder: {
      std::vector<std::string> names;
      for (const FindingReport::Site& site : found.sites)
        for (const FindingReport::Site& other : found.sites)
          for (const FindingReport::Lock& lock : other.locks)
            if (lock.object == site.object) {
              std::string name = lock_text(symbols, others, lock.kind, lock.object);
              if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
            }
      return fmt::format("locks are taken in an order that can deadlock: {}",
                         fmt::join(names, ", "));
    }
    case abi::FindingKind::kMemory: {
      const bool twice = !found.sites.empty() && found.sites[0].action == abi::FindingAction::kFree;
      const std::uint64_t size = found.sites.size() > 1 ? found.sites[1].size : found.size;
      const auto name = others.find(found.address);
      return fmt::format("{} is {}",
                         name != others.end() ? name->second : "a block of " + bytes_text(size),
                         twice ? "freed twice" : "used after it was freed");
    }
    default: {
      if (found.address == 0) return found.text;
      const std::string name = name_of(symbols, others, found.address, found.size);
      return name.empty() ? found.text : fmt::format("{}: {}", found.text, name);
    }
  }
}

std::optional<Location> location_of_site(const FindingReport::Site& site, Symbolizer& symbols) {
  if (const auto place = symbols.place(site.place)) return place->at;
  return std::nullopt;
}

}  // namespace

void locate_findings(RunResult& run, Symbolizer& symbols) {
  run.summary.findings.clear();
  for (const FindingReport& found : run.reports.findings) {
    Finding& finding = run.summary.findings.emplace_back();
    finding.kind = found.name.empty() ? word(kKinds, found.kind) : found.name;
    finding.severity = word(kSeverities, found.severity);
    finding.text = text_of(found, symbols, run.reports.names);
    finding.address = found.address;
    finding.size = found.size;
    for (const FindingReport::Site& site : found.sites) {
      Finding::Site& at = finding.sites.emplace_back();
      at.action = word(kActions, site.action);
      at.thread = run.thread_id(site.thread);
      at.clock = site.clock;
      at.at = location_of_site(site, symbols);
      for (const FindingReport::Lock& lock : site.locks)
        at.locks.push_back(lock_text(symbols, run.reports.names, lock.kind, lock.object));
    }
  }
}

std::uint64_t key_of(const FindingReport& found) {
  abi::FindingKey key(found.kind);
  key.name(found.name.c_str());
  if (found.sites.empty()) key.name(found.text.c_str());
  for (const FindingReport::Site& site : found.sites) key.site(site.action, site.place);
  return key.value();
}

void find_stacks_of_findings(const std::string& recording, RunResult& run, RunObserver& observer) {
  if (run.reports.findings.empty()) return;
  auto replay = prepare_replay(recording);
  if (!replay) return;
  replay->plan.output = OutputMode::kCaptureOnly;
  std::vector<std::uint64_t>& queries = replay->plan.queries;
  for (const FindingReport& found : run.reports.findings)
    for (const FindingReport::Site& site : found.sites)
      // A release that no point of the program's stands for is not at its clock's event.
      if (site.clock > 0 && (site.place & 1) == 0) queries.push_back(site.clock);
  std::ranges::sort(queries);
  const auto repeated = std::ranges::unique(queries);
  queries.erase(repeated.begin(), repeated.end());
  if (queries.empty()) return;

  const auto again = run_replay(*replay, observer);
  if (!again || !differences(replay->recording.meta, *again).empty()) return;
  for (FindingReport& found : run.reports.findings)
    for (FindingReport::Site& site : found.sites) {
      const auto stack = std::ranges::find_if(again->reports.stacks, [&](const StackReport& s) {
        return s.clock == site.clock && s.thread == site.thread && s.place == site.place;
      });
      if (stack != again->reports.stacks.end()) site.frames = stack->frames;
    }
}

std::optional<Finding> race_between(const std::string& recording, std::uint64_t first,
                                    std::uint64_t second, RunObserver& observer) {
  auto replay = prepare_replay(recording);
  if (!replay) return std::nullopt;
  replay->plan.output = OutputMode::kCaptureOnly;
  replay->plan.flags |= abi::watch_flag(abi::FindingKind::kRace);
  auto run = run_replay(*replay, observer);
  if (!run || !differences(replay->recording.meta, *run).empty()) return std::nullopt;
  Symbolizer symbols(run->reports);
  locate_findings(*run, symbols);
  for (const Finding& finding : run->summary.findings)
    if (finding.sites.size() == 2 && finding.sites[0].clock == first &&
        finding.sites[1].clock == second)
      return finding;
  return std::nullopt;
}

}  // namespace clew
