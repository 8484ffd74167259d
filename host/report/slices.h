// A run as a person reads it: slice after slice.
#ifndef CLEW_HOST_REPORT_SLICES_H_
#define CLEW_HOST_REPORT_SLICES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "host/report/run_json.h"
#include "host/symbolize/symbolizer.h"
#include "host/target/run_result.h"

namespace clew {

enum class Length : std::uint8_t { kShortened, kAll };

// Which slices a reader sees, as ascending positions: of a long run, both ends and, while
// they are few, the ones around preemptions.
std::vector<std::size_t> shown_slices(const std::vector<SliceReport>& slices, Length length);

// `columns`: how long a line may be; 0: no limit. Of what is cut, line numbers stay.
std::string slices_text(const RunResult& run, Length length, Symbolizer& symbols,
                        std::size_t columns = 0);
Json slices_json(const RunResult& run, Symbolizer& symbols);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_SLICES_H_
