# find_package(clew): the tool, and clew_add_case for ctest (docs/cases.md of clew).
#
#   clew_add_case(NAME CASE PROGRAM TARGET [TIME SECONDS] [HUNT SCHEDULES])
#
# adds the test NAME: clew check of the file CASE with the program of TARGET, which must be built with clew c++.
get_filename_component(_clew_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
find_program(CLEW_EXECUTABLE clew HINTS "${_clew_prefix}/bin")
unset(_clew_prefix)
if(NOT CLEW_EXECUTABLE)
  set(clew_FOUND FALSE)
  set(clew_NOT_FOUND_MESSAGE "the program clew was not found")
  return()
endif()

function(clew_add_case name case)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "PROGRAM;TIME;HUNT" "")
  if(NOT arg_PROGRAM OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "clew_add_case(NAME CASE PROGRAM TARGET [TIME SECONDS] [HUNT SCHEDULES])")
  endif()
  get_filename_component(file "${case}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  if(NOT EXISTS "${file}")
    message(FATAL_ERROR "clew_add_case: there is no file ${file}")
  endif()
  set(options)
  if(arg_TIME)
    list(APPEND options --time ${arg_TIME})
  endif()
  if(DEFINED arg_HUNT)
    list(APPEND options --hunt ${arg_HUNT})
  endif()
  add_test(NAME ${name}
           COMMAND "${CLEW_EXECUTABLE}" check ${options} --program "$<TARGET_FILE:${arg_PROGRAM}>" "${file}")
endfunction()
