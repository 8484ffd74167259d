#include "cli/criteria_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <string_view>
#include <utility>
#include <vector>

namespace clew::cli {

void add_criteria(CLI::App& app, CriteriaOptions& options) {
  Criteria& criteria = options.criteria;
  std::vector<std::string_view> words;
  for (const FailureKind kind : admissible_kinds()) words.emplace_back(to_word(kind));
  app.add_option(
         "--only", options.only,
         fmt::format("Only these, separated by commas; other failures count as unresolved: {}",
                     fmt::join(words, ", ")))
      ->type_name("KIND")
      ->expected(1)
      ->take_all()
      ->group(kCriteriaGroup);
  app.add_option("--fails-if-output", criteria.fails_if_output,
                 "Also a run whose standard output or error contains this regular expression")
      ->type_name("RE")
      ->group(kCriteriaGroup);
  app.add_option("--fails-unless-output", criteria.fails_unless_output,
                 "Also a run that ends by itself without it in its standard output or error")
      ->type_name("RE")
      ->group(kCriteriaGroup);
  app.add_flag(
         "--fails-if-output-differs", criteria.fails_if_output_differs,
         "Also a run that ends by itself with other output than the first that did and passed")
      ->group(kCriteriaGroup);
  app.add_option("--judge", criteria.judge,
                 "A shell command decides: standard output on its input, CLEW_EXIT_STATUS and "
                 "CLEW_STDERR_FILE in its environment; 0 pass, 1 to 124 fail, 125 neither")
      ->type_name("COMMAND")
      ->group(kCriteriaGroup);
}

Result<Criteria> criteria_of(const CriteriaOptions& options) {
  Criteria criteria = options.criteria;
  for (const std::string& list : options.only)
    for (const std::string& word : CLI::detail::split(list, ',')) {
      CLEW_TRY(const FailureKind kind, admissible_kind(word));
      criteria.only.push_back(kind);
    }
  // What uses them would notice too, but only after the program was started.
  CLEW_CHECK_OK(Judge::create(criteria));
  return criteria;
}

}  // namespace clew::cli
