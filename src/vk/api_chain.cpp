// SPDX-License-Identifier: MIT
// The public functions of chain.h.
#include <bit>

#include "plan/base/concat.h"
#include "plan/problem/problem_text.h"
#include "vk/api_getter.h"
#include "vk/chain.h"
#include "vk/describe_run.h"
#include "vk/plan_pipelines.h"
#include "vk/request.h"

using namespace vkgemm;
using plan::Refusal;
using plan::Result;

namespace {

std::optional<Status> unfit_chain(const VkgemmChainProblem& given) {
    const uint32_t count = given.problemCount;
    if (count == 0 || count > VKGEMM_MAX_CHAIN_PRODUCTS)
        return Refusal{
            count ? VKGEMM_ERROR_LIMIT : VKGEMM_ERROR_INVALID_ARGUMENT,
            plan::concat({"problemCount is ", count, "; a chain has 1 to ", VKGEMM_MAX_CHAIN_PRODUCTS, " products"})};
    if (!given.problems) return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "VkgemmChainProblem::problems is null"};
    if (static_cast<uint32_t>(std::bit_width(given.kept)) > count)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       plan::concat({"kept is ", given.kept, ", with a bit of product ", std::bit_width(given.kept) - 1,
                                     ", and the chain has ", count, " products, numbered from 0"})};
    if (given.flags & ~uint32_t{VKGEMM_CHAIN_SEPARATE})
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, plan::concat({"VkgemmChainProblem::flags has unknown bits: ",
                                                                    given.flags & ~uint32_t{VKGEMM_CHAIN_SEPARATE}})};
    return std::nullopt;
}

// The first problem's structSize is the distance from one to the next.
Result<plan::ChainProblem> chain_problem_from(const VkgemmChainProblem* given) {
    const Result<VkgemmChainProblem> from = vk::read_struct(given);
    if (!from) return from.status();
    if (auto why = unfit_chain(*from)) return *why;
    plan::ChainProblem out = {.problems = {}, .kept = from->kept, .separate = from->flags != 0};
    for (uint32_t i = 0; i < from->problemCount; ++i) {
        const VkgemmProblem* const one = vk::array_element(from->problems, i);
        if (one->structSize != from->problems->structSize)
            return plan::about_product(
                i,
                Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                        plan::concat({"VkgemmProblem::structSize is ", one->structSize, ", but that of product 0 is ",
                                      from->problems->structSize, "; all must be the same"})});
        const Result<plan::Problem> problem = vk::problem_from(one);
        if (!problem) return plan::about_product(i, problem.status());
        out.problems.push_back(*problem);
    }
    return out;
}

struct Planned {
    plan::Chain chain;
    VkgemmOperandKind operands;
    uint32_t flags;
};

// Refused on every device, also on one without the feature.
std::optional<Status> unfit_capture(const VkgemmPlanOptions* options) {
    if (!options) return std::nullopt;
    const auto read = vk::read_struct(options);
    if (!read) return read.status();
    if (!(read->flags & VKGEMM_PLAN_CAPTURE_STATISTICS)) return std::nullopt;
    return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                   plan::concat({"VkgemmPlanOptions::flags is ", read->flags,
                                 ": a chain reports no statistics of its pipelines; leave "
                                 "VKGEMM_PLAN_CAPTURE_STATISTICS out, or make a plan of each product"})};
}

Result<Planned> plan_for(VkgemmContext context, const VkgemmChainProblem* problem, const VkgemmPlanOptions* options) {
    if (!context) return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "context is null"};
    if (auto why = unfit_capture(options)) return *why;
    Planned out = {};
    const auto request = vk::request_from(options, *context, &out.flags);
    if (!request) return request.status();
    if (out.flags & (VKGEMM_PLAN_DEFER_COMPILE | VKGEMM_PLAN_FAIL_ON_COMPILE))
        return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                       plan::concat({"VkgemmPlanOptions::flags is ", out.flags,
                                     ": a chain has neither VKGEMM_PLAN_DEFER_COMPILE nor _FAIL_ON_COMPILE; create it "
                                     "on a thread that may wait"})};
    out.operands = request->addresses ? VKGEMM_OPERANDS_ADDRESSES : VKGEMM_OPERANDS_BUFFERS;
    const auto asked = chain_problem_from(problem);
    if (!asked) return asked.status();
    auto chain = plan::plan_chain(*context->kernels, *asked, *request);
    if (!chain) return chain.status();
    out.chain = *std::move(chain);
    return out;
}

