// SPDX-License-Identifier: MIT
#include "measure/scalars.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "vkgemm/elements.hpp"
#include "vkgemm/text.hpp"

namespace vkgemm::tool {

std::vector<std::byte> scalar_bytes(const Problem& p, double alpha, double beta) {
    if (!p.scalars) return {};
    VkgemmScalars s{};
    s.alpha = static_cast<float>(alpha);
    s.beta = static_cast<float>(beta);
    for (const Step& step : p.epilogue)
        if (step.kind == VKGEMM_STEP_CLAMP) {
            s.low = step.low;
            s.high = step.high;
        }
    std::vector<std::byte> out(sizeof s);
    std::memcpy(out.data(), &s, sizeof s);
    return out;
}

std::optional<std::string> wrong_scalars(const Problem& p, const Resolved& resolved, const std::byte* bytes,
                                         std::span<const std::byte> d) {
    VkgemmScalars noted;
    std::memcpy(&noted, bytes, sizeof noted);
    if (noted.nonFinite) return "nonFinite is " + std::to_string(noted.nonFinite) + ", though every number is finite";
    if (!(p.scalars & VKGEMM_SCALARS_LARGEST)) return std::nullopt;
    double largest = 0;
    for (uint64_t product = 0; product < resolved.batch; ++product)
        for (uint64_t row = 0; row < p.m; ++row)
            for (uint64_t col = 0; col < p.n; ++col)
                largest = std::max(
                    largest,
                    std::fabs(decode(resolved.d.type, &d[resolved.d.position(product, row, col) * resolved.d.bytes])));
    // It is noted before D is rounded, and an i8 saturates.
    const double got = double{noted.largest}, digits = static_cast<double>(type_info(resolved.d.type).exactBits);
    const bool right =
        resolved.d.type == i8 ? got + 0.5 >= largest : std::fabs(got - largest) <= largest * std::exp2(-digits);
    if (right) return std::nullopt;
    return "the largest |D| is " + numberText(largest) + ", and " + numberText(got) + " was noted";
}

}  // namespace vkgemm::tool
