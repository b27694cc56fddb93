// SPDX-License-Identifier: MIT
// What a run must bring for each operand.
#include <algorithm>

#include "plan/base/rounding.h"
#include "plan/steps/make_steps.h"

namespace vkgemm::plan {

BySlot<Requirement> requirements_of(const Problem& p, uint32_t operand_alignment) {
    BySlot<Requirement> out;
    const auto all = operands(p);
    const auto matrix = [&](VkgemmSlot s, Operand x, bool reads, bool writes) {
        const TypeInfo& type = info(epilogue_type(p, s).value_or(x.matrix->type));
        const bool in_words = (is_mixed(p) && (s == VKGEMM_SLOT_A || s == VKGEMM_SLOT_B)) || is_read_in_words(p, s);
        const bool is_one = p.grouping == VKGEMM_GROUPING_INDEXED && s != VKGEMM_SLOT_B;  // for all groups
        if (is_one) x.batch = 1;
        const uint64_t bytes = type.bytes_of(*span_elements(x));
        // An element of A or B may begin within a word; one of the epilogue's operands may not.
        const bool is_factor = s == VKGEMM_SLOT_A || s == VKGEMM_SLOT_B;
        const uint32_t unit = in_words && !is_factor ? std::max(4u, type.unit_bytes()) : type.unit_bytes();
        const uint32_t alignment = std::max(operand_alignment, unit);
        const uint64_t words = round_up(bytes, 4) + (alignment < 4 ? 4 - alignment : 0);  // that an operand may touch
        out[size_t(s)] = {
            .bytes = in_words && bytes ? words : bytes, .alignment = alignment, .reads = reads, .writes = writes};
    };
    const auto vector = [&](VkgemmSlot s, uint64_t elements) {
        const uint32_t bytes = info(*epilogue_type(p, s)).bytes, unit = is_read_in_words(p, s) ? 4 : bytes;
        out[size_t(s)] = {.bytes = round_up(elements * bytes, unit), .alignment = unit, .reads = true};
    };
    matrix(VKGEMM_SLOT_A, all[BIND_A], true, false);
    matrix(VKGEMM_SLOT_B, all[BIND_B], true, false);
    matrix(VKGEMM_SLOT_D, all[BIND_D], p.cSource == VKGEMM_C_IS_D, true);
    if (p.cSource == VKGEMM_C_SEPARATE) matrix(VKGEMM_SLOT_C, all[BIND_C], true, false);
    if (p.scalars)
        out[VKGEMM_SLOT_SCALARS] = {.bytes = sizeof(VkgemmScalars),
                                    .alignment = 4,
                                    .reads = true,
                                    .writes = (p.scalars & (VKGEMM_SCALARS_MONITOR | VKGEMM_SCALARS_LARGEST)) != 0};
    for (const EpilogueStep& e : p.epilogue) {
        const StepInfo& step = info(e.kind);
        if (step.shape == StepShape::MATRIX) matrix(step.operand, all[BIND_D], true, false);
        if (step.is_pair()) out[VKGEMM_SLOT_B2] = out[VKGEMM_SLOT_B];
        if (step.is_of_rows()) vector(step.operand, p.m * step.width());
        if (step.is_of_columns()) vector(step.operand, p.n * step.width());
        if (step.shape == StepShape::ONE) vector(step.operand, 1);
    }
    if (is_biased_pair(p)) out[VKGEMM_SLOT_BIAS2] = out[VKGEMM_SLOT_BIAS];
    return out;
}

Requirement packed_requirement(const Packing& packing) {
    return {.bytes = packing.bytes, .alignment = 16, .reads = true, .packed = true};
}

Requirement workspace_requirement(uint64_t bytes, const DeviceCaps& dev) {
    return {.bytes = bytes, .alignment = std::max(dev.offset_alignment, 16u), .reads = true, .writes = true};
}

void set_own_slots(std::span<Requirement> slots, const Schedule& schedule, bool swapped, const DeviceCaps& dev) {
    if (schedule.a.key) slots[slot_of(true, swapped)] = packed_requirement(schedule.a);
    if (schedule.b.key) slots[slot_of(false, swapped)] = packed_requirement(schedule.b);
    const uint64_t bytes = schedule.workspace_bytes();
    if (bytes) slots[VKGEMM_SLOT_WORKSPACE] = workspace_requirement(bytes, dev);
}

}  // namespace vkgemm::plan