Result<std::unique_ptr<VkgemmChain_T>> make_chain(VkgemmContext context, Planned planned) {
    auto out = std::make_unique<VkgemmChain_T>();
    out->context = context;
    out->flags = planned.flags;
    out->plan = std::move(planned.chain);
    const bool dry = planned.flags & VKGEMM_PLAN_DRY;
    const uint32_t of_products = out->plan.fused ? uint32_t{VKGEMM_PLAN_DRY} : planned.flags;
    for (plan::Plan& p : out->plan.plans) {
        auto made = vk::make_handle(context, std::move(p), planned.operands, of_products);
        if (!made) return plan::about_product(out->products.size(), made.status());
        out->products.push_back(*std::move(made));
    }
    out->plan.plans.clear();
    if (out->plan.fused && !dry) {
        auto use = context->pipelines.get(out->plan.fused->key, false);
        if (!use) return use.status();
        out->use = std::move(*use);
    }
    return out;
}

VkgemmChainAccess workspace_access(const plan::Chain& chain) {
    return {.product = UINT32_MAX,
            .access = {.slot = VKGEMM_SLOT_WORKSPACE,
                       .stage = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                       .access = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT,
                       .size = chain.workspace_bytes}};
}

// The m of a chain that is one dispatch. Plans of separate products report it themselves.
VkgemmAccess group_access() {
    return {.slot = VKGEMM_SLOT_GROUPS,
            .stage = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
            .access = VK_ACCESS_SHADER_READ_BIT,
            .size = sizeof(VkgemmGroup)};
}

// Of one product: what a run brings for it.
std::vector<VkgemmAccess> accesses_of(const VkgemmChain_T& chain, size_t product) {
    VkgemmAccess all[VKGEMM_SLOT_COUNT];
    uint32_t count = VKGEMM_SLOT_COUNT;
    vkgemmGetPlanAccesses(chain.products[product].get(), &count, all);
    std::vector<VkgemmAccess> out(all, all + count);
    std::erase_if(out, [&](const VkgemmAccess& x) {
        return x.slot == VKGEMM_SLOT_WORKSPACE ||
               ((x.slot == VKGEMM_SLOT_A || x.slot == VKGEMM_SLOT_GROUPS) && product > 0) ||
               (x.slot == VKGEMM_SLOT_D && !chain.plan.kept[product]);
    });
    if (chain.plan.counted && chain.plan.fused && product == 0) out.push_back(group_access());
    return out;
}

// Calls VkgemmContextInfo::recorded for a run that was checked and recorded.
void report(const vk::ChainRun& r) {
    const VkgemmContext_T& c = *r.chain->context;
    if (!c.recorded) return;
    for (size_t i = 0; i < r.chain->products.size(); ++i) {
        const Result<VkgemmRun> run = vk::product_run(r, i);
        if (r.chain->plan.fused) return c.recorded(c.recorded_user, "", nullptr, &*run);
        VkgemmPlan_T* const plan = r.chain->products[i].get();
        vk::CheckedRun checked;
        if (vk::check_run(checked, plan, &*run) || checked.work.problem->batch == 0) continue;
        const plan::Problem problem = vk::problem_of_run(*plan, checked, false);
        c.recorded(c.recorded_user, plan::to_text(problem, checked.run.alpha, checked.run.beta).c_str(), plan,
                   &checked.run);
    }
}

}  // namespace

