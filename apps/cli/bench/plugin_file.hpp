// A function of a plug-in that lies beside the tool.
#pragma once

#include <string>

namespace oneprobe::cli {

struct plugin_function {
  void* address = nullptr;
  std::string why{};  // not
};

/// Opens the plug-in, which stays open for good.
plugin_function find_plugin_function(const char* plugin_name, const char* function_name);

}  // namespace oneprobe::cli
