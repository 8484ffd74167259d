#!/usr/bin/env bash
# clew hunt --each: test cases of GoogleTest, Catch2 and doctest programs.
. "$(dirname "$0")/lib.sh"
cat >body.h <<'C'
#include <thread>
static volatile int counter;
inline int counted(bool safe) {
  counter = 0;
  if (safe) { counter = 2; return counter; }
  std::thread a([] { counter = counter + 1; }), b([] { counter = counter + 1; });
  a.join();
  b.join();
  return counter;
}
C
cat >google.cpp <<'C'
#include <gtest/gtest.h>
#include "body.h"
TEST(Counter, Safe) { EXPECT_EQ(counted(true), 2); }
TEST(Counter, Racy) { EXPECT_EQ(counted(false), 2) << "<lost & \"gone\">"; }
TEST(Other, DISABLED_Broken) { FAIL(); }
TEST(Other, Safe) { EXPECT_EQ(counted(true), 2); }
C
cat >catch.cpp <<'C'
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#include "body.h"
TEST_CASE("a counter, safe [really]", "[counter]") { CHECK(counted(true) == 2); }
TEST_CASE("a counter, racy [really]", "[counter]") { CHECK(counted(false) == 2); }
TEST_CASE("another", "[other]") { CHECK(counted(true) == 2); }
C
cat >doctest.cpp <<'C'
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include "body.h"
TEST_CASE("a counter, safe") { CHECK(counted(true) == 2); }
TEST_CASE("a counter, racy") { CHECK(counted(false) == 2); }
TEST_CASE("another") { CHECK(counted(true) == 2); }
C
printf 'int main(void) { return 0; }\n' >plain.c
"$clew" cc plain.c -o plain || exit 1
# json EXPRESSION, xml EXPRESSION: true of out.json (d, results by name), of out.xml (suite s, cases by name)
json() { python3 -c '
import json, sys
d = json.load(open("out.json"))
results = {t["name"]: t["result"] for t in d["tests"]}
sys.exit(0 if eval(sys.argv[1]) else "not so: %s: %s" % (sys.argv[1], results))' "$1"; }
xml() { python3 -c '
import sys, xml.etree.ElementTree as E
s = E.parse("out.xml").getroot().find("testsuite")
cases = {c.get("classname") + "/" + c.get("name"): c for c in s.iter("testcase")}
sys.exit(0 if eval(sys.argv[1]) else "not so: %s: %s" % (sys.argv[1], list(cases)))' "$1"; }
each() { local status=$1; shift; run "$status" hunt --each --seed 1 --schedules 1500 --json out.json --junit out.xml "$@"; }

check "a program without a framework" run 125 hunt --each ./plain
check "... the error names the three" bash -c 'grep -q GoogleTest err.txt && grep -q Catch2 err.txt && grep -q doctest err.txt'

"$clew" c++ -std=c++20 -O1 -g google.cpp -o google -lgtest -lgtest_main -pthread || exit 1
check "GoogleTest: a filter, one hunt" run 1 hunt --seed 1 --schedules 3000 ./google --gtest_filter='Counter.*'
check "GoogleTest: each" each 1 ./google
check "... like a test runner" bash -c 'grep -q "^\[PASS\] Counter.Safe" err.txt && grep -q "^\[FAIL\] Counter.Racy" err.txt && grep -q "^\[PASS\] Other.Safe" err.txt'
check "... a disabled test is left out" bash -c '! grep -q Broken err.txt'
check "... how to replay it" says err.txt "clew replay"
check "... json" json "d['framework'] == 'GoogleTest' and results == {'Counter.Safe': 'pass', 'Counter.Racy': 'fail', 'Other.Safe': 'pass'}"
check "... schedules are shared" json "all(t['schedules'] <= 500 for t in d['tests'])"
check "... JUnit totals" xml "s.get('tests') == '3' and s.get('failures') == '1' and s.get('errors') == '0' and float(s.get('time')) > 0"
check "... JUnit failure" xml "'clew replay' in cases['Counter/Racy'].find('failure').text and cases['Counter/Racy'].find('failure').get('message')"
check "... JUnit has the output" xml "'<lost & \"gone\">' in cases['Counter/Racy'].find('system-out').text"
recording=$(python3 -c 'import json; print(json.load(open("out.json"))["failing"])')
check "... the recording fails again" run 1 replay "$recording"
check "... in that test only" bash -c 'grep -q "Counter.Racy" out.txt && ! grep -q "Counter.Safe" out.txt'
check "GoogleTest: a filter is honoured" each 0 ./google --gtest_filter='*Safe'
check "... json" json "len(results) == 2 and d['outcome'] == 'not-found'"
check "GoogleTest: a filter that leaves nothing" run 124 hunt --each ./google --gtest_filter=None.*

# The frameworks themselves are compiled along: unoptimised, that takes a quarter of the time.
"$clew" c++ -std=c++20 -O0 -g catch.cpp -o catch -pthread || exit 1
check "Catch2: each" each 1 ./catch
check "... json" json "d['framework'] == 'Catch2' and results == {'a counter, safe [really]': 'pass', 'a counter, racy [really]': 'fail', 'another': 'pass'}"
check "... JUnit" xml "s.get('tests') == '3' and s.get('failures') == '1'"
check "Catch2: a filter is honoured" each 0 ./catch '[other]'
check "... json" json "list(results) == ['another']"

"$clew" c++ -std=c++20 -O0 -g doctest.cpp -o doctest -pthread || exit 1
check "doctest: each" each 1 ./doctest
check "... json" json "d['framework'] == 'doctest' and results == {'a counter, safe': 'pass', 'a counter, racy': 'fail', 'another': 'pass'}"
check "doctest: a filter is honoured" each 0 ./doctest -tc='*safe*,another'
check "... json" json "len(results) == 2"

cat >boost.cpp <<'C'
#define BOOST_TEST_MODULE counters
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include "body.h"
BOOST_AUTO_TEST_SUITE(counting)
BOOST_AUTO_TEST_CASE(safe) { BOOST_TEST(counted(true) == 2); }
BOOST_AUTO_TEST_CASE(racy, *boost::unit_test::description("lost: or not*")) { BOOST_TEST(counted(false) == 2); }
BOOST_AUTO_TEST_CASE(off, *boost::unit_test::disabled()) { BOOST_TEST(false); }
BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_CASE(other) { BOOST_TEST(counted(true) == 2); }
C
"$clew" c++ -std=c++20 -O0 -g boost.cpp -o boost -lboost_unit_test_framework -pthread || exit 1
check "Boost.Test: each" each 1 ./boost
check "... json" json "d['framework'] == 'Boost.Test' and results == {'counting/safe': 'pass', 'counting/racy': 'fail', 'other': 'pass'}"
check "... the assertion" bash -c 'grep -q "boost.cpp:7: check counted(false) == 2 has failed" err.txt'
check "Boost.Test: a filter is honoured" each 0 ./boost --run_test=counting/safe,none:other
check "... json" json "list(results) == ['counting/safe', 'other']"
finish
