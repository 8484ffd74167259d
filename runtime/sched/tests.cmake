# sched_test: the scheduler and its parts, without a program. It switches stacks, which sanitizers do not follow.
if(NOT CLEW_SANITIZE)
  clew_unit_test(sched_test
    SOURCES
      ${CMAKE_SOURCE_DIR}/runtime/event/hash.cc
      ${CMAKE_SOURCE_DIR}/runtime/event/listener.cc
      ${CMAKE_SOURCE_DIR}/runtime/event/listener_test.cc
      ${CMAKE_SOURCE_DIR}/runtime/event/sharing.cc
      ${CMAKE_SOURCE_DIR}/runtime/event/sharing_test.cc
      ${CMAKE_SOURCE_DIR}/runtime/event/stretch.cc
      ${CMAKE_SOURCE_DIR}/runtime/event/stretch_test.cc
      ${CMAKE_SOURCE_DIR}/runtime/fiber/context.cc
      ${CMAKE_SOURCE_DIR}/runtime/fiber/context_x86_64.S
      ${CMAKE_SOURCE_DIR}/runtime/keep.cc
      ${CMAKE_SOURCE_DIR}/runtime/layout/first_stack.cc
      ${CMAKE_SOURCE_DIR}/runtime/layout/first_stack_test.cc
      ${CMAKE_SOURCE_DIR}/runtime/libc/heap.cc
      ${CMAKE_SOURCE_DIR}/runtime/libc/heap_test.cc
      ${CMAKE_SOURCE_DIR}/runtime/rt.cc
      ${CMAKE_SOURCE_DIR}/runtime/translate/translate.cc
      ${CMAKE_SOURCE_DIR}/runtime/translate/translate_x86_64.S
      ${CMAKE_CURRENT_LIST_DIR}/coasting_test.cc
      ${CMAKE_CURRENT_LIST_DIR}/decider.cc
      ${CMAKE_CURRENT_LIST_DIR}/decider_test.cc
      ${CMAKE_CURRENT_LIST_DIR}/deciding.cc
      ${CMAKE_CURRENT_LIST_DIR}/event_clock.cc
      ${CMAKE_CURRENT_LIST_DIR}/event_clock_test.cc
      ${CMAKE_CURRENT_LIST_DIR}/run_queue.cc
      ${CMAKE_CURRENT_LIST_DIR}/scheduler.cc
      ${CMAKE_CURRENT_LIST_DIR}/scheduler_test.cc
      ${CMAKE_CURRENT_LIST_DIR}/switching.cc
      ${CMAKE_CURRENT_LIST_DIR}/thread_registry.cc
      ${CMAKE_CURRENT_LIST_DIR}/thread_registry_test.cc
      ${CMAKE_CURRENT_LIST_DIR}/timers.cc
      ${CMAKE_CURRENT_LIST_DIR}/timers_test.cc
      ${CMAKE_CURRENT_LIST_DIR}/wait_table.cc
      ${CMAKE_CURRENT_LIST_DIR}/wait_table_test.cc
      ${CMAKE_CURRENT_LIST_DIR}/waiting.cc
    LIBRARIES clew_abi
    DEFINITIONS _GNU_SOURCE)
endif()
