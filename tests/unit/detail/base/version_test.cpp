#include "oneprobe/version.hpp"

#include <gtest/gtest.h>

#include <string>
#include <typeinfo>

#include "oneprobe/key_hash.hpp"

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

// What the linker sees of every name: parts compiled from two versions do not meet by mistake.
TEST(version, is_in_the_name_of_the_inline_namespace) {
  const std::string name = typeid(oneprobe::key_hash).name();  // mangled: N8oneprobe4v0_18key_hashE
  const std::string of_this_version =
      'v' + std::to_string(ONEPROBE_VERSION_MAJOR) + '_' + std::to_string(ONEPROBE_VERSION_MINOR);
  EXPECT_NE(name.find(std::to_string(of_this_version.size()) + of_this_version), std::string::npos)
      << name;
}

}  // namespace
