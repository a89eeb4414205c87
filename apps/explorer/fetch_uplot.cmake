# Fetches uPlot by name, once per build directory, and checks that it is what it was. Sets `uplot_dir`, or leaves it empty
# and says in `uplot_missing` why.

set(uplot_version 1.6.32)
set(uplot_sha512
    2883159c6ebccefbb95d751b0b82d010f9e1c0ec41b8bc96d401eda66e882935c89a46cb824332fa369b8cb8122cc6ac36e186cd09bf7a9ded3a4c93c6989023
)

set(uplot_dir "${CMAKE_CURRENT_BINARY_DIR}/uplot-${uplot_version}/package")
if(EXISTS "${uplot_dir}/LICENSE")
  return()
endif()

set(uplot_archive "${CMAKE_CURRENT_BINARY_DIR}/uplot-${uplot_version}.tgz")
find_program(ONEPROBE_NPM npm)
set(uplot_missing "")
if(NOT ONEPROBE_NPM)
  set(uplot_missing "npm was not found, which fetches uPlot")
else()
  # npm writes into the folder that it is called in.
  execute_process(
    COMMAND "${ONEPROBE_NPM}" pack --silent "uplot@${uplot_version}"
    WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}"
    TIMEOUT 120
    RESULT_VARIABLE uplot_result
    OUTPUT_QUIET ERROR_QUIET
  )
  if(NOT uplot_result EQUAL 0 OR NOT EXISTS "${uplot_archive}")
    set(uplot_missing "npm could not fetch uplot ${uplot_version}")
  else()
    file(SHA512 "${uplot_archive}" uplot_found)
    if(uplot_found STREQUAL uplot_sha512)
      file(ARCHIVE_EXTRACT INPUT "${uplot_archive}" DESTINATION "${CMAKE_CURRENT_BINARY_DIR}/uplot-${uplot_version}")
    else()
      set(uplot_missing "the uplot ${uplot_version} that npm fetched is not the one that was checked")
    endif()
  endif()
endif()
if(uplot_missing)
  set(uplot_dir "")
endif()
