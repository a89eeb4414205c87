// What a balancer will do, from its plan alone: the limit of many resources.
//
// Fractions of resources at each load, moved along by the flow of jobs. One set of equations covers
// all plans: a job is refused by candidate k with probability
//
//   s + (1 - s) W_k,   W_k = sum of f_k(i) w(i),   w(i) = 0 below h, 1 - p at h, 1 above
//
// (s: share of the resources that do not answer), goes to the first that does not refuse it, and if
// all do, to the last resort. A parallel scheme is the plan in which all refuse and the least
// loaded is the last resort. For filling and thresholds without a last resort these are the
// equations of ECB, Sections IV to VI; the last resort, silent resources and departures are added
// here.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "oneprobe/balancer_plan.hpp"
#include "oneprobe/model/balance.hpp"
#include "oneprobe/model/churn.hpp"

namespace balance_example {

/// Whether jobs only arrive, or one leaves for each that arrives.
enum class jobs { arrive, arrive_and_depart };

class fluid_balancer {
 public:
  fluid_balancer(const oneprobe::balancer_plan& plan, double jobs_per_resource,
                 double silent_fraction)
      : plan_(plan), rate_(jobs_per_resource), silent_(silent_fraction) {
    using oneprobe::scheme_kind;
    parallel_ = plan.scheme == scheme_kind::d_random || plan.scheme == scheme_kind::d_left;
    if (plan.scheme == scheme_kind::multilevel)
      shares_ = plan.level_fractions;
    else if (plan.scheme == scheme_kind::d_left)
      shares_.assign(plan.choices, 1.0 / plan.choices);
    else
      shares_ = {1.0};
    choices_ = plan.scheme == scheme_kind::single ? 1 : std::max<std::size_t>(plan.choices, 1);
    if (plan.scheme == scheme_kind::multilevel) choices_ = shares_.size();
    loads_.assign(shares_.size(), {1.0});
  }

  /// Lets as many jobs arrive as fill the resources once, `turnovers` times. Returns the mean
  /// number of probes of these jobs.
  double run(jobs what, double turnovers) {
    double probes = 0;
    for (double time = 0; time < turnovers;) {
      grow();
      // A third of the time between two events at the busiest resource: with the classical
      // Runge-Kutta method the fourth digit of a variance is right.
      const double step = std::min(turnovers - time, 1 / (3 * fastest(what)));
      const change k1 = change_at(loads_, what);
      const change k2 = change_at(moved(k1, step / 2), what);
      const change k3 = change_at(moved(k2, step / 2), what);
      const change k4 = change_at(moved(k3, step), what);
      for (std::size_t pool = 0; pool < loads_.size(); ++pool)
        for (std::size_t i = 0; i < loads_[pool].size(); ++i)
          loads_[pool][i] += step / 6 *
                             (k1.loads[pool][i] + 2 * k2.loads[pool][i] + 2 * k3.loads[pool][i] +
                              k4.loads[pool][i]);
      probes += step / 6 * (k1.probes + 2 * k2.probes + 2 * k3.probes + k4.probes);
      time += step;
    }
    return probes / turnovers;
  }

  /// Of the resources that answer.
  oneprobe::model::load_distribution loads() const {
    oneprobe::model::load_distribution all;
    for (std::size_t pool = 0; pool < loads_.size(); ++pool) {
      all.fractions.resize(std::max(all.fractions.size(), loads_[pool].size()));
      for (std::size_t i = 0; i < loads_[pool].size(); ++i)
        all.fractions[i] += shares_[pool] * loads_[pool][i];
    }
    return all;
  }

 private:
  using pools = std::vector<std::vector<double>>;

  struct change {
    pools loads;
    double probes = 0;
  };

  std::size_t pool_of(std::size_t candidate) const { return shares_.size() == 1 ? 0 : candidate; }

  /// w(i): the probability that a resource with this load refuses.
  double refusal(std::size_t load) const {
    if (parallel_) return 1;
    if (!plan_.threshold || load < *plan_.threshold) return 0;
    return load == *plan_.threshold ? 1 - plan_.admit_probability : 1;
  }

