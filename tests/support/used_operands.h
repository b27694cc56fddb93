// SPDX-License-Identifier: MIT
// Runs that fit any plan, for tests that go through many, and what fits none that is plain.
#pragma once
#include <cstddef>

#include "vkgemm/vkgemm.h"

namespace vkgemm::test {

/// The run without the operands that the plan has no use for, with which it would be refused.
inline VkgemmRun used_by(VkgemmPlan plan, VkgemmRun run) {
    using R = VkgemmRun;
    constexpr VkgemmOperand R::*operands[] = {&R::a,       &R::b,        &R::c,    &R::d,      &R::bias,
                                              &R::scale,   &R::residual, nullptr,  &R::groups, &R::indices,
                                              &R::scalars, &R::b2,       &R::bias2};
    VkgemmPlanInfo info{};
    info.structSize = offsetof(VkgemmPlanInfo, usefulWorkspace);  // the rest takes time and memory
    if (vkgemmGetPlanInfo(plan, &info) != VKGEMM_SUCCESS) return run;
    for (uint32_t i = 0; i < VKGEMM_SLOT_COUNT; ++i)
        if (operands[i] && !info.requiredBytes[i]) run.*operands[i] = {};  // any run may have a workspace
    return run;
}

/// An operand that a product of A and B alone has no use for, and a part of the reason.
struct UnusedOperand {
    const char* name;
    VkgemmOperand VkgemmRun::*operand;
    const char* why;
};
inline constexpr UnusedOperand unused_operands[] = {
    {"operand c ", &VkgemmRun::c, "cSource"},
    {"operand bias ", &VkgemmRun::bias, "no step"},
    {"operand scale ", &VkgemmRun::scale, "no step"},
    {"operand residual ", &VkgemmRun::residual, "no step"},
    {"operand b2 ", &VkgemmRun::b2, "no step"},
    {"operand bias2 ", &VkgemmRun::bias2, "no step"},
    {"operand groups ", &VkgemmRun::groups, "plan"},
    {"operand indices ", &VkgemmRun::indices, "plan"},
    {"operand scalars ", &VkgemmRun::scalars, "VkgemmProblem::scalars"},
};

}  // namespace vkgemm::test
