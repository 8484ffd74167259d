# detect_test: the detectors, driven by lists of events.
clew_unit_test(detect_test
  SOURCES
    ${CMAKE_SOURCE_DIR}/runtime/arena.cc
    ${CMAKE_SOURCE_DIR}/runtime/event/stretch.cc
    ${CMAKE_SOURCE_DIR}/runtime/rt.cc
    ${CMAKE_CURRENT_LIST_DIR}/freed_memory.cc
    ${CMAKE_CURRENT_LIST_DIR}/freed_memory_test.cc
    ${CMAKE_CURRENT_LIST_DIR}/function_stack_test.cc
    ${CMAKE_CURRENT_LIST_DIR}/lock_order.cc
    ${CMAKE_CURRENT_LIST_DIR}/lock_order_test.cc
    ${CMAKE_CURRENT_LIST_DIR}/locksets.cc
    ${CMAKE_CURRENT_LIST_DIR}/race_detector.cc
    ${CMAKE_CURRENT_LIST_DIR}/race_detector_test.cc
  LIBRARIES clew_abi
  DEFINITIONS _GNU_SOURCE)
