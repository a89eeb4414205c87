#include "oneprobe/filter/blocked.hpp"

namespace oneprobe::inline v0_1 {

template class basic_blocked_engine<plain_words>;
template class basic_blocked_engine<atomic_words>;

}  // namespace oneprobe::inline v0_1
