// SPDX-License-Identifier: MIT
//
// The operand of a run that a slot names. Header only; a later version may change it.
#ifndef VKGEMM_OPERANDS_HPP
#define VKGEMM_OPERANDS_HPP

#include <vkgemm/vkgemm.h>

namespace vkgemm {

/// `slot` is below VKGEMM_SLOT_COUNT.
inline const VkgemmOperand& operandOf(const VkgemmRun& run, VkgemmSlot slot) {
    switch (slot) {
        case VKGEMM_SLOT_A:
            return run.a;
        case VKGEMM_SLOT_B:
            return run.b;
        case VKGEMM_SLOT_C:
            return run.c;
        case VKGEMM_SLOT_BIAS:
            return run.bias;
        case VKGEMM_SLOT_SCALE:
            return run.scale;
        case VKGEMM_SLOT_RESIDUAL:
            return run.residual;
        case VKGEMM_SLOT_WORKSPACE:
            return run.workspace;
        case VKGEMM_SLOT_GROUPS:
            return run.groups;
        case VKGEMM_SLOT_INDICES:
            return run.indices;
        case VKGEMM_SLOT_SCALARS:
            return run.scalars;
        case VKGEMM_SLOT_B2:
            return run.b2;
        case VKGEMM_SLOT_BIAS2:
            return run.bias2;
        default:
            return run.d;
    }
}

}  // namespace vkgemm
#endif
