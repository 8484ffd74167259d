// How much there is of everything. A run passes somewhat more than 10,000 yield points.
#ifndef CRAWLER_SETTINGS_H_
#define CRAWLER_SETTINGS_H_

namespace crawler {

constexpr int kPages = 10;  // to crawl at most
constexpr int kWorkers = 3;
constexpr int kHosts = 4;
constexpr int kWordsOnPage = 8;
constexpr int kLinksOnPage = 3;
constexpr int kStops = 3;  // how often a worker is told to stop what it fetches
constexpr int kPagesBetweenStops = 2;
constexpr int kMostDepth = 5;
constexpr int kPageNumbers = 50;
constexpr int kWords = 12;
constexpr int kMostRetries = 2;

}  // namespace crawler

#endif  // CRAWLER_SETTINGS_H_
