# Debian packages, by `cpack -G DEB` in the build directory: oneprobe (the tool) and liboneprobe-dev (headers, static
# libraries, CMake and pkg-config files).

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME oneprobe)
set(CPACK_PACKAGE_VENDOR "Oneprobe")
set(CPACK_PACKAGE_CONTACT "Oneprobe maintainers <maintainers@oneprobe.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL tool development)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON) # the tool's libraries, found by dpkg-shlibdeps
set(CPACK_DEBIAN_TOOL_PACKAGE_NAME oneprobe)
set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME liboneprobe-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libxxhash-dev, libstdc++-12-dev | libstdc++-dev")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)

include(CPack)
