// The table of a module's yield points: what clew_abi/point.h describes, as LLVM constants.
#ifndef CLEW_PASS_POINT_TABLE_H_
#define CLEW_PASS_POINT_TABLE_H_

#include <cstddef>
#include <vector>

#include "clew_abi/point.h"
#include "llvm/ADT/StringMap.h"
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
  bool empty() const { return points_.empty(); }

  // Writes the array and the constructor that tells the runtime of it.
  void finish();
  llvm::Constant* address_of(std::size_t index) const;

 private:
  struct Entry {
    abi::PointKind kind;
    SourcePosition location;
    abi::MemoryOrder order;
  };

  llvm::Constant* string(llvm::StringRef text);
  llvm::Constant* offset_to(llvm::StringRef text, std::size_t field);
  void add_constructor();

  llvm::Module& module_;
  std::vector<Entry> points_;
  llvm::StringMap<llvm::GlobalVariable*> strings_;
  llvm::GlobalVariable* array_ = nullptr;
};

}  // namespace clew::pass

#endif  // CLEW_PASS_POINT_TABLE_H_
