#include "host/report/pinpoint_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "host/report/markup.h"
#include "host/report/names.h"
#include "host/report/pinpoint_text.h"

namespace clew {
namespace {

constexpr std::size_t kThickOfEachSign = 2;

// Threads that execute the same function are one column.
struct Columns {
  std::vector<std::string> names;
  std::vector<std::vector<std::uint32_t>> points;
};

Columns columns_of(const PinpointResult& result) {
  Columns columns;
  std::map<abi::ThreadKey, std::string> thread_names;
  for (const NoisePoint& point : result.points)
    if (!point.thread_function.empty())
      thread_names.try_emplace(point.thread, point.thread_function);
  std::map<std::string, std::size_t> position;
  std::vector<std::uint32_t> order(result.points.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, {}, [&](std::uint32_t i) { return result.points[i].met; });
  for (const std::uint32_t i : order) {
    const NoisePoint& point = result.points[i];
    // A place that the run without noise did not come to is put with its thread's others.
    const std::string of_thread =
        thread_names.try_emplace(point.thread, point.at.function).first->second;
    const std::string name =
        function_text(point.thread_function.empty() ? of_thread : point.thread_function);
    const auto [column, added] = position.try_emplace(name, columns.names.size());
    if (added) {
      columns.names.push_back(name);
      columns.points.emplace_back();
    }
    columns.points[column->second].push_back(i);
  }
  return columns;
}

// White at 1; full at a factor of 3.
std::string colour(double score) {
  const double strength = std::clamp(std::log(score) / std::log(3.0), -1.0, 1.0);
  const int other = static_cast<int>(255 - 165 * std::abs(strength));
  return strength >= 0 ? fmt::format("#ff{0:02x}{0:02x}", other)
                       : fmt::format("#{0:02x}{0:02x}ff", other);
}

// Of each sign.
std::vector<bool> thick_edges(const PinpointResult& result) {
  std::vector<bool> thick(result.edges.size());
  std::size_t drops = 0, rises = 0;
  for (std::size_t i = 0; i < result.edges.size(); ++i) {
    std::size_t& count = result.edges[i].difference > 0 ? drops : rises;
    thick[i] = result.edges[i].difference != 0 && count++ < kThickOfEachSign;
  }
  return thick;
}

std::string label_of(const PinpointResult& result, std::uint32_t i) {
  const NoisePoint& point = result.points[i];
  const std::string place = short_place(point);
  const std::size_t slash = place.rfind('/');
  return fmt::format("{} {} {:.2f}", slash == std::string::npos ? place : place.substr(slash + 1),
                     kind_text(point), result.scores.points[i].score);
}

constexpr int kWidth = 300, kHeight = 22, kGap = 16, kColumnGap = 90, kTop = 40, kLeft = 50;

struct Spot {
  int x = 0, y = 0;
};

std::string edge_svg(const ScoredEdge& edge, Spot from, Spot to, bool thick) {
  const bool straight = from.x == to.x && to.y == from.y + kHeight + kGap;
  const int x1 = straight ? from.x + kWidth / 2 : from.x + kWidth;
  const int y1 = straight ? from.y + kHeight : from.y + kHeight / 2;
  const int x2 = straight ? x1 : to.x == from.x ? to.x + kWidth : to.x;
  const int y2 = straight ? to.y : to.y + kHeight / 2;
  const int bend = straight ? 0 : 20 + std::abs(y2 - y1) / 12;
  std::string path = fmt::format(
      "<path d=\"M{} {} C{} {} {} {} {} {}\" fill=\"none\" stroke=\"black\" stroke-width=\"{}\"{} "
      "marker-end=\"url(#tip)\"/>\n",
      x1, y1, x1 + bend, y1, x2 + (to.x == from.x ? bend : -bend), y2, x2, y2, thick ? 4 : 1,
      edge.seen ? "" : " stroke-dasharray=\"4 3\"");
  if (thick)
    path += fmt::format("<text x=\"{}\" y=\"{}\" font-weight=\"bold\">{:+.2f}</text>\n",
                        (x1 + x2) / 2 + bend + 6, (y1 + y2) / 2 + 4, edge.difference);
  return path;
}

std::string head_svg(int width, int height) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" "
      "font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"{0}\" height=\"{1}\" "
      "fill=\"white\"/>\n",
      width, height);
}

}  // namespace

std::string flow_dot(const PinpointResult& result) {
  std::string text =
      "digraph pinpoint {\n  node [shape=box, style=filled, fontname=\"sans-serif\"];\n";
  const Columns columns = columns_of(result);
  for (std::size_t c = 0; c < columns.names.size(); ++c) {
    text += fmt::format("  subgraph cluster_{} {{\n    label=\"{}\";\n", c,
                        escaped_label(columns.names[c]));
    for (const std::uint32_t i : columns.points[c])
      text +=
          fmt::format("    p{} [label=\"{}\", fillcolor=\"{}\"];\n", i,
                      escaped_label(label_of(result, i)), colour(result.scores.points[i].score));
    text += "  }\n";
  }
  const auto thick = thick_edges(result);
  for (std::size_t i = 0; i < result.edges.size(); ++i) {
    const ScoredEdge& edge = result.edges[i];
    text +=
        fmt::format("  p{} -> p{} [label=\"{:+.2f}\"{}{}];\n", edge.from, edge.to, edge.difference,
                    thick[i] ? ", penwidth=4" : "", edge.seen ? "" : ", style=dashed");
  }
  return text + "}\n";
}

