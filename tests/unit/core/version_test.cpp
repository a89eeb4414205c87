#include "oneprobe/core/version.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

TEST(version, is_the_version_of_the_cmake_project) {
  EXPECT_EQ(oneprobe::version, ONEPROBE_CMAKE_VERSION);
}

TEST(version, is_the_same_in_parts_and_as_a_string) {
  const std::string joined = std::to_string(ONEPROBE_VERSION_MAJOR) + '.' +
                             std::to_string(ONEPROBE_VERSION_MINOR) + '.' +
                             std::to_string(ONEPROBE_VERSION_PATCH);
  EXPECT_EQ(joined, ONEPROBE_VERSION_STRING);
}

}  // namespace
