// SPDX-License-Identifier: MIT
// What is known of each step of an epilogue.
#pragma once
#include "plan/problem/types.h"

namespace vkgemm::plan {

/// The elements of a step's operand, for a D of m x n; B: those of the problem's B.
enum class StepShape : uint8_t { NONE, M, N, M_PAIRS, N_PAIRS, ONE, MATRIX, B };
enum class StepSums : uint8_t { ANY, FLOATS };

/// A row of VKGEMM_STEP_ROWS.
struct StepInfo {
    VkgemmStepKind kind;
    std::string_view text;  // in the text of a problem; one that ends with '=' is followed by numbers
    StepSums sums;          // the accumulators that it works on
    VkgemmSlot operand;     // VKGEMM_SLOT_COUNT: it reads none
    StepShape shape;

    constexpr bool has_bounds() const { return kind == VKGEMM_STEP_CLAMP; }
    constexpr bool is_pair() const { return shape == StepShape::B; }
    constexpr bool has_slope() const { return kind == VKGEMM_STEP_LEAKY_RELU; }
    constexpr bool is_of_rows() const { return shape == StepShape::M || shape == StepShape::M_PAIRS; }
    constexpr bool is_of_columns() const { return shape == StepShape::N || shape == StepShape::N_PAIRS; }
    /// Elements that its operand has for each row or column.
    constexpr uint32_t width() const { return shape == StepShape::M_PAIRS || shape == StepShape::N_PAIRS ? 2 : 1; }
    /// "bias=", or all of the text where it has no '='.
    constexpr std::string_view key() const {
        const size_t equals = text.find('=');
        return equals == std::string_view::npos ? text : text.substr(0, equals + 1);
    }
};

inline constexpr StepInfo step_info[] = {
#define VKGEMM_ROW(id, number, text, sums, operand, shape, meaning) \
    {id, text, StepSums::sums, operand, StepShape::shape},
    VKGEMM_STEP_ROWS(VKGEMM_ROW)
#undef VKGEMM_ROW
};

static_assert(count_from_1(step_info, &StepInfo::kind));
static_assert(std::size(step_info) < 32, "shaders/common/epilogue.glsl has a bit of a word for each step");

/// `kind` is a step, not VKGEMM_STEP_NONE.
constexpr const StepInfo& info(VkgemmStepKind kind) { return step_info[static_cast<size_t>(kind) - 1]; }

/// The step of the kernel, to which the second product of a pair is a residual.
constexpr VkgemmStepKind step_in_kernel(VkgemmStepKind kind) {
    static_assert(VKGEMM_STEP_PAIR_GELU - VKGEMM_STEP_GATE_GELU == VKGEMM_STEP_PAIR_RELU - VKGEMM_STEP_GATE_RELU);
    static_assert(VKGEMM_STEP_PAIR_SILU - VKGEMM_STEP_GATE_SILU == VKGEMM_STEP_PAIR_RELU - VKGEMM_STEP_GATE_RELU);
    return info(kind).is_pair() ? VkgemmStepKind(kind - (VKGEMM_STEP_PAIR_RELU - VKGEMM_STEP_GATE_RELU)) : kind;
}

/// The step that does to the transpose of D what `kind` does to D.
constexpr VkgemmStepKind transposed_step(VkgemmStepKind kind) {
    const StepInfo& from = info(kind);
    for (const StepInfo& to : step_info) {
        const bool crosses = from.is_of_rows() ? to.is_of_columns() : from.is_of_columns() && to.is_of_rows();
        if (crosses && to.operand == from.operand && to.width() == from.width()) return to.kind;
    }
    return kind;
}

}  // namespace vkgemm::plan
