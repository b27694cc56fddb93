// SPDX-License-Identifier: MIT
// alpha and beta on their way into a dispatch: converted to f32, to nearest, or to i32 for integer sums; left as they
// are for sums in f64. Infinities and NaN pass. A finite number that would become infinite is refused, and so is a
// nonzero one that would become 0, because 0 means that operands are not read.
#pragma once
#include "plan/problem/problem.h"
#include "shaders/abi.h"

namespace vkgemm::plan {

/// Bytes of push constants of a kernel that sums in this type.
constexpr uint32_t argument_bytes(Type accumulator) {
    return accumulator == f64 ? abi::f64_argument_bytes : abi::argument_bytes;
}

/// Is it 0 or -0 as the shader gets it?
bool is_zero_factor(double x, Type accumulator);

/// alpha and beta of a run as far as the host knows them: those in memory count as 1.
struct Factors {
    double alpha, beta;
};
constexpr Factors known_factors(const Problem& p, double alpha, double beta) {
    return {p.scalars & VKGEMM_SCALARS_ALPHA ? 1 : alpha, p.scalars & VKGEMM_SCALARS_BETA ? 1 : beta};
}

/// Why a run of this problem, which is completed, cannot have these factors; nothing if it can.
std::optional<Status> unfit_factors(const Problem&, double alpha, double beta);

/// Gives a dispatch its factors, which unfit_factors() accepts. If alpha is 0, it sums over nothing and reads neither A
/// nor B.
void set_factors(abi::GemmArgs&, double alpha, double beta, Type accumulator);

}  // namespace vkgemm::plan
