# How tests are declared, beside the sources they test.
#
# CLEW_TESTS adds the unit tests and the folder tests/. scripts/setup switches it off: who uses clew needs no GoogleTest.
#
# CLEW_SANITIZE makes a build folder of unit tests and fuzz targets only, under AddressSanitizer and
# UndefinedBehaviorSanitizer. It lies within a plain build folder (build/asan in build), from which it takes the programs
# under test: those run in clew's runtime, where the sanitizers' own runtime has no place.
option(CLEW_TESTS "Build the tests" ON)
option(CLEW_SANITIZE "Build unit tests and fuzz targets only, under sanitizers" OFF)

if(CLEW_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
  add_custom_target(unit_tests)
endif()

set(CLEW_PLAIN_BUILD ${CMAKE_BINARY_DIR})
if(CLEW_SANITIZE)
  cmake_path(GET CMAKE_BINARY_DIR PARENT_PATH CLEW_PLAIN_BUILD)
  # Built for every test run: -O0 compiles in half the time of -O1. What tests run for seconds is optimised all the same (clew_busy).
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O0 -gline-tables-only")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

# clew_unit_test(NAME [EACH_CASE] [OPTIMISED] SOURCES ... LIBRARIES ... [DEFINITIONS ...] [DEPENDS ...]): an executable of GoogleTest cases. ctest
# runs it as one test, NAME: a thousand processes take longer to start than their cases to run, under sanitizers several times as long.
# EACH_CASE, for cases that take or wait for seconds: each is a test of its own, so that others run meanwhile. OPTIMISED, for cases that
# compute for seconds: the others compile in half the time without optimisation. Sources that are tested, not tests, always are.
function(clew_unit_test name)
  if(NOT CLEW_TESTS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "EACH_CASE;OPTIMISED" "" "SOURCES;LIBRARIES;DEFINITIONS;DEPENDS")
  add_executable(${name} ${arg_SOURCES})
  foreach(source IN LISTS arg_SOURCES)
    cmake_path(ABSOLUTE_PATH source NORMALIZE)
    set_property(GLOBAL APPEND PROPERTY clew_test_sources ${source})
    if(NOT source MATCHES "_test\\.cc$")
      set(arg_OPTIMISED ON)
    endif()
  endforeach()
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_definitions(${name} PRIVATE ${arg_DEFINITIONS})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} clew_warnings GTest::gtest_main fmt::fmt)
  set(kind clew_first_unit_test)
  if(NOT arg_OPTIMISED)
    target_compile_options(${name} PRIVATE -O0)
  else()
    string(APPEND kind _optimised)
    if(CLEW_SANITIZE)
      target_compile_options(${name} PRIVATE -O1)
    endif()
  endif()
  get_property(first GLOBAL PROPERTY ${kind})
  if(first)
    target_precompile_headers(${name} REUSE_FROM ${first})
  else()
    set_property(GLOBAL PROPERTY ${kind} ${name})
    target_precompile_headers(${name} PRIVATE
      <gtest/gtest.h> <filesystem> <map> <random> <string> <vector> <fmt/format.h> <nlohmann/json.hpp>)
  endif()
  target_link_options(${name} PRIVATE -fuse-ld=lld)  # a fifth of the time that GNU ld takes, with LLVM's libraries
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_dependencies(unit_tests ${name} ${arg_DEPENDS})
  if(arg_DEPENDS)
    add_dependencies(${name} ${arg_DEPENDS})
  endif()
  if(arg_EACH_CASE)
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 300)
  else()
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES TIMEOUT 300)
  endif()
endfunction()

# clew_busy(LIBRARY): fuzz targets, or cases that compute for seconds, run its code: it is optimised under sanitizers as well, and
# libFuzzer sees which of it an input reaches. To be called before the library's headers are precompiled.
function(clew_busy library)
  if(CLEW_SANITIZE)
    target_compile_options(${library} PRIVATE -O1 -fsanitize=fuzzer-no-link)
    set_target_properties(${library} PROPERTIES CLEW_BUSY ON)
  endif()
endfunction()

# clew_fuzz_target(NAME LIBRARIES...): NAME.cc under libFuzzer for a few seconds, see tests/fuzz.sh.
function(clew_fuzz_target name)
  if(NOT CLEW_SANITIZE)
    return()
  endif()
  add_executable(${name} ${name}.cc)
  set_property(GLOBAL APPEND PROPERTY clew_test_sources ${CMAKE_CURRENT_SOURCE_DIR}/${name}.cc)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARGN} clew_warnings)
  target_compile_options(${name} PRIVATE -O1 -fsanitize=fuzzer-no-link)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer -fuse-ld=lld)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
  add_dependencies(unit_tests ${name})
  add_test(NAME fuzz.${name}
           COMMAND ${CMAKE_SOURCE_DIR}/tests/fuzz.sh $<TARGET_FILE:${name}>)
endfunction()

# A test that is in no executable would never be run. To be called last.
function(clew_check_tests_are_listed)
  set(kind test)
  if(CLEW_SANITIZE)  # without the tests that sanitizers cannot follow
    set(kind fuzz)
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/host/*_${kind}.cc ${CMAKE_SOURCE_DIR}/runtime/*_${kind}.cc)
  get_property(listed GLOBAL PROPERTY clew_test_sources)
  foreach(source IN LISTS sources)
    if(NOT source IN_LIST listed)
      message(SEND_ERROR "${source} belongs to no test")
    endif()
  endforeach()
endfunction()
