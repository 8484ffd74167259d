// --watch, --listener and --fails-if: what runs are watched for.
#ifndef CLEW_CLI_WATCH_OPTIONS_H_
#define CLEW_CLI_WATCH_OPTIONS_H_

#include <string>
#include <vector>

#include "host/error.h"
#include "host/target/launch_plan.h"

namespace CLI {
class App;
}

namespace clew::cli {

struct WatchOptions {
  std::vector<std::string> watch;
  std::vector<std::string> fails_if;
  std::vector<std::string> listeners;

  bool any() const { return !watch.empty() || !fails_if.empty() || !listeners.empty(); }
};

// --watch and --listener.
void add_watch(CLI::App& app, WatchOptions& options);
// --fails-if: findings that count as failures.
void add_fails_if(CLI::App& app, WatchOptions& options, const char* group);

// Errors: an unknown word, a listener that is not there.
[[nodiscard]] Result<void> apply(const WatchOptions& options, LaunchPlan& plan);

// Whether anything watches or listens.
[[nodiscard]] bool is_watched(const LaunchPlan& plan);

}  // namespace clew::cli

#endif  // CLEW_CLI_WATCH_OPTIONS_H_
