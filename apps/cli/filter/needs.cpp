#include "filter/needs.hpp"

#include <fmt/format.h>

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace oneprobe::cli {
namespace {

constexpr option fpr{"--fpr", "P",
                     "error: how often an absent key gets \"perhaps\" (default 0.001)"};
constexpr option bits_per_element{"--bits-per-element", "B", "instead: bits of memory per key"};
constexpr option bytes{"--bytes", "N", "instead: bytes of memory; 64Mi, 2G"};
constexpr option kind{"--kind", "NAME",
                      "standard, partitioned, blocked, counting, balanced or fingerprint (default: "
                      "the best of blocked, balanced and fingerprint)"};
constexpr option accesses{"--accesses", "A",
                          "most blocks that asking for an absent key may read, on average (default "
                          "1.2)"};
constexpr option choices{"--choices", "D", "most blocks that one key may lie in (default 3)"};

constexpr std::array<word<filter_kind>, 6> kinds{{
    {"standard", filter_kind::standard},
    {"partitioned", filter_kind::partitioned},
    {"blocked", filter_kind::blocked},
    {"counting", filter_kind::counting},
    {"balanced", filter_kind::balanced},
    {"fingerprint", filter_kind::fingerprint},
}};

/// The library's names for the options.
constexpr std::array<std::pair<std::string_view, std::string_view>, 15> flags_of_names{{
    {"fpr", fpr.flag},
    {"bits_per_element", bits_per_element.flag},
    {"bytes", bytes.flag},
    {"accesses", accesses.flag},
    {"largest_choices", choices.flag},
    {"elements", "--elements"},
    {"block_bits", "--block-bits"},
    {"layout", "--layout"},
    {"rule", "--rule"},
    {"scheme", "--scheme"},
    {"overfill", "--overfill"},
    {"budget", "--budget"},
    {"access_cost", "--access-cost"},
    {"overflow_cost", "--overflow-cost"},
    {"operations", "--operations"},
}};

/// A refusal of the library that begins with the name of a parameter, with the option instead.
std::string in_options(std::string_view refusal) {
  const std::size_t end = refusal.find(' ');
  for (const auto& [name, flag] : flags_of_names)
    if (refusal.substr(0, end) == name) return std::string(flag) + std::string(refusal.substr(end));
  return std::string(refusal);
}

/// The needs as they would be typed, each option after a space.
std::string as_options(const filter_needs& needs) {
  std::string text;
  if (needs.fpr) text += fmt::format(" {} {:.4g}", fpr.flag, *needs.fpr);
  if (needs.bits_per_element)
    text += fmt::format(" {} {:.4g}", bits_per_element.flag, *needs.bits_per_element);
  if (needs.bytes) text += fmt::format(" {} {}", bytes.flag, *needs.bytes);
  if (needs.accesses) text += fmt::format(" {} {:.4g}", accesses.flag, *needs.accesses);
  return text;
}

}  // namespace

std::vector<option_use> need_options() {
  return {{&fpr, need::optional},  {&bits_per_element, need::optional}, {&bytes, need::optional},
          {&kind, need::optional}, {&accesses, need::optional},         {&choices, need::optional}};
}

filter_needs read_needs(const arguments& in) {
  const option* asked = nullptr;
  for (const option* each : {&fpr, &bits_per_element, &bytes}) {
    if (!in.has(*each)) continue;
    if (asked != nullptr)
      throw usage_error(fmt::format("give either {} or {}, not both", asked->flag, each->flag));
    asked = each;
  }
  filter_needs needs;
  needs.fpr = in.maybe_number(fpr);
  needs.bits_per_element = in.maybe_number(bits_per_element);
  needs.bytes = in.maybe_count(bytes);
  if (asked == nullptr) needs.fpr = default_fpr;
  needs.kind = in.maybe_choice(kind, kinds);
  needs.accesses = in.maybe_number(accesses);
  needs.largest_choices = in.maybe_whole(choices).value_or(needs.largest_choices);
  return needs;
}

filter_proposal plan_needs(const filter_needs& needs) {
  try {
    return plan_filter(needs);
  } catch (const std::invalid_argument& refused) {
    throw usage_error(in_options(refused.what()));
  }
}

filter_plan plan_or_refuse(const filter_needs& needs) {
  filter_needs brief = needs;
  brief.detail = plan_detail::plan_only;
  if (const filter_proposal proposal = plan_needs(brief); proposal.plan) return *proposal.plan;
  // Only now is it worth its time to look for what could be had instead.
  const filter_proposal refused = plan_needs(needs);
  std::string sentence = in_options(refused.reason);
  if (sentence.ends_with('.')) sentence.pop_back();
  if (refused.nearest) sentence += "; the nearest that can be had:" + as_options(*refused.nearest);
  throw usage_error(sentence);
}

}  // namespace oneprobe::cli
