// SPDX-License-Identifier: MIT
#include "measure/numbers.h"

namespace vkgemm::tool {

uint32_t poison(Type type) { return type_info(type).isFloat ? 0xffffffffu : 0xa5a5a5a5u; }

double random_value(Type type, Random& random) {
    const auto bits = static_cast<int32_t>(random.next() >> 32);
    return type_info(type).isFloat ? bits * 0x1p-31 : bits;
}

}  // namespace vkgemm::tool
