// The inputs that clew rank runs a program with.
#ifndef CLEW_CLI_RANK_INPUTS_H_
#define CLEW_CLI_RANK_INPUTS_H_

#include <cstdint>
#include <string>

#include "host/calls/rank.h"
#include "host/error.h"

namespace CLI {
class App;
}

namespace clew::cli {

struct RankInputOptions {
  std::string file;
  std::string generate;
  std::string vary;
  std::uint64_t runs = 1;

  [[nodiscard]] bool given() const { return !file.empty() || !generate.empty() || !vary.empty(); }
};

void add_rank_inputs(CLI::App& app, RankInputOptions& options);

// Empty: none were asked for.
[[nodiscard]] Result<ProgramInputs> inputs_of(const RankInputOptions& options,
                                              const HuntOptions& hunt);

}  // namespace clew::cli

#endif  // CLEW_CLI_RANK_INPUTS_H_
