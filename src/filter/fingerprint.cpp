#include "oneprobe/filter/fingerprint.hpp"

namespace oneprobe::inline v0_1 {

template class basic_fingerprint_engine<plain_words>;

}  // namespace oneprobe::inline v0_1
