// Something to do at the end of a scope, also when an exception leaves it.
//
//   const at_end count([&] { size += added; });
#pragma once

#include <utility>

namespace oneprobe::inline v0_1 {

/// `act()` must not throw.
template <class Act>
class [[nodiscard]] at_end {
 public:
  constexpr explicit at_end(Act act) : act_(std::move(act)) {}
  at_end(const at_end&) = delete;
  at_end& operator=(const at_end&) = delete;
  constexpr ~at_end() { act_(); }

 private:
  Act act_;
};

}  // namespace oneprobe::inline v0_1
