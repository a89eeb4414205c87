// The options of one command, kept as text until the command asks for them.
//
//   constexpr option load_factor{"--load-factor", "C", "elements per slot"};
//   double c = in.number(load_factor);                 // throws usage_error if missing or garbage
//   auto a = in.maybe_number(accesses);                // empty if not given
//
// `arguments` remembers what was read, so that an option which was given but means nothing for this
// call is reported instead of silently ignored.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "options.hpp"

namespace oneprobe::cli {

struct option {
  std::string_view flag;   // "--load-factor"
  std::string_view value;  // what the help calls its value; empty: a switch without one
  std::string_view help;
  std::string_view also{};  // another flag for it, which people know from elsewhere
};

/// A word an option may take, and what it stands for.
template <class T>
struct word {
  std::string_view text;
  T value;
};

class arguments {
 public:
  /// Takes the values as typed. The same option twice is a usage_error once it is looked at.
  void give(std::string_view flag, std::vector<std::string> values);

  bool has(const option& what) const;
  /// A switch.
  bool is_set(const option& what) const;

  /// As typed: a name, a path; never empty.
  std::optional<std::string> maybe_text(const option& what) const;
  /// The arguments without a flag, as typed.
  std::vector<std::string> words(const option& what) const;

  double number(const option& what) const;
  std::optional<double> maybe_number(const option& what) const;
  unsigned whole(const option& what) const;
  std::optional<unsigned> maybe_whole(const option& what,
                                      unsigned most = std::numeric_limits<unsigned>::max()) const;
  std::uint64_t count(const option& what) const;
  std::optional<std::uint64_t> maybe_count(const option& what) const;
  std::optional<std::uint64_t> maybe_seed(const option& what) const;
  std::vector<double> numbers(const option& what) const;
  std::vector<std::uint64_t> counts(const option& what) const;
  std::vector<unsigned> wholes(const option& what) const;

  template <class T, std::size_t N>
  T choice(const option& what, const std::array<word<T>, N>& words) const {
    std::array<std::string_view, N> names;
    for (std::size_t i = 0; i < N; ++i) names[i] = words[i].text;
    return words[index_of_word(what, names)].value;
  }
  template <class T, std::size_t N>
  std::optional<T> maybe_choice(const option& what, const std::array<word<T>, N>& words) const {
    if (!has(what)) return std::nullopt;
    return choice(what, words);
  }

  /// Throws if both are given, or neither.
  void exactly_one_of(const option& first, const option& second) const;

  /// For an option that other variants of the same command need: if given it must be a whole number
  /// (or a number) from `low` to `high`, and is then listed in `ignored`.
  void ignore_whole(const option& what, unsigned low, unsigned high) const;
  void ignore_number(const option& what, double low, double high) const;
  const std::vector<std::string>& ignored() const { return ignored_; }

  /// Throws if an option was given and never read: it means nothing for this call.
  void refuse_unread() const;

 private:
  const std::string& text(const option& what) const;
  std::size_t index_of_word(const option& what, std::span<const std::string_view> names) const;

  std::map<std::string_view, std::vector<std::string>> given_;
  mutable std::set<std::string_view> read_;
  mutable std::vector<std::string> ignored_;
  mutable std::string selector_;  // the first choice made, "--kind standard", for messages
};

}  // namespace oneprobe::cli
