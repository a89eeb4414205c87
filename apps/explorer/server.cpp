#include "server.hpp"

// The heavy header: included here and nowhere else.
#include <httplib.h>
#include <pthread.h>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <thread>

namespace oneprobe::explorer {
namespace {

constexpr const char* loopback = "127.0.0.1";
constexpr std::size_t most_body = 1024;  // a GET has none
/// A connection that a browser keeps open keeps a thread, and it opens six at a time: with fewer
/// threads a page would wait for those of the page before.
constexpr std::size_t threads = 64;
constexpr time_t keep_open_seconds = 2;

/// A page of another site may send requests here under a name that it has pointed at this machine.
/// Its browser then says so.
bool is_ours(const std::string& host, int port) {
  for (std::string own : {loopback, "localhost"}) {
    own.append(":").append(std::to_string(port));
    if (host == own) return true;
  }
  return false;
}

void send(httplib::Response& to, const reply& what) {
  to.status = what.status;
  to.set_header("Cache-Control", what.constant ? "no-cache" : "no-store");
  to.set_content(what.body, what.type);
}

reply refusal(int status, const std::string& sentence) {
  std::string body = "{\"error\": \"";
  body.append(sentence).append("\"}\n");
  return {.status = status, .body = std::move(body)};
}

std::string sentence_for(int status) {
  switch (status) {
    case 400:
      return "this is not a request that can be understood";
    case 404:
      return "there is nothing here: only GET and HEAD of the page and of what it asks for";
    case 413:
      return "the request is too large: a GET has no content";
    case 414:
      return "the address is too long";
    default:
      return "the request failed";
  }
}

void add_headers(httplib::Server& server) {
  server.set_default_headers({
      {"X-Content-Type-Options", "nosniff"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
       "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
  });
}

/// The signals that end the tool, for a thread that waits for them. All threads that are started
/// later leave them alone.
sigset_t take_signals() {
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGINT);
  sigaddset(&ending, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  return ending;
}

}  // namespace

outcome serve(int port, const answerer& answer, const announcer& listening) {
  httplib::Server server;
  // Not SO_REUSEPORT, which httplib sets by itself: no other process may listen on our port.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  if (port == 0) {
    port = server.bind_to_any_port(loopback);
    if (port < 0) return outcome::port_taken;
  } else if (!server.bind_to_port(loopback, port)) {
    return outcome::port_taken;
  }
  const sigset_t ending = take_signals();

  server.new_task_queue = [] { return new httplib::ThreadPool(threads); };
  server.set_payload_max_length(most_body);
  server.set_read_timeout(5);
  server.set_write_timeout(5);
  server.set_keep_alive_max_count(1000);
  server.set_keep_alive_timeout(keep_open_seconds);
  server.set_tcp_nodelay(true);
  add_headers(server);

  server.set_pre_routing_handler([port](const httplib::Request& in, httplib::Response& out) {
    if (is_ours(in.get_header_value("Host"), port))
      return httplib::Server::HandlerResponse::Unhandled;
    send(out, refusal(403, "this server answers to 127.0.0.1 and localhost with its port only"));
    return httplib::Server::HandlerResponse::Handled;
  });
  server.Get(".*", [&answer](const httplib::Request& in, httplib::Response& out) {
    send(out, answer(in.path, {in.params.begin(), in.params.end()}));
  });
  server.set_error_handler([](const httplib::Request&, httplib::Response& out) {
    if (out.body.empty()) send(out, refusal(out.status, sentence_for(out.status)));
  });
  server.set_exception_handler(
      [](const httplib::Request&, httplib::Response& out, const std::exception_ptr&) {
        send(out, refusal(500, "an error inside the server"));
      });

  // Nothing is kept, so nothing is lost when it ends in the midst of an answer.
  std::thread([ending] {
    int which = 0;
    sigwait(&ending, &which);
    std::quick_exit(EXIT_SUCCESS);
  }).detach();
  listening(port);
  server.listen_after_bind();
  return outcome::served;
}

}  // namespace oneprobe::explorer
