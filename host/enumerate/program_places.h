// The places of a program that reads and writes have, by source, from its tables of yield points.
#ifndef CLEW_HOST_ENUMERATE_PROGRAM_PLACES_H_
#define CLEW_HOST_ENUMERATE_PROGRAM_PLACES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/enumerate/unexecuted_writes.h"
#include "host/error.h"
#include "host/names/run_names.h"
#include "host/search/hunt_input.h"
#include "host/symbolize/symbolizer.h"
#include "host/target/launch_plan.h"

namespace clew {

class ProgramPlaces {
 public:
  // Runs the program once, to learn where its modules are.
  [[nodiscard]] static Result<ProgramPlaces> of(const LaunchPlan& plan, const HuntInput& input);

  // Where a place is; no line: not known.
  [[nodiscard]] Location location(abi::Place place);
  // The global variable at an address: "queue.items_[3]"; empty: none.
  [[nodiscard]] std::string variable(std::uint64_t address, std::uint32_t size);

  struct Point {
    abi::Place place = 0;
    std::string file;
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    bool reads = false;
    bool writes = false;
  };
  // All accesses that the program has points for, executed or not.
  [[nodiscard]] const std::vector<Point>& accesses() const { return accesses_; }
  // Of accesses that write, what they write to (unexecuted_writes.h).
  [[nodiscard]] std::vector<WrittenData> written(std::span<const abi::Place> points) {
    return written_data(*reports_, *names_, points);
  }
  // The reads at "FILE:LINE"; the file may be the end of its path.
  [[nodiscard]] std::set<abi::Place> reads_at(const std::string& file, std::uint32_t line) const;

 private:
  ProgramPlaces() = default;

  std::shared_ptr<Reports> reports_;
  std::shared_ptr<Symbolizer> symbols_;
  std::shared_ptr<RunNames> names_;
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::string> variables_;  // by address and size
  std::vector<Point> accesses_;
};

// Whether a path is the file, or ends with it after a slash.
[[nodiscard]] bool is_file(const std::string& path, const std::string& file);

}  // namespace clew

#endif  // CLEW_HOST_ENUMERATE_PROGRAM_PLACES_H_
