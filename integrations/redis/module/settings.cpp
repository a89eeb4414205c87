#include "settings.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include <unistd.h>

#include "commands.hpp"

namespace oneprobe::redis {
namespace {

/// What a value came to.
enum class taken { as_it_is, at_its_limit, not_a_number, out_of_range };

taken take_error(const string* value) {
  double error = 0;
  if (StringToDouble(value, &error) != ok) return taken::not_a_number;
  if (!(error > 0 && error < 1)) return taken::out_of_range;
  state().usual.error = std::min(error, reservation::largest_error);
  return error > reservation::largest_error ? taken::at_its_limit : taken::as_it_is;
}

taken take_capacity(const string* value) {
  long long capacity = 0;
  if (StringToLongLong(value, &capacity) != ok) return taken::not_a_number;
  if (capacity < 1 || capacity > static_cast<long long>(reservation::most_capacity))
    return taken::out_of_range;
  state().usual.capacity = static_cast<std::uint64_t>(capacity);
  return taken::as_it_is;
}

taken take_expansion(const string* value) {
  long long expansion = 0;
  if (StringToLongLong(value, &expansion) != ok) return taken::not_a_number;
  if (expansion < 0 || expansion > growth_settings::most_expansion) return taken::out_of_range;
  state().usual.growth.expansion = static_cast<std::uint32_t>(expansion);
  state().usual.growth.scale = expansion == 0 ? scaling::fixed : scaling::grows;
  return taken::as_it_is;
}

taken take_byte_limit(const string* value) {
  long long limit = 0;
  if (StringToLongLong(value, &limit) != ok) return taken::not_a_number;
  if (limit <= 0) return taken::out_of_range;
  state().byte_limit = static_cast<std::uint64_t>(limit);
  return taken::as_it_is;
}

struct setting {
  const char* name;
  std::string_view word;        // the same in capitals
  std::string_view older_word;  // of RedisBloom's options; may be none
  const char* range;
  taken (*take)(const string* value);
  std::string shown{};  // for CONFIG GET: as it was given
  string* told{};       // the same, for Redis, which does not keep it
};

constexpr const char* largest_error_shown = "0.25";

setting byte_limit{"max-bytes", "MAX-BYTES", "", "above 0", take_byte_limit};
/// Those that CONFIG has, too.
std::array<setting, 3> settings{{
    {"bf-error-rate", "BF-ERROR-RATE", "ERROR_RATE", "in the range (0.000000, 1.000000)",
     take_error, "0.01"},
    {"bf-initial-size", "BF-INITIAL-SIZE", "INITIAL_SIZE", "in the range [1, 1073741824]",
     take_capacity, "100"},
    {"bf-expansion-factor", "BF-EXPANSION-FACTOR", "", "in the range [0, 32768]", take_expansion,
     "2"},
}};
constexpr std::array<std::string_view, 6> of_cuckoo_filters{
    "CF_MAX_EXPANSIONS", "CF-MAX-EXPANSIONS", "CF-BUCKET-SIZE",
    "CF-INITIAL-SIZE",   "CF-MAX-ITERATIONS", "CF-EXPANSION-FACTOR"};

taken take(setting& into, const string* value) {
  const taken came_to = into.take(value);
  if (came_to == taken::as_it_is) into.shown = text_of(value);
  if (came_to == taken::at_its_limit) into.shown = largest_error_shown;
  return came_to;
}

bool is_refused(taken came_to) {
  return came_to == taken::not_a_number || came_to == taken::out_of_range;
}

/// Half of the machine's memory, unless told otherwise.
std::uint64_t usual_byte_limit() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return std::uint64_t{1} << 32;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes) / 2;
}

setting* setting_of(const string* name) {
  if (is_word(name, byte_limit.word)) return &byte_limit;
  const auto found = std::ranges::find_if(settings, [&](const setting& each) {
    return is_word(name, each.word) || (!each.older_word.empty() && is_word(name, each.older_word));
  });
  return found == settings.end() ? nullptr : &*found;
}

bool is_of_cuckoo_filters(const string* name) {
  return std::ranges::any_of(of_cuckoo_filters,
                             [&](std::string_view word) { return is_word(name, word); });
}

std::string shortened(const string* text) {
  constexpr std::size_t most_shown = 64;
  std::string quoted = "'";
  quoted += text_of(text).substr(0, most_shown);
  quoted += "'";
  return quoted;
}

bool refuse_option(context* ctx, const string* name, const std::string& why) {
  Log(ctx, "warning", "oneprobe: option %s %s", shortened(name).c_str(), why.c_str());
  return false;
}

// ------------------------------------------------------------------------------------- CONFIG

string* show(const char*, void* data) { return static_cast<setting*>(data)->told; }

void tell(setting& changed) {
  if (changed.told != nullptr) FreeString(nullptr, changed.told);
  changed.told = CreateString(nullptr, changed.shown.data(), changed.shown.size());
}

int change(const char*, string* value, void* data, string** fault) {
  setting& changed = *static_cast<setting*>(data);
  const taken came_to = take(changed, value);
  if (!is_refused(came_to)) {
    tell(changed);
    return ok;
  }
  const bool is_number = came_to == taken::out_of_range;
  std::string why = is_number ? "Value for `" : "Invalid value for `";
  why += changed.name;
  why += '`';
  if (is_number) why += std::string(" must be ") + changed.range;
  *fault = CreateString(nullptr, why.data(), why.size());
  return failed;
}

bool register_one(context* ctx, setting& each, unsigned flags) {
  return RegisterStringConfig(ctx, each.name, each.shown.c_str(), flags, show, change, nullptr,
                              &each) == ok;
}

bool has_settings() { return RegisterStringConfig != nullptr && LoadConfigs != nullptr; }

}  // namespace

bool read_options(context* ctx, arguments sent) {
  state().byte_limit = usual_byte_limit();
  if (sent.size() == 1 && text_of(sent[0]).empty()) return true;  // as packagers of modules load it
  for (std::size_t i = 0; i < sent.size(); i += 2) {
    setting* const named = setting_of(sent[i]);
    const bool ignored = is_of_cuckoo_filters(sent[i]);
    if (named == nullptr && !ignored)
      return refuse_option(ctx, sent[i],
                           "is none: there are MAX-BYTES, bf-error-rate or ERROR_RATE, "
                           "bf-initial-size or INITIAL_SIZE, and bf-expansion-factor");
    if (i + 1 == sent.size()) return refuse_option(ctx, sent[i], "needs a value");
    if (ignored) {
      Log(ctx, "notice", "oneprobe: option %s is ignored: there are no cuckoo filters here",
          shortened(sent[i]).c_str());
      continue;
    }
    if (is_refused(take(*named, sent[i + 1])))
      return refuse_option(
          ctx, sent[i],
          "must be a number " + std::string(named->range) + "; found " + shortened(sent[i + 1]));
  }
  return true;
}

void register_settings(context* ctx) {
  if (!has_settings()) return;
  for (setting& each : settings) {
    tell(each);
    if (LoadDefaultConfigs != nullptr && register_one(ctx, each, unprefixed_setting)) continue;
    // Redis 7, or RedisBloom is there as well.
    if (!register_one(ctx, each, 0))
      Log(ctx, "notice", "oneprobe: CONFIG has no place for %s", each.name);
  }
}

bool load_settings(context* ctx) { return !has_settings() || LoadConfigs(ctx) == ok; }

}  // namespace oneprobe::redis
