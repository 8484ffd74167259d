// A search algorithm for clew pinpoint (docs/pinpoint.md): noise at one point at a time, then at pairs of the
// best of them. It finds what few points make visible, and needs no statistics.
//
//   c++ -std=c++20 -shared -fPIC one_by_one.cpp -o one_by_one.so
//   clew pinpoint --algorithm ./one_by_one.so -- ./program
#include <clew/search.h>

#include <algorithm>
#include <array>
#include <vector>

namespace {

constexpr unsigned kRuns = 20;
constexpr unsigned kOften = kRuns / 2;
constexpr std::size_t kCandidates = 8;

}  // namespace

CLEW_SEARCH_ALGORITHM(program) {
  const auto points = program.get_all_points();
  std::vector<std::array<std::uint32_t, 1>> single;
  for (std::uint32_t i = 0; i < points.size(); ++i)
    if (!points[i].starts_thread) single.push_back({i});
  std::vector<clew::search::Iteration> iterations;
  for (const auto& point : single) iterations.push_back({point, kRuns});
  program.run_iterations(iterations.data(), iterations.size());
  if (program.stopped()) return;

  // Points that a race detector has seen come first among equals.
  std::sort(iterations.begin(), iterations.end(), [&](const auto& a, const auto& b) {
    if (a.failed != b.failed) return a.failed > b.failed;
    return points[a.points[0]].races > points[b.points[0]].races;
  });
  if (!iterations.empty() && iterations[0].failed >= kOften)
    return program.answer(iterations[0].points);

  const std::size_t candidates = std::min(kCandidates, iterations.size());
  for (std::size_t i = 0; i < candidates; ++i)
    for (std::size_t j = i + 1; j < candidates; ++j) {
      const std::array<std::uint32_t, 2> pair{iterations[i].points[0], iterations[j].points[0]};
      if (program.run_iteration(pair, kRuns) >= kOften / 2) return program.answer(pair);
    }
}
