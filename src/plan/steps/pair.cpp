// SPDX-License-Identifier: MIT
#include "plan/steps/pair.h"

#include <algorithm>

#include "plan/base/rounding.h"
#include "plan/choice/schedule_parts.h"
#include "plan/steps/make_steps.h"

namespace vkgemm::plan {
namespace {

// Puts the gate at the beginning of the workspace, in the place of one operand, and what else is there behind it.
void place_gate(Steps& steps, VkgemmSlot gate, uint64_t bytes) {
    for (Step& s : steps.steps)
        for (size_t i = 0; i < s.slots.size(); ++i) {
            if (s.slots[i] == VKGEMM_SLOT_WORKSPACE) s.offsets[i] += round_up(bytes, region_alignment);
            if (s.slots[i] != gate) continue;
            s.slots[i] = VKGEMM_SLOT_WORKSPACE;
            s.bytes[i] = bytes;
        }
}

}  // namespace

Products products_of(const Problem& pair) {
    Products out;
    Problem& gate = out.gate = restated(pair);
    gate.c = {};
    gate.scaleType = gate.residualType = VKGEMM_TYPE_DEFAULT;
    out.gated = gate;
    out.gated.scaleType = pair.scaleType;
    out.gated.residualType = finished_in(pair);
    for (uint32_t i = 0; i < pair.epilogue.count; ++i)
        out.gated.epilogue.step[i].kind = step_in_kernel(pair.epilogue.step[i].kind);
    gate.d.type = finished_in(pair);
    gate.biasType = is_biased_pair(pair) ? pair.biasType : VKGEMM_TYPE_DEFAULT;
    gate.epilogue = {};
    if (is_biased_pair(pair)) gate.epilogue.add(pair.epilogue.step[0]);
    gate.scalars &= VKGEMM_SCALARS_ALPHA;
    return out;
}

uint64_t gate_bytes(const Problem& pair) {
    return info(finished_in(pair)).bytes_of(span_elements(operands(pair)[BIND_D]).value_or(UINT32_MAX));
}

Steps join_products(const Problem& pair, Steps gate, Steps gated, const DeviceCaps& dev, const Request& request) {
    const uint64_t bytes = gate_bytes(pair);
    place_gate(gate, VKGEMM_SLOT_D, bytes);
    place_gate(gated, VKGEMM_SLOT_RESIDUAL, bytes);
    for (Step& s : gate.steps) {
        std::ranges::replace(s.slots, VKGEMM_SLOT_B, VKGEMM_SLOT_B2);
        std::ranges::replace(s.slots, VKGEMM_SLOT_BIAS, VKGEMM_SLOT_BIAS2);
    }
    gate.error_bound = std::max(gate.error_bound, gated.error_bound);  // that of D's type is the second's
    add_part(gate, std::move(gated));
    const uint64_t others = gate.slots[VKGEMM_SLOT_WORKSPACE].bytes;
    gate.slots = requirements_of(pair, request.operand_alignment);
    gate.slots[VKGEMM_SLOT_WORKSPACE] =
        workspace_requirement(others ? round_up(bytes, region_alignment) + others : bytes, dev);
    gate.packed_keys = {};
    return gate;
}

}  // namespace vkgemm::plan
