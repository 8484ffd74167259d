// From the feature table to functions: how likely each is defective, and how sure that is.
#ifndef CLEW_HOST_CALLS_RANKING_H_
#define CLEW_HOST_CALLS_RANKING_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/calls/feature_table.h"

namespace clew {

enum class ScoreKind : std::uint8_t {
  kDiscretised,  // the gain ratio of the discretised column, as Weka has it
  kBestSplit,    // the gain ratio of the best single cut
};
enum class ClassWeight : std::uint8_t { kAsCounted, kBalanced };

// What a column speaks of; of columns of the same score, the first says most about its function.
enum class Evidence : std::uint8_t {
  kInterruption,  // another thread came between two calls
  kCall,          // of another function of the program
  kBranch,        // of its own
  kLibraryCall,   // such as output that says that the run has failed
};

struct ScoreOptions {
  ScoreKind score = ScoreKind::kBestSplit;
  ClassWeight weight = ClassWeight::kAsCounted;
  // Of two features of a function with the same score, whether the first is rather told about.
  std::function<bool(std::uint64_t, std::uint64_t)> prefer = {};
  // The function that a column's calls lead to; nothing: a library's, or it is not about calls. Empty: functions of the
  // same score stand in the order of their lines alone, as in the paper.
  std::function<std::optional<std::uint32_t>(std::uint64_t feature)> callee = {};
  // Empty: calls of what `callee` says.
  std::function<Evidence(std::uint64_t feature)> evidence = {};
  // What a column's score is multiplied with. Empty: 1.
  std::function<double(std::uint64_t feature)> discount = {};
};

// Which function a column speaks about. Nothing: it is left out.
using Assign = std::function<std::optional<std::uint32_t>(std::uint64_t feature)>;

// A column's best single cut, with the runs on either side.
struct Split {
  std::uint64_t low = 0;   // the greatest value below the cut
  std::uint64_t high = 0;  // the least one above it
  ClassCounts below;
  ClassCounts above;
};

struct RankedFunction {
  std::uint32_t function = 0;
  double score = 0;
  double undiscounted = 0;            // the score of its column
  double p = 1;                       // of the permutation test; 1: not tested
  std::optional<std::size_t> column;  // with the highest score; nothing: it calls nothing
  std::optional<Split> split;         // of that column
  bool follows = false;  // how often it is called tells the runs apart as well as what it calls
  Evidence evidence = Evidence::kCall;  // what the column is of
  bool unreached = false;               // no failing run calls it
};

// All functions of `lines` (their lines of code, by number), by decreasing score. A function's score is
// the highest of its columns. Of functions of the same score, with `callee`, those that no failing run
// executes come last: it went wrong before. Before them, those come first whose column is of a function of
// the program's own, not of a library's, such as output that says that the run has failed; then those
// that call differently though they are called as usual, before those that follow from their callers'
// difference; then those with the stronger evidence; then, as in the paper, those with more lines; then by number.
[[nodiscard]] std::vector<RankedFunction> rank_functions(const FeatureTable& table,
                                                         const std::vector<std::uint32_t>& lines,
                                                         const Assign& assign,
                                                         const ScoreOptions& options);

// How often the classes, dealt out to the runs at random, give some function a score at least as high:
// the probability of a score like this by chance, all columns considered. Fills in `p`.
void test_by_permutation(const FeatureTable& table, const Assign& assign,
                         const ScoreOptions& options, std::uint32_t permutations,
                         std::uint64_t seed, std::vector<RankedFunction>& ranking);

// The functions with an interruption that goes with failing runs, the highest score first: each with the one that has the
// highest score; of the same score those come first that call more of the others, as what comes between the calls
// of a callee comes between its caller's as well. `explained`: how well failing runs have more calls of the functions involved, which would explain
// more interruptions by or among them; only those that tell more than that count.
[[nodiscard]] std::vector<RankedFunction> rank_interruptions(
    const FeatureTable& table, const Assign& assign, const ScoreOptions& options,
    const std::function<double(std::uint64_t feature)>& explained,
    const std::function<bool(std::uint32_t caller, std::uint32_t callee)>& calls);

// Whether the column has higher values in failing runs, by the share of each class above the cut.
[[nodiscard]] bool is_more_in_failing(const Split& split);

[[nodiscard]] double score_of(const Histogram& column, ScoreKind kind);
[[nodiscard]] std::optional<Split> split_of(const Histogram& column);

// When more runs would not change the answer (the paper's criterion, section 5.2): the functions with
// a score, at most kLooked of them, were the same in the same order at each of the last kLooks looks,
// between which the rarer class grew by kGrowth, and both classes have kLeastRuns.
class Stability {
 public:
  static constexpr std::size_t kLooked = 3;
  static constexpr std::size_t kLooks = 3;
  static constexpr double kGrowth = 1.25;
  static constexpr std::size_t kLeastRuns = 25;

  [[nodiscard]] bool is_time(const FeatureTable& table) const;
  void look(const FeatureTable& table, const std::vector<RankedFunction>& ranking);
  [[nodiscard]] bool stable() const { return same_ >= kLooks; }

 private:
  [[nodiscard]] static std::size_t rarer(const FeatureTable& table);
  std::size_t last_ = 0;
  std::size_t same_ = 0;
  std::vector<std::uint32_t> first_;
};

}  // namespace clew

#endif  // CLEW_HOST_CALLS_RANKING_H_
