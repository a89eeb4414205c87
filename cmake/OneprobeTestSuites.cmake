set(ONEPROBE_TEST_EXCEPT "" CACHE STRING "Tests that are left out, as --gtest_filter takes them: patterns with colons between")

# oneprobe_add_test_suites(<target> <prefix> <label> <timeout>)
#
# Every test suite of a GoogleTest program as a test of ctest, under <prefix>.<suite>. One process for a suite, not for each
# of its tests, as gtest_discover_tests would have it: of two thousand tests most take less time than a process.
function(oneprobe_add_test_suites target prefix label timeout)
  set(tests "${CMAKE_CURRENT_BINARY_DIR}/${target}_suites.cmake")
  add_custom_command(
    TARGET ${target}
    POST_BUILD
    BYPRODUCTS "${tests}"
    COMMAND "${CMAKE_COMMAND}" -D "program=$<TARGET_FILE:${target}>" -D "prefix=${prefix}" -D "label=${label}" -D
            "timeout=${timeout}" -D "except=${ONEPROBE_TEST_EXCEPT}" -D "tests=${tests}" -P
            "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/write_test_suites.cmake"
    VERBATIM
  )
  # What ctest reads, whether or not the program was built.
  set(include_file "${CMAKE_CURRENT_BINARY_DIR}/${target}_include.cmake")
  file(WRITE "${include_file}" "if(EXISTS \"${tests}\")
  include(\"${tests}\")
else()
  add_test(${prefix}_NOT_BUILT ${target}_NOT_BUILT)
  set_tests_properties(${prefix}_NOT_BUILT PROPERTIES LABELS ${label})
endif()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${include_file}")
endfunction()
