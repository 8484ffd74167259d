// A variable that nothing in the program is called any more may have another name now: no edit is more
// common, and "it is gone" would then be said of a failure that is still there.
#ifndef CLEW_HOST_CASES_OTHER_NAMES_H_
#define CLEW_HOST_CASES_OTHER_NAMES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "host/cases/case_file.h"
#include "host/cases/placing.h"
#include "host/cases/sites.h"

namespace clew {

// The case as if variables had other names, and where its events are then.
struct OtherName {
  Case one;
  std::vector<Placed> placed;
  bool fits = false;  // but for those names, the statements are what they were
};

// For variables of the case that no statement mentions: those others of the program that it did not have
// beside them, and with which all of the events have a place, the ones that fit best first. `placed` is by the names of the case.
[[nodiscard]] std::vector<OtherName> other_names(const Case& one, const std::vector<Placed>& placed,
                                                 const Sites& sites, std::size_t most);

// Whether one of them may be the one that was called `name`.
[[nodiscard]] bool may_have_other_name(const Case& one, const std::string& name,
                                       const Sites& sites);

// The variables that runs accessed in the functions of the events, besides those of the events: what is
// there already is none of them under another name.
[[nodiscard]] std::vector<std::string> variables_beside(const Case& one, const Sites& sites);

// Whether runs access memory without a name in the functions of all events of the order, in the way that
// the events do: the variable may have become a part of an object.
[[nodiscard]] bool may_be_nameless(const Case& one, const CaseOrder& order, const Sites& sites);

// "bank" of "bank.accounts[].total".
[[nodiscard]] std::string first_name(const std::string& variable);

}  // namespace clew

#endif  // CLEW_HOST_CASES_OTHER_NAMES_H_
