// SPDX-License-Identifier: MIT
// How the steps of a plan are repeated for the levels of a batch that no dispatch takes.
#include <algorithm>
#include <numeric>

#include "plan/steps/steps.h"

namespace vkgemm::plan {

uint64_t Repeats::offset(uint32_t number, VkgemmSlot slot) const {
    uint64_t out = 0;
    if (number == 0) return out;  // of most plans there is no other
    for (const Level& l : levels) {
        out += number % l.count * l.bytes[size_t(slot)];
        number /= l.count;
    }
    return out;
}

namespace {

// Whether the descriptors of D of two repetitions may overlap: its matrices lie between each other, or one descriptor
// begins at the device's alignment below the place where another ends. No element is written twice, but validation
// layers compare ranges.
bool descriptors_overlap(const Levels& repeated, const Problem& p, const DeviceCaps& dev, uint32_t operand_alignment) {
    const TypeInfo& type = info(p.d.type);
    std::array<std::pair<uint64_t, uint64_t>, Levels::most> steps{};  // bytes, repetitions
    uint64_t common = operand_alignment;
    for (size_t i = 0; i < repeated.count; ++i) {
        steps[i] = {type.bytes_of(repeated.level[i].stride[BIND_D]), repeated.level[i].count};
        common = std::gcd(common, steps[i].first);
    }
    std::sort(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(repeated.count));
    const uint64_t alignment = std::max(dev.offset_alignment, 1u), below = alignment - std::gcd(alignment, common);
    uint64_t reach = type.bytes_of(*span_elements(p.d, p.m, p.n, p.batch));
    for (size_t i = 0; i < repeated.count; ++i) {
        if (steps[i].first < reach + below) return true;
        reach += (steps[i].second - 1) * steps[i].first;
    }
    return false;
}

}  // namespace

Repeats repeats_of(const Normalised& n, const Schedule& schedule, std::span<const Step> steps, Binding binding,
                   const DeviceCaps& dev, uint32_t operand_alignment) {
    Repeats out;
    if (n.repeated.count == 0) return out;
    const Problem& p = n.problem;
    const auto all = operands(p);
    const bool residual =
        std::ranges::any_of(p.epilogue, [](const EpilogueStep& s) { return s.kind == VKGEMM_STEP_RESIDUAL; });
    const auto move = [&](VkgemmSlot slot, size_t operand) {
        const Operand& x = all[operand];
        const TypeInfo& type = info(epilogue_type(p, slot).value_or(x.matrix->type));
        out.reach[slot] = type.bytes_of(*span_elements(*x.matrix, x.rows, x.cols, p.batch));
        for (size_t i = 0; i < n.repeated.count; ++i)
            out.levels[i].bytes[slot] = type.bytes_of(n.repeated.level[i].stride[operand]);
    };
    for (size_t i = 0; i < n.repeated.count; ++i) {
        out.levels[i].count = static_cast<uint32_t>(n.repeated.level[i].count);
        out.count *= out.levels[i].count;
    }
    if (!schedule.a.key) move(slot_of(true, n.swapped), BIND_A);
    if (!schedule.b.key) move(slot_of(false, n.swapped), BIND_B);
    if (p.cSource == VKGEMM_C_SEPARATE) move(VKGEMM_SLOT_C, BIND_C);
    move(VKGEMM_SLOT_D, BIND_D);
    if (residual) move(VKGEMM_SLOT_RESIDUAL, BIND_D);
    for (const Step& s : steps)
        if (std::ranges::find(s.slots, VKGEMM_SLOT_WORKSPACE) != s.slots.end()) out.are_ordered = true;
    if (binding == Binding::descriptors && descriptors_overlap(n.repeated, p, dev, operand_alignment))
        out.are_ordered = true;
    return out;
}

}  // namespace vkgemm::plan
