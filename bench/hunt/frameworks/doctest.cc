#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "program.h"

TEST_CASE("program") { CHECK(call_main(bench_main) == 0); }
