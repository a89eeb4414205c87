#include "bench/plugin_file.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>

namespace oneprobe::cli {

plugin_function find_plugin_function(const char* plugin_name, const char* function_name) {
  namespace fs = std::filesystem;
  std::error_code failed;
  const fs::path tool = fs::read_symlink("/proc/self/exe", failed);
  const fs::path plugin = tool.parent_path() / plugin_name;
  if (failed || !fs::exists(plugin, failed))
    return {nullptr, std::string(plugin_name) + " is not beside the tool"};
  void* const library = dlopen(plugin.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return {nullptr, dlerror()};
  void* const found = dlsym(library, function_name);
  if (found == nullptr) return {nullptr, std::string(plugin_name) + " is not of this tool"};
  return {found, {}};
}

}  // namespace oneprobe::cli
