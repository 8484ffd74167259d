// The table of a module's yield points: what clew_abi/point.h describes, as LLVM constants.
#ifndef CLEW_PASS_POINT_TABLE_H_
#define CLEW_PASS_POINT_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "clew_abi/point.h"
#include "llvm/IR/Module.h"
#include "pass/locations.h"

namespace clew::pass {

// First add all points, then finish, then ask for addresses.
class PointTable {
 public:
  explicit PointTable(llvm::Module& module) : module_(module) {}

  // The index of the new point. `location` must outlive finish().
  std::size_t add(abi::PointKind kind, const SourcePosition& location,
                  abi::MemoryOrder order = abi::MemoryOrder::kNotKnown);
  bool empty() const { return kinds_.empty(); }

  // Writes the array, where its points are in the source, and the constructor that tells the runtime of it.
  void finish();
  llvm::Constant* address_of(std::size_t index) const;

 private:
  void add_constructor();

  llvm::Module& module_;
  std::vector<std::uint8_t> kinds_;  // each an abi::Point
  std::vector<SourcePosition> positions_;
  llvm::GlobalVariable* array_ = nullptr;
};

}  // namespace clew::pass

#endif  // CLEW_PASS_POINT_TABLE_H_
