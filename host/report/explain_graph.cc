#include "host/report/explain_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "host/report/explain_text.h"
#include "host/report/markup.h"
#include "host/report/words.h"

namespace clew {
namespace {

constexpr int kColumnWidth = 380;
constexpr int kColumnGap = 110;
constexpr int kRowHeight = 56;
constexpr int kBoxHeight = 38;
constexpr int kLineHeight = 18;
constexpr int kLane = 8;  // between arrows that go around boxes
constexpr std::size_t kMostLanes = 5;
constexpr std::size_t kMostLetters = 56;
constexpr std::size_t kTitleLetters = 170;

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
  if (arrow.def_use) return {arrow.failing ? "#c0392b" : "#2e8b57", "2.4", false};
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
  dot += fmt::format(
      "  label=\"{}\\nred boxes: failing run only; green: passing run only. Solid: data; dashed: "
      "control; "
      "bold: data from elsewhere than in the other run (red: failing, green: passing)\";\n",
      escaped_label(headline(explanation)));
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

namespace {

// Arrows between boxes of one column go around what lies between them, each in a lane of its own: those of the
// passing run alone on the right, the others on the left.
class Lanes {
 public:
  explicit Lanes(const SliceGraph& graph) : graph_(graph), lane_(graph.arrows.size(), kNone) {
    std::vector<std::size_t> around;
    for (std::size_t i = 0; i < graph.arrows.size(); ++i)
      if (is_around(graph.arrows[i])) around.push_back(i);
    std::ranges::sort(around, {}, [&](std::size_t i) {
      return std::pair(end(i) - begin(i), begin(i));  // short ones near the boxes
    });
    using Lane = std::vector<std::pair<std::size_t, std::size_t>>;  // what is taken of it
    std::array<std::array<Lane, kMostLanes>, 6> gutters;
    for (const std::size_t i : around) {
      auto& gutter = gutters[static_cast<std::size_t>(
          column_of(graph.lines[graph.arrows[i].from]) * 2 + is_right(graph.arrows[i]))];
      std::size_t lane = 0;
      while (lane + 1 < kMostLanes && std::ranges::any_of(gutter[lane], [&](const auto& taken) {
               return taken.first < end(i) && begin(i) < taken.second;
             }))
        ++lane;
      gutter[lane].emplace_back(begin(i), end(i));
      lane_[i] = lane;
    }
  }
  static constexpr std::size_t kNone = SIZE_MAX;
  // kNone: it goes straight.
  [[nodiscard]] std::size_t of(std::size_t arrow) const { return lane_[arrow]; }
  [[nodiscard]] static bool is_right(const SliceArrow& arrow) { return !arrow.failing; }

 private:
  [[nodiscard]] bool is_around(const SliceArrow& arrow) const {
    return column_of(graph_.lines[arrow.from]) == column_of(graph_.lines[arrow.to]) &&
           arrow.from != arrow.to + 1;
  }
  [[nodiscard]] std::size_t begin(std::size_t i) const {
    return std::min(graph_.arrows[i].from, graph_.arrows[i].to);
  }
  [[nodiscard]] std::size_t end(std::size_t i) const {
    return std::max(graph_.arrows[i].from, graph_.arrows[i].to);
  }
  const SliceGraph& graph_;
  std::vector<std::size_t> lane_;
};

// At spaces, into lines that fit.
std::vector<std::string> wrapped(const std::string& text) {
  std::vector<std::string> lines(1);
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > kTitleLetters)
      lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
    at = end + 1;
  }
  return lines;
}

class Picture {
 public:
  explicit Picture(const Explanation& explanation)
      : graph_(explanation.lines),
        title_(wrapped(headline(explanation))),
        top_(static_cast<int>(title_.size()) * kLineHeight + 76),
        lanes_(graph_) {}

  std::string draw() {
    const int width = 3 * (kColumnWidth + kColumnGap) + kColumnGap;
    const int height = top_ + static_cast<int>(graph_.lines.size()) * kRowHeight + 20;
    svg_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 "
        "{0} {1}\" font-family=\"monospace\" font-size=\"11\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        "<defs><marker id=\"a\" markerWidth=\"9\" markerHeight=\"8\" refX=\"8\" refY=\"4\" "
        "orient=\"auto\" markerUnits=\"userSpaceOnUse\"><path d=\"M0,0 L9,4 L0,8 z\" "
        "fill=\"#444\"/></marker></defs>\n",
        width, height);
    head();
    for (std::size_t i = 0; i < graph_.lines.size(); ++i) box(i);
    for (std::size_t i = 0; i < graph_.arrows.size(); ++i) arrow(i);
    return svg_ + "</svg>\n";
  }

