// SPDX-License-Identifier: MIT
#include "support/numbers.h"

#include <cmath>
#include <limits>

#include "plan/problem/types.h"

namespace vkgemm::test {

double rounded(Type type, double value) {
    std::byte bytes[8];
    encode(type, value, bytes);
    return decode(type, bytes);
}

void poison(Type type, std::byte* bytes) {
    if (plan::info(type).is_float) {
        encode(type, std::numeric_limits<double>::quiet_NaN(), bytes);
        bytes[0] |= std::byte{0x2d};  // a payload
    } else {
        encode(type, largest(type) - 20, bytes);  // odd, as the largest is
    }
}

double unit_roundoff(Type type) {
    return plan::info(type).is_float ? std::ldexp(1.0, -plan::info(type).exact_bits) : 0;
}

}  // namespace vkgemm::test
