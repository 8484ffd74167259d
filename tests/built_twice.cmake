# clew_built_twice(SUITE HEADERS OPTIONS): every C and C++ program of this folder is built by clang and by clew, and gets a test
# SUITE.NAME that runs both by run.sh.
function(clew_built_twice suite headers options)
  set(clew ${CMAKE_BINARY_DIR}/bin/clew)
  file(GLOB sources CONFIGURE_DEPENDS *.c *.cpp)
  if(NOT sources)
    message(SEND_ERROR "no programs in ${CMAKE_CURRENT_SOURCE_DIR}")
  endif()
  list(TRANSFORM headers PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set(outputs)
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    get_filename_component(extension ${source} LAST_EXT)
    if(extension STREQUAL ".c")
      set(native ${CMAKE_C_COMPILER} -std=gnu17)
      set(driver cc -std=gnu17)
    else()
      set(native ${CMAKE_CXX_COMPILER} -std=gnu++20)
      set(driver c++ -std=gnu++20)
    endif()
    set(binary ${CMAKE_CURRENT_BINARY_DIR}/${name})
    add_custom_command(
      OUTPUT ${binary}.native
      COMMAND ${native} ${options} ${source} -o ${binary}.native
      DEPENDS ${source} ${headers}
      COMMENT "clang ${suite}/${name}"
      VERBATIM)
    add_custom_command(
      OUTPUT ${binary}.clew
      COMMAND ${clew} ${driver} ${options} ${source} -o ${binary}.clew
      DEPENDS ${source} ${headers} clew_pass
      COMMENT "clew ${suite}/${name}"
      VERBATIM)
    list(APPEND outputs ${binary}.native ${binary}.clew)
    add_test(NAME ${suite}.${name}
             COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/run.sh ${clew} ${binary}.native ${binary}.clew)
    set_tests_properties(${suite}.${name} PROPERTIES TIMEOUT 120)
  endforeach()
  add_custom_target(${suite}_programs ALL DEPENDS ${outputs})
  add_dependencies(${suite}_programs clew clew_rt)
endfunction()
