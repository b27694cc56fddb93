// SPDX-License-Identifier: MIT
#include "vk/enums.h"

#include <string>

#include "plan/base/concat.h"
#include "plan/problem/epilogue.h"
#include "plan/problem/types.h"

namespace vkgemm::vk {
namespace {

using plan::Refusal;

template <class Enum>
std::optional<Status> check(const char* what, const Enum& given, int first, int last) {
    return check_enum(what, enum_value(given), first, last);
}

constexpr int last_type = std::size(plan::type_info), last_step = std::size(plan::step_info);

std::optional<Status> check_matrix(const VkgemmMatrix& m, const char* type_name, const char* layout_name) {
    if (auto why = check(type_name, m.type, 0, last_type)) return why;
    return check(layout_name, m.layout, 0, VKGEMM_LAYOUT_COLUMN_MAJOR);
}

std::optional<Status> check_steps(const VkgemmProblem& p) {
    if (p.epilogueCount > VKGEMM_MAX_EPILOGUE_STEPS)
        return Refusal{
            VKGEMM_ERROR_INVALID_ARGUMENT,
            plan::concat({"epilogueCount is ", p.epilogueCount, ", above the limit of ", VKGEMM_MAX_EPILOGUE_STEPS})};
    for (uint32_t i = 0; i < p.epilogueCount; ++i) {
        const std::string name = plan::concat({"epilogue[", i, "].kind"});
        if (enum_value(p.epilogue[i].kind) == VKGEMM_STEP_NONE)
            return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                           plan::concat({name, " is VKGEMM_STEP_NONE, but epilogueCount is ", p.epilogueCount,
                                         "; the first epilogueCount entries must be steps"})};
        if (auto why = check(name.c_str(), p.epilogue[i].kind, 1, last_step)) return why;
    }
    return std::nullopt;
}

}  // namespace

std::optional<Status> check_enum(const char* what, int32_t value, int32_t first, int32_t last) {
    if (value >= first && value <= last) return std::nullopt;
    return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                   plan::concat({what, " is ", value, "; known are ", first, " to ", last})};
}

std::optional<Status> check_enums(const VkgemmProblem& p) {
    if (auto why = check_matrix(p.a, "a.type", "a.layout")) return why;
    if (auto why = check_matrix(p.b, "b.type", "b.layout")) return why;
    if (auto why = check_matrix(p.c, "c.type", "c.layout")) return why;
    if (auto why = check_matrix(p.d, "d.type", "d.layout")) return why;
    if (auto why = check("cSource", p.cSource, 0, VKGEMM_C_SEPARATE)) return why;
    if (auto why = check("accumulate", p.accumulate, 0, last_type)) return why;
    if (auto why = check("accuracy", p.accuracy, 0, VKGEMM_ACCURACY_F64_SPLIT_WIDE)) return why;
    if (auto why = check_steps(p)) return why;
    if (auto why = check("grouping", p.grouping, 0, VKGEMM_GROUPING_SELECTED)) return why;
    if (auto why = check("biasType", p.biasType, 0, last_type)) return why;
    if (auto why = check("scaleType", p.scaleType, 0, last_type)) return why;
    return check("residualType", p.residualType, 0, last_type);
}

std::optional<Status> check_enums(const VkgemmPlanOptions& o) {
    return check("VkgemmPlanOptions::operands", o.operands, 0, VKGEMM_OPERANDS_DESCRIPTORS);
}

std::optional<Status> check_enums(const VkgemmContextInfo& i) {
    return check("VkgemmContextInfo::nativeKernels", i.nativeKernels, 0, VKGEMM_NATIVE_ANY_DRIVER);
}

std::optional<Status> check_enums(const VkgemmNeedsInfo& i) {
    return check("VkgemmNeedsInfo::operands", i.operands, 0, VKGEMM_OPERANDS_DESCRIPTORS);
}

}  // namespace vkgemm::vk
