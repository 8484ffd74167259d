// Writes of a program that no run has executed, by what they write to, from its machine code and its
// debug information.
//
// A write has a yield point, and the code that names the point hands the address of the access to the
// runtime in a register (pass/, clew_abi/hooks.def). What was put into that register is followed
// back in the code before: to the address of a global variable, or to a variable of the source that
// points to an object of a class, and what is added to it is a member. What is not followed has no
// name. Functions that nothing calls, as far as the file says, are left out.
#ifndef CLEW_HOST_ENUMERATE_UNEXECUTED_WRITES_H_
#define CLEW_HOST_ENUMERATE_UNEXECUTED_WRITES_H_

#include <span>
#include <string>
#include <vector>

#include "clew_abi/stream.h"
#include "host/names/run_names.h"
#include "host/target/run_result.h"

namespace clew {

struct WrittenData {
  enum class Kind : std::uint8_t {
    kUnknown,
    kGlobal,    // `name`: "queue.items_[]"
    kMember,    // `name`: "Account::balance", of some object
    kNotCalled  // nothing calls the function, or the compiler has left the code out
  };
  Kind kind = Kind::kUnknown;
  std::string name;
  bool operator==(const WrittenData&) const = default;
};

// For each of these yield points, which are of writes. `reports` are of a run of the program.
[[nodiscard]] std::vector<WrittenData> written_data(const Reports& reports, RunNames& names,
                                                    std::span<const abi::Place> points);

}  // namespace clew

#endif  // CLEW_HOST_ENUMERATE_UNEXECUTED_WRITES_H_
