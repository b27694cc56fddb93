// SPDX-License-Identifier: MIT
#include "tools/vkgemm/measure/numbers.h"

#include "plan/problem/types.h"

namespace vkgemm::tool {

uint32_t poison(plan::Type type) { return plan::info(type).is_float ? 0xffffffffu : 0xa5a5a5a5u; }

double random_value(plan::Type type, Random& random) {
    const auto bits = static_cast<int32_t>(random.next() >> 32);
    return plan::info(type).is_float ? bits * 0x1p-31 : bits;
}

}  // namespace vkgemm::tool
