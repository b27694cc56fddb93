// SPDX-License-Identifier: MIT
// Runs that fit any plan, for tests that go through many.
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

}  // namespace vkgemm::test
