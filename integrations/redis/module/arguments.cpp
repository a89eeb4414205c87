#include "arguments.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace oneprobe::redis {

bool is_word(const string* argument, std::string_view word) {
  return std::ranges::equal(text_of(argument), word, [](char a, char b) {
    return (a >= 'a' && a <= 'z' ? static_cast<char>(a - 'a' + 'A') : a) == b;
  });
}

namespace {

constexpr double most_bits_per_element = 256;

std::optional<double> number_in(const string* argument) {
  double number = 0;
  if (StringToDouble(argument, &number) != ok || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::optional<long long> whole_in(const string* argument) {
  long long number = 0;
  if (StringToLongLong(argument, &number) != ok) return std::nullopt;
  return number;
}

std::optional<std::uint64_t> seed_in(const string* argument) {
  const std::string_view text = text_of(argument);
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return seed;
}

std::optional<filter_kind> kind_in(const string* argument) {
  if (is_word(argument, "FINGERPRINT")) return filter_kind::fingerprint;
  if (is_word(argument, "STANDARD")) return filter_kind::standard;
  if (is_word(argument, "BLOCKED")) return filter_kind::blocked;
  if (is_word(argument, "BALANCED")) return filter_kind::balanced;
  return std::nullopt;
}

std::optional<std::string> read_error(const string* argument, reservation& into) {
  double error = 0;
  if (StringToDouble(argument, &error) != ok) return "ERR bad error rate";
  if (!(error > 0 && error < 1)) return "ERR error rate must be in the range (0.000000, 1.000000)";
  into.error = error;
  return std::nullopt;
}

std::optional<std::string> read_capacity(const string* argument, reservation& into) {
  const auto capacity = whole_in(argument);
  if (!capacity) return "ERR bad capacity";
  if (*capacity < 1 || *capacity > static_cast<long long>(reservation::most_capacity))
    return "ERR capacity must be in the range [1, 1073741824]";
  into.capacity = static_cast<std::uint64_t>(*capacity);
  return std::nullopt;
}

std::optional<std::string> read_expansion(const string* argument, reservation& into) {
  const auto expansion = whole_in(argument);
  if (!expansion) return "ERR bad expansion";
  if (*expansion < 0 || *expansion > growth_settings::most_expansion)
    return "ERR expansion must be in the range [0, 32768]";
  into.growth.expansion = static_cast<std::uint32_t>(*expansion);
  return std::nullopt;
}

/// The options that only OP.* has: KIND, BITS, ACCESSES and SEED, each with a value.
enum class own_option { none, read, wrong };
own_option read_own_option(const string* name, const string* value, reservation& into,
                           std::string& fault) {
  if (is_word(name, "KIND")) {
    into.kind = kind_in(value);
    if (into.kind) return own_option::read;
    fault = "ERR KIND must be fingerprint, standard, blocked or balanced";
  } else if (is_word(name, "BITS")) {
    into.bits_per_element = number_in(value);
    if (into.bits_per_element && *into.bits_per_element >= 1 &&
        *into.bits_per_element <= most_bits_per_element)
      return own_option::read;
    fault = "ERR BITS must be from 1 to 256 bits per element";
  } else if (is_word(name, "ACCESSES")) {
    const auto accesses = number_in(value);
    into.growth.accesses = accesses.value_or(0);
    if (accesses && *accesses >= 1 && *accesses <= growth_settings::most_accesses)
      return own_option::read;
    fault = "ERR ACCESSES must be from 1 to 64";
  } else if (is_word(name, "SEED")) {
    into.seed = seed_in(value);
    if (into.seed) return own_option::read;
    fault = "ERR SEED must be a whole number from 0 to 18446744073709551615";
  } else {
    return own_option::none;
  }
  return own_option::wrong;
}

enum class growth_words { none, nonscaling };

/// An expansion of 0 is another way to say that it does not grow.
void settle_growth(growth_words said, reservation& asked) {
  if (said == growth_words::nonscaling) asked.growth.expansion = 0;
  asked.growth.scale = asked.growth.expansion == 0 ? scaling::fixed : scaling::grows;
}

constexpr const char* cannot_expand = "Nonscaling filters cannot expand";

/// Behind error and capacity, as RedisBloom takes it: two words anywhere, and all others are
/// ignored.
std::optional<mistake> read_bf_growth(arguments options, reservation& asked) {
  const auto place_of = [&](std::string_view word) {
    return std::ranges::find_if(options, [&](const string* each) { return is_word(each, word); });
  };
  auto said = asked.growth.expansion == 0 || place_of("NONSCALING") != options.end()
                  ? growth_words::nonscaling
                  : growth_words::none;
  if (const auto name = place_of("EXPANSION"); name != options.end()) {
    const auto value = name + 1;
    if (value == options.end()) return mistake{"ERR no expansion"};
    const auto expansion = whole_in(*value);
    if (!expansion) return mistake{"ERR bad expansion"};
    if (*expansion != 0 && said == growth_words::nonscaling) return mistake{cannot_expand};
    if (auto fault = read_expansion(*value, asked)) return mistake{fault};
  }
  settle_growth(said, asked);
  return std::nullopt;
}

/// The same with the options that only OP.* has, and none that is not known.
std::optional<mistake> read_op_growth(arguments options, reservation& asked) {
  bool expansion_given = false;
  auto said = growth_words::none;
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (is_word(options[i], "NONSCALING")) {
      said = growth_words::nonscaling;
      continue;
    }
    const bool has_value = i + 1 < options.size();
    if (is_word(options[i], "EXPANSION")) {
      if (!has_value) return mistake{"ERR no expansion"};
      if (auto fault = read_expansion(options[++i], asked)) return mistake{fault};
      expansion_given = true;
      continue;
    }
    std::string fault = "ERR syntax error";
    if (!has_value || read_own_option(options[i], options[i + 1], asked, fault) != own_option::read)
      return mistake{fault};
    ++i;
  }
  if (said == growth_words::nonscaling && expansion_given && asked.growth.expansion != 0)
    return mistake{cannot_expand};
  settle_growth(said, asked);
  return std::nullopt;
}

enum class insert_word { items, nocreate, nonscaling, capacity, error, expansion, unknown };

insert_word op_insert_word(const string* argument) {
  if (is_word(argument, "ITEMS")) return insert_word::items;
  if (is_word(argument, "NOCREATE")) return insert_word::nocreate;
  if (is_word(argument, "NONSCALING")) return insert_word::nonscaling;
  if (is_word(argument, "CAPACITY")) return insert_word::capacity;
  if (is_word(argument, "ERROR")) return insert_word::error;
  if (is_word(argument, "EXPANSION")) return insert_word::expansion;
  return insert_word::unknown;
}

/// RedisBloom tells the words apart by their first letters, and clients have come to shorten them.
insert_word bf_insert_word(const string* argument) {
  const std::string_view text = text_of(argument);
  const auto letter = [&](std::size_t place) {
    const char each = place < text.size() ? text[place] : '\0';
    return each >= 'A' && each <= 'Z' ? static_cast<char>(each - 'A' + 'a') : each;
  };
  switch (letter(0)) {
    case 'i':
      return insert_word::items;
    case 'n':
      return letter(2) == 'c' ? insert_word::nocreate : insert_word::nonscaling;
    case 'c':
      return insert_word::capacity;
    case 'e':
      return letter(1) == 'r' ? insert_word::error : insert_word::expansion;
    default:
      return insert_word::unknown;
  }
}

}  // namespace

std::string_view text_of(const string* argument) {
  std::size_t length = 0;
  const char* text = StringPtrLen(argument, &length);
  return {text, length};
}

std::variant<reservation, mistake> read_reserve(arguments sent, dialect words,
                                                const reservation& usual) {
  constexpr std::size_t most_in_bf = 7;
  if (sent.size() < 4 || (words == dialect::bf && sent.size() > most_in_bf)) return mistake{};
  reservation asked = usual;
  if (auto fault = read_error(sent[2], asked)) return mistake{fault};
  if (auto fault = read_capacity(sent[3], asked)) return mistake{fault};
  const arguments options = sent.subspan(4);
  if (auto wrong =
          words == dialect::bf ? read_bf_growth(options, asked) : read_op_growth(options, asked))
    return *wrong;
  return asked;
}

std::variant<insertion, mistake> read_insert(arguments sent, dialect words,
                                             const reservation& usual) {
  if (sent.size() < 4) return mistake{};
  insertion read{.asked = usual};
  auto said = growth_words::none;
  bool capacity_given = false;
  bool error_given = false;
  for (std::size_t i = 2; i < sent.size(); ++i) {
    const insert_word word =
        words == dialect::bf ? bf_insert_word(sent[i]) : op_insert_word(sent[i]);
    if (word == insert_word::items) {
      read.items = sent.subspan(i + 1);
      read.is_exact = capacity_given && error_given;
      if (read.items.empty()) return mistake{};
      settle_growth(said, read.asked);
      return read;
    }
    if (word == insert_word::nocreate) {
      read.creates = false;
      continue;
    }
    if (word == insert_word::nonscaling) {
      said = growth_words::nonscaling;
      continue;
    }
    std::string fault = "Unknown argument received";
    if (word == insert_word::unknown && words == dialect::bf) return mistake{fault};
    if (i + 1 == sent.size()) return mistake{};
    string* const value = sent[i + 1];
    if (word == insert_word::capacity) {
      if (read_capacity(value, read.asked)) return mistake{"Bad capacity"};
      capacity_given = true;
    } else if (word == insert_word::error) {
      if (read_error(value, read.asked)) return mistake{"Bad error rate"};
      error_given = true;
    } else if (word == insert_word::expansion) {
      if (read_expansion(value, read.asked)) return mistake{"Bad expansion"};
    } else if (read_own_option(sent[i], value, read.asked, fault) != own_option::read) {
      return mistake{fault};
    }
    ++i;
  }
  return mistake{};
}

}  // namespace oneprobe::redis
