// A web server for one person on this machine: loopback only, GET and HEAD only, and only for pages
// that name it by its own address, so that no other site can ask in the name of a visitor's
// browser. It knows HTTP and nothing of what it serves.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace oneprobe::explorer {

struct reply {
  int status = 200;
  std::string type = "application/json";
  std::string body{};
  /// Whether it is always the same, as a file of the page is.
  bool constant = false;
};

/// The values of a query by name; a name twice has two values.
using query = std::multimap<std::string, std::string>;

/// What is at a path; status 404 for nothing. Called by several threads at once.
using answerer = std::function<reply(const std::string& path, const query& asked)>;

/// Called once it listens, with the port.
using announcer = std::function<void(int port)>;

enum class outcome { served, port_taken };

/// Serves until SIGINT or SIGTERM. Port 0: any that is free.
outcome serve(int port, const answerer& answer, const announcer& listening);

}  // namespace oneprobe::explorer
