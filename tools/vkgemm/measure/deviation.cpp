// SPDX-License-Identifier: MIT
#include "measure/deviation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "measure/numbers.h"

namespace vkgemm::tool {
namespace {

constexpr uint64_t most_elements = 512;             // of D that are looked at
constexpr uint64_t most_products = 1u << 24;        // of a and b
constexpr uint64_t most_bytes = uint64_t{1} << 29;  // of D, which must be fetched from the device

double element(const MatrixInfo& m, std::span<const std::byte> bytes, uint64_t batch, uint64_t row, uint64_t col) {
    const uint64_t at = m.position(batch, row, col);
    return decodeElement(m.type, &bytes[m.bytes_of(at)], at % m.block);
}

}  // namespace

bool has_deviation(const Case& c) {
    const Resolved r = resolve(c.problem);
    return c.problem.grouping == VKGEMM_GROUPING_NONE && r.is_float() && c.alpha != 0 && c.beta == 0 &&
           c.problem.epilogue.begin() == c.problem.epilogue.end() && flops(c) > 0 && r.d.span_bytes() <= most_bytes;
}

double deviation_of(const Case& c, const OperandBytes& operands, std::span<const std::byte> d) {
    const Resolved resolved = resolve(c.problem);
    const uint64_t depth = c.problem.k, count = std::clamp<uint64_t>(most_products / depth, 8, most_elements);
    Random random{1};
    double worst = 0;
    for (uint64_t i = 0; i < count; ++i) {
        const uint64_t batch = random.next() % resolved.batch, row = random.next() % resolved.d.rows,
                       col = random.next() % resolved.d.cols;
        double sum = 0, all = 0;
        for (uint64_t k = 0; k < depth; ++k) {
            const double product = element(resolved.a, operands[VKGEMM_SLOT_A], batch, row, k) *
                                   element(resolved.b, operands[VKGEMM_SLOT_B], batch, k, col);
            sum += product;
            all += std::abs(product);
        }
        const double off =
            std::abs(element(resolved.d, d, batch, row, col) - c.alpha * sum) / (std::abs(c.alpha) * all);
        if (std::isnan(off)) return std::numeric_limits<double>::infinity();
        worst = std::max(worst, off);
    }
    return worst;
}

}  // namespace vkgemm::tool
