#include "redis/connection.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

namespace oneprobe::cli {
namespace {

constexpr std::size_t read_bytes = std::size_t{1} << 16;
constexpr std::size_t longest_line = std::size_t{1} << 16;
constexpr long long longest_text = 1 << 29;
constexpr long long longest_list = 1 << 24;
constexpr unsigned deepest_list = 8;

struct free_addresses {
  void operator()(addrinfo* addresses) const { ::freeaddrinfo(addresses); }
};
using address_list = std::unique_ptr<addrinfo, free_addresses>;

address_list addresses_of(const node_address& node) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(node.host.c_str(), node.port.c_str(), &wanted, &found);
  if (error != 0)
    throw connection_error(
        fmt::format("cannot find the node {}: {}", node.text(), ::gai_strerror(error)));
  return address_list(found);
}

/// Waits; false when it took too long. errno is set then.
bool wait_for(int descriptor, short event, std::chrono::milliseconds patience) {
  pollfd waiting{descriptor, event, 0};
  int ready = 0;
  do {
    ready = ::poll(&waiting, 1, static_cast<int>(patience.count()));
  } while (ready < 0 && errno == EINTR);
  if (ready == 0) errno = ETIMEDOUT;
  return ready > 0;
}

/// Connected, or -1 with errno set.
int connected_socket(const addrinfo& to, std::chrono::milliseconds patience) {
  const int descriptor =
      ::socket(to.ai_family, to.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, to.ai_protocol);
  if (descriptor < 0) return -1;
  int error = ::connect(descriptor, to.ai_addr, to.ai_addrlen) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    socklen_t length = sizeof error;
    if (!wait_for(descriptor, POLLOUT, patience) ||
        ::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) != 0)
      error = errno;
  }
  if (error != 0) {
    ::close(descriptor);
    errno = error;
    return -1;
  }
  const int yes = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return descriptor;
}

long long number_in(std::string_view text) {
  long long number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    throw connection_error("a reply is not in the Redis protocol: no number where one belongs");
  return number;
}

}  // namespace

connection::connection(node_address to, std::chrono::milliseconds patience,
                       std::span<const char* const> passwords)
    : node_(std::move(to)), patience_(patience) {
  connect_to();
  try {
    authenticate(passwords);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

connection::~connection() { ::close(descriptor_); }

void connection::connect_to() {
  const address_list addresses = addresses_of(node_);
  for (const addrinfo* each = addresses.get(); each != nullptr && descriptor_ < 0;
       each = each->ai_next)
    descriptor_ = connected_socket(*each, patience_);
  if (descriptor_ < 0) fail("cannot connect to");
}

/// As redis-cli has it: a password in the environment is not seen by others.
void connection::authenticate(std::span<const char* const> passwords) {
  for (const char* variable : passwords) {
    const char* password = std::getenv(variable);
    if (password == nullptr || *password == '\0') continue;
    if (const redis_reply answer = ask({"AUTH", password}); answer.is_error())
      throw connection_error(fmt::format("the node {} refused the password in {}: {}", node_.text(),
                                         variable, answer.text));
    return;
  }
}

void connection::fail(std::string_view doing) const {
  throw connection_error(
      fmt::format("{} the node {}: {}", doing, node_.text(), std::strerror(errno)));
}

void connection::send(std::span<const std::string_view> words) {
  fmt::format_to(std::back_inserter(out_), "*{}\r\n", words.size());
  for (const std::string_view word : words) {
    fmt::format_to(std::back_inserter(out_), "${}\r\n", word.size());
    out_ += word;
    out_ += "\r\n";
  }
}

void connection::flush() {
  std::size_t sent = 0;
  while (sent < out_.size()) {
    const ssize_t count = ::send(descriptor_, out_.data() + sent, out_.size() - sent, MSG_NOSIGNAL);
    if (count >= 0) {
      sent += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait_for(descriptor_, POLLOUT, patience_)) fail("cannot write to");
    } else if (errno != EINTR) {
      fail("cannot write to");
    }
  }
  out_.clear();
}

void connection::read_more() {
  if (taken_ > 0) {
    in_.erase(0, taken_);
    taken_ = 0;
  }
  const std::size_t before = in_.size();
  in_.resize(before + read_bytes);
  while (true) {
    const ssize_t count = ::recv(descriptor_, in_.data() + before, read_bytes, 0);
    if (count > 0) {
      in_.resize(before + static_cast<std::size_t>(count));
      return;
    }
    if (count == 0) throw connection_error(fmt::format("the node {} hung up", node_.text()));
    if (errno == EINTR) continue;
    if ((errno != EAGAIN && errno != EWOULDBLOCK) || !wait_for(descriptor_, POLLIN, patience_))
      fail("cannot read from");
  }
}

/// Valid until more is read.
std::string_view connection::line() {
  std::size_t searched = taken_;
  while (true) {
    const std::size_t end = in_.find("\r\n", searched);
    if (end != in_.npos) {
      const std::string_view found(in_.data() + taken_, end - taken_);
      taken_ = end + 2;
      return found;
    }
    if (in_.size() - taken_ > longest_line)
      throw connection_error(fmt::format("the node {} is no Redis server", node_.text()));
    const std::size_t kept = in_.size() - taken_;
    read_more();
    searched = kept > 0 ? kept - 1 : 0;
  }
}

std::string connection::bytes(std::size_t count) {
  while (in_.size() - taken_ < count + 2) read_more();
  std::string text = in_.substr(taken_, count);
  taken_ += count + 2;
  return text;
}

redis_reply connection::receive() { return receive(0); }

redis_reply connection::receive(unsigned depth) {
  const std::string_view head = line();
  const std::string_view rest = head.substr(head.empty() ? 0 : 1);
  redis_reply read;
  switch (head.empty() ? '\0' : head.front()) {
    case '+':
      read.type = redis_reply::kind::text;
      read.text = rest;
      return read;
    case '-':
      read.type = redis_reply::kind::error;
      read.text = rest;
      return read;
    case ':':
      read.type = redis_reply::kind::number;
      read.number = number_in(rest);
      return read;
    case '$': {
      const long long length = number_in(rest);
      if (length < 0) return read;
      if (length > longest_text) break;
      read.type = redis_reply::kind::text;
      read.text = bytes(static_cast<std::size_t>(length));
      return read;
    }
    case '*': {
      const long long length = number_in(rest);
      if (length < 0) return read;
      if (length > longest_list || depth == deepest_list) break;
      read.type = redis_reply::kind::list;
      for (long long i = 0; i < length; ++i) read.items.push_back(receive(depth + 1));
      return read;
    }
    default:
      break;
  }
  throw connection_error(fmt::format("the node {} is no Redis server", node_.text()));
}

redis_reply connection::ask(std::initializer_list<std::string_view> words) {
  send(std::span(words.begin(), words.size()));
  flush();
  return receive();
}

}  // namespace oneprobe::cli
