// SPDX-License-Identifier: MIT
// How the steps of a plan are repeated for the levels of a batch that no dispatch takes.
#include <algorithm>
#include <numeric>

#include "plan/steps/steps.h"

namespace vkgemm::plan {

uint64_t Repeats::offset(uint32_t number, VkgemmSlot slot) const {
    uint64_t out = begin[size_t(slot)];
    if (number == 0) return out;  // of most plans there is no other
    for (const Level& l : levels) {
        out += number % l.count * l.bytes[size_t(slot)];
        number /= l.count;
    }
    return out;
}

namespace {

// Whether the descriptors of D of two repetitions may overlap: its matrices are interleaved, or one descriptor
// begins at the device's alignment below the place where another ends. No element is written twice, but validation
// layers compare ranges.
bool descriptors_overlap(const Levels& repeated, const Problem& p, const DeviceCaps& dev, uint32_t operand_alignment) {
    const TypeInfo& type = info(p.d.type);
    std::array<Strides, Levels::most> steps{};
    uint64_t common = operand_alignment;
    for (size_t i = 0; i < repeated.count; ++i) {
        steps[i] = {type.bytes_of(repeated.level[i].stride[BIND_D]), repeated.level[i].count};
        common = std::gcd(common, steps[i].width);
    }
    const uint64_t alignment = std::max(dev.offset_alignment, 1u), below = alignment - std::gcd(alignment, common);
    uint64_t reach = type.bytes_of(*span_elements(p.d, p.m, p.n, p.batch));
    return first_overlap(std::span(steps).first(repeated.count), reach, below).has_value();
}

}  // namespace

Repeats repeats_of(const Normalised& normalised, const Schedule& schedule, std::span<const Step> steps, Binding binding,
                   const DeviceCaps& dev, uint32_t operand_alignment) {
    Repeats out;
    out.steps = steps.size();
    if (normalised.repeated.count == 0 && !normalised.is_part) return out;
    const Problem& p = normalised.problem;
    const auto all = operands(p);
    const auto move_by = [&](VkgemmSlot slot, Type type, uint64_t elements, const auto& step) {
        out.reach[slot] = info(type).bytes_of(elements);
        out.begin[slot] = info(type).bytes_of(step(normalised.begin));
        for (size_t i = 0; i < normalised.repeated.count; ++i)
            out.levels[i].bytes[slot] = info(type).bytes_of(step(normalised.repeated.level[i]));
    };
    const auto move = [&](VkgemmSlot slot, size_t operand) {
        const Operand& x = all[operand];
        move_by(slot, epilogue_type(p, slot).value_or(x.matrix->type),
                *span_elements(*x.matrix, x.rows, x.cols, p.batch), [&](const Level& l) { return l.stride[operand]; });
    };
    for (size_t i = 0; i < normalised.repeated.count; ++i) {
        out.levels[i].count = static_cast<uint32_t>(normalised.repeated.level[i].count);
        out.count *= out.levels[i].count;
    }
    if (!schedule.a.key) move(slot_of(true, normalised.swapped), BIND_A);
    if (!schedule.b.key) move(slot_of(false, normalised.swapped), BIND_B);
    if (p.cSource == VKGEMM_C_SEPARATE) move(VKGEMM_SLOT_C, BIND_C);
    move(VKGEMM_SLOT_D, BIND_D);
    for (const EpilogueStep& s : p.epilogue) {
        const StepInfo& step = info(s.kind);
        const VkgemmSlot slot = step.operand;
        const uint64_t width = step.width();
        if (step.shape == StepShape::MATRIX) move(slot, BIND_D);
        if (step.is_pair()) move(slot, BIND_B);
        if (step.is_of_rows())
            move_by(slot, *epilogue_type(p, slot), p.m * width, [&](const Level& l) { return l.rows * width; });
        if (step.is_of_columns())
            move_by(slot, *epilogue_type(p, slot), p.n * width, [&](const Level& l) { return l.columns * width; });
    }
    if (is_biased_pair(p)) {
        for (Repeats::Level& l : out.levels) l.bytes[VKGEMM_SLOT_BIAS2] = l.bytes[VKGEMM_SLOT_BIAS];
        out.begin[VKGEMM_SLOT_BIAS2] = out.begin[VKGEMM_SLOT_BIAS];
        out.reach[VKGEMM_SLOT_BIAS2] = out.reach[VKGEMM_SLOT_BIAS];
    }
    for (const Step& s : steps)
        if (std::ranges::find(s.slots, VKGEMM_SLOT_WORKSPACE) != s.slots.end()) out.are_ordered = true;
    out.adds = normalised.adds;
    if (normalised.adds ||
        (binding == Binding::descriptors && descriptors_overlap(normalised.repeated, p, dev, operand_alignment)))
        out.are_ordered = true;
    return out;
}

}  // namespace vkgemm::plan
