// How a file names the hash of its keys, and how the hash is made from what it says. For the other
// headers that read and write files; there is nothing here to call.
//
// A file knows seeded_hash and its seed. Of a hash policy of the caller's own it keeps only the
// seed, if the policy has one; the reader of the file brings the same policy.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "oneprobe/files.hpp"

namespace oneprobe::inline v0_1 {

class seeded_hash;  // hash.hpp

/// How the keys of a file were hashed.
enum class file_hash : std::uint32_t {
  own = 0,     // by a policy of the writer's own; readers must bring the same
  seeded = 1,  // by seeded_hash with the seed in the file
};

namespace detail {

template <class Hash>
constexpr file_hash file_hash_of() noexcept {
  return std::same_as<Hash, seeded_hash> ? file_hash::seeded : file_hash::own;
}

template <class Hash>
concept has_seed = requires(const Hash& hash) {
  { hash.seed() } -> std::convertible_to<std::uint64_t>;
};

template <class Hash>
std::uint64_t seed_of(const Hash& hash) noexcept {
  if constexpr (has_seed<Hash>)
    return hash.seed();
  else
    return 0;
}

/// What can be made from a file's seed, or from nothing: if that was another one, its own seed says
/// so, or there is nothing in it to differ.
template <class Hash>
concept made_from_seed = (has_seed<Hash> ||
                          std::is_empty_v<Hash>)&&(std::constructible_from<Hash, std::uint64_t> ||
                                                   std::default_initializable<Hash>);

template <made_from_seed Hash>
Hash hash_from(std::uint64_t seed) {
  if constexpr (std::constructible_from<Hash, std::uint64_t>)
    return Hash(seed);
  else
    return Hash();
}

template <class Hash>
std::optional<load_failure> find_other_seed(const Hash& hash, std::uint64_t seed,
                                            std::string_view name) {
  if (seed_of(hash) == seed) return std::nullopt;
  return load_failure{
      load_error::wrong_kind,
      std::string(name) + " is of the wrong kind: the hash that was given has another seed"};
}

}  // namespace detail
}  // namespace oneprobe::inline v0_1
