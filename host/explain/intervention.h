// What of one run is put into the other at one place of it, and nothing else: a value in memory or in a
// register, or the way that a branch takes.
#ifndef CLEW_HOST_EXPLAIN_INTERVENTION_H_
#define CLEW_HOST_EXPLAIN_INTERVENTION_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/explain/alignment.h"
#include "host/explain/story.h"
#include "host/observe/traced_replay.h"

namespace clew {

// Two runs and which instance is which: the failing run, or one that was changed, beside the passing one.
struct RunsView {
  std::array<const RunTrace*, 2> traces;
  std::array<const std::vector<std::string>*, 2> threads;  // their ids
  const Alignment* alignment = nullptr;

  [[nodiscard]] const RunTrace& trace(WhichRun side) const { return *traces[side]; }
};
[[nodiscard]] RunsView view_of(TracedPair& pair);

// A place at which one run can be made to do what the other does.
struct Lever {
  enum class Kind : std::uint8_t { kMemory, kRegister, kBranch };
  Kind kind = Kind::kMemory;
  std::array<Instance, 2> at;
  std::uint32_t access = 0;  // kMemory: the how-manieth of the instruction
  int reg = 0;               // kRegister: its number
};

// Of a step. Nothing: it is in one run only, or makes no value that a stop between two blocks can change.
[[nodiscard]] std::optional<Lever> find_lever(const RunsView& runs, const ToldStep& told);
// Of a read of the memory by an instance that both runs have.
[[nodiscard]] std::optional<Lever> lever_of_read(const RunsView& runs, Instance failing,
                                                 Instance passing, std::uint64_t address);
// The same place in another run beside the same passing one. Nothing: that run does not come there.
[[nodiscard]] std::optional<Lever> moved(const RunsView& to, const Lever& lever);

// An address of the other run, as it is in this one: by the allocation, or the thread whose stack it is in.
// Nothing: what it points to is not there. Each at the time of a step of its run.
[[nodiscard]] std::optional<std::uint64_t> translated(const RunsView& runs, WhichRun to,
                                                      std::uint64_t value, const Lever& lever);

// The run's access of this instance gives, or makes, this value once.
[[nodiscard]] std::optional<std::vector<RunChange>> put_value(const RunTrace& run, Instance at,
                                                              std::uint32_t access,
                                                              std::uint64_t value);
// The run does as the other does there. `other_register` is what the register of a kRegister lever has in
// the other run. Nothing: it cannot be put in.
[[nodiscard]] std::optional<std::vector<RunChange>> put_in(const RunsView& runs, WhichRun side,
                                                           const Lever& lever,
                                                           std::uint64_t other_register);
// A stop that changes nothing, at which the register of a kRegister lever has its value.
[[nodiscard]] RunChange probe(const RunTrace& run, Instance at);

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_INTERVENTION_H_
