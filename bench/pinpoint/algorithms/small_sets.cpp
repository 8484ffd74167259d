// A search algorithm for clew pinpoint that answers nothing, but says how common the failure is: how many of
// 400 random pairs of points, and of 400 random triples, make the program fail at least once in 20 runs
// (Tzoref, Ur, Yom-Tov 2007, section 5.1). One line for each goes to the standard output.
#include <clew/search.h>

#include <cstdio>
#include <random>
#include <vector>

CLEW_SEARCH_ALGORITHM(program) {
  constexpr std::size_t kSets = 400;
  constexpr unsigned kRuns = 20;
  std::mt19937_64 random(1);
  const std::size_t points = program.get_all_points().size();
  for (const std::size_t size : {1u, 2u, 3u}) {
    std::vector<std::vector<std::uint32_t>> sets(kSets);
    std::vector<clew::search::Iteration> iterations;
    for (auto& set : sets) {
      while (set.size() < size && set.size() < points) {
        const auto point = static_cast<std::uint32_t>(random() % points);
        bool is_new = true;
        for (const std::uint32_t other : set) is_new = is_new && other != point;
        if (is_new) set.push_back(point);
      }
      iterations.push_back({set, kRuns});
    }
    program.run_iterations(iterations.data(), iterations.size());
    if (program.stopped()) return;
    std::size_t failing = 0;
    unsigned long runs = 0;
    for (const auto& iteration : iterations)
      failing += iteration.failed > 0, runs += iteration.failed;
    std::printf("%zu points: %zu of %zu sets fail, %.1f %% of runs\n", size, failing, kSets,
                100.0 * static_cast<double>(runs) / (kSets * kRuns));
  }
  std::fflush(stdout);
}
