// The options that say what counts as a failure.
#ifndef CLEW_CLI_CRITERIA_OPTIONS_H_
#define CLEW_CLI_CRITERIA_OPTIONS_H_

#include <string>
#include <vector>

#include "host/error.h"
#include "host/search/criteria.h"

namespace CLI {
class App;
}

namespace clew::cli {

struct CriteriaOptions {
  Criteria criteria;
  std::vector<std::string> only;  // lists with commas
};

inline constexpr char kCriteriaGroup[] = "What counts as a failure";

// `options` must live as long as `app`.
void add_criteria(CLI::App& app, CriteriaOptions& options);

// Once the command line is read. Errors: a bad expression, a kind that does not exist.
[[nodiscard]] Result<Criteria> criteria_of(const CriteriaOptions& options);

}  // namespace clew::cli

#endif  // CLEW_CLI_CRITERIA_OPTIONS_H_
