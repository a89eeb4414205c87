#include "store/record_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <optional>

namespace oneprobe::cli {
namespace {

std::optional<unsigned> digit_of(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  const char lower = static_cast<char>(c | 0x20);
  if (lower >= 'a' && lower <= 'f') return static_cast<unsigned>(lower - 'a' + 10);
  return std::nullopt;
}

std::string place(text_place whence) {
  return whence.line == 0 ? std::string()
                          : fmt::format(" (line {} of {})", whence.line, whence.file);
}

std::span<const std::byte> without_filling(std::span<const std::byte> bytes) {
  while (!bytes.empty() && bytes.back() == std::byte{0}) bytes = bytes.first(bytes.size() - 1);
  return bytes;
}

}  // namespace

std::string hexadecimal_text(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte each : bytes) text += fmt::format("{:02x}", std::to_integer<unsigned>(each));
  return text;
}

bool is_printable(std::span<const std::byte> bytes) {
  return std::ranges::all_of(without_filling(bytes), [](std::byte each) {
    return each >= std::byte{0x20} && each < std::byte{0x7f};
  });
}

std::span<const std::byte> record_text::filled(std::string_view text, std::vector<std::byte>& into,
                                               std::string_view what, text_place whence) const {
  std::ranges::fill(into, std::byte{0});
  if (form_ == text_form::plain) {
    if (text.size() > into.size())
      throw usage_error(
          fmt::format("a {} may have at most {} bytes in this store; found {} of {}{}", what,
                      into.size(), in_quotes(text), text.size(), place(whence)));
    if (!text.empty()) std::memcpy(into.data(), text.data(), text.size());
    return into;
  }
  if (text.size() != 2 * into.size())
    throw usage_error(fmt::format("a {} must be {} hexadecimal digits; found {} of {}{}", what,
                                  2 * into.size(), in_quotes(text), text.size(), place(whence)));
  for (std::size_t i = 0; i < into.size(); ++i) {
    const auto high = digit_of(text[2 * i]);
    const auto low = digit_of(text[2 * i + 1]);
    if (!high || !low)
      throw usage_error(fmt::format("a {} must be hexadecimal digits; found {}{}", what,
                                    in_quotes(text), place(whence)));
    into[i] = static_cast<std::byte>(*high << 4 | *low);
  }
  return into;
}

std::string record_text::text_of(std::span<const std::byte> bytes) const {
  if (form_ == text_form::hex) return hexadecimal_text(bytes);
  const auto shown = without_filling(bytes);
  return {reinterpret_cast<const char*>(shown.data()), shown.size()};
}

record_text::fields record_text::split(std::string_view line, text_place whence) const {
  const std::size_t tab = line.find('\t');
  if (value_.empty() && tab == line.npos) return {line, {}};
  if (tab == line.npos)
    throw usage_error(fmt::format("a line must be a key, a tab and a value; found {}{}",
                                  in_quotes(line), place(whence)));
  return {line.substr(0, tab), line.substr(tab + 1)};
}

}  // namespace oneprobe::cli
