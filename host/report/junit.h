// Test results as JUnit XML, the form that build servers read.
#ifndef CLEW_HOST_REPORT_JUNIT_H_
#define CLEW_HOST_REPORT_JUNIT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace clew {

struct JUnitCase {
  enum class Status : std::uint8_t { kPassed, kFailed, kError };
  std::string name;
  std::string group;  // the attribute classname
  double seconds = 0;
  Status status = Status::kPassed;
  std::string kind;             // the rest: unless it passed. "assert"
  std::string message;          // one line
  std::string text;             // what a person needs to know
  std::string output;           // of the program; empty: none
  std::uint64_t schedules = 0;  // 0: not known
  std::string note = {};        // of one that passed: what is to be known about it; empty: nothing
};

struct JUnitSuite {
  std::string name;
  std::vector<JUnitCase> cases;
};

// Any text may stand in the fields: what XML cannot hold is replaced.
std::string junit_xml(const JUnitSuite& suite);

// In an attribute, line ends would become spaces.
enum class XmlPlace : std::uint8_t { kText, kAttribute };
std::string xml_escaped(std::string_view text, XmlPlace place);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_JUNIT_H_
