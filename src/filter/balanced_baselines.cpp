#include "oneprobe/filter/balanced.hpp"

namespace oneprobe::inline v0_1 {

template class basic_balanced_engine<single, plain_words>;
template class basic_balanced_engine<sequential, plain_words>;
template class basic_balanced_engine<d_random, plain_words>;
template class basic_balanced_engine<d_left, plain_words>;

}  // namespace oneprobe::inline v0_1
