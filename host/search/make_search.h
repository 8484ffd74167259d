// The searches by name.
#ifndef CLEW_HOST_SEARCH_MAKE_SEARCH_H_
#define CLEW_HOST_SEARCH_MAKE_SEARCH_H_

#include <memory>

#include "host/error.h"
#include "host/search/hunt.h"
#include "host/search/search.h"

namespace clew {

[[nodiscard]] Result<std::unique_ptr<Search>> make_search(const HuntOptions& options,
                                                          RecordingStore& store);

}  // namespace clew

#endif  // CLEW_HOST_SEARCH_MAKE_SEARCH_H_
