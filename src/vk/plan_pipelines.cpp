// SPDX-License-Identifier: MIT
#include "vk/plan_pipelines.h"

#include <algorithm>

#include "plan/base/concat.h"
#include "plan/problem/problem_text.h"

namespace vkgemm::vk {
namespace {

using plan::Refusal;

// What a debugger shows around the plan's commands, if one asks for labels.
std::string label_of(const VkgemmPlan_T& p) {
    if (!p.context->device.functions.CmdBeginDebugUtilsLabelEXT) return "";
    const plan::Kernel* const kernel = p.plan.choice.kernel;
    return plan::concat({"vkgemm ", (p.plan.is_pack ? "pack " : ""), plan::to_text(p.plan.problem.given, 1, 0),
                         (kernel ? ", " : ""), (kernel ? kernel->name : "")});
}

bool captures(const VkgemmPlan_T& p) { return p.flags & VKGEMM_PLAN_CAPTURE_STATISTICS; }

// Writes the pipelines, in the order of pipeline_steps(), to where recording finds them.
void place(VkgemmPlan_T& p, std::vector<Pipelines::Use> uses) {
    auto next = uses.begin();
    const auto take = [&] { return (next++)->program(); };
    std::vector<Program> of_steps(p.plan.steps.steps.size());
    std::ranges::generate(of_steps, take);
    std::vector<BucketPipelines> of_buckets(p.plan.buckets.size());
    for (size_t b = 0; b < of_buckets.size(); ++b) {
        std::generate_n(of_buckets[b].steps.begin(), p.plan.buckets[b].steps.steps.size(), take);
        of_buckets[b].whole = of_buckets[b].steps;
        if (p.plan.buckets[b].may_be_whole) of_buckets[b].whole[plan::product_of(p.plan.buckets[b])] = take();
    }
    p.programs = std::move(of_steps);
    p.bucket_pipelines = std::move(of_buckets);
    p.uses = std::move(uses);
    p.compiled = true;  // last: other threads now read them
}

// Of the steps that share a pipeline, one.
std::vector<plan::Step> different_steps(const VkgemmPlan_T& p) {
    std::vector<plan::Step> out;
    for (const plan::Step& s : pipeline_steps(p))
        if (std::ranges::none_of(out, [&](const plan::Step& x) {
                return &x.kernel->module == &s.kernel->module && x.tile == s.tile && x.constants == s.constants &&
                       x.is_sliced() == s.is_sliced();
            }))
            out.push_back(s);
    return out;
}

// Loads the machine code of a plan, which takes about a millisecond, whatever its flags.
std::optional<Status> load_native(VkgemmPlan_T& p, std::vector<Pipelines::Use>& uses) {
    if (!VKGEMM_HAS_NATIVE) return std::nullopt;
    for (const plan::Step& s : pipeline_steps(p)) {
        if (!s.kernel->module.is_native()) continue;
        auto use = p.context->pipelines.get(s, p.plan.steps.binding, false);
        if (!use) return use.status();
        uses.push_back(std::move(*use));
    }
    return std::nullopt;
}

// Takes what is compiled. Returns the first step that is not.
std::optional<plan::Step> take_compiled(VkgemmPlan_T& p) {
    std::vector<Pipelines::Use> uses;
    for (const plan::Step& s : pipeline_steps(p)) {
        auto use = p.context->pipelines.find(s, p.plan.steps.binding, captures(p));
        if (!use) return s;
        uses.push_back(std::move(*use));
    }
    place(p, std::move(uses));
    return std::nullopt;
}

}  // namespace

std::vector<plan::Step> pipeline_steps(const VkgemmPlan_T& p) {
    std::vector<plan::Step> out = p.plan.steps.steps;
    for (const plan::Bucket& b : p.plan.buckets) {
        out.insert(out.end(), b.steps.steps.begin(), b.steps.steps.end());
        if (b.may_be_whole) out.push_back(plan::whole_product(b));
    }
    for (plan::Step& s : out)
        if (VKGEMM_HAS_NATIVE && s.kernel->module.is_native()) s = plan::as_compiled(s);
    return out;
}

plan::Result<std::unique_ptr<VkgemmPlan_T>> make_handle(VkgemmContext c, plan::Plan plan, VkgemmOperandKind operands,
                                                        uint32_t flags) {
    auto p = std::make_unique<VkgemmPlan_T>();
    p->context = c;
    p->operands = operands;
    p->flags = flags;
    p->plan = std::move(plan);
    if (p->plan.choice.kernel) p->tile = plan::to_text(p->plan.choice.tile);
    std::ranges::transform(p->plan.steps.slots, p->required_bytes.begin(), &plan::Requirement::bytes);
    p->label = label_of(*p);
    if (auto why = give_pipelines(*p)) return *why;
    return p;
}

std::optional<Status> give_pipelines(VkgemmPlan_T& p) {
    p.pipeline_count = static_cast<uint32_t>(different_steps(p).size());
    if (p.flags & VKGEMM_PLAN_DRY) return std::nullopt;
    std::vector<Pipelines::Use> native;  // until the plan has taken them
    if (auto why = load_native(p, native)) return why;
    if (!(p.flags & (VKGEMM_PLAN_DEFER_COMPILE | VKGEMM_PLAN_FAIL_ON_COMPILE))) return compile_pipelines(p);
    const auto missing = take_compiled(p);
    if (!missing || p.flags & VKGEMM_PLAN_DEFER_COMPILE) return std::nullopt;
    return Refusal{VKGEMM_ERROR_NOT_COMPILED,
                   plan::concat({"the plan has VKGEMM_PLAN_FAIL_ON_COMPILE, and ", missing_pipelines(p), " of its ",
                                 p.pipeline_count, " pipelines are not compiled, the first of ", missing->kernel->name,
                                 "; compile them with vkgemmCompilePipelines, or by a plan without that flag"})};
}

std::optional<Status> compile_pipelines(VkgemmPlan_T& p) {
    const std::lock_guard lock(p.compiling);
    if (p.compiled) return std::nullopt;
    std::vector<Pipelines::Use> uses;
    for (const plan::Step& s : pipeline_steps(p)) {
        auto use = p.context->pipelines.get(s, p.plan.steps.binding, captures(p));
        if (!use) return use.status();
        uses.push_back(std::move(*use));
    }
    place(p, std::move(uses));
    return std::nullopt;
}

std::optional<Status> not_compiled(const VkgemmPlan_T& p) {
    if (p.compiled) return std::nullopt;
    if (p.flags & VKGEMM_PLAN_DRY)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       "this plan was made with VKGEMM_PLAN_DRY: it has no pipelines and cannot be recorded"};
    return Refusal{VKGEMM_ERROR_NOT_COMPILED,
                   "this plan was made with VKGEMM_PLAN_DEFER_COMPILE and is not compiled yet; call vkgemmCompilePlan, "
                   "on any thread, and record it after that"};
}

uint32_t missing_pipelines(const VkgemmPlan_T& p) {
    if (p.compiled) return 0;
    uint32_t missing = 0;
    for (const plan::Step& s : different_steps(p))
        if (!p.context->pipelines.find(s, p.plan.steps.binding, captures(p))) ++missing;
    return missing;
}

}  // namespace vkgemm::vk
