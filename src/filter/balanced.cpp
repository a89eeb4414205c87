#include "oneprobe/filter/balanced.hpp"

namespace oneprobe::inline v0_1 {

template class basic_balanced_engine<multilevel, plain_words>;
template class basic_balanced_engine<multilevel, atomic_words>;

}  // namespace oneprobe::inline v0_1
