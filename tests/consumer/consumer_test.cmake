# Builds and runs the project in use/ in one way. Called by ctest with -D way=... and the paths; see CMakeLists.txt.

set(install_dir "${work_dir}/install")
set(use_source_dir "${CMAKE_CURRENT_LIST_DIR}/use")
set(use_build_dir "${work_dir}/${way}")

function(must_succeed)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "failed (${result}): ${command}")
  endif()
endfunction()

function(build_use)
  # Unoptimised: what matters is that it builds.
  must_succeed(
    "${CMAKE_COMMAND}" -S "${use_source_dir}" -B "${use_build_dir}" -G "${generator}"
    -D CMAKE_BUILD_TYPE=Debug "-DCMAKE_CXX_COMPILER=${compiler}" "-DCMAKE_CXX_COMPILER_LAUNCHER=${launcher}" ${ARGV}
  )
  must_succeed("${CMAKE_COMMAND}" --build "${use_build_dir}")
endfunction()

function(must_print part pattern)
  execute_process(COMMAND "${use_build_dir}/use_${part}" OUTPUT_VARIABLE output RESULT_VARIABLE result)
  message("${output}")
  if(NOT result EQUAL 0 OR NOT output MATCHES "${pattern}")
    message(FATAL_ERROR "the program that uses ${part} answered ${result} and wrote: ${output}")
  endif()
endfunction()

function(run_use)
  must_print(filter "^1000 of 1000 found\n$")
  must_print(model "^oneprobe ${version}: overflow at least 0\\.[0-9]+\n$")
  must_print(plan "^[1-9] choices\n$")
  must_print(sim "^overflow 0\\.[0-9]+\n$")
endfunction()

if(way STREQUAL "install")
  file(REMOVE_RECURSE "${install_dir}")
  must_succeed("${CMAKE_COMMAND}" --install "${build_dir}" --prefix "${install_dir}")
  return()
endif()

file(REMOVE_RECURSE "${use_build_dir}")
if(way STREQUAL "find_package")
  build_use("-DCMAKE_PREFIX_PATH=${install_dir}" "-DONEPROBE_WANTED_VERSION=${version}")
elseif(way STREQUAL "examples")
  # The examples as a project of their own, one of each part of the library. What they print is tested elsewhere.
  must_succeed(
    "${CMAKE_COMMAND}" -S "${source_dir}/examples" -B "${use_build_dir}" -G "${generator}" -D CMAKE_BUILD_TYPE=Debug
    "-DCMAKE_PREFIX_PATH=${install_dir}" "-DCMAKE_CXX_COMPILER=${compiler}" "-DCMAKE_CXX_COMPILER_LAUNCHER=${launcher}"
  )
  set(examples flow_table storage_filter balance_servers one_read_store)
  list(TRANSFORM examples PREPEND oneprobe_example_ OUTPUT_VARIABLE targets)
  must_succeed("${CMAKE_COMMAND}" --build "${use_build_dir}" --target ${targets})
  execute_process(
    COMMAND "${use_build_dir}/one_read_store" "${use_build_dir}" OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY
  )
  if(NOT output MATCHES "1\\.0000 pages read")
    message(FATAL_ERROR "one_read_store wrote: ${output}")
  endif()
  return()
elseif(way STREQUAL "add_subdirectory")
  build_use("-DONEPROBE_SUBDIRECTORY=${source_dir}")
elseif(way STREQUAL "packages")
  # Installed by dpkg into a folder, with a database of its own.
  set(packages_dir "${work_dir}/packages")
  set(root "${packages_dir}/root")
  file(REMOVE_RECURSE "${packages_dir}")
  file(MAKE_DIRECTORY "${root}/var/lib/dpkg/info" "${root}/var/lib/dpkg/updates")
  file(TOUCH "${root}/var/lib/dpkg/status" "${root}/var/lib/dpkg/available")
  must_succeed("${cpack}" -G DEB --config "${build_dir}/CPackConfig.cmake" -B "${packages_dir}")
  file(GLOB packages "${packages_dir}/*.deb")
  list(LENGTH packages count)
  if(NOT count EQUAL 2)
    message(FATAL_ERROR "expected a package of the tool and one for development; found: ${packages}")
  endif()
  must_succeed(dpkg --root=${root} --force-not-root --force-depends --force-script-chrootless -i ${packages})
  execute_process(COMMAND "${root}/usr/bin/oneprobe" --version OUTPUT_VARIABLE answer COMMAND_ERROR_IS_FATAL ANY)
  if(NOT answer STREQUAL "oneprobe ${version}\n")
    message(FATAL_ERROR "the installed tool says: ${answer}")
  endif()
  foreach(file IN ITEMS man/man1/oneprobe.1 bash-completion/completions/oneprobe zsh/site-functions/_oneprobe)
    file(GLOB found "${root}/usr/share/${file}*")
    if(NOT found)
      message(FATAL_ERROR "not in the packages: ${file}")
    endif()
  endforeach()
  build_use("-DCMAKE_PREFIX_PATH=${root}/usr" "-DONEPROBE_WANTED_VERSION=${version}")
elseif(way STREQUAL "pkg_config")
  set(ENV{PKG_CONFIG_PATH} "${install_dir}/${libdir}/pkgconfig")
  file(MAKE_DIRECTORY "${use_build_dir}")
  foreach(part IN ITEMS filter model plan sim)
    foreach(package IN ITEMS oneprobe oneprobe-${part})
      execute_process(
        COMMAND pkg-config --modversion ${package} OUTPUT_VARIABLE answer COMMAND_ERROR_IS_FATAL ANY
      )
      if(NOT answer STREQUAL "${version}\n")
        message(FATAL_ERROR "pkg-config says that ${package} is: ${answer}")
      endif()
    endforeach()
    execute_process(
      COMMAND pkg-config --cflags --libs oneprobe-${part} OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY
    )
    separate_arguments(flags UNIX_COMMAND "${flags}")
    must_succeed("${compiler}" -std=c++20 "${use_source_dir}/${part}.cpp" ${flags} -o "${use_build_dir}/use_${part}")
  endforeach()
else()
  message(FATAL_ERROR "unknown way '${way}'")
endif()
run_use()
