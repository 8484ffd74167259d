#include "host/recording/origin.h"

#include <fmt/format.h>

#include <utility>

namespace clew {
namespace {

constexpr char kHunt[] = "hunt, ";
constexpr char kIsolatedFrom[] = "isolated from ";
constexpr char kProcess[] = "process ";

}  // namespace

Origin Origin::hunt(std::uint64_t schedule, const std::string& strategy, std::uint64_t seed) {
  return from_line(
      fmt::format("{}schedule {}, strategy {}, seed {}", kHunt, schedule, strategy, seed));
}

Origin Origin::isolation(std::uint64_t recording) {
  return from_line(fmt::format("{}recording {}", kIsolatedFrom, recording));
}

Origin Origin::isolation() { return from_line(fmt::format("{}a schedule", kIsolatedFrom)); }

Origin Origin::process(int pid, std::uint64_t recording, Start start) {
  return from_line(fmt::format("{}{} of recording {}{}", kProcess, pid, recording,
                               start == Start::kForked ? ", a copy made by fork()" : ""));
}

Origin Origin::from_line(std::string line) {
  Origin origin;
  if (line.starts_with(kHunt)) origin.kind_ = Kind::kHunt;
  if (line.starts_with(kIsolatedFrom)) origin.kind_ = Kind::kIsolation;
  if (line.starts_with(kProcess)) origin.kind_ = Kind::kProcess;
  origin.line_ = std::move(line);
  return origin;
}

}  // namespace clew
