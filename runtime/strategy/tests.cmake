# strategy_test: the strategies in a simulated program, without the runtime. Included by a
# CMakeLists.txt that has found GTest.
add_executable(strategy_test
  ${CMAKE_SOURCE_DIR}/host/search/guides.cc
  ${CMAKE_SOURCE_DIR}/host/search/guides_test.cc
  ${CMAKE_CURRENT_LIST_DIR}/chaos.cc
  ${CMAKE_CURRENT_LIST_DIR}/chaos_test.cc
  ${CMAKE_CURRENT_LIST_DIR}/choices_test.cc
  ${CMAKE_CURRENT_LIST_DIR}/pct.cc
  ${CMAKE_CURRENT_LIST_DIR}/pct_test.cc
  ${CMAKE_CURRENT_LIST_DIR}/plan.cc
  ${CMAKE_CURRENT_LIST_DIR}/plan_test.cc
  ${CMAKE_CURRENT_LIST_DIR}/pos.cc
  ${CMAKE_CURRENT_LIST_DIR}/pos_test.cc
  ${CMAKE_CURRENT_LIST_DIR}/prefix.cc
  ${CMAKE_CURRENT_LIST_DIR}/prefix_test.cc
  ${CMAKE_CURRENT_LIST_DIR}/random_walk.cc
  ${CMAKE_CURRENT_LIST_DIR}/random_walk_test.cc
  ${CMAKE_CURRENT_LIST_DIR}/rff.cc
  ${CMAKE_CURRENT_LIST_DIR}/rff_test.cc
  ${CMAKE_CURRENT_LIST_DIR}/round_robin_test.cc
  ${CMAKE_CURRENT_LIST_DIR}/script_items.cc
  ${CMAKE_CURRENT_LIST_DIR}/script_items_test.cc
  ${CMAKE_CURRENT_LIST_DIR}/strategy_simulation_test.cc
  ${CMAKE_CURRENT_LIST_DIR}/surw.cc
  ${CMAKE_CURRENT_LIST_DIR}/surw_test.cc
  ${CMAKE_CURRENT_LIST_DIR}/untrusted_guide_test.cc
)
target_include_directories(strategy_test PRIVATE ${CMAKE_SOURCE_DIR})
target_link_libraries(strategy_test PRIVATE clew_abi clew_warnings GTest::gtest_main)
set_target_properties(strategy_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
gtest_discover_tests(strategy_test DISCOVERY_MODE PRE_TEST)
