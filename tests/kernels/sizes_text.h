// SPDX-License-Identifier: MIT
// The sizes of a run as text: "4x5x6x1" is m, n, k and the batch; and its strides: twelve numbers in their order.
#pragma once
#include <algorithm>
#include <array>
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

/// A copy as numbers, in the order of the struct.
inline std::array<uint64_t, 12> numbers_of(const VkgemmRunStrides& s) {
    return {s.lda,          s.ldb,          s.ldc,          s.ldd,          s.batchStrideA, s.batchStrideB,
            s.batchStrideC, s.batchStrideD, s.outerStrideA, s.outerStrideB, s.outerStrideC, s.outerStrideD};
}
inline VkgemmRunStrides strides_of(const std::array<uint64_t, 12>& x) {
    return {.lda = x[0],
            .ldb = x[1],
            .ldc = x[2],
            .ldd = x[3],
            .batchStrideA = x[4],
            .batchStrideB = x[5],
            .batchStrideC = x[6],
            .batchStrideD = x[7],
            .outerStrideA = x[8],
            .outerStrideB = x[9],
            .outerStrideC = x[10],
            .outerStrideD = x[11]};
}

inline std::string strides_text(const VkgemmRunStrides& s) {
    std::string out;
    for (const uint64_t x : numbers_of(s)) out += (out.empty() ? "" : ",") + std::to_string(x);
    return out;
}
inline VkgemmRunStrides strides_named(std::string_view text) {
    std::array<uint64_t, 12> out{};
    for (uint64_t& x : out) {
        const std::string_view word = text.substr(0, text.find(','));
        x = readNumber<uint64_t>(word).value_or(0);
        text.remove_prefix(std::min(text.size(), word.size() + 1));
    }
    return strides_of(out);
}

}  // namespace vkgemm::test
