// SPDX-License-Identifier: MIT
// Which types the operands of the epilogue may have, and when scalars may be in memory.
#include <algorithm>

#include "plan/base/concat.h"
#include "plan/problem/problem.h"

namespace vkgemm::plan {
namespace {

Refusal contradiction(std::string why) { return {VKGEMM_ERROR_INVALID_PROBLEM, std::move(why)}; }

// The operands of the epilogue with a type of their own.
constexpr std::pair<std::string_view, VkgemmSlot> typed_operands[] = {{"C", VKGEMM_SLOT_C},
                                                                      {"the bias", VKGEMM_SLOT_BIAS},
                                                                      {"the scale", VKGEMM_SLOT_SCALE},
                                                                      {"the residual", VKGEMM_SLOT_RESIDUAL}};

bool has_operand(const Problem& p, VkgemmSlot slot) {
    if (slot == VKGEMM_SLOT_C) return p.cSource == VKGEMM_C_SEPARATE;
    return std::any_of(p.epilogue.begin(), p.epilogue.end(),
                       [&](const EpilogueStep& s) { return info(s.kind).operand == slot; });
}

// Why an operand of the epilogue cannot have its type, which is not the one by default.
std::string check_operand_type(const Problem& p, std::string_view name, VkgemmSlot slot, Type type) {
    const std::string is = concat({name, " is ", info(type).name});
    const bool matrix = slot == VKGEMM_SLOT_C || slot == VKGEMM_SLOT_RESIDUAL;
    if (matrix && p.grouping != VKGEMM_GROUPING_NONE)
        return concat({is, ", but in a grouped product it must have D's type, ", info(p.d.type).name});
    if (slot == VKGEMM_SLOT_BIAS && type == i32 && is_scaled(p)) {
        if (info(p.epilogue.begin()->kind).operand == slot) return "";
        return concat({is, " and is added to the sum itself, so it must be the first step"});
    }
    if (type == i8 && matrix && is_scaled(p)) return "";
    const bool open = info(finished_in(p)).is_float && finished_in(p) != f64;
    if (open && (type == f32 || type == f16 || type == bf16)) return "";
    const std::string others = !open                      ? std::string(info(p.d.type).name) + ", D's type"
                               : !is_scaled(p)            ? "f32, f16 or bf16"
                               : matrix                   ? "f32, f16, bf16 or i8"
                               : slot == VKGEMM_SLOT_BIAS ? "f32, f16, bf16 or i32"
                                                          : "f32, f16 or bf16";
    return concat({is, ", but beside sums of ", info(p.accumulate).name, " and a D of ", info(p.d.type).name,
                   " it must be ", others});
}

}  // namespace

std::optional<Status> check_operand_types(const Problem& p) {
    for (const auto& [name, slot] : typed_operands) {
        const Type type = *epilogue_type(p, slot);
        const bool factor = slot == VKGEMM_SLOT_BIAS || slot == VKGEMM_SLOT_SCALE;
        if (type == (factor ? default_factor_type(p.d.type) : p.d.type)) continue;
        if (!has_operand(p, slot))
            return contradiction(
                concat({name, " has a type of its own, ", info(type).name, ", but the problem has none",
                        (slot == VKGEMM_SLOT_C ? " beside D" : ""), "; leave it at its default"}));
        if (std::string why = check_operand_type(p, name, slot, type); !why.empty())
            return Refusal{VKGEMM_ERROR_UNSUPPORTED, why};
    }
    return std::nullopt;
}

std::optional<Status> check_scalars(const Problem& p) {
    if (!p.scalars) return std::nullopt;
    const Type sums = finished_in(p);
    if (sums == f64 || !info(sums).is_float)
        return Refusal{VKGEMM_ERROR_UNSUPPORTED, concat({"scalars in memory are f32; sums of ", info(sums).name,
                                                         " have none, so leave `scalars` 0, or sum in f32"})};
    if (p.grouping != VKGEMM_GROUPING_NONE)
        return Refusal{VKGEMM_ERROR_UNSUPPORTED, "grouped products have no scalars in memory; leave `scalars` 0"};
    if ((p.scalars & VKGEMM_SCALARS_BETA) && p.cSource == VKGEMM_C_NONE)
        return contradiction(
            "beta is in memory, but the problem has no C; set its cSource (c=d or c=separate in its line)");
    const bool clamps = std::any_of(p.epilogue.begin(), p.epilogue.end(),
                                    [](const EpilogueStep& s) { return info(s.kind).has_bounds(); });
    if ((p.scalars & VKGEMM_SCALARS_CLAMP) && !clamps)
        return contradiction("the bounds of a clamp are in memory, but the epilogue has none");
    if (clamps && !(p.scalars & VKGEMM_SCALARS_CLAMP))
        return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                       "a clamp beside scalars in memory has its bounds there too: add VKGEMM_SCALARS_CLAMP"};
    return std::nullopt;
}

std::optional<Type> epilogue_type(const Problem& p, VkgemmSlot slot) {
    switch (slot) {
        case VKGEMM_SLOT_C:
            return p.c.type;
        case VKGEMM_SLOT_BIAS:
        case VKGEMM_SLOT_BIAS2:
            return p.biasType;
        case VKGEMM_SLOT_SCALE:
            return p.scaleType;
        case VKGEMM_SLOT_RESIDUAL:
            return p.residualType;
        default:
            return std::nullopt;
    }
}

bool is_read_in_words(const Problem& p, VkgemmSlot slot) {
    const std::optional<Type> type = epilogue_type(p, slot);
    return type && *type != p.d.type && info(*type).bytes == 2 && !is_scaled(p);
}

}  // namespace vkgemm::plan
