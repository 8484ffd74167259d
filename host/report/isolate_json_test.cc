// The course of a run as a table, and isolations as JSON.
#include "host/report/isolate_json.h"

#include <string>

#include "host/report/course.h"
#include "host/report/isolate_report_test_util.h"

namespace clew {
namespace {

using abi::StepKind;

TEST(Course, Columns) {
  const IsolateResult result = queue_result();
  const auto threads = threads_of(result.failing_course, result.passing_course);
  EXPECT_EQ(course_text(result.failing_course, threads),
            "    clock  T0.2                    T0.3\n"
            "        9  queue.cc:44 write tail\n"
            "  *    11                          queue.cc:28 read head\n"
            "  *    15  queue.cc:47 write head\n");
  EXPECT_EQ(course_text({}, threads), "");
}

TEST(Course, ManyThreadsShareAColumn) {
  std::vector<CourseLine> course;
  for (int i = 1; i <= 12; ++i)
    course.push_back(
        {event(static_cast<std::uint64_t>(i), "T0." + std::to_string(i), 1, StepKind::kRead, "x"),
         false, true});
  const auto threads = threads_of(course, {});
  EXPECT_EQ(threads[1], "T0.2");
  EXPECT_EQ(threads[11], "T0.12");
  const std::string text = course_text(course, threads);
  EXPECT_NE(text.find("       12  T0.12    queue.cc:1 read x\n"), std::string::npos) << text;
}

TEST(Course, TheMiddleIsLeftOut) {
  std::vector<CourseLine> course;
  for (std::uint64_t i = 1; i <= 100; ++i)
    course.push_back(
        {event(i, "T0.1", 1, StepKind::kRead, std::string(200, 'x')), i == 20 || i == 80, false});
  const std::string text = course_text(course, {"T0.1", "T0.2"});
  EXPECT_NE(text.find("  *    20 "), std::string::npos) << text;
  EXPECT_NE(text.find("  *    80 "), std::string::npos) << text;
  EXPECT_NE(text.find("… 53 steps"), std::string::npos) << text;
  EXPECT_NE(text.find("xx…\n"), std::string::npos) << text;
}

TEST(IsolateJson, Fields) {
  const Json json = Json::parse(isolate_json(simplified_result()).dump());
  EXPECT_EQ(json["outcome"], "isolated");
  EXPECT_EQ(json["deltas"], "24");
  EXPECT_EQ(json["deltas_left"], "1");
  EXPECT_EQ(json["tests"], 4);
  EXPECT_EQ(json["cost_runs"], 2.25);
  const Json& one = json["switches"][0];
  EXPECT_EQ(one["index"], 4);
  EXPECT_EQ(one["kind"], "move");
  EXPECT_EQ(one["fail_clock"], 10);
  EXPECT_EQ(one["pass_clock"], 11);
  EXPECT_EQ(one["from"], "T0.2");
  EXPECT_EQ(one["to"], "T0.3");
  EXPECT_EQ(one["fail_at"]["line"], 47);
  EXPECT_EQ(one["pass_at"]["line"], 50);
  EXPECT_EQ(one["fail"]["next"]["stack"][0]["function"], "enqueue(int)");
  EXPECT_EQ(one["pass"]["from"]["stack"].size(), 2u);
  const Json& preemption = json["preemptions"][0];
  EXPECT_EQ(preemption["thread"], "T0.2");
  EXPECT_EQ(preemption["to"], "T0.3");
  EXPECT_EQ(preemption["clock"], 10);
  EXPECT_EQ(preemption["at"]["file"], "/a/queue.cc");
  EXPECT_EQ(preemption["window"]["first"]["at"]["line"], 43);
  EXPECT_EQ(preemption["window"]["last"]["at"]["line"], 47);
  EXPECT_EQ(preemption["window"]["places"], 3);
  EXPECT_EQ(preemption["window"]["gapless"], true);
  EXPECT_EQ(preemption["window"]["others"], 17);
  EXPECT_EQ(json["pair"]["first"]["variable"], "head");
  EXPECT_EQ(json["pair"]["second"]["what"], "write");
  EXPECT_EQ(json["pair"]["second"]["object"], "0x4000");
  EXPECT_EQ(json["pair"]["swapped"], "passes");
  EXPECT_EQ(json["pair"]["alone"], true);
  EXPECT_EQ(json["pair"]["this_order"]["failed"], 12);
  EXPECT_EQ(json["pair"]["other_order"]["passed"], 30);
  EXPECT_EQ(json["failing"], 7);
  EXPECT_EQ(json["passing"], 8);
  EXPECT_EQ(json["original"], 2);
  EXPECT_EQ(json["failure"]["kind"], "exit");
  for (const char* name : {"simplified", "fewest", "minimal", "complete"})
    EXPECT_EQ(json[name], true) << name;
  EXPECT_EQ(json["failing_course"][1]["marked"], true);
  EXPECT_TRUE(json["doubts"].is_array() && json["notes"].is_array());
}

TEST(IsolateJson, WithoutAnAnswer) {
  IsolateResult result;
  result.always_fails = true;
  const Json json = isolate_json(result);
  EXPECT_EQ(json["outcome"], "always-fails");
  for (const char* name : {"pair", "failing", "passing", "interrupted"})
    EXPECT_TRUE(json[name].is_null()) << name;
  EXPECT_TRUE(json["switches"].is_array() && json["switches"].empty());
}

}  // namespace
}  // namespace clew
