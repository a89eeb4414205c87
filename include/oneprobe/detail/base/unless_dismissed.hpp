// Calls a function at the end of a scope, unless told otherwise: for what an exception must not
// leave half done.
//
//   detail::unless_dismissed undo([&] { retract(); });
//   make();
//   undo.dismiss();
#pragma once

#include <utility>

namespace oneprobe::inline v0_1::detail {

template <class Function>
class unless_dismissed {
 public:
  explicit unless_dismissed(Function function) : function_(std::move(function)) {}
  ~unless_dismissed() {
    if (armed_) function_();
  }
  unless_dismissed(const unless_dismissed&) = delete;
  unless_dismissed& operator=(const unless_dismissed&) = delete;
  void dismiss() noexcept { armed_ = false; }

 private:
  Function function_;
  bool armed_ = true;
};

}  // namespace oneprobe::inline v0_1::detail
