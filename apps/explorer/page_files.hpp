// The files of the page, which are part of the program. Written by embed.cmake when it is built.
#pragma once

#include <span>
#include <string_view>

namespace oneprobe::explorer {

struct page_file {
  std::string_view path;  // "/index.html"
  std::string_view type;
  std::string_view text;
};

std::span<const page_file> page_files();

}  // namespace oneprobe::explorer
