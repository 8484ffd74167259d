#define BOOST_TEST_MODULE bench
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "program.h"

BOOST_AUTO_TEST_CASE(program) { BOOST_TEST(call_main(bench_main) == 0); }
