#include "cli/standard_input.h"

#include <fmt/format.h>

#include <cstdlib>

#include "cli/ui.h"
#include "host/search/standard_input.h"
#include "host/target/syscall_names.h"

namespace clew::cli {

Result<void> read_standard_input() {
  const auto ended_by = settle_standard_input([] {
    print_details(
        "clew: reading standard input to its end, to give it to every run\n"
        "hint: </dev/null if the program needs none\n");
  });
  CLEW_CHECK_OK(ended_by);
  if (*ended_by == 0) return {};
  print_details(fmt::format("clew: interrupted by {} while reading standard input\n",
                            signal_name(*ended_by)));
  std::exit(128 + *ended_by);  // nothing has begun
}

}  // namespace clew::cli
