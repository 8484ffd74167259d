// The test cases of Boost.Test: what its list and its filters mean.
#ifndef CLEW_HOST_SEARCH_BOOST_TESTS_H_
#define CLEW_HOST_SEARCH_BOOST_TESTS_H_

#include <string>
#include <string_view>
#include <vector>

#include "host/error.h"

namespace clew {

// Of what --list_content prints (on standard error): "suite/case", without those that are disabled.
std::vector<std::string> boost_test_names(std::string_view list);

// Leaves those that the filters among the arguments select (-t, --run_test), as Boost.Test does when it
// runs them; its list does not go by them. Filters by label, and those that add or take away
// ("@", "+", "!"), are an error: clew does not know what they select.
[[nodiscard]] Result<void> select_boost_tests(const std::vector<std::string>& arguments,
                                              std::vector<std::string>& names);

// The arguments without filters, and with options of Boost.Test before all others.
std::vector<std::string> boost_test_arguments(const std::vector<std::string>& arguments,
                                              const std::vector<std::string>& options);
// What runs one case. Signals are left to clew, which otherwise sees only an exit status.
std::vector<std::string> boost_test_case_arguments(const std::vector<std::string>& arguments,
                                                   std::string_view name);

}  // namespace clew

#endif  // CLEW_HOST_SEARCH_BOOST_TESTS_H_
