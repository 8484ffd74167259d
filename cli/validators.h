// Checks of options that the library's own say less clearly. They run while the command line is
// read, before anything else does.
#ifndef CLEW_CLI_VALIDATORS_H_
#define CLEW_CLI_VALIDATORS_H_

#include <CLI/CLI.hpp>
#include <cstdint>

namespace clew::cli {

// Far above what a run or a hunt can reach, and so far below the ends of the types that sums and
// products of such numbers stay within them.
inline constexpr std::uint64_t kMostWhole = 1'000'000'000'000'000'000;
inline constexpr double kMostPositive = 1e9;
// Of processes at a time, each with memory of its own; of events whose order matters.
inline constexpr std::uint64_t kMostJobs = 1024;
inline constexpr std::uint64_t kMostDepth = 1000;
inline constexpr std::uint64_t kMostBound = 1'000'000'000;

// A number greater than 0, at most kMostPositive. The library's own check names the largest number
// there is in its error.
CLI::Validator positive();
// Whole numbers from 1, and from 0.
CLI::Validator count(std::uint64_t most = kMostWhole);
CLI::Validator whole(std::uint64_t most = kMostWhole);
// The name of a file that can be written, or "-".
CLI::Validator writable();
// The name of a picture's file.
CLI::Validator picture();

}  // namespace clew::cli

#endif  // CLEW_CLI_VALIDATORS_H_
