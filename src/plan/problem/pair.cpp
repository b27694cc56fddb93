// SPDX-License-Identifier: MIT
// Pairs: a D that is made of two products, by B and by B2.
#include "plan/base/concat.h"
#include "plan/problem/problem.h"

namespace vkgemm::plan {

std::optional<Status> check_pair(const Problem& p) {
    if (!is_pair(p)) return std::nullopt;
    const size_t at = is_biased_pair(p) ? 1 : 0;
    const StepInfo& step = info(p.epilogue.step[at].kind);
    if (!step.is_pair())
        return Refusal{
            VKGEMM_ERROR_INVALID_PROBLEM,
            "a pair is the first step of the epilogue, or the second after a bias, which both products have"};
    const auto refused = [&](std::string_view why) {
        return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                       concat({step.text, " is not for ", why, "; two plans compute it, the second with the step gate=",
                               step.text.substr(step.key().size()), " in place of the pair"})};
    };
    for (const EpilogueStep& s : p.epilogue)
        if (info(s.kind).operand == VKGEMM_SLOT_RESIDUAL)
            return refused(concat({"an epilogue with ", info(s.kind).text}));
    if (p.cSource != VKGEMM_C_NONE) return refused("a product with a C");
    if (p.d.layout != rowMajor) return refused("a column-major D");
    if (p.grouping != VKGEMM_GROUPING_NONE) return refused("groups");
    if (is_scaled(p)) return refused("sums of whole numbers that become floats or i8");
    if (p.packedB != VKGEMM_PACKED_NONE) return refused("a B that comes packed");
    return std::nullopt;
}

}  // namespace vkgemm::plan
