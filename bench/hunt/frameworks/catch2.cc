#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

#include "program.h"

TEST_CASE("program") { CHECK(call_main(bench_main) == 0); }
