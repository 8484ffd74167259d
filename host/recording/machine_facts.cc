#include "host/recording/machine_facts.h"

#include <cpuid.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "host/recording/file.h"

namespace clew {
namespace {

struct Feature {
  const char* name;
  unsigned leaf;
  int word;  // of eax, ebx, ecx, edx
  unsigned bit;
};

// Those by which glibc 2.36 selects its functions (sysdeps/x86: ifunc-*.h).
constexpr Feature kFeatures[] = {
    {"SSSE3", 1, 2, 9},
    {"FMA", 1, 2, 12},
    {"SSE4.1", 1, 2, 19},
    {"SSE4.2", 1, 2, 20},
    {"MOVBE", 1, 2, 22},
    {"POPCNT", 1, 2, 23},
    {"AVX", 1, 2, 28},
    {"BMI1", 7, 1, 3},
    {"AVX2", 7, 1, 5},
    {"BMI2", 7, 1, 8},
    {"ERMS", 7, 1, 9},
    {"RTM", 7, 1, 11},
    {"AVX-512F", 7, 1, 16},
    {"AVX-512BW", 7, 1, 30},
    {"AVX-512VL", 7, 1, 31},
    {"FSRM", 7, 3, 4},
    {"AMX", 7, 3, 24},
    {"LZCNT", 0x8000'0001, 2, 5},
    {"FMA4", 0x8000'0001, 2, 16},
};

std::vector<std::string> features_here() {
  std::vector<std::string> names;
  for (const Feature& feature : kFeatures) {
    std::array<unsigned, 4> words{};
    if (__get_cpuid_count(feature.leaf, 0, &words[0], &words[1], &words[2], &words[3]) != 0 &&
        ((words.at(static_cast<std::size_t>(feature.word)) >> feature.bit) & 1) != 0)
      names.emplace_back(feature.name);
  }
  return names;
}

// Those of `a` that `b` has not.
std::vector<std::string> without(const std::vector<std::string>& a,
                                 const std::vector<std::string>& b) {
  std::vector<std::string> rest;
  std::ranges::copy_if(a, std::back_inserter(rest), [&](const std::string& name) {
    return std::ranges::find(b, name) == b.end();
  });
  return rest;
}

constexpr std::string_view kKernel = "kernel ";
constexpr std::string_view kProcessors = "processors ";
constexpr std::string_view kPageSize = "page_size ";
constexpr std::string_view kFeature = "feature ";

template <class Integer>
void read_number(std::string_view text, Integer& value) {
  std::from_chars(text.data(), text.data() + text.size(), value);
}

}  // namespace

std::string format_machine(const MachineFacts& machine) {
  std::string text = fmt::format("{}{}\n{}{}\n{}{}\n", kKernel, machine.kernel, kProcessors,
                                 machine.processors, kPageSize, machine.page_size);
  for (const std::string& feature : machine.features)
    text += fmt::format("{}{}\n", kFeature, feature);
  return text;
}

MachineFacts parse_machine(std::string_view text) {
  MachineFacts machine;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto begins = [&](std::string_view word) {
      if (!line.starts_with(word)) return false;
      line.remove_prefix(word.size());
      return true;
    };
    if (begins(kKernel))
      machine.kernel = line;
    else if (begins(kProcessors))
      read_number(line, machine.processors);
    else if (begins(kPageSize))
      read_number(line, machine.page_size);
    else if (begins(kFeature))
      machine.features.emplace_back(line);
  }
  return machine;
}

std::optional<MachineFacts> machine_of(const std::filesystem::path& folder) {
  const auto bytes = read_file(folder / "machine", kMaxMachineFile, Whose::kOwn);
  if (!bytes) return std::nullopt;
  return parse_machine({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
}

MachineFacts this_machine() {
  MachineFacts machine;
  utsname system{};
  if (uname(&system) == 0) machine.kernel = system.release;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    machine.processors = static_cast<std::uint32_t>(CPU_COUNT(&allowed));
  machine.page_size = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  machine.features = features_here();
  return machine;
}

std::vector<MachineDifference> differences(const MachineFacts& recorded, const MachineFacts& here) {
  std::vector<MachineDifference> list;
  const auto lacking = without(recorded.features, here.features);
  if (!lacking.empty())
    list.push_back({true, fmt::format("it was recorded on a machine with {}, which this one lacks",
                                      fmt::join(lacking, ", "))});
  const auto more = without(here.features, recorded.features);
  if (!more.empty())
    list.push_back({true, fmt::format("this machine has {}, which the one that it was recorded on "
                                      "lacked",
                                      fmt::join(more, ", "))});
  if (recorded.page_size != here.page_size)
    list.push_back({true, fmt::format("it was recorded with pages of {} bytes, here they have {}",
                                      recorded.page_size, here.page_size)});
  if (recorded.kernel != here.kernel)
    list.push_back({false, fmt::format("it was recorded with Linux {}, this is {}", recorded.kernel,
                                       here.kernel)});
  if (recorded.processors != here.processors)
    list.push_back({false, fmt::format("it was recorded with {} processors, here are {}",
                                       recorded.processors, here.processors)});
  return list;
}

}  // namespace clew
