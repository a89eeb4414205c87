// LEC, Section 7.2.3: families of hash functions, by trying every function of a small one.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "oneprobe/universal_hash.hpp"
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

// The families are the library's, made small: what is tried here is what ships.
using matrix = matrix_hash<input_bits, output_bits>;

/// A matrix as it is printed, row by row from the top; the library has columns.
matrix from_rows(const std::array<unsigned, output_bits>& rows) {
  matrix::words columns{};
  for (unsigned i = 0; i < input_bits; ++i)
    for (const unsigned row_bits : rows) columns[i] = 2 * columns[i] + (row_bits >> i & 1);
  return matrix(columns);
}

/// One of all matrices: the bits of the number are its columns, one after the other.
matrix from_number(unsigned number) {
  matrix::words columns{};
  for (unsigned i = 0; i < input_bits; ++i)
    columns[i] = number >> (i * output_bits) & (outputs - 1);
  return matrix(columns);
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
  std::vector<std::array<unsigned, output_bits>> ones(inputs), same(std::size_t{inputs} * inputs);
  std::vector<unsigned> together(std::size_t{inputs} * inputs);
  for (unsigned number = 0; number < matrices; ++number) {
    const matrix h = from_number(number);
    std::array<unsigned, inputs> image;
    for (unsigned x = 1; x < inputs; ++x) {
      image[x] = static_cast<unsigned>(h.value(x));
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

// The family over a prime, small enough to try every a and b.
constexpr unsigned prime = 31;
using affine = affine_hash<prime, prime - 1>;

/// The largest P(((a x + b) mod p) mod n is the same for x and y) over x < y of 1 to u, when a is
/// drawn from 1 to `last_a` and b from 0 to `last_b`. REQUIRES: all three below p.
double worst_collision(unsigned u, unsigned n, unsigned last_a, unsigned last_b) {
  std::array<unsigned, std::size_t{prime} * prime> together{};
  for (unsigned a = 1; a <= last_a; ++a)
    for (unsigned b = 0; b <= last_b; ++b) {
      const affine h(affine::words{{{b, a}}});
      std::array<std::uint64_t, prime> bin{};
      for (unsigned x = 1; x <= u; ++x) bin[x] = h.bin(x, n);
      for (unsigned x = 1; x <= u; ++x)
        for (unsigned y = x + 1; y <= u; ++y) together[x * prime + y] += bin[x] == bin[y] ? 1u : 0u;
    }
  return static_cast<double>(*std::max_element(together.begin(), together.end())) /
         (last_a * (last_b + 1));
}

}  // namespace

outcome universal_families(const conditions&) {
  const std::string source = "LEC, Section 7.2.3";
  outcome result;

  // The matrix and the vector that are printed.
  const matrix example = from_rows({0b01101, 0b10000, 0b11011});
  constexpr unsigned x = 0b11001;
  const std::uint64_t image = example.value(x);
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
  const auto exact = [&](const std::string& place, const std::string& what, const std::string& text,
                         double value, const extremes& found) {
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

  constexpr unsigned elements = 20, positions = 8;
  const double as_stated = worst_collision(elements, positions, elements, elements);
  const double put_right = worst_collision(elements, positions, prime - 1, prime - 1);
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
    stated.points.push_back({.x = place, .y = worst_collision(u, positions, u, u)});
    right.points.push_back({.x = place, .y = worst_collision(u, positions, prime - 1, prime - 1)});
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
