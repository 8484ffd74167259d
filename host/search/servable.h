// In which way a program can be run many times.
#ifndef CLEW_HOST_SEARCH_SERVABLE_H_
#define CLEW_HOST_SEARCH_SERVABLE_H_

#include <optional>
#include <string>

namespace clew {

struct Servable {
  // What in the program keeps its process from being put back after a run. Nothing: it is put back,
  // until the program makes a call whose effect outlasts a run (abi::JobResult::lasting).
  std::optional<std::string> not_in_place;
};

[[nodiscard]] Servable how_to_serve(const std::string& program);

}  // namespace clew

#endif  // CLEW_HOST_SEARCH_SERVABLE_H_
