// What threads are called: by the name that the program gave them, or by the function that they run,
// and by their id (docs/glossary.md), which says who created them.
#ifndef CLEW_HOST_REPORT_THREADS_H_
#define CLEW_HOST_REPORT_THREADS_H_

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "host/isolate/isolate_result.h"
#include "host/symbolize/symbolizer.h"
#include "host/target/run_result.h"

namespace clew {

// What a thread is for: the name given, "main" for T0, or the outermost function of the user's on its
// stack: "worker", "lambda at main.cpp:48". Empty: not known.
std::string role_of(std::string_view id, std::string_view given,
                    const std::vector<SourceFrame>& stack);

// "worker (T0.2)"; "T0.2" if the role is not known or too long to stand in a sentence.
std::string thread_label(std::string_view id, std::string_view role);
// By the stacks that the run has reported, and by the function that the thread was started with.
std::string thread_label(const RunResult& run, Symbolizer& symbols, ThreadIndex thread);

// Names each thread where a report mentions it first: "T0.2" becomes "worker (T0.2)" there, and stays
// "T0.2" from then on.
class Mentions {
 public:
  explicit Mentions(const IsolateResult& result);

  // Threads are told apart by their roles, and objects by where they come from, when they are
  // mentioned first.
  std::string introduce(std::string text);
  // What ids, clocks and steps mean, and the roles of threads that are too long for a sentence or
  // were not introduced. Empty if the result names no thread.
  [[nodiscard]] std::string legend() const;

 private:
  std::string shorten_objects(std::string text);

  std::map<std::string, std::string> roles_;  // by id
  struct Object {
    std::string first, again;  // words for it
  };
  std::vector<Object> objects_;
  std::set<std::string> mentioned_;  // of Object::first
  std::set<std::string> introduced_;
};

}  // namespace clew

#endif  // CLEW_HOST_REPORT_THREADS_H_
