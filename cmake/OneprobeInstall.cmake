# Install rules: headers, compiled parts, the tool, find_package(oneprobe CONFIG) and pkg-config.

include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/oneprobe")
get_property(parts GLOBAL PROPERTY ONEPROBE_COMPILED_PARTS)
list(TRANSFORM parts PREPEND oneprobe_ OUTPUT_VARIABLE part_targets)

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/oneprobe" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(TARGETS oneprobe ${part_targets} EXPORT oneprobe-targets
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(EXPORT oneprobe-targets NAMESPACE oneprobe:: DESTINATION "${package_dir}")
if(TARGET oneprobe_cli)
  install(TARGETS oneprobe_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
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
  configure_file(
    "${PROJECT_SOURCE_DIR}/cmake/oneprobe-part.pc.in" "${PROJECT_BINARY_DIR}/package/oneprobe-${part}.pc" @ONLY
  )
  install(FILES "${PROJECT_BINARY_DIR}/package/oneprobe-${part}.pc" DESTINATION "${pkgconfig_dir}")
endforeach()
