#include "host/report/junit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace clew {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

// The length of the UTF-8 character at the start of `text`, if XML 1.0 allows it; otherwise 0.
std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return first >= 0x20 || first == '\t' || first == '\n' || first == '\r' ? 1 : 0;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  char32_t value = first & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    value = value << 6 | (byte(i) & 0x3f);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xd800 && value < 0xe000;
  if (value < kLeast[length] || surrogate || value == 0xfffe || value == 0xffff || value > 0x10ffff)
    return 0;
  return length;
}

void append_escaped(std::string& out, char letter, XmlPlace place) {
  switch (letter) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&quot;";
      break;
    case '\r':
      out += "&#13;";
      break;
    case '\n':
    case '\t':
      if (place == XmlPlace::kAttribute) {
        out += fmt::format("&#{};", static_cast<int>(letter));
        break;
      }
      [[fallthrough]];
    default:
      out += letter;
  }
}

std::string attribute(std::string_view text) { return xml_escaped(text, XmlPlace::kAttribute); }
std::string content(std::string_view text) { return xml_escaped(text, XmlPlace::kText); }

std::string case_xml(const JUnitCase& one) {
  std::string text = fmt::format("    <testcase name=\"{}\" classname=\"{}\" time=\"{:.3f}\"",
                                 attribute(one.name), attribute(one.group), one.seconds);
  const bool passed = one.status == JUnitCase::Status::kPassed;
  if (passed && one.schedules == 0 && one.note.empty()) return text + "/>\n";
  auto out = std::back_inserter(text);
  text += ">\n";
  if (one.schedules != 0)
    fmt::format_to(out,
                   "      <properties><property name=\"schedules\" value=\"{}\"/></properties>\n",
                   one.schedules);
  if (passed) {
    if (!one.note.empty())
      fmt::format_to(out, "      <system-out>clew: {}</system-out>\n", content(one.note));
    return text + "    </testcase>\n";
  }
  const char* element = one.status == JUnitCase::Status::kFailed ? "failure" : "error";
  fmt::format_to(out, "      <{0} message=\"{1}\" type=\"{2}\">{3}</{0}>\n", element,
                 attribute(one.message), attribute(one.kind), content(one.text));
  if (!one.output.empty())
    fmt::format_to(out, "      <system-out>{}</system-out>\n", content(one.output));
  return text + "    </testcase>\n";
}

}  // namespace

std::string xml_escaped(std::string_view text, XmlPlace place) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = character(text);
    if (length == 0)
      out += kReplacement;
    else if (length == 1)
      append_escaped(out, text[0], place);
    else
      out += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

std::string junit_xml(const JUnitSuite& suite) {
  const auto count = [&](JUnitCase::Status status) {
    return std::ranges::count(suite.cases, status, &JUnitCase::status);
  };
  double seconds = 0;
  for (const JUnitCase& one : suite.cases) seconds += one.seconds;
  const std::string totals =
      fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3f}\"", suite.cases.size(),
                  count(JUnitCase::Status::kFailed), count(JUnitCase::Status::kError), seconds);
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"clew\" {0}>\n"
      "  <testsuite name=\"{1}\" {0} skipped=\"0\">\n",
      totals, attribute(suite.name));
  for (const JUnitCase& one : suite.cases) text += case_xml(one);
  return text + "  </testsuite>\n</testsuites>\n";
}

}  // namespace clew
