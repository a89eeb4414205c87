// Binomial probabilities for up to 10^16 trials. Private to src/model.
#pragma once

namespace oneprobe::inline v0_1::model::detail {

/// log n! minus Stirling's n log n - n + log sqrt(2 pi n): about 1 / (12 n). n >= 1, whole.
double stirling_remainder(double n);

/// P(X = count), X ~ Binomial(trials, probability), to the last few digits: Loader's saddle-point
/// form, in which nothing large cancels. Whole numbers, 0 <= count.
double binomial_probability(double trials, double probability, double count);

/// P(X >= count): the tail is summed; its complement only where that is the smaller part.
double binomial_at_least(double trials, double probability, double count);

/// log of C(trials, count), 0 <= count <= trials.
double log_choose(double trials, double count);

/// log of (1 - 1/n) (1 - 2/n) ... (1 - (m - 1)/n): the probability that m balls fall into different
/// ones of n bins. Closed form for many balls; -infinity when m > n. n may be as large as 2^512.
double log_all_different(double balls, double bins);

}  // namespace oneprobe::inline v0_1::model::detail
