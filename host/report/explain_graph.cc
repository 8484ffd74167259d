#include "host/report/explain_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "host/report/explain_text.h"
#include "host/report/markup.h"
#include "host/report/words.h"

namespace clew {
namespace {

constexpr int kColumnWidth = 380;
constexpr int kColumnGap = 50;
constexpr int kRowHeight = 52;
constexpr int kBoxHeight = 38;
constexpr int kTop = 90;
constexpr std::size_t kMostLetters = 56;

enum Column : std::uint8_t { kLeft, kMiddle, kRight };

Column column_of(const SliceLine& line) {
  return !line.passing ? kLeft : !line.failing ? kRight : kMiddle;
}

const char* colour_of(const SliceLine& line) {
  return !line.passing ? "#fbd5d5" : !line.failing ? "#d9f2dc" : "#eceff4";
}

// How an arrow is drawn: the difference itself, control, data.
struct Stroke {
  const char* colour;
  const char* width;
  bool dashed;
};
Stroke stroke_of(const SliceArrow& arrow) {
  if (arrow.def_use) return {"#c0392b", "2.4", false};
  if (arrow.control) return {"#777777", "1.2", true};
  return {"#2c3e50", "1.2", false};
}

std::string shortened(const std::string& text) {
  return text.size() <= kMostLetters ? text : text.substr(0, kMostLetters - 3) + "...";
}

std::string place_of(const SliceLine& line) {
  const std::string file = line.at.file.substr(line.at.file.rfind('/') + 1);
  return line.instance == 1
             ? fmt::format("{} {}:{}", line.thread, file, line.at.line)
             : fmt::format("{} {}:{} ({})", line.thread, file, line.at.line, line.instance);
}

}  // namespace

std::string slice_dot(const Explanation& explanation) {
  const SliceGraph& graph = explanation.lines;
  std::string dot =
      "digraph clew {\n  rankdir=TB;\n  node [shape=box, style=filled, fontname=monospace, "
      "fontsize=10];\n";
  dot += fmt::format("  label=\"{}\";\n", escaped_label(headline(explanation)));
  for (std::size_t i = 0; i < graph.lines.size(); ++i) {
    const SliceLine& line = graph.lines[i];
    dot += fmt::format("  n{} [label=\"{}\\n{}\", fillcolor=\"{}\"];\n", i,
                       escaped_label(place_of(line)), escaped_label(shortened(line.text)),
                       colour_of(line));
  }
  for (const SliceArrow& arrow : graph.arrows) {
    const Stroke stroke = stroke_of(arrow);
    dot += fmt::format("  n{} -> n{} [color=\"{}\", penwidth={}{}];\n", arrow.to, arrow.from,
                       stroke.colour, stroke.width, stroke.dashed ? ", style=dashed" : "");
  }
  return dot + "}\n";
}

std::string slice_svg(const Explanation& explanation) {
  const SliceGraph& graph = explanation.lines;
  const auto x_of = [&](std::size_t i) {
    return kColumnGap + column_of(graph.lines[i]) * (kColumnWidth + kColumnGap);
  };
  const auto y_of = [&](std::size_t i) { return kTop + static_cast<int>(i) * kRowHeight; };
  const int width = 3 * (kColumnWidth + kColumnGap) + kColumnGap;
  const int height = kTop + static_cast<int>(graph.lines.size()) * kRowHeight + 40;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" font-family=\"monospace\" font-size=\"11\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<defs><marker id=\"a\" markerWidth=\"8\" markerHeight=\"8\" refX=\"7\" refY=\"3\" "
      "orient=\"auto\" markerUnits=\"userSpaceOnUse\"><path d=\"M0,0 L7,3 L0,6 z\" "
      "fill=\"#444\"/></marker></defs>\n",
      width, height);
  std::string title = headline(explanation);
  constexpr std::size_t kMostTitle = 175;
  if (title.size() > kMostTitle) title = title.substr(0, kMostTitle - 3) + "...";
  svg += fmt::format("<text x=\"{}\" y=\"24\" font-size=\"12\">{}</text>\n", kColumnGap,
                     escaped_markup(title));
  svg += fmt::format(
      "<text x=\"{}\" y=\"44\" fill=\"#555\">data: dark; control: dashed; another source than in "
      "the other run: red. Causes above what they lead to.{}</text>\n",
      kColumnGap, graph.complete ? "" : " The last lines only.");
  for (const auto& [column, name] :
       {std::pair(kLeft, "failing run only"), std::pair(kMiddle, "both runs"),
        std::pair(kRight, "passing run only")})
    svg += fmt::format("<text x=\"{}\" y=\"72\" font-size=\"13\" font-weight=\"bold\">{}</text>\n",
                       kColumnGap + column * (kColumnWidth + kColumnGap), name);
  for (const SliceArrow& arrow : graph.arrows) {
    const Stroke stroke = stroke_of(arrow);
    const bool down = arrow.to < arrow.from;
    const int from_y = y_of(arrow.to) + (down ? kBoxHeight : 0);
    const int to_y = y_of(arrow.from) + (down ? 0 : kBoxHeight);
    int from_x = x_of(arrow.to) + kColumnWidth / 2;
    int to_x = x_of(arrow.from) + kColumnWidth / 2;
    std::string path;
    if (from_x == to_x && (arrow.from != arrow.to + 1)) {
      // Around the boxes between them.
      const int rows =
          static_cast<int>(arrow.from > arrow.to ? arrow.from - arrow.to : arrow.to - arrow.from);
      from_x = to_x = x_of(arrow.to) + kColumnWidth;
      const int bend = from_x + 10 + std::min(rows * 4, kColumnGap - 14);
      const int y1 = y_of(arrow.to) + kBoxHeight / 2;
      const int y2 = y_of(arrow.from) + kBoxHeight / 2;
      path = fmt::format("M{},{} C{},{} {},{} {},{}", from_x, y1, bend, y1, bend, y2, to_x, y2);
    } else {
      path = fmt::format("M{},{} C{},{} {},{} {},{}", from_x, from_y, from_x, (from_y + to_y) / 2,
                         to_x, (from_y + to_y) / 2, to_x, to_y);
    }
    svg += fmt::format(
        "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{} "
        "marker-end=\"url(#a)\"/>\n",
        path, stroke.colour, stroke.width, stroke.dashed ? " stroke-dasharray=\"5,3\"" : "");
  }
  for (std::size_t i = 0; i < graph.lines.size(); ++i) {
    const SliceLine& line = graph.lines[i];
    svg += fmt::format(
        "<g><title>{}, clock {}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"4\" "
        "fill=\"{}\" stroke=\"#666\"/>"
        "<text x=\"{}\" y=\"{}\" fill=\"#555\">{}</text><text x=\"{}\" y=\"{}\">{}</text></g>\n",
        escaped_markup(line.at.function), line.clock, x_of(i), y_of(i), kColumnWidth, kBoxHeight,
        colour_of(line), x_of(i) + 6, y_of(i) + 14, escaped_markup(place_of(line)), x_of(i) + 6,
        y_of(i) + 30, escaped_markup(shortened(line.text)));
  }
  return svg + "</svg>\n";
}

}  // namespace clew
