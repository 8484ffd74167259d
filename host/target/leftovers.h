// What a run has created and left behind: files, folders, queues. It is removed when this object is
// destroyed, the newest first, so that the next run finds what this one found.
#ifndef CLEW_HOST_TARGET_LEFTOVERS_H_
#define CLEW_HOST_TARGET_LEFTOVERS_H_

#include <utility>
#include <vector>

#include "host/target/run_result.h"

namespace clew {

class Leftovers {
 public:
  explicit Leftovers(std::vector<CreatedName> names) : names_(std::move(names)) {}
  ~Leftovers();
  Leftovers(const Leftovers&) = delete;
  Leftovers& operator=(const Leftovers&) = delete;

 private:
  std::vector<CreatedName> names_;
};

}  // namespace clew

#endif  // CLEW_HOST_TARGET_LEFTOVERS_H_
