// What a client sent, as values: the numbers and options of RESERVE and INSERT, with the words that
// clients of BF.* expect for each mistake.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "redis_api.hpp"
#include "reservation.hpp"

namespace oneprobe::redis {

/// OP.* knows more options than BF.*, which takes and refuses what RedisBloom does.
enum class dialect { op, bf };

/// The arguments of a command; the first is its name.
using arguments = std::span<string*>;

/// Something is wrong with them: a text to reply, or none for the usual one about their number.
struct mistake {
  std::optional<std::string> text{};
};

std::string_view text_of(const string* argument);
/// Whether it is this word, which is in capitals, in letters of any size.
bool is_word(const string* argument, std::string_view word);

/// key error capacity [options]. What is not said is as usual.
std::variant<reservation, mistake> read_reserve(arguments sent, dialect words,
                                                const reservation& usual);

struct insertion {
  reservation asked{};
  bool creates = true;    // a filter where there is none
  bool is_exact = false;  // error and capacity are given
  arguments items{};
};
/// key [options] ITEMS item ...
std::variant<insertion, mistake> read_insert(arguments sent, dialect words,
                                             const reservation& usual);

}  // namespace oneprobe::redis
