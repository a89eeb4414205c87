# Finds xxhash.h. The library uses xxHash inline, so the header is all that is needed.
#
# Gives the target XxhashHeader::XxhashHeader.

find_path(XxhashHeader_INCLUDE_DIR xxhash.h)
mark_as_advanced(XxhashHeader_INCLUDE_DIR)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(XxhashHeader REQUIRED_VARS XxhashHeader_INCLUDE_DIR)

if(XxhashHeader_FOUND AND NOT TARGET XxhashHeader::XxhashHeader)
  add_library(XxhashHeader::XxhashHeader INTERFACE IMPORTED)
  target_include_directories(XxhashHeader::XxhashHeader INTERFACE "${XxhashHeader_INCLUDE_DIR}")
endif()
