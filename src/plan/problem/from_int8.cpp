// SPDX-License-Identifier: MIT
// What accuracy=f64_split cannot do.
#include "plan/base/concat.h"
#include "plan/problem/problem.h"
#include "shaders/common/moduli.h"

namespace vkgemm::plan {
namespace {

Refusal unfit_int8(std::string_view what, std::string_view remedy) {
    return {VKGEMM_ERROR_UNSUPPORTED, concat({"the accuracy f64_split is ", what, "; ", remedy})};
}

}  // namespace

std::optional<Status> check_from_int8(const Problem& p) {
    constexpr std::string_view other = "leave the accuracy at its default";
    for (const Type t : {p.a.type, p.b.type, p.c.type, p.accumulate, p.d.type})
        if (t != f64) return unfit_int8(concat({"for f64 throughout, not for ", info(t).name}), other);
    if (p.grouping != VKGEMM_GROUPING_NONE) return unfit_int8("not for groups", other);
    if (is_pair(p)) return unfit_int8("not for pairs", "make two plans, of which the second has a gate");
    const bool is_packed = p.packedA != VKGEMM_PACKED_NONE || p.packedB != VKGEMM_PACKED_NONE;
    if (p.k > MODULI_MOST_K && (p.batchInvariant || is_packed || p.upTo))
        return Refusal{VKGEMM_ERROR_LIMIT,
                       concat({"k is ", p.k, ", above the limit of ", MODULI_MOST_K, " for accuracy=f64_split with ",
                               (is_packed          ? "an operand that comes packed"
                                : p.batchInvariant ? "batchInvariant"
                                                   : "sizes that vary (upTo)")})};
    if (p.k > MODULI_MOST_K)
        for (const EpilogueStep& s : p.epilogue)  // which may be D, where slices of K are added up
            if (info(s.kind).shape == StepShape::MATRIX)
                return Refusal{VKGEMM_ERROR_LIMIT, concat({"k is ", p.k, ", above the limit of ", MODULI_MOST_K,
                                                           " for accuracy=f64_split with ", info(s.kind).text,
                                                           ", which reads a residual; apply it in another pass"})};
    return std::nullopt;
}

}  // namespace vkgemm::plan