VkgemmResult vkgemmCreateChain(VkgemmContext context, const VkgemmChainProblem* problem,
                               const VkgemmPlanOptions* options, VkgemmChain* chain, VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        if (!chain)
            return vk::to_result(
                error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "chain is null: there is nowhere to put the result"});
        *chain = nullptr;
        auto planned = plan_for(context, problem, options);
        if (!planned) return vk::to_result(error, planned.status());
        auto made = make_chain(context, *std::move(planned));
        if (!made) return vk::to_result(error, made.status());
        const std::string& fallback = (*made)->plan.fallback;
        const VkgemmResult result = fallback.empty() ? VKGEMM_SUCCESS : VKGEMM_FALLBACK_USED;
        if (result != VKGEMM_SUCCESS) vk::log(*context, VKGEMM_SEVERITY_WARNING, fallback);
        vk::to_result(error, result, fallback);
        *chain = made->release();
        return result;
    });
}

void vkgemmDestroyChain(VkgemmChain chain) { vk::destroy(chain); }

VkgemmResult vkgemmGetChainInfo(VkgemmChain chain, VkgemmChainInfo* info) {
    return vk::get_struct(info, [&]() -> std::optional<VkgemmChainInfo> {
        if (!chain) return std::nullopt;
        VkgemmChainInfo out{};
        const auto& fused = chain->plan.fused;
        out.isOneDispatch = fused.has_value();
        out.kernel = fused ? fused->key.module->name.data() : "";
        out.workspaceBytes = chain->plan.workspace_bytes;
        out.workspaceAlignment = chain->plan.workspace_alignment;
        for (const auto& p : chain->products) {
            out.flops += p->plan.flops;
            if (!fused) out.dispatchCount += plan::dispatch_count(p->plan.steps.steps, p->plan.steps.parts);
            if (p->plan.steps.binding == plan::Binding::addresses) out.usesAddresses = 1;
        }
        if (fused) out.dispatchCount = 1;
        return out;
    });
}

VkgemmResult vkgemmGetChainAccesses(VkgemmChain chain, uint32_t* count, VkgemmChainAccess* accesses) {
    return vk::guarded(nullptr, [&]() -> VkgemmResult {
        if (!chain || !count) return VKGEMM_ERROR_INVALID_ARGUMENT;
        const uint32_t capacity = *count;
        *count = 0;
        const auto add = [&](const VkgemmChainAccess& x) {
            if (accesses && *count < capacity) accesses[*count] = x;
            ++*count;
        };
        for (size_t i = 0; i < chain->products.size(); ++i)
            for (const VkgemmAccess& x : accesses_of(*chain, i)) add({static_cast<uint32_t>(i), x});
        if (chain->plan.workspace_bytes) add(workspace_access(chain->plan));
        return accesses && capacity < *count ? VKGEMM_INCOMPLETE : VKGEMM_SUCCESS;
    });
}

VkgemmResult vkgemmCheckChainRun(VkgemmChain chain, const VkgemmChainRun* run, VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        vk::ChainRun checked;
        const auto why = vk::check_chain_run(checked, chain, run);
        return why ? vk::to_result(error, *why) : vk::success(error);
    });
}

VkgemmResult vkgemmRecordChain(VkgemmChain chain, VkCommandBuffer commandBuffer, const VkgemmChainRun* run,
                               VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        if (!commandBuffer)
            return vk::to_result(error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "commandBuffer is null"});
        vk::ChainRun checked;
        if (auto why = vk::check_chain_run(checked, chain, run)) return vk::to_result(error, *why);
        if (chain->flags & VKGEMM_PLAN_DRY)
            return vk::to_result(error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                                                "this chain was made with VKGEMM_PLAN_DRY: it has no pipelines and "
                                                "cannot be recorded"});
        vk::record_chain(checked, commandBuffer);
        report(checked);
        return vk::success(error);
    });
}

VkgemmResult vkgemmExplainChain(VkgemmContext context, const VkgemmChainProblem* problem,
                                const VkgemmPlanOptions* options, char* text, size_t* size, VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        if (!size) return vk::to_result(error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "size is null"});
        const auto planned = plan_for(context, problem, options);
        if (!planned) return vk::to_result(error, planned.status());
        vk::success(error);
        return vk::copy_text(plan::to_text(planned->chain), text, size);
    });
}
