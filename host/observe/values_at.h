// The values of the variables on the lines where threads stand at a clock of a recording, from a
// replay that is stopped there.
#ifndef CLEW_HOST_OBSERVE_VALUES_AT_H_
#define CLEW_HOST_OBSERVE_VALUES_AT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/error.h"
#include "host/outcome.h"
#include "host/target/replay.h"

namespace clew {

struct VariableValue {
  std::string name;  // as the line has it
  std::string value;
};

// A line of the source, with what it mentions.
struct ValuedLine {
  std::uint32_t number = 0;
  std::string source;
  std::vector<VariableValue> values;
};

struct ThreadValues {
  std::string thread;
  bool runs = false;           // others wait to run, or for something
  std::optional<Location> at;  // nothing: in no code of the user's
  std::vector<ValuedLine> lines;
};

struct ValuesAt {
  std::uint64_t clock = 0;
  std::vector<ThreadValues> threads;  // the one that runs first
};

// Lines before and behind the one where a thread stands.
inline constexpr std::uint32_t kLinesAround = 2;

[[nodiscard]] Result<ValuesAt> values_at(const Replay& replay, std::uint64_t clock);

}  // namespace clew

#endif  // CLEW_HOST_OBSERVE_VALUES_AT_H_
