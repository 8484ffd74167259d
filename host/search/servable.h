// In which way a program can be run many times.
#ifndef CLEW_HOST_SEARCH_SERVABLE_H_
#define CLEW_HOST_SEARCH_SERVABLE_H_

#include <optional>
#include <string>

namespace clew {

struct Servable {
  // A function that the program imports and whose effects outlast a run in the same process.
  // Nothing: the process can be put back after a run.
  std::optional<std::string> not_in_place;
};

[[nodiscard]] Servable how_to_serve(const std::string& program);

}  // namespace clew

#endif  // CLEW_HOST_SEARCH_SERVABLE_H_