 private:
  [[nodiscard]] int x_of(std::size_t i) const {
    return kColumnGap + column_of(graph_.lines[i]) * (kColumnWidth + kColumnGap);
  }
  [[nodiscard]] int y_of(std::size_t i) const { return top_ + static_cast<int>(i) * kRowHeight; }

  void head() {
    int y = 6;
    for (const std::string& line : title_)
      svg_ += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"12\">{}</text>\n", kColumnGap,
                          y += kLineHeight, escaped_markup(line));
    int x = kColumnGap;
    y += kLineHeight;
    const auto sample = [&](const SliceArrow& of, const char* words) {
      svg_ += line_of(fmt::format("M{},{} L{},{}", x, y - 4, x + 34, y - 4), stroke_of(of));
      svg_ += fmt::format("<text x=\"{}\" y=\"{}\" fill=\"#555\">{}</text>\n", x + 42, y, words);
      x += 70 + 7 * static_cast<int>(std::string_view(words).size());
    };
    sample({0, 0, false, false, true, true}, "data");
    sample({0, 0, true, false, true, true}, "control");
    sample({0, 0, false, true, true, false},
           "data in the failing run, from elsewhere in the other");
    sample({0, 0, false, true, false, true}, "data in the passing run, likewise");
    if (!graph_.complete)
      svg_ +=
          fmt::format("<text x=\"{}\" y=\"{}\" fill=\"#555\">The last lines only.</text>\n", x, y);
    for (const auto& [column, name] :
         {std::pair(kLeft, "failing run only"), std::pair(kMiddle, "both runs"),
          std::pair(kRight, "passing run only")})
      svg_ +=
          fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"13\" font-weight=\"bold\">{}</text>\n",
                      kColumnGap + column * (kColumnWidth + kColumnGap), top_ - 16, name);
  }

  static std::string line_of(const std::string& path, const Stroke& stroke) {
    return fmt::format(
        "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{} "
        "marker-end=\"url(#a)\"/>\n",
        path, stroke.colour, stroke.width, stroke.dashed ? " stroke-dasharray=\"5,3\"" : "");
  }

  void box(std::size_t i) {
    const SliceLine& line = graph_.lines[i];
    svg_ += fmt::format(
        "<g><title>{}, clock {}\n{}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" "
        "rx=\"4\" fill=\"{}\" stroke=\"#666\"/>"
        "<text x=\"{}\" y=\"{}\" fill=\"#555\">{}</text><text x=\"{}\" y=\"{}\">{}</text></g>\n",
        escaped_markup(line.at.function), line.clock, escaped_markup(line.text), x_of(i), y_of(i),
        kColumnWidth, kBoxHeight, colour_of(line), x_of(i) + 6, y_of(i) + 14,
        escaped_markup(place_of(line)), x_of(i) + 6, y_of(i) + 30,
        escaped_markup(shortened(line.text)));
  }

  // From what is depended on to what depends on it.
  void arrow(std::size_t i) {
    const SliceArrow& arrow = graph_.arrows[i];
    std::string path;
    if (const std::size_t lane = lanes_.of(i); lane != Lanes::kNone) {
      const bool right = Lanes::is_right(arrow);
      const int x = x_of(arrow.to) + (right ? kColumnWidth : 0);
      const int out = 12 + static_cast<int>(lane) * kLane;
      const int bend = right ? x + out : x - out;
      // They leave a box above its middle and come to it below.
      const int y1 = y_of(arrow.to) + kBoxHeight / 2 - 6;
      const int y2 = y_of(arrow.from) + kBoxHeight / 2 + 6;
      path = fmt::format("M{0},{1} L{2},{1} L{2},{3} L{0},{3}", x, y1, bend, y2);
    } else {
      const bool down = arrow.to < arrow.from;
      const int from_x = x_of(arrow.to) + kColumnWidth / 2;
      const int to_x = x_of(arrow.from) + kColumnWidth / 2;
      const int from_y = y_of(arrow.to) + (down ? kBoxHeight : 0);
      const int to_y = y_of(arrow.from) + (down ? 0 : kBoxHeight);
      path = fmt::format("M{},{} C{},{} {},{} {},{}", from_x, from_y, from_x, (from_y + to_y) / 2,
                         to_x, (from_y + to_y) / 2, to_x, to_y);
    }
    svg_ += line_of(path, stroke_of(arrow));
  }

  const SliceGraph& graph_;
  std::vector<std::string> title_;
  int top_;
  Lanes lanes_;
  std::string svg_;
};

}  // namespace

std::string slice_svg(const Explanation& explanation) { return Picture(explanation).draw(); }

}  // namespace clew
