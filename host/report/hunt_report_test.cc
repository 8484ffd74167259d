#include <gtest/gtest.h>

#include "host/report/hunt_json.h"
#include "host/report/hunt_text.h"
#include "host/report/junit.h"

namespace clew {
namespace {

HuntResult quiet_hunt() {
  HuntResult result;
  result.schedules = 1'234;
  result.seconds = 0.1;
  result.interleavings = 400;
  result.strategy = "portfolio";
  result.seed = 9;
  return result;
}

HuntResult finding_hunt() {
  HuntResult result = quiet_hunt();
  FoundFailure found;
  found.failure = {FailureKind::kAssert, "assertion `x' failed", "T0.1",
                   Location{"/a/b.cc", 7, "f()"}};
  found.count = 1;
  found.first_schedule = 17;
  found.recording = 7;
  result.failures = {found};
  result.failing = 7;
  result.passing = 8;
  result.passing_distance = "differs in 1 switch";
  return result;
}

TEST(HuntText, Found) {
  const HuntResult result = finding_hunt();
  EXPECT_EQ(headline(result), "found (assert): assertion `x' failed");
  EXPECT_EQ(hunt_text(result),
            "  in thread T0.1 at /a/b.cc:7 in f\n"
            "  in schedule 17\n"
            "  1,234 schedules, 400 distinct interleavings, 0.1 s (12,340/s), strategy portfolio, "
            "seed 9\n"
            "  failing: recording 7\n"
            "  passing: recording 8, differs in 1 switch\n"
            "  find the cause: clew isolate 7\n"
            "  look at it: clew show 7\n"
            "  replay it: clew replay 7\n");
  EXPECT_EQ(exit_status_of(result), 1);
}

TEST(HuntText, FoundOutweighsTheInterrupt) {
  HuntResult result = finding_hunt();
  result.interrupted_by = 2;
  EXPECT_EQ(exit_status_of(result), 1);
  EXPECT_NE(headline(result).find("interrupted"), std::string::npos);
}

TEST(HuntText, ATableOfSeveral) {
  HuntResult result = finding_hunt();
  FoundFailure other;
  other.failure = {FailureKind::kDeadlock, "2 threads", "", {}};
  other.count = 20;
  other.first_schedule = 100;
  result.failures.push_back(other);
  EXPECT_EQ(headline(result), "found: 2 different failures in 21 failing runs");
  const std::string text = hunt_text(result);
  EXPECT_NE(text.find("       20        100       none  deadlock: 2 threads\n"), std::string::npos)
      << text;
}

TEST(HuntText, FailureWithoutRecording) {
  HuntResult result = finding_hunt();
  result.failing.reset();
  result.failures[0].recording.reset();
  const std::string text = hunt_text(result);
  EXPECT_EQ(text.find("clew replay"), std::string::npos);
  EXPECT_EQ(text.find("clew isolate"), std::string::npos);
  EXPECT_NE(text.find("--seed 9"), std::string::npos);
}

TEST(HuntText, NotFound) {
  HuntResult result = quiet_hunt();
  EXPECT_EQ(exit_status_of(result), 0);
  EXPECT_EQ(headline(result), "not found: no failure in 1,234 schedules");
  EXPECT_NE(hunt_text(result).find("hint: more --time"), std::string::npos);
  result.interleavings = 3;
  EXPECT_NE(hunt_text(result).find("exhaustive"), std::string::npos);
  result.complete = true;
  result.conclusion = "all 36 schedules with at most 2 preemptions pass";
  EXPECT_EQ(headline(result), "not found: all 36 schedules with at most 2 preemptions pass");
  EXPECT_EQ(hunt_text(result).find("hint"), std::string::npos);
}

TEST(HuntText, NothingResolved) {
  HuntResult result = quiet_hunt();
  result.unresolved = result.schedules;
  EXPECT_EQ(exit_status_of(result), 122);
  EXPECT_EQ(outcome_of(result), Outcome::kUnresolved);
  result.interrupted_by = 2;
  EXPECT_EQ(exit_status_of(result), 130);
}

TEST(HuntText, Status) {
  HuntStatus status;
  status.schedules = 12'345;
  status.seconds = 10;
  status.interleavings = 56;
  status.strategy = "pos";
  status.stage = HuntStage::kHunting;
  status.seconds_left = 43.2;
  EXPECT_EQ(status_text(status), "12,345 schedules (1,234/s), 56 interleavings, pos, 43 s left");
  status.failures = finding_hunt().failures;
  EXPECT_EQ(status_text(status),
            "12,345 schedules (1,234/s), 56 interleavings, 1 failure (assert 1), pos, 43 s left");
}

TEST(HuntJson, Fields) {
  const Json found = hunt_json(finding_hunt());
  EXPECT_EQ(found["outcome"], "found");
  EXPECT_EQ(found["failure"]["kind"], "assert");
  EXPECT_EQ(found["failure"]["at"]["line"], 7);
  EXPECT_EQ(found["failing"], 7);
  EXPECT_EQ(found["failures"][0]["count"], 1);
  EXPECT_EQ(found["failures"][0]["first_schedule"], 17);
  EXPECT_EQ(found["failures"][0]["recording"], 7);
  EXPECT_EQ(found["failures"][0]["failure"]["thread"], "T0.1");
  const Json quiet = hunt_json(quiet_hunt());
  EXPECT_EQ(quiet["outcome"], "not-found");
  for (const char* name : {"failure", "failing", "passing", "conclusion", "interrupted"})
    EXPECT_TRUE(quiet[name].is_null()) << name;
  EXPECT_EQ(quiet["schedules"], 1'234);
  EXPECT_DOUBLE_EQ(quiet["per_second"], 12'340);
}

TEST(JUnit, TotalsAndFailure) {
  JUnitSuite suite{"tests", {}};
  suite.cases.push_back({"Push", "Queue", 0.5, JUnitCase::Status::kPassed, "", "", "", ""});
  suite.cases.push_back(
      {"Pop", "Queue", 0.25, JUnitCase::Status::kFailed, "assert", "a < b", "x\ny", "out & in"});
  EXPECT_EQ(junit_xml(suite),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuites name=\"clew\" tests=\"2\" failures=\"1\" errors=\"0\" time=\"0.750\">\n"
            "  <testsuite name=\"tests\" tests=\"2\" failures=\"1\" errors=\"0\" time=\"0.750\" "
            "skipped=\"0\">\n"
            "    <testcase name=\"Push\" classname=\"Queue\" time=\"0.500\"/>\n"
            "    <testcase name=\"Pop\" classname=\"Queue\" time=\"0.250\">\n"
            "      <failure message=\"a &lt; b\" type=\"assert\">x\ny</failure>\n"
            "      <system-out>out &amp; in</system-out>\n"
            "    </testcase>\n"
            "  </testsuite>\n"
            "</testsuites>\n");
}

TEST(JUnit, WhatXmlCannotHold) {
  const auto text = [](std::string_view bytes) { return xml_escaped(bytes, XmlPlace::kText); };
  EXPECT_EQ(text("<\"&>"), "&lt;&quot;&amp;&gt;");
  EXPECT_EQ(text("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
  const std::string bad = "\xef\xbf\xbd";
  EXPECT_EQ(text(std::string_view("a\0b\x1b", 4)), "a" + bad + "b" + bad);
  EXPECT_EQ(text("\xff"), bad);
  EXPECT_EQ(text("\xc3"), bad);                      // cut short
  EXPECT_EQ(text("\xc0\x80"), bad + bad);            // longer than needed
  EXPECT_EQ(text("\xed\xa0\x80"), bad + bad + bad);  // half a pair
  EXPECT_EQ(text("\xef\xbf\xbe"), bad + bad + bad);  // U+FFFE
  EXPECT_EQ(xml_escaped("a\nb", XmlPlace::kAttribute), "a&#10;b");
}

}  // namespace
}  // namespace clew
