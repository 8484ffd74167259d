// The failures of a campaign by number: the same kind at the same place is the same one, in this hunt
// and in those that the campaign was begun with.
#ifndef CLEW_HOST_NOISE_FAILURE_BOOK_H_
#define CLEW_HOST_NOISE_FAILURE_BOOK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "host/search/hunt_result.h"

namespace clew {

class FailureBook {
 public:
  // Its number; a new one if it is not known.
  std::uint32_t number_of(const FoundFailure& failure) {
    for (std::uint32_t i = 0; i < failures_.size(); ++i)
      if (same(failures_[i], failure)) {
        if (!failures_[i].recording) failures_[i].recording = failure.recording;
        return i;
      }
    failures_.push_back(failure);
    return static_cast<std::uint32_t>(failures_.size() - 1);
  }
  [[nodiscard]] const std::vector<FoundFailure>& all() const { return failures_; }

 private:
  static bool same(const FoundFailure& a, const FoundFailure& b) {
    const auto place = [](const FoundFailure& f) {
      return f.failure.at ? f.failure.at->file + ":" + std::to_string(f.failure.at->line) : "";
    };
    return a.failure.kind == b.failure.kind && a.exit_status == b.exit_status &&
           place(a) == place(b);
  }

  std::vector<FoundFailure> failures_;
};

}  // namespace clew

#endif  // CLEW_HOST_NOISE_FAILURE_BOOK_H_
