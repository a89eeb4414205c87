# Install rules: headers, compiled parts, the tool, find_package(oneprobe CONFIG) and pkg-config.

include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/oneprobe")
get_property(parts GLOBAL PROPERTY ONEPROBE_COMPILED_PARTS)
list(TRANSFORM parts PREPEND oneprobe_ OUTPUT_VARIABLE part_targets)

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/oneprobe" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(TARGETS oneprobe ${part_targets} EXPORT oneprobe-targets
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(EXPORT oneprobe-targets NAMESPACE oneprobe:: DESTINATION "${package_dir}")
install(FILES "${PROJECT_SOURCE_DIR}/tools/gdb/oneprobe.py" DESTINATION "${CMAKE_INSTALL_DATADIR}/oneprobe/gdb")
if(TARGET oneprobe_cli)
  install(TARGETS oneprobe_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT tool)
  set(shell_dir "${PROJECT_BINARY_DIR}/package/shell") # apps/cli writes them
  install(FILES "${shell_dir}/oneprobe.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT tool)
  install(FILES "${shell_dir}/oneprobe" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" COMPONENT tool)
  install(FILES "${shell_dir}/_oneprobe" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" COMPONENT tool)
endif()

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/oneprobe-config.cmake.in"
  "${PROJECT_BINARY_DIR}/package/oneprobe-config.cmake" INSTALL_DESTINATION "${package_dir}"
)
# Before 1.0 a minor release may change the interface.
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/package/oneprobe-config-version.cmake" COMPATIBILITY SameMinorVersion
)
install(FILES "${PROJECT_BINARY_DIR}/package/oneprobe-config.cmake"
              "${PROJECT_BINARY_DIR}/package/oneprobe-config-version.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/FindXxhashHeader.cmake" DESTINATION "${package_dir}")

# The .pc files find their prefix from where they lie, so an install tree can be moved.
set(pkgconfig_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH prefix_from_pkgconfig "/prefix/${pkgconfig_dir}" "/prefix")
configure_file("${PROJECT_SOURCE_DIR}/cmake/oneprobe.pc.in" "${PROJECT_BINARY_DIR}/package/oneprobe.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/package/oneprobe.pc" DESTINATION "${pkgconfig_dir}")
foreach(part IN LISTS parts)
  # What the part is linked with in CMake is what it requires here.
  set(part_requires "oneprobe = ${PROJECT_VERSION}")
  set(part_flags "")
  set(part_cflags "")
  get_target_property(definitions oneprobe_${part} INTERFACE_COMPILE_DEFINITIONS)
  foreach(definition IN LISTS definitions)
    if(definition)
      string(APPEND part_cflags " -D${definition}")
    endif()
  endforeach()
  get_target_property(linked oneprobe_${part} INTERFACE_LINK_LIBRARIES)
  foreach(library IN LISTS linked)
    if(library MATCHES "^oneprobe::(.+)$")
      string(APPEND part_requires ", oneprobe-${CMAKE_MATCH_1} = ${PROJECT_VERSION}")
    elseif(library STREQUAL "Threads::Threads")
      string(APPEND part_flags " -pthread")
    endif()
  endforeach()
  configure_file(
    "${PROJECT_SOURCE_DIR}/cmake/oneprobe-part.pc.in" "${PROJECT_BINARY_DIR}/package/oneprobe-${part}.pc" @ONLY
  )
  install(FILES "${PROJECT_BINARY_DIR}/package/oneprobe-${part}.pc" DESTINATION "${pkgconfig_dir}")
endforeach()

if(PROJECT_IS_TOP_LEVEL)
  include(OneprobePackage)
endif()
