// SPDX-License-Identifier: MIT
#include "plan/problem/factors.h"

#include <bit>
#include <cmath>

#include "plan/base/concat.h"
#include "vkgemm/text.hpp"

namespace vkgemm::plan {
namespace {

// Sums in f16 are scaled in f32, too.
bool rounds_to_infinity(double x) { return std::isfinite(x) && !std::isfinite(static_cast<float>(x)); }
bool rounds_to_zero(double x) { return x != 0 && static_cast<float>(x) == 0; }

// As a shader gets it, in the low 32 bits unless it sums in f64; nullopt if it cannot.
std::optional<uint64_t> bits_of(double x, Type accumulator) {
    if (accumulator == f64) return std::bit_cast<uint64_t>(x);
    if (info(accumulator).is_float) {
        if (rounds_to_infinity(x) || rounds_to_zero(x)) return std::nullopt;
        return std::bit_cast<uint32_t>(static_cast<float>(x));
    }
    if (!(x >= -2147483648.0 && x <= 2147483647.0) || x != std::floor(x)) return std::nullopt;
    return static_cast<uint32_t>(static_cast<int32_t>(x));
}

}  // namespace

bool is_zero_factor(double x, Type accumulator) {
    return bits_of(x, accumulator) && (accumulator == f32 || accumulator == f16 ? static_cast<float>(x) == 0 : x == 0);
}

std::optional<Status> unfit_factors(const Problem& p, double alpha, double beta) {
    for (const auto& [name, x] : {std::pair{"alpha", alpha}, {"beta", beta}})
        if (!bits_of(x, finished_in(p))) {
            const std::string type(info(finished_in(p)).name);
            const char* const why = !info(finished_in(p)).is_float ? " sums need a whole number within 32 bits"
                                    : rounds_to_zero(x)
                                        ? " sums would use 0 instead; give 0 or a number within the range of f32"
                                        : " sums would use infinity instead; give a number within the range of f32";
            return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, concat({name, " is ", numberText(x), ", but ", type, why})};
        }
    if (beta != 0 && p.cSource == VKGEMM_C_NONE)
        return Refusal{VKGEMM_ERROR_INVALID_PROBLEM,
                       concat({"beta is ", numberText(beta),
                               ", but the problem has no C; set its cSource (c=d or c=separate in its line)"})};
    return std::nullopt;
}

void set_factors(abi::GemmArgs& args, double alpha, double beta, Type accumulator) {
    const uint64_t a = *bits_of(alpha, accumulator), b = *bits_of(beta, accumulator);
    args.alpha = static_cast<uint32_t>(a);
    args.alpha_high = static_cast<uint32_t>(a >> 32);
    args.beta = static_cast<uint32_t>(b);
    args.beta_high = static_cast<uint32_t>(b >> 32);
    if (is_zero_factor(alpha, accumulator)) args.k = args.k_chunk = 0;
    if (args.k == 0)
        args.lda = args.ldb = args.batch_a = args.batch_b =
            0;  // D is bound in place of A and B, and no load may leave it
}

}  // namespace vkgemm::plan
