// What of a machine can make a difference to a run although no system call tells it: recorded, and
// named where a replay departs on another machine.
#ifndef CLEW_HOST_RECORDING_MACHINE_FACTS_H_
#define CLEW_HOST_RECORDING_MACHINE_FACTS_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clew {

struct MachineFacts {
  std::string kernel;            // "6.1.0-28-amd64"
  std::uint32_t processors = 0;  // that clew may use
  std::uint64_t page_size = 0;
  // Features of the processor by which libraries choose between versions of a function (libc's
  // memcpy, libm's exp).
  std::vector<std::string> features;
  bool operator==(const MachineFacts&) const = default;
};

// The file `machine` of a recording: a line for each fact.
inline constexpr std::size_t kMaxMachineFile = 4096;

[[nodiscard]] MachineFacts this_machine();

[[nodiscard]] std::string format_machine(const MachineFacts& machine);
// Lines that are not known are left out.
[[nodiscard]] MachineFacts parse_machine(std::string_view text);
// What the recording in `folder` was recorded on; none if it does not say.
[[nodiscard]] std::optional<MachineFacts> machine_of(const std::filesystem::path& folder);

struct MachineDifference {
  // The program may behave differently: what it computes with comes from the machine.
  bool matters = false;
  std::string text;  // "it was recorded on a machine with AVX-512F, which this one lacks"
};
// One for each that there is.
[[nodiscard]] std::vector<MachineDifference> differences(const MachineFacts& recorded,
                                                         const MachineFacts& here);

}  // namespace clew

#endif  // CLEW_HOST_RECORDING_MACHINE_FACTS_H_
