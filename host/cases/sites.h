// The sites of a program: the statements at which its runs access memory and synchronise, with the
// places (yield points, code addresses) that belong to each.
//
// A yield point in the user's own code belongs to one statement. One in a header of the library may
// belong to many (without optimisation std::mutex::lock() is a function): there the stack decides,
// and in a run that was not asked for stacks it is taken from one that was, by thread and count.
#ifndef CLEW_HOST_CASES_SITES_H_
#define CLEW_HOST_CASES_SITES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "host/cases/anchor.h"
#include "host/cases/source_file.h"
#include "host/names/run_names.h"
#include "host/symbolize/symbolizer.h"
#include "host/target/run_result.h"
#include "host/trace/trace.h"

namespace clew {

using SiteId = std::uint32_t;
inline constexpr SiteId kNoSite = 0;

struct Site {
  std::string file;  // as the debug information has it
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string function;
  abi::StepKind kind = abi::StepKind::kOther;
  std::string variable;  // a global one, without indices; empty: not known, or several
  const Statement* statement = nullptr;  // null: no line, or no source
  abi::Place place = 0;
  bool executed = false;           // in a run
  bool several_variables = false;  // that it accesses
};

class Sites {
 public:
  // The clocks at which a run must be asked for stacks so that add() knows all of its sites: for
  // each place one, for those of libraries all, up to a limit.
  [[nodiscard]] std::vector<std::uint64_t> clocks_to_query(std::span<const TraceStep> steps,
                                                           const RunResult* known) const;

  // A run that was asked. The run lives as long as this.
  void add(std::span<const TraceStep> steps, std::shared_ptr<const RunResult> run);
  // The points of its program that no run has executed.
  void add_table(const RunResult& run);

  [[nodiscard]] std::span<const Site> all() const { return sites_; }  // the first is kNoSite
  [[nodiscard]] const Site& operator[](SiteId id) const { return sites_[id]; }
  // For each step; kNoSite: not known.
  [[nodiscard]] std::vector<SiteId> of(std::span<const TraceStep> steps) const;

  [[nodiscard]] Anchor anchor_of(SiteId id) const;
  // The statements of a function with these tokens, whether or not they are sites; if there are none,
  // the only one that is the same but for names.
  [[nodiscard]] std::vector<const Statement*> statements_like(
      const std::string& function, const std::vector<std::string>& tokens) const;
  // Whether a statement of the sources has this word, or a site this variable.
  [[nodiscard]] bool mentions(const std::string& name) const;
  // Whether the sources have a function with the last part of this name, other than main.
  [[nodiscard]] bool has_function(const std::string& name) const;
  // All words of the statements of the functions with this name, or with its last part: a class may have
  // another name.
  [[nodiscard]] const std::set<std::string>& words_of(const std::string& function) const;
  // "T0.2"; empty: not known
  [[nodiscard]] std::string thread_name(abi::ThreadKey key) const;
  [[nodiscard]] std::vector<std::string> missing_sources() const;

 private:
  struct Run {
    std::shared_ptr<const RunResult> run;
    std::unique_ptr<Symbolizer> symbols;
    std::unique_ptr<RunNames> names;
  };
  using Instance = std::tuple<abi::ThreadKey, abi::Place, std::uint64_t>;

  [[nodiscard]] const std::vector<Statement>* source(const std::string& file);
  SiteId intern(Site site);

  std::vector<Site> sites_{Site{}};
  std::map<std::tuple<abi::Place, std::string, std::uint32_t, std::uint32_t>, SiteId> known_;
  std::unordered_map<abi::Place, SiteId> by_place_;
  std::unordered_map<abi::Place, bool> library_;  // places that belong to many statements
  std::map<Instance, SiteId> by_instance_;
  std::map<std::string, std::unique_ptr<std::vector<Statement>>> sources_;
  std::map<abi::ThreadKey, std::string> threads_;
  mutable std::map<std::string, std::set<std::string>> words_;  // by function, once asked for
  std::vector<Run> runs_;
};

}  // namespace clew

#endif  // CLEW_HOST_CASES_SITES_H_
