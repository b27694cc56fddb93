// SPDX-License-Identifier: MIT
// What accuracy=f64_split and f64_split_wide cannot do.
#include "plan/base/concat.h"
#include "plan/problem/problem.h"
#include "shaders/common/moduli.h"

namespace vkgemm::plan {
namespace {

Refusal unfit_int8(const Problem& p, std::string_view what, std::string_view remedy) {
    return {VKGEMM_ERROR_UNSUPPORTED, concat({"the accuracy ", accuracy_name(p.accuracy), " is ", what, "; ", remedy})};
}

}  // namespace

uint32_t moduli_of(const Problem& p) { return p.accuracy == VKGEMM_ACCURACY_F64_SPLIT_WIDE ? MODULI_WIDE : MODULI; }

std::optional<Status> check_from_int8(const Problem& p) {
    constexpr std::string_view other = "leave the accuracy at its default";
    for (const Type t : {p.a.type, p.b.type, p.c.type, p.accumulate, p.d.type})
        if (t != f64) return unfit_int8(p, concat({"for f64 throughout, not for ", info(t).name}), other);
    if (p.grouping != VKGEMM_GROUPING_NONE) return unfit_int8(p, "not for groups", other);
    if (is_pair(p)) return unfit_int8(p, "not for pairs", "make two plans, of which the second has a gate");
    const bool is_packed = p.packedA != VKGEMM_PACKED_NONE || p.packedB != VKGEMM_PACKED_NONE;
    if (p.k > MODULI_MOST_K && (p.batchInvariant || is_packed || p.upTo)) {
        const char* const with = is_packed          ? "an operand that comes packed"
                                 : p.batchInvariant ? "batchInvariant"
                                                    : "sizes that vary (upTo)";
        return Refusal{
            VKGEMM_ERROR_LIMIT,
            concat({"k is ", p.k, ", above the limit of ", MODULI_MOST_K, " for accuracy=", accuracy_name(p.accuracy),
                    " with ", with, "; compute it as several products of a smaller k, each later one with beta 1"})};
    }
    if (p.k > MODULI_MOST_K)
        for (const EpilogueStep& s : p.epilogue)  // which may be D, where slices of K are added up
            if (info(s.kind).shape == StepShape::MATRIX)
                return Refusal{VKGEMM_ERROR_LIMIT,
                               concat({"k is ", p.k, ", above the limit of ", MODULI_MOST_K,
                                       " for accuracy=", accuracy_name(p.accuracy), " with ", info(s.kind).text,
                                       ", which reads a residual; apply it in another pass"})};
    return std::nullopt;
}

}  // namespace vkgemm::plan
