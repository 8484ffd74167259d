// The call graph as a picture: callers above their callees, each function in a colour by its score.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "host/report/markup.h"
#include "host/report/rank_text.h"

namespace clew {
namespace {

constexpr int kRowHeight = 90;
constexpr int kBoxHeight = 34;
constexpr int kGap = 24;
constexpr int kLetter = 7;
constexpr std::size_t kMostLetters = 28;

struct Box {
  std::string label;
  double score = 0;
  int row = 0;
  int x = 0;
  int width = 0;
};

using Graph = std::map<FunctionNumber, std::set<FunctionNumber>>;

// How far below those that nobody calls; a cycle is cut where it was entered.
void place(FunctionNumber function, int row, const Graph& calls, std::set<FunctionNumber>& above,
           std::map<FunctionNumber, Box>& boxes) {
  Box& box = boxes[function];
  if (!box.label.empty() && box.row >= row) return;
  box.row = std::max(box.row, row);
  if (box.label.empty()) box.label = "?";
  above.insert(function);
  if (const auto of = calls.find(function); of != calls.end())
    for (const FunctionNumber callee : of->second)
      if (!above.contains(callee)) place(callee, row + 1, calls, above, boxes);
  above.erase(function);
}

}  // namespace

std::string rank_svg(const RankResult& result) {
  Graph calls;
  std::set<FunctionNumber> called;
  std::set<FunctionNumber> all;
  for (const CallEdge& edge : result.edges) {
    if (edge.kind != EdgeKind::kCall || edge.callee >= kFirstLeaf) continue;
    calls[edge.caller].insert(edge.callee);
    all.insert({edge.caller, edge.callee});
    if (edge.callee != edge.caller) called.insert(edge.callee);
  }
  std::map<FunctionNumber, Box> boxes;
  std::set<FunctionNumber> above;
  for (const FunctionNumber function : all)
    if (!called.contains(function)) place(function, 0, calls, above, boxes);
  for (const FunctionNumber function : all)
    if (!boxes.contains(function)) place(function, 0, calls, above, boxes);
  std::map<FunctionNumber, std::size_t> rank_of;
  for (std::size_t i = 0; i < result.ranking.size(); ++i) rank_of[result.ranking[i].function] = i;
  std::map<int, int> used;
  int height = 0;
  int width = 0;
  for (auto& [function, box] : boxes) {
    std::string name = result.functions[function].source.name;
    if (name.size() > kMostLetters) name = ".." + name.substr(name.size() - kMostLetters + 2);
    const RankedFunction& ranked = result.ranking[rank_of[function]];
    box.score = ranked.score;
    box.label = ranked.score > 0
                    ? fmt::format("{}. {} ({:.2f})", rank_of[function] + 1, name, ranked.score)
                    : name;
    box.width = static_cast<int>(box.label.size()) * kLetter + 16;
    box.x = used[box.row] + kGap;
    used[box.row] = box.x + box.width;
    width = std::max(width, used[box.row] + kGap);
    height = std::max(height, (box.row + 1) * kRowHeight);
  }
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" font-family=\"monospace\" font-size=\"11\">\n"
      "<defs><marker id=\"a\" markerUnits=\"userSpaceOnUse\" markerWidth=\"8\" markerHeight=\"8\" "
      "refX=\"7\" refY=\"3\" "
      "orient=\"auto\"><path d=\"M0,0 L7,3 L0,6 z\" fill=\"#555\"/></marker></defs>\n",
      width, height);
  for (std::size_t i = 0; i < result.table.features().size(); ++i) {
    const CallEdge& edge = result.edges[result.table.features()[i]];
    if (edge.kind != EdgeKind::kCall || edge.callee >= kFirstLeaf) continue;
    const Box& from = boxes[edge.caller];
    const Box& to = boxes[edge.callee];
    if (edge.caller == edge.callee) continue;
    const double score = score_of(result.table.histogram(i, {1, 1}), ScoreKind::kBestSplit);
    const int x1 = from.x + from.width / 2;
    const int y1 = from.row * kRowHeight + 20 + kBoxHeight;
    const int x2 = to.x + to.width / 2;
    const int y2 = to.row * kRowHeight + 20;
    const auto values = result.table.column(i).values(result.table.runs());
    const auto [least, most] = std::ranges::minmax(values);
    svg += fmt::format(
        "<path d=\"M{},{} C{},{} {},{} {},{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{:.1f}\" "
        "marker-end=\"url(#a)\"><title>{} calls: {} to {}, score {:.3f}</title></path>\n",
        x1, y1, x1, y1 + 25, x2, y2 - 25, x2, y2, score > 0 ? "#b33" : "#999", 1 + 2 * score,
        escaped_markup(result.functions[edge.caller].source.name + " to " +
                       result.functions[edge.callee].source.name),
        least, most, score);
  }
  for (const auto& [function, box] : boxes) {
    const int warm = 255 - static_cast<int>(160 * box.score);
    svg += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"5\" fill=\"rgb(255,{},{})\" "
        "stroke=\"#555\"/><text x=\"{}\" y=\"{}\">{}</text>\n",
        box.x, box.row * kRowHeight + 20, box.width, kBoxHeight, warm, warm, box.x + 8,
        box.row * kRowHeight + 41, escaped_markup(box.label));
  }
  return svg + "</svg>\n";
}

}  // namespace clew
