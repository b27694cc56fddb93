// SPDX-License-Identifier: MIT
// The sizes of a run as text: "4x5x6x1" is m, n, k and the batch.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>

#include "plan/problem/problem.h"
#include "vkgemm/text.hpp"

namespace vkgemm::test {

inline std::string sizes_text(const plan::Sizes& s) {
    return std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k) + "x" + std::to_string(s.batch);
}

/// What is missing or no number is 0.
inline plan::Sizes sizes_named(std::string_view text) {
    plan::Sizes out{};
    for (uint64_t* size : {&out.m, &out.n, &out.k, &out.batch}) {
        const std::string_view word = text.substr(0, text.find('x'));
        *size = readNumber<uint64_t>(word).value_or(0);
        text.remove_prefix(std::min(text.size(), word.size() + 1));
    }
    return out;
}

}  // namespace vkgemm::test
