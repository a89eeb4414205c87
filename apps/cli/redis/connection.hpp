// One connection to a Redis server: commands out, replies in, many of them at a time.
//
//   connection server({"127.0.0.1", "6379"}, seconds(5));
//   server.send({"OP.MADD", "seen{0}", "a", "b"});         // kept until flush()
//   server.flush();
//   reply first = server.receive();
//
// RESP2. Whatever goes wrong with the connection is a connection_error; an error that the server
// replies is a reply. Not thread-safe.
#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace oneprobe::cli {

struct node_address {
  std::string host;
  std::string port;

  std::string text() const { return host + ':' + port; }
  friend auto operator<=>(const node_address&, const node_address&) = default;
};

/// The connection could not be made, or broke; says which and why.
struct connection_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct redis_reply {
  enum class kind { text, error, number, list, nothing };

  kind type = kind::nothing;
  std::string text{};
  long long number = 0;
  std::vector<redis_reply> items{};

  bool is_error() const noexcept { return type == kind::error; }
};

inline constexpr std::array usual_passwords{"REDISCLI_AUTH"};

class connection {
 public:
  /// The password is in the environment, in the first of these variables that is set.
  connection(node_address to, std::chrono::milliseconds patience,
             std::span<const char* const> passwords = usual_passwords);
  ~connection();
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  const node_address& node() const noexcept { return node_; }
  void send(std::span<const std::string_view> words);
  void flush();
  redis_reply receive();
  /// send, flush and receive.
  redis_reply ask(std::initializer_list<std::string_view> words);

 private:
  void connect_to();
  void authenticate(std::span<const char* const> passwords);
  [[noreturn]] void fail(std::string_view doing) const;
  std::string_view line();
  std::string bytes(std::size_t count);
  void read_more();
  redis_reply receive(unsigned depth);

  node_address node_;
  std::chrono::milliseconds patience_;
  int descriptor_ = -1;
  std::string out_{};
  std::string in_{};
  std::size_t taken_ = 0;  // of in_
};

}  // namespace oneprobe::cli
