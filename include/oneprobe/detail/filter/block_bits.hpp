// The bits of an element in a block, with every instruction set that the compiler knows.
// detail/simd/plain/block_bits.hpp says what they are.
#pragma once

#include "oneprobe/detail/simd/avx2/block_bits.hpp"
#include "oneprobe/detail/simd/avx512/block_bits.hpp"
#include "oneprobe/detail/simd/plain/block_bits.hpp"
