// Sensible calls of the models and of a planner, with a few words of each changed at random:
// whatever comes of it, it is an answer, or one line and exit code 2. Other commands work for long,
// or on files, and are left out; so are plans that choose among many, which take a tenth of a
// second.
#include <gtest/gtest.h>

#include <random>

#include "refused.hpp"

namespace oneprobe::cli {
namespace {

constexpr unsigned most_changes = 2;
// Far more than any of them takes; a model may sum for a second.
constexpr double most_seconds = 20;

std::vector<words> first_calls() {
  std::vector<words> calls{split("plan filter --elements 1M --kind standard --fpr 1e-4")};
  for (words& call : sensible_calls())
    if (call.front() == "model") calls.push_back(std::move(call));
  return calls;
}

/// A number, or a list of them.
bool is_number(const std::string& word) {
  return !word.empty() && word.find_first_not_of("0123456789.,kM") == std::string::npos;
}

class mutator {
 public:
  explicit mutator(std::uint64_t seed) : random_(seed), calls_(first_calls()) {
    for (const words& call : calls_) pool_.insert(pool_.end(), call.begin() + 1, call.end());
    pool_.insert(pool_.end(), garbage().begin(), garbage().end());
    for (const char* word :
         {"--help", "--cpp", "--json", "0", "1", "2", "64", "1e-300", "1k", "10T"})
      pool_.emplace_back(word);
    for (const std::string& word : pool_)
      if (is_number(word)) numbers_.push_back(word);
  }

  words next() {
    words call = one_of(calls_);
    for (auto changes = 1 + below(most_changes); changes > 0; --changes) change(call);
    return call;
  }

 private:
  std::size_t below(std::size_t end) { return random_() % end; }
  template <class T>
  const T& one_of(const std::vector<T>& all) {
    return all[below(all.size())];
  }

  /// The first word stays: another would be another command.
  void change(words& call) {
    if (call.size() < 2) return call.push_back(one_of(pool_));
    // Every other time a number for a number, which may well be answered.
    if (below(2) == 0) {
      std::vector<std::size_t> places;
      for (std::size_t i = 1; i < call.size(); ++i)
        if (is_number(call[i])) places.push_back(i);
      if (!places.empty()) {
        call[one_of(places)] = one_of(numbers_);
        return;
      }
    }
    const auto at = call.begin() + 1 + static_cast<std::ptrdiff_t>(below(call.size() - 1));
    switch (below(7)) {
      case 0:
        call.erase(at);
        break;
      case 1:
        call.insert(at, one_of(pool_));
        break;
      case 2:
        *at = one_of(pool_);
        break;
      case 3:
        call.insert(at, *at);
        break;
      case 4:
        std::swap(*at, call[1 + below(call.size() - 1)]);
        break;
      case 5:
        *at = with_a_letter_changed(*at);
        break;
      default:
        *at += one_of(pool_);
        break;
    }
  }

  std::string with_a_letter_changed(std::string word) {
    // Of a word of a call, no byte is 0.
    const char letter = static_cast<char>(1 + below(255));
    if (word.empty()) return {letter};
    const std::size_t at = below(word.size());
    if (below(2) == 0)
      word[at] = letter;
    else
      word.insert(at, 1, letter);
    return word;
  }

  std::mt19937_64 random_;
  std::vector<words> calls_;
  std::vector<std::string> pool_;
  std::vector<std::string> numbers_;
};

TEST(random_calls, are_answered_or_refused_in_one_line) {
  constexpr int calls = 2000;
  mutator mutate(1);
  int answered = 0;
  for (int i = 0; i < calls; ++i) {
    const words call = mutate.next();
    const call_outcome found = called_here(call);
    EXPECT_LT(found.cpu_seconds, most_seconds) << shown(call);
    if (found.code == 2) {
      EXPECT_EQ(found.answers, "") << shown(call);
      EXPECT_TRUE(is_one_line(found.complaints)) << shown(call) << found.complaints;
      continue;
    }
    ++answered;
    EXPECT_TRUE(found.code == 0 || found.code == 1)
        << found.code << found.complaints << shown(call);
    EXPECT_NE(found.answers, "") << shown(call);
    EXPECT_EQ(found.complaints, "") << shown(call);
  }
  // Of both enough to be worth it.
  EXPECT_GT(answered, calls / 10);
  EXPECT_LT(answered, calls * 9 / 10);
}

}  // namespace
}  // namespace oneprobe::cli
