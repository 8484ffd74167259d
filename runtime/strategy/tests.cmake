# strategy_test: the strategies in a simulated program, without the runtime.
clew_unit_test(strategy_test
  SOURCES
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
  LIBRARIES clew_abi)
