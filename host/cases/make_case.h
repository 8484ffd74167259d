// Makes cases: from a failing recording, the fewest orders that still give the failure; or from
// reads that are to see given writes.
#ifndef CLEW_HOST_CASES_MAKE_CASE_H_
#define CLEW_HOST_CASES_MAKE_CASE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/cases/case_file.h"
#include "host/cases/trial.h"
#include "host/error.h"
#include "host/isolate/isolate.h"
#include "host/recording/recording.h"
#include "host/search/hunt.h"

namespace clew {

struct MadeCase {
  enum class Proof : std::uint8_t {
    kSuffices,   // every run that had the order failed
    kSometimes,  // some did
    kAlways,     // there is no order: every run that was made failed
    kPasses,     // reads that were given: the order happens, the program passes
    kNotSeen,    // reads that were given: no run had the order
  };
  Case made;
  Proof proof = Proof::kSuffices;
  // What the program was given as its standard input; nothing: none.
  std::optional<std::vector<std::uint8_t>> input;
  std::uint64_t recording = 0;   // it was made of; 0: none
  std::uint64_t with_order = 0;  // runs
  std::uint64_t failed = 0;      // of these
  std::uint64_t runs = 0;        // made in all
  std::uint64_t candidates = 0;  // orders that were tried
  double seconds = 0;
  int interrupted_by = 0;
  bool out_of_time = false;  // not everything was tried
  bool has_handler = false;  // the failing run sends a signal that has a handler
  std::vector<std::string> notes;
};

struct MakeOptions {
  std::string recording;  // empty: the newest that failed
  Criteria criteria;      // empty: those of the recording
  double seconds = 60;    // 0: no limit
  unsigned jobs = 0;
  std::uint64_t seed = 1;
};

class MakeObserver : public HuntObserver, public IsolateObserver {
 public:
  using HuntObserver::status;
  using IsolateObserver::status;
};

// MadeCase::made::program is the absolute path of the program.
[[nodiscard]] Result<MadeCase> make_case(const MakeOptions& options, RecordingStore& store,
                                         MakeObserver& observer);

// A read and the write that it is to see, by source line.
struct WantedRead {
  std::string file;  // its end is enough: "main.cpp"
  std::uint32_t line = 0;
  std::string variable;  // empty: any
  std::string write_file;
  std::uint32_t write_line = 0;
};

struct MakeReadsOptions {
  LaunchPlan plan;
  std::vector<WantedRead> reads;
  Criteria criteria;
  double seconds = 60;
  unsigned jobs = 0;
  std::uint64_t seed = 1;
};

[[nodiscard]] Result<MadeCase> make_case_of_reads(const MakeReadsOptions& options,
                                                  MakeObserver& observer);

}  // namespace clew

#endif  // CLEW_HOST_CASES_MAKE_CASE_H_
