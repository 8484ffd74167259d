// What the addresses in a traced run are called at a step of it: global variables, variables in the
// frames of all threads, and memory of the heap by its type and by who allocated it.
//
// The type of an object on the heap is told by what the run did with it: the std::allocator that it
// came from, the constructor that was called with it, the first pointer of a declared type that it
// was stored in. What none of them tells has no type.
#ifndef CLEW_HOST_OBSERVE_TRACE_NAMES_H_
#define CLEW_HOST_OBSERVE_TRACE_NAMES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/names/object_name.h"
#include "host/names/run_names.h"
#include "host/observe/run_trace.h"
#include "host/symbolize/symbolizer.h"
#include "host/target/run_result.h"

namespace clew {

// Thread safety: one thread. All of the arguments outlive it.
class TraceNames {
 public:
  // `run`: of the traced run. Types of names live as long as `names`.
  TraceNames(const RunTrace& trace, const RunResult& run, Symbolizer& symbols, RunNames& names)
      : trace_(trace), run_(run), symbols_(symbols), names_(names) {}

  // Size 0: not known.
  [[nodiscard]] ObjectName name(std::uint64_t address, std::uint64_t size, StepIndex at);
  // A lock, a condition variable and the like.
  [[nodiscard]] ObjectName sync_object(std::uint64_t address, StepIndex at);

  // In whose frame it lies, of what name() does not know.
  [[nodiscard]] ObjectName in_frame(std::uint64_t address, StepIndex at);

  // The frames of a thread before the step, innermost first. Of registers only those are known that
  // lie at a fixed distance of the frame.
  [[nodiscard]] std::vector<StackFrame> frames(std::uint16_t thread, StepIndex at);

 private:
  // What an allocation holds: one or more objects of a type.
  struct HeapType {
    const Type* type = nullptr;  // null: not known
    bool is_array = false;       // several, one after the other
    std::uint64_t begin = 0;     // of the first, behind what the compiler keeps of an array
    std::string owner;           // the container whose elements they are
  };

  ObjectName heap(const Allocation& allocation, std::uint64_t address, std::uint64_t size,
                  StepIndex at, int depth);
  ObjectName by_pointer(std::uint64_t address, std::uint64_t size, StepIndex at);
  bool is_near_stack(std::uint16_t thread, std::uint64_t address) const;
  ObjectName of_variable(std::uint64_t address, std::uint64_t size, StepIndex at);
  ObjectName name_within(std::uint64_t address, std::uint64_t size, StepIndex at, int depth);
  const HeapType& type_of(const Allocation& allocation, int depth);
  HeapType find_type(const Allocation& allocation, int depth);
  const Type* by_allocator(const Allocation& allocation, StackFrame& user);
  std::optional<HeapType> fitting(const Type& type, const Allocation& allocation) const;
  std::optional<HeapType> by_use(const Allocation& allocation, const Type* known, int depth);
  std::optional<HeapType> by_constructor(StepIndex step, StepIndex next,
                                         const Allocation& allocation);
  std::string owner_of_node(const Allocation& node, int depth);
  std::uint64_t cfa_of(FrameIndex frame, const RunNames::Module& module, std::uint64_t bias);
  std::optional<Location> place_of(StepIndex step);
  std::string thread_id(std::uint16_t thread) const;
  std::optional<std::uint64_t> thread_pointer(std::uint16_t thread);

  const RunTrace& trace_;
  const RunResult& run_;
  Symbolizer& symbols_;
  RunNames& names_;
  std::map<StepIndex, HeapType> types_;  // by the step that allocated
  std::map<FrameIndex, std::uint64_t> cfas_;
  std::map<std::uint16_t, std::optional<std::uint64_t>> thread_pointers_;
};

}  // namespace clew

#endif  // CLEW_HOST_OBSERVE_TRACE_NAMES_H_