  change change_at(const pools& loads, jobs what) const {
    // tails[k][i]: the share of the resources of candidate k that have i jobs or more and refuse.
    pools tails(choices_);
    for (std::size_t k = 0; k < choices_; ++k) {
      const std::vector<double>& f = loads[pool_of(k)];
      tails[k].assign(f.size() + 1, 0);
      for (std::size_t i = f.size(); i-- > 0;) tails[k][i] = tails[k][i + 1] + f[i] * refusal(i);
    }
    const auto passes = [&](std::size_t candidate, std::size_t load) {
      const std::vector<double>& tail = tails[candidate];
      return silent_ + (1 - silent_) * tail[std::min(load, tail.size() - 1)];
    };

    change result;
    for (const std::vector<double>& f : loads) result.loads.emplace_back(f.size());
    double reached = 1;  // the share of the jobs that come to candidate k
    for (std::size_t k = 0; k < choices_; ++k) {
      const std::vector<double>& f = loads[pool_of(k)];
      std::vector<double>& moved_on = result.loads[pool_of(k)];
      // Of the jobs that arrive, per resource of this pool; silent ones take none.
      const double per_resource = rate_ / shares_[pool_of(k)];
      for (std::size_t i = 0; i + 1 < f.size(); ++i) {
        const double refused = refusal(i);
        double taken = reached * (1 - refused);
        if (refused > 0) taken += refused * last_resort_share(k, i, reached, passes);
        moved_on[i] -= per_resource * f[i] * taken;
        moved_on[i + 1] += per_resource * f[i] * taken;
      }
      result.probes += parallel_ ? 1 : reached;
      reached *= passes(k, 0);
    }
    if (what == jobs::arrive_and_depart)
      for (std::size_t pool = 0; pool < loads.size(); ++pool)
        for (std::size_t i = 1; i < loads[pool].size(); ++i) {
          const double leaving = static_cast<double>(i) * loads[pool][i];
          result.loads[pool][i] -= leaving;
          result.loads[pool][i - 1] += leaving;
        }
    return result;
  }

  /// The probability that all other candidates of a job leave it to this one of the given load.
  template <class Passes>
  double last_resort_share(std::size_t candidate, std::size_t load, double reached,
                           const Passes& passes) const {
    if (!parallel_ && plan_.overflow == oneprobe::last_resort::last_reachable)
      return reached * std::pow(silent_, static_cast<double>(choices_ - candidate - 1));
    double share = 1;
    for (std::size_t k = 0; k < choices_; ++k)
      if (k != candidate) share *= passes(k, k < candidate ? load + 1 : load);
    return share;
  }

  pools moved(const change& by, double time) const {
    pools result = loads_;
    for (std::size_t pool = 0; pool < result.size(); ++pool)
      for (std::size_t i = 0; i < result[pool].size(); ++i)
        result[pool][i] += time * by.loads[pool][i];
    return result;
  }

  /// Keeps a few empty loads above the largest that occurs.
  void grow() {
    constexpr double never = 1e-18;
    for (std::vector<double>& f : loads_) {
      std::size_t used = f.size();
      while (used > 1 && f[used - 1] < never) --used;
      f.resize(used + 4, 0.0);
    }
  }

  /// A bound on the rate of events at the busiest resource.
  double fastest(jobs what) const {
    std::vector<double> rates(loads_.size());
    double reached = 1;
    for (std::size_t k = 0; k < choices_; ++k) {
      const std::vector<double>& f = loads_[pool_of(k)];
      rates[pool_of(k)] += rate_ / shares_[pool_of(k)] * reached;
      double refused = 0;
      for (std::size_t i = 0; i < f.size(); ++i) refused += f[i] * refusal(i);
      reached *= silent_ + (1 - silent_) * refused;
    }
    double most = 0;
    for (std::size_t pool = 0; pool < loads_.size(); ++pool) {
      const double departures = what == jobs::arrive ? 0 : static_cast<double>(loads_[pool].size());
      most = std::max(most, rates[pool] + departures);
    }
    return most;
  }

  oneprobe::balancer_plan plan_;
  double rate_;
  double silent_;
  bool parallel_ = false;
  std::size_t choices_ = 1;
  std::vector<double> shares_;  // of the resources, per pool that candidates are drawn from
  pools loads_;
};

}  // namespace balance_example