std::string flow_svg(const PinpointResult& result) {
  const Columns columns = columns_of(result);
  std::map<std::uint32_t, Spot> spots;
  std::size_t longest = 0;
  for (std::size_t c = 0; c < columns.points.size(); ++c) {
    longest = std::max(longest, columns.points[c].size());
    for (std::size_t row = 0; row < columns.points[c].size(); ++row)
      spots[columns.points[c][row]] = {kLeft + static_cast<int>(c) * (kWidth + kColumnGap),
                                       kTop + static_cast<int>(row) * (kHeight + kGap)};
  }
  const int width = 2 * kLeft + static_cast<int>(columns.names.size()) * (kWidth + kColumnGap);
  const int height = 2 * kTop + static_cast<int>(longest) * (kHeight + kGap);
  std::string text = head_svg(width, height);
  text +=
      "<defs><marker id=\"tip\" markerWidth=\"8\" markerHeight=\"8\" refX=\"7\" refY=\"3\" "
      "orient=\"auto\" markerUnits=\"userSpaceOnUse\"><path d=\"M0 0 L8 3 L0 6 "
      "z\"/></marker></defs>\n";
  for (std::size_t c = 0; c < columns.names.size(); ++c)
    text += fmt::format("<text x=\"{}\" y=\"24\" font-size=\"14\" font-weight=\"bold\">{}</text>\n",
                        kLeft + static_cast<int>(c) * (kWidth + kColumnGap),
                        escaped_markup(columns.names[c]));
  const auto thick = thick_edges(result);
  for (std::size_t i = 0; i < result.edges.size(); ++i)
    text +=
        edge_svg(result.edges[i], spots[result.edges[i].from], spots[result.edges[i].to], thick[i]);
  for (const auto& [i, spot] : spots) {
    text += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"5\" fill=\"{}\" stroke=\"black\"/>"
        "<text x=\"{}\" y=\"{}\">{}</text>\n",
        spot.x, spot.y, kWidth, kHeight, colour(result.scores.points[i].score), spot.x + 6,
        spot.y + 15, escaped_markup(label_of(result, i)));
  }
  return text + "</svg>\n";
}

std::string differences_svg(const PinpointResult& result) {
  constexpr int kBins = 41, kBarWidth = 14, kPlotHeight = 260;
  double largest = 1e-9;
  for (const double d : result.differences.arbitrary) largest = std::max(largest, std::abs(d));
  for (const double d : result.differences.consecutive) largest = std::max(largest, std::abs(d));
  const auto shares = [&](const std::vector<double>& values) {
    std::vector<double> bins(kBins);
    for (const double d : values) {
      const double at = (d / largest + 1) / 2 * kBins;
      bins[static_cast<std::size_t>(std::clamp(static_cast<int>(at), 0, kBins - 1))] +=
          1.0 / static_cast<double>(values.size());
    }
    return bins;
  };
  const auto black = shares(result.differences.consecutive);
  const auto grey = shares(result.differences.arbitrary);
  const double highest =
      std::max({*std::ranges::max_element(black), *std::ranges::max_element(grey), 1e-9});
  const int width = 80 + kBins * kBarWidth, height = kPlotHeight + 90;
  std::string text = head_svg(width, height);
  const auto bar = [&](std::size_t bin, double share, int shift, const char* fill) {
    const int tall = static_cast<int>(share / highest * kPlotHeight);
    text += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"6\" height=\"{}\" fill=\"{}\"/>\n",
                        50 + static_cast<int>(bin) * kBarWidth + shift, 30 + kPlotHeight - tall,
                        tall, fill);
  };
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    bar(bin, grey[bin], 6, "#aaaaaa");
    bar(bin, black[bin], 0, "black");
  }
  const int base = 30 + kPlotHeight;
  text += fmt::format("<line x1=\"45\" y1=\"{0}\" x2=\"{1}\" y2=\"{0}\" stroke=\"black\"/>\n", base,
                      width - 20);
  for (const int mark : {-1, 0, 1})
    text += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{:.2f}</text>\n",
                        50 + kBins * kBarWidth * (mark + 1) / 2, base + 16, mark * largest);
  text += fmt::format(
      "<text x=\"50\" y=\"18\">difference of scores: consecutive points black ({}), arbitrary "
      "pairs "
      "grey ({}); D = {:.3f}, p = {:.2g}</text>\n",
      result.differences.consecutive.size(), result.differences.arbitrary.size(), result.ks.d,
      result.ks.p);
  text += fmt::format("<text x=\"50\" y=\"{}\">highest bar: {:.1f} %</text>\n", base + 36,
                      100 * highest);
  return text + "</svg>\n";
}

}  // namespace clew
