// LEC, Section 7.2.3: families of hash functions, by trying every function of a small one.

#include <fmt/format.h>

#include <array>
#include <bit>

#include "reproduce/estimates.hpp"
#include "reproduce/lec.hpp"

namespace oneprobe::cli::lec {
namespace {

// The example of the text: u = 32 and n = 8, so vectors of five bits become vectors of three. The
// first bit that is printed is the highest one here.
constexpr unsigned input_bits = 5;
constexpr unsigned output_bits = 3;
constexpr unsigned inputs = 1u << input_bits;
constexpr unsigned outputs = 1u << output_bits;

using matrix = std::array<unsigned, output_bits>;  // rows, from the top

unsigned product(const matrix& h, unsigned x) {
  unsigned result = 0;
  for (const unsigned row_bits : h)
    result = 2 * result + static_cast<unsigned>(std::popcount(row_bits & x)) % 2;
  return result;
}

/// The least and the largest of some probabilities.
struct extremes {
  double least = 1;
  double most = 0;

  void include(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
};

/// What every matrix together says of the family: 0 is no element of it.
struct matrix_family {
  extremes one;        // P(a given bit of h(x) is 1)
  extremes value;      // P(h(x) = i)
  extremes collision;  // P(h(x) = h(y))
  extremes same_bit;   // P(a given bit of h(x) and h(y) is the same)
};

matrix_family all_matrices() {
  constexpr unsigned matrices = 1u << (input_bits * output_bits);
  std::vector<std::array<unsigned, outputs>> values(inputs);
  std::vector<std::array<unsigned, output_bits>> ones(inputs), same(inputs * inputs);
  std::vector<unsigned> together(inputs * inputs);
  for (unsigned number = 0; number < matrices; ++number) {
    const matrix h{number % inputs, number / inputs % inputs, number / inputs / inputs};
    std::array<unsigned, inputs> image;
    for (unsigned x = 1; x < inputs; ++x) {
      image[x] = product(h, x);
      ++values[x][image[x]];
      for (unsigned bit = 0; bit < output_bits; ++bit) ones[x][bit] += image[x] >> bit & 1;
    }
    for (unsigned x = 1; x < inputs; ++x)
      for (unsigned y = x + 1; y < inputs; ++y) {
        const unsigned differing = image[x] ^ image[y];
        together[x * inputs + y] += differing == 0 ? 1 : 0;
        for (unsigned bit = 0; bit < output_bits; ++bit)
          same[x * inputs + y][bit] += differing >> bit & 1 ? 0 : 1;
      }
  }
  const auto probability = [](unsigned count) { return static_cast<double>(count) / matrices; };
  matrix_family result;
  for (unsigned x = 1; x < inputs; ++x) {
    for (const unsigned count : values[x]) result.value.include(probability(count));
    for (const unsigned count : ones[x]) result.one.include(probability(count));
    for (unsigned y = x + 1; y < inputs; ++y) {
      result.collision.include(probability(together[x * inputs + y]));
      for (const unsigned count : same[x * inputs + y]) result.same_bit.include(probability(count));
    }
  }
  return result;
}

/// The largest P(((a x + b) mod p) mod n is the same for x and y) over x < y of 1 to u, when a is
/// drawn from 1 to `last_a` and b from 0 to `last_b`.
double worst_collision(unsigned prime, unsigned u, unsigned n, unsigned last_a, unsigned last_b) {
  double worst = 0;
  for (unsigned x = 1; x <= u; ++x)
    for (unsigned y = x + 1; y <= u; ++y) {
      unsigned count = 0;
      for (unsigned a = 1; a <= last_a; ++a)
        for (unsigned b = 0; b <= last_b; ++b)
          count += (a * x + b) % prime % n == (a * y + b) % prime % n ? 1 : 0;
      worst = std::max(worst, static_cast<double>(count) / (last_a * (last_b + 1)));
    }
  return worst;
}

}  // namespace

outcome universal_families(const conditions&) {
  const std::string source = "LEC, Section 7.2.3";
  outcome result;

  // The matrix and the vector that are printed.
  constexpr matrix example{0b01101, 0b10000, 0b11011};
  constexpr unsigned x = 0b11001;
  const unsigned image = product(example, x);
  const std::string printed_image[] = {"0", "1", "1"};
  for (unsigned j = 0; j < output_bits; ++j) {
    row one{.source = source,
            .what = fmt::format("entry {} of the example's h x", j + 1),
            .printed = as_printed(printed_image[j]),
            .model = static_cast<double>(image >> (output_bits - 1 - j) & 1)};
    one.printed->half_unit = 0;
    result.rows.push_back(std::move(one));
  }

  const matrix_family family = all_matrices();
  const auto exact = [&](std::string place, const std::string& what, std::string text, double value,
                         const extremes& found) {
    for (const auto& [which, enumerated] :
         {std::pair{"least", found.least}, std::pair{"largest", found.most}})
      result.rows.push_back(
          {.source = place,
           .what = fmt::format("{}, {}", what, which),
           .printed = printed_number{.text = text, .value = value, .half_unit = 0},
           .model = enumerated,
           .remark = "over all elements and all 32,768 matrices, u = 32, n = 8"});
  };
  exact("LEC, Claim 1", "P(a bit of h(x) is 1)", "1/2", 0.5, family.one);
  exact("LEC, Claim 2", "P(a bit of h(x) and h(y) is the same)", "1/2", 0.5, family.same_bit);
  exact("LEC, Theorem 7.2.1", "P(h(x) = i)", "1/n", 1.0 / outputs, family.value);
  exact("LEC, Theorem 7.2.1", "P(h(x) = h(y))", "1/n", 1.0 / outputs, family.collision);

  // The family over a prime, small enough to try every a and b.
  constexpr unsigned prime = 31, elements = 20, positions = 8;
  const double as_stated = worst_collision(prime, elements, positions, elements, elements);
  const double put_right = worst_collision(prime, elements, positions, prime - 1, prime - 1);
  const printed_number promised{
      .text = "1/n", .value = 1.0 / positions, .how = printed_number::kind::upper_bound};
  result.rows.push_back(
      {.source = source,
       .what = "worst P(h_ab(x) = h_ab(y)), a, b in [u], p = 31, u = 20, n = 8",
       .printed = promised,
       .model = as_stated,
       .known_erratum = erratum{.number = "2.5", .corrected = 0.1452, .half_unit = 5e-5},
       .remark = "(7.2.9) asks for 1/n; with a and b below u only, some pairs collide more often"});
  result.rows.push_back(
      {.source = source,
       .what = "the same with a from 1 to p - 1, b from 0 to p - 1",
       .printed = promised,
       .model = put_right,
       .remark = "drawn as it should be; less than 1/n, not equal to it (erratum 2.6)"});

  series stated{.name = "a, b in [u]", .points = {}, .colour = 0};
  series right{.name = "a, b below p", .points = {}, .colour = 1};
  for (unsigned u = 2; u < prime; ++u) {
    const double place = u;
    stated.points.push_back({.x = place, .y = worst_collision(prime, u, positions, u, u)});
    right.points.push_back(
        {.x = place, .y = worst_collision(prime, u, positions, prime - 1, prime - 1)});
  }
  result.charts.push_back(
      {.name = "lec-family",
       .title = "Worst pair under ((a x + b) mod 31) mod 8",
       .x_label = "size u of the universe",
       .y_label = "probability that the pair collides",
       .lines = {std::move(stated),
                 std::move(right),
                 {.name = "1/n",
                  .points = {{2, 1.0 / positions}, {prime - 1, 1.0 / positions}},
                  .colour = 2,
                  .dashed = true}}});
  result.found = fmt::format(
      "Over all 32,768 matrices every element meets every position, and every pair every common "
      "position, with probability exactly 1/8. The family over a prime keeps its promise only if a "
      "and b are drawn from all residues: the worst pair then collides with probability {:.4f}, "
      "and with {:.4f} > 1/8 if they are drawn from [u] as the notes say (erratum 2.5).",
      put_right, as_stated);
  return result;
}

}  // namespace oneprobe::cli::lec
