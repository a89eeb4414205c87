# A script: asks a GoogleTest program for its suites and writes them down for ctest. Its arguments are those of
# oneprobe_add_test_suites.

# A suite of which all tests are left out is not listed.
execute_process(COMMAND "${program}" --gtest_list_tests "--gtest_filter=*:-${except}" OUTPUT_VARIABLE listing RESULT_VARIABLE result TIMEOUT 60)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${program} --gtest_list_tests: ${result}")
endif()
string(REPLACE ";" "\\;" listing "${listing}")
# Of what parameters are printed as: brackets would join the lines of a list.
string(REGEX REPLACE "[][]" "" listing "${listing}")
string(REPLACE "\n" ";" lines "${listing}")

set(script "")
foreach(line IN LISTS lines)
  # The tests of a suite are indented; behind its name there may be the type it is for.
  if(line MATCHES "^([^ ]+)\\.( |$)")
    set(suite "${CMAKE_MATCH_1}")
    # RapidCheck draws a new seed each time unless told one; what ctest runs can be repeated.
    string(
      APPEND
      script
      "add_test([==[${prefix}.${suite}]==] [==[${program}]==] [==[--gtest_filter=${suite}.*:-${except}]==])\n"
      "set_tests_properties([==[${prefix}.${suite}]==] PROPERTIES\n"
      "  LABELS ${label} TIMEOUT ${timeout} ENVIRONMENT RC_PARAMS=seed=20081)\n"
    )
  endif()
endforeach()
file(WRITE "${tests}" "${script}")
