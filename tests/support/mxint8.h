// SPDX-License-Identifier: MIT
// What accuracy=mxint8 makes of a row-major A, bit for bit.
#pragma once
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "support/reference.h"

namespace vkgemm::test {

/// The largest |x| of 32 elements from `at` on; NaN if one of them is NaN or infinite.
inline double largest_of_32(const std::vector<double>& x, uint64_t at) {
    double largest = 0;
    for (uint64_t i = at; i < at + 32; ++i)
        largest = std::isfinite(x[i]) && !std::isnan(largest) ? std::max(largest, std::fabs(x[i])) : NAN;
    return largest;
}

/// Each 32 elements of a row as whole numbers from -128 to 127 times a power of two, of which the largest takes at
/// least 64; all NaN if one of them is NaN or infinite, all 0 if none reaches 2^-120. Nothing if rows overlap and an
/// element has two values.
inline std::optional<std::vector<double>> as_mxint8(const plan::Problem& p, const std::vector<double>& a) {
    std::vector<double> out = a;
    std::vector<bool> is_rounded(a.size());
    for (uint64_t z = 0; z < p.batch * p.outerBatch; ++z)
        for (uint64_t row = 0; row < p.m; ++row)
            for (uint64_t k = 0; k < p.k; k += 32) {
                const uint64_t at = position(p, 0, z, row, k);
                const double largest = largest_of_32(a, at);
                const double step = largest < 0x1p-120 ? 0 : std::ldexp(1, std::ilogb(largest) - 6);
                for (uint64_t i = at; i < at + 32; ++i) {
                    const double rounded = std::isnan(largest) ? NAN
                                           : step == 0         ? 0
                                                       : std::clamp(std::nearbyint(a[i] / step), -128.0, 127.0) * step;
                    const bool is_same = out[i] == rounded || (std::isnan(out[i]) && std::isnan(rounded));
                    if (is_rounded[i] && !is_same) return std::nullopt;
                    out[i] = rounded;
                    is_rounded[i] = true;
                }
            }
    return out;
}

}  // namespace vkgemm::test
