# Runs PROGRAM and compares what it prints with the file EXPECTED, if there is one.
execute_process(COMMAND "${PROGRAM}" OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
if(EXISTS "${EXPECTED}")
  file(READ "${EXPECTED}" expected)
  if(NOT printed STREQUAL expected)
    message(FATAL_ERROR "the document says\n${expected}and the program prints\n${printed}")
  endif()
endif()
