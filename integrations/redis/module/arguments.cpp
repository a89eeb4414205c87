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
  const auto error = number_in(argument);
  if (!error) return "ERR bad error rate";
  if (!(*error > 0 && *error < 1))
    return "ERR error rate must be in the range (0.000000, 1.000000)";
  into.error = *error;
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

/// An expansion of 0 is another way to say that it does not grow.
std::optional<std::string> settle_growth(bool expansion_given, bool nonscaling,
                                         reservation& asked) {
  if (nonscaling && expansion_given && asked.growth.expansion != 0)
    return "Nonscaling filters cannot expand";
  if (nonscaling || asked.growth.expansion == 0) {
    asked.growth.scale = scaling::fixed;
    asked.growth.expansion = 0;
  }
  return std::nullopt;
}

}  // namespace

std::string_view text_of(const string* argument) {
  std::size_t length = 0;
  const char* text = StringPtrLen(argument, &length);
  return {text, length};
}

std::variant<reservation, mistake> read_reserve(arguments sent, dialect words) {
  constexpr std::size_t most_in_bf = 7;
  if (sent.size() < 4 || (words == dialect::bf && sent.size() > most_in_bf)) return mistake{};
  reservation asked;
  if (auto fault = read_error(sent[2], asked)) return mistake{fault};
  if (auto fault = read_capacity(sent[3], asked)) return mistake{fault};
  bool expansion_given = false;
  bool nonscaling = false;
  for (std::size_t i = 4; i < sent.size(); ++i) {
    if (is_word(sent[i], "NONSCALING")) {
      nonscaling = true;
      continue;
    }
    const bool has_value = i + 1 < sent.size();
    if (is_word(sent[i], "EXPANSION")) {
      if (!has_value) return mistake{"ERR no expansion"};
      if (auto fault = read_expansion(sent[++i], asked)) return mistake{fault};
      expansion_given = true;
      continue;
    }
    std::string fault = "ERR syntax error";
    if (words == dialect::bf || !has_value ||
        read_own_option(sent[i], sent[i + 1], asked, fault) != own_option::read)
      return mistake{fault};
    ++i;
  }
  if (auto fault = settle_growth(expansion_given, nonscaling, asked)) return mistake{fault};
  return asked;
}

std::variant<insertion, mistake> read_insert(arguments sent, dialect words) {
  if (sent.size() < 4) return mistake{};
  insertion read;
  bool expansion_given = false;
  bool nonscaling = false;
  for (std::size_t i = 2; i < sent.size(); ++i) {
    if (is_word(sent[i], "ITEMS")) {
      read.items = sent.subspan(i + 1);
      if (read.items.empty()) return mistake{};
      if (auto fault = settle_growth(expansion_given, nonscaling, read.asked))
        return mistake{fault};
      return read;
    }
    if (is_word(sent[i], "NOCREATE")) {
      read.creates = false;
      continue;
    }
    if (is_word(sent[i], "NONSCALING")) {
      nonscaling = true;
      continue;
    }
    if (i + 1 == sent.size()) return mistake{};
    string* const value = sent[i + 1];
    std::string fault = "Unknown argument received";
    if (is_word(sent[i], "CAPACITY")) {
      if (read_capacity(value, read.asked)) return mistake{"Bad capacity"};
    } else if (is_word(sent[i], "ERROR")) {
      if (read_error(value, read.asked)) return mistake{"Bad error rate"};
    } else if (is_word(sent[i], "EXPANSION")) {
      if (read_expansion(value, read.asked)) return mistake{"Bad expansion"};
      expansion_given = true;
    } else if (words == dialect::bf ||
               read_own_option(sent[i], value, read.asked, fault) != own_option::read) {
      return mistake{fault};
    }
    ++i;
  }
  return mistake{};
}

}  // namespace oneprobe::redis
