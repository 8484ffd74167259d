// Yield points and the instructions that stand for them, and the control flow from point to point, from
// the program's machine code, calls included.
//
// Instrumented code names its points where the count of events runs out, or right before a call that
// synchronises. The way past such a place that the code takes while the count lasts is not followed:
// all ways lead through the points. From a point the flow continues into the functions that are
// called, past those that may return without coming to a point, and from the end of a function to
// wherever it is called. What calls by pointer and jumps by table lead to is not known here; edges
// seen in runs fill that in.
#ifndef CLEW_HOST_MODEL_POINT_FLOW_H_
#define CLEW_HOST_MODEL_POINT_FLOW_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "clew_abi/stream.h"
#include "host/model/instruction.h"
#include "host/target/run_result.h"

namespace clew {

class PointFlow {
 public:
  using Edge = std::pair<std::uint32_t, std::uint32_t>;  // from a point to the next, by position

  // `reports` of a run of the program: its modules and where they were mapped. Points are known by their
  // positions in `places`. Functions without symbols are not known.
  PointFlow(const Reports& reports, std::span<const abi::Place> places);

  // Of all points.
  [[nodiscard]] std::set<Edge> edges();
  // The points that may come next after this one, in the same thread.
  [[nodiscard]] std::set<std::uint32_t> successors(std::uint32_t point);
  // The instructions that stand for a point, ascending: code that was inlined or copied has several.
  [[nodiscard]] std::vector<std::uint64_t> instructions_of(std::uint32_t point) const;
  // The point that an instruction stands for.
  [[nodiscard]] std::optional<std::uint32_t> point_at(std::uint64_t instruction) const;

 private:
  using Address = std::uint64_t;  // in the process
  struct Function {
    Address begin = 0, end = 0;
    // First points that are met from the beginning, and whether it may end without meeting one.
    std::set<std::uint32_t> first;
    bool passes = false;
    enum class Known : std::uint8_t { kNo, kUnderWay, kYes } known = Known::kNo;
  };
  // What is met from an instruction on, it included.
  struct Met {
    std::set<std::uint32_t> points;
    std::set<Address> ends;  // functions that end on the way, by their beginning
  };

  void read(const ModuleInfo& module, const Reports& reports);
  void read_function(Address begin, std::span<const std::uint8_t> code);
  [[nodiscard]] Function* function_at(Address address);
  [[nodiscard]] std::vector<Address> ways_from(const Instruction& at) const;
  void walk(Address from, Met& met, int depth);
  void walk_on(Address from, std::set<std::uint32_t>& points);
  const Function& summary(Function& function, int depth);

  std::unordered_map<Address, Instruction> code_;
  std::unordered_map<Address, std::uint32_t> marks_;      // the instruction's point
  std::unordered_map<Address, bool> negative_is_target_;  // branches on the count
  std::map<Address, Function> functions_;                 // by their beginning
  std::unordered_map<Address, std::vector<Address>>
      returns_to_;  // by the beginning of what is called
  std::unordered_map<std::uint64_t, std::uint32_t> position_of_point_;  // by id
  std::unordered_map<Address, std::uint32_t> position_of_return_;  // by where a call returns to
};

}  // namespace clew

#endif  // CLEW_HOST_MODEL_POINT_FLOW_H_
