// SPDX-License-Identifier: MIT
#include "plan/chain.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>
#include <utility>

#include "plan/base/concat.h"
#include "plan/base/rounding.h"
#include "plan/problem/problem_text.h"

namespace vkgemm::plan {
namespace {

Refusal unsupported(std::string_view what, std::string_view remedy) {
    return {VKGEMM_ERROR_UNSUPPORTED, concat({what, ", which a chain cannot have; ", remedy})};
}

// What no product of a chain can have.
std::optional<Status> unfit_product(const Problem& p, size_t product) {
    if (p.grouping != VKGEMM_GROUPING_NONE && p.grouping != VKGEMM_GROUPING_TABLE)
        return unsupported("it has groups", "make a plan of its own for it");
    if (is_counted(p) && (p.batch > 1 || p.upTo != VKGEMM_UP_TO_M))
        return unsupported(concat({"it has a table of ", std::max<uint64_t>(p.batch, 1), " groups and upTo ", p.upTo}),
                           "in a chain, a table has the m of one group (batch 1, upTo VKGEMM_UP_TO_M)");
    if (p.packedB != VKGEMM_PACKED_NONE || (product == 0 && p.packedA != VKGEMM_PACKED_NONE))
        return unsupported("it has packed operands", "pass them as the problem describes them");
    if (p.outerBatch > 1 || p.ratioA > 1 || p.ratioB > 1)
        return unsupported(
            concat({"it has an outer batch (", p.outerBatch, ") or ratios (", p.ratioA, ", ", p.ratioB, ")"}),
            "use the inner batch alone");
    if (p.upTo & ~uint32_t{VKGEMM_UP_TO_M})
        return unsupported(
            concat({"its upTo is ", p.upTo, ", and more than m (", uint32_t{VKGEMM_UP_TO_M}, ") varies"}),
            "vary m alone");
    return std::nullopt;
}

struct Size {
    std::string_view name;
    uint64_t value;
    std::string_view of_before;
    uint64_t before;
};

// Why the sizes of a product do not fit those of the one before it.
std::optional<Status> unfit_sizes_after(const Problem& before, const Problem& p) {
    const std::array sizes = {Size{"m", p.m, "m", before.m}, Size{"k", p.k, "n", before.n},
                              Size{"batch", p.batch, "batch", before.batch}, Size{"upTo", p.upTo, "upTo", before.upTo},
                              Size{"grouping", p.grouping, "grouping", before.grouping}};
    for (const Size& s : sizes)
        if (s.value != s.before)
            return Refusal{VKGEMM_ERROR_INVALID_PROBLEM,
                           concat({s.name, " is ", s.value, ", but ", s.of_before, " of the product before it is ",
                                   s.before, "; they must be the same"})};
    return std::nullopt;
}

bool is_unset(const Matrix& m) {
    return m.type == VKGEMM_TYPE_DEFAULT && m.layout == rowMajor && m.ld == 0 && m.batchStride == 0;
}

// Why an A that the caller did state is not the D before it. `a` and `d` are completed.
std::optional<Status> unlike(const Matrix& a, const Matrix& d) {
    const auto refused = [](std::string_view what, const auto& of_a, const auto& of_d) {
        return Refusal{VKGEMM_ERROR_INVALID_PROBLEM,
                       concat({what, " of A is ", of_a, ", but that of the D before it is ", of_d,
                               "; leave A zero, or describe the same matrix"})};
    };
    if (a.type != d.type) return refused("the type", info(a.type).name, info(d.type).name);
    if (a.layout != d.layout) return refused("the layout", int(a.layout), int(d.layout));
    if (a.ld != d.ld) return refused("the leading dimension", a.ld, d.ld);
    if (a.batchStride != d.batchStride) return refused("the batch stride", a.batchStride, d.batchStride);
    return std::nullopt;
}

// Lays out the workspace: two places in turn for values between products, then the scratch of single products.
void set_workspace(Chain& chain, const Request& request) {
    constexpr uint64_t least_alignment = 16;
    chain.workspace_alignment = std::max<uint64_t>(least_alignment, request.operand_alignment);
    std::array<uint64_t, 2> largest{};
    uint64_t scratch = 0;
    for (size_t i = 0; i < chain.plans.size(); ++i) {
        const auto& slots = chain.plans[i].steps.slots;
        const Requirement& space = slots[size_t(VKGEMM_SLOT_WORKSPACE)];
        scratch = std::max(scratch, space.bytes);
        chain.workspace_alignment = std::max<uint64_t>(chain.workspace_alignment, space.alignment);
        const uint64_t bytes = chain.kept[i] ? 0 : slots[size_t(VKGEMM_SLOT_D)].bytes;
        chain.intermediate.push_back({0, bytes});
        largest[i % 2] = std::max(largest[i % 2], bytes);
    }
    const uint64_t between = std::max<uint64_t>(256, chain.workspace_alignment);  // no place depends on the device
    const uint64_t second = round_up(largest[0], between);
    chain.scratch = {second + round_up(largest[1], between), scratch};
    for (size_t i = 1; i < chain.intermediate.size(); i += 2) chain.intermediate[i].begin = second;
    const uint64_t end = second + largest[1];
    chain.workspace_bytes = scratch ? chain.scratch.begin + scratch : largest[1] ? end : largest[0];
}

}  // namespace

Status about_product(size_t product, Status why) {
    why.text = concat({"product ", product, ": ", why.text});
    return why;
}

Result<std::vector<Problem>> joined(const ChainProblem& given) {
    std::vector<Problem> out;
    Problem before;  // completed
    for (size_t i = 0; i < given.problems.size(); ++i) {
        Problem p = given.problems[i];
        if (auto why = unfit_product(p, i)) return about_product(i, *why);
        const bool is_kept = i + 1 == given.problems.size() || (given.kept >> i & 1);
        if (p.cSource == VKGEMM_C_IS_D && !is_kept)
            return about_product(i, Refusal{VKGEMM_ERROR_INVALID_PROBLEM,
                                            "cSource is D, but this D is not kept, so it holds nothing to add; set its "
                                            "bit in VkgemmChainProblem::kept"});
        const bool follows = i > 0 && is_unset(p.a);
        if (i > 0)
            if (auto why = unfit_sizes_after(before, p)) return about_product(i, *why);
        if (follows) p.a = before.d;
        const Result<Problem> completed = complete(p);
        if (!completed) return about_product(i, completed.status());
        if (i > 0 && !follows)
            if (auto why = unlike(completed->a, before.d)) return about_product(i, *why);
        before = *completed;
        out.push_back(p);
    }
    return out;
}

Result<Chain> plan_chain(const DeviceKernels& device, const ChainProblem& given, const Request& request) {
    const Result<std::vector<Problem>> problems = joined(given);
    if (!problems) return problems.status();
    Chain chain;
    std::vector<Problem> completed;
    for (size_t i = 0; i < problems->size(); ++i) {
        chain.kept.push_back(i + 1 == problems->size() || (given.kept >> i & 1));
        completed.push_back(*complete((*problems)[i]));
    }
    chain.counted = is_counted(completed[0]);
    Request of_plans = request;
    if (given.separate) {
        chain.why_separate = "VKGEMM_CHAIN_SEPARATE asks for it";
    } else if (auto fused = fuse(device.caps(), completed, given.kept, request)) {
        chain.fused = *std::move(fused);
        of_plans.addresses = true;
        of_plans.workspace_limit = 0;
    } else {
        chain.why_separate = fused.status().text;
    }
    for (size_t i = 0; i < problems->size(); ++i) {
        Problem p = (*problems)[i];
        if (chain.fused) p.grouping = VKGEMM_GROUPING_NONE;  // whose operands are those of a product without
        Result<Plan> plan = make_plan(device, p, of_plans);
        if (!plan) return about_product(i, plan.status());
        if (chain.fallback.empty() && !plan->fallback.empty())
            chain.fallback = concat({"product ", i, ": ", plan->fallback});
        chain.plans.push_back(*std::move(plan));
    }
    if (!chain.fused) set_workspace(chain, request);
    return chain;
}

std::string to_text(const Chain& chain) {
    std::string out =
        chain.fused ? concat({"one dispatch: ", chain.fused->key.module->name, " ", chain.fused->tile, "\n"})
                    : concat({chain.plans.size(),
                              " plans, one for each product, with barriers between them: ", chain.why_separate, "\n"});
    for (size_t i = 0; i < chain.plans.size(); ++i) {
        const Plan& p = chain.plans[i];
        const std::string_view kernel = p.choice.kernel ? p.choice.kernel->name : "nothing to compute";
        out += concat({"product ", i, ": ", to_text(p.problem.given, 1, 0), (chain.fused ? "" : ": "),
                       (chain.fused ? "" : kernel), (chain.kept[i] ? "" : "; its D is "),
                       (chain.kept[i] ? ""
                        : chain.fused ? "not stored"
                                      : "in the workspace"),
                       "\n"});
    }
    if (chain.fused && chain.counted) out += "the GPU counts m, in the group that product 0 has\n";
    if (chain.workspace_bytes) out += concat({"workspace: ", chain.workspace_bytes, " bytes\n"});
    return out;
}

}  // namespace vkgemm::plan
