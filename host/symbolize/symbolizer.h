// Code addresses and places to source.
#ifndef CLEW_HOST_SYMBOLIZE_SYMBOLIZER_H_
#define CLEW_HOST_SYMBOLIZE_SYMBOLIZER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "clew_abi/stream.h"
#include "host/outcome.h"
#include "host/target/run_result.h"

namespace clew {

struct SourceFrame {
  std::string function;  // demangled; empty: not known
  std::string file;      // empty: not known
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string module;
  std::uint64_t address = 0;
  std::uint32_t start_line = 0;  // where the function begins; 0: not known
};

// Code of the user's own: not a system header's, not the C++ library's, not clew's.
bool is_user_code(const SourceFrame& frame);

struct PlaceInfo {
  Location at;
  std::uint32_t column = 0;
  std::string kind;  // of a point: "read", ...; empty for a code address
};

// Loads debug information as it is asked for; made once for each run.
class Symbolizer {
 public:
  explicit Symbolizer(const Reports& reports);
  ~Symbolizer();
  Symbolizer(const Symbolizer&) = delete;
  Symbolizer& operator=(const Symbolizer&) = delete;

  // Addresses are of the calls themselves, not of where they return to. Inlined functions get
  // frames of their own, clew's runtime gets none. Innermost first.
  std::vector<SourceFrame> frames(const FrameList& addresses);

  // The first frame of user code; if there is none, of a header that user code includes; null if
  // there is none either.
  static const SourceFrame* user_frame(const std::vector<SourceFrame>& frames);

  // Nothing for place 0 and for what no table knows. A place in a library without debug information
  // has a function only.
  std::optional<PlaceInfo> place(abi::Place place);

  // Where code or data lie in the file that they come from.
  struct ModuleAddress {
    std::string path;
    std::uint64_t linked = 0;  // the address as it was linked
    bool is_program = false;   // not a library
  };
  // Nothing: in no file, or in one that cannot be read.
  std::optional<ModuleAddress> module_of(std::uint64_t address);
  // Where the program itself begins in memory; 0: not known.
  std::uint64_t program_start() const;

  // The global variable at an address of data: "forks" or "forks+40"; empty: none.
  std::string object_name(std::uint64_t address);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

Location location_of(const SourceFrame& frame);

}  // namespace clew

#endif  // CLEW_HOST_SYMBOLIZE_SYMBOLIZER_H_
