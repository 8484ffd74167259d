// What the memory of reads is called that is no global variable, from runs that are made once more.
#ifndef CLEW_HOST_ENUMERATE_READ_NAMES_H_
#define CLEW_HOST_ENUMERATE_READ_NAMES_H_

#include <map>
#include <set>
#include <string>

#include "host/enumerate/terms.h"
#include "host/search/hunt.h"

namespace clew {

// Of those that could be named until then (seconds_now(); 0: no limit); each is what it is called in
// one run. What fails leaves names out.
[[nodiscard]] std::map<EventKey, std::string> name_reads(const Terms& terms,
                                                         const std::set<EventKey>& nameless,
                                                         const HuntOptions& hunt,
                                                         const HuntInput& input, double until);

}  // namespace clew

#endif  // CLEW_HOST_ENUMERATE_READ_NAMES_H_
