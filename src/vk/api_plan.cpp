// SPDX-License-Identifier: MIT
// The public functions about contexts, plans and recording: they check the caller's structs and call the parts.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>

#include "plan/base/concat.h"
#include "plan/device/disabled_kernels.h"
#include "plan/device/needs.h"
#include "plan/problem/problem_text.h"
#include "plan/steps/grouped.h"
#include "plan/steps/parts.h"
#include "vk/api_guard.h"
#include "vk/checked_run.h"
#include "vk/device.h"
#include "vk/features.h"
#include "vk/plan_pipelines.h"
#include "vk/planned_problem.h"
#include "vkgemm/text.hpp"

using namespace vkgemm;
using plan::Refusal;
using plan::Result;

namespace {

std::optional<Status> check_flags(uint32_t flags, const plan::DeviceCaps& caps) {
    constexpr uint32_t when = VKGEMM_PLAN_DRY | VKGEMM_PLAN_DEFER_COMPILE | VKGEMM_PLAN_FAIL_ON_COMPILE;
    constexpr uint32_t known = VKGEMM_PLAN_CAPTURE_STATISTICS | VKGEMM_PLAN_IGNORE_TUNED | VKGEMM_PLAN_NO_NATIVE | when;
    if (flags & ~known)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       plan::concat({"VkgemmPlanOptions::flags has unknown bits: ", flags & ~known})};
    if (std::popcount(flags & when) > 1)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       plan::concat({"VkgemmPlanOptions::flags is ", flags,
                                     ": of VKGEMM_PLAN_DRY, _DEFER_COMPILE and _FAIL_ON_COMPILE set at most one"})};
    if ((flags & VKGEMM_PLAN_CAPTURE_STATISTICS) && !(caps.features & plan::need::executable_info))
        return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                       "VKGEMM_PLAN_CAPTURE_STATISTICS needs the feature pipelineExecutableInfo, which is not enabled "
                       "on the device"};
    return std::nullopt;
}

std::optional<Status> check_seconds(const VkgemmPlanOptions& o, const VkgemmContext_T& c) {
    for (const auto& [name, x] : {std::pair{"dispatchSeconds", o.dispatchSeconds}, {"runSeconds", o.runSeconds}})
        if (!(x >= 0) || std::isinf(x))
            return Refusal{
                VKGEMM_ERROR_INVALID_ARGUMENT,
                plan::concat({"VkgemmPlanOptions::", name, " is ", numberText(x), "; it is 0 or a time in seconds"})};
    if (o.dispatchSeconds > 0 && !c.device.functions.CmdDispatchBase)
        return Refusal{VKGEMM_ERROR_MISSING_FUNCTION,
                       "VkgemmPlanOptions::dispatchSeconds needs the function vkCmdDispatchBase (Vulkan 1.1, or "
                       "VK_KHR_device_group), which was not found through vkGetDeviceProcAddr"};
    return std::nullopt;
}

constexpr uint32_t max_operand_alignment = 1 << 20;

}  // namespace

Result<plan::Request> vk::request_from(const VkgemmPlanOptions* given, const VkgemmContext_T& c, uint32_t* flags) {
    plan::Request r;
    r.tuned = &c.tuned;
    if (c.native_refused) r.native = plan::Request::Native::not_loaded;
    if (!given) return r;
    const Result<VkgemmPlanOptions> o = vk::read_struct(given);
    if (!o) return o.status();
    if (o->kernel) r.kernel = o->kernel;
    if (o->tile) r.tile = o->tile;
    if (!r.kernel.empty() && !plan::find_kernel(r.kernel))
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, plan::unknown_kernel(r.kernel)};
    if (const auto tile = plan::with_constants({}, r.tile); !tile) return tile.status();
    if (o->operands != VKGEMM_OPERANDS_BUFFERS && o->operands != VKGEMM_OPERANDS_ADDRESSES)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       plan::concat({"VkgemmPlanOptions::operands is ", o->operands, "; known are 0 and 1"})};
    r.addresses = o->operands == VKGEMM_OPERANDS_ADDRESSES, r.workspace_limit = o->workspaceLimit;
    if (o->operandAlignment) r.operand_alignment = o->operandAlignment;
    if ((r.operand_alignment & (r.operand_alignment - 1)) || r.operand_alignment > max_operand_alignment)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       plan::concat({"operandAlignment is ", r.operand_alignment,
                                     "; it must be a power of two, at most ", max_operand_alignment})};
    if (auto why = check_flags(o->flags, c.caps)) return *why;
    if (auto why = check_seconds(*o, c)) return *why;
    r.dispatch_seconds = o->dispatchSeconds, r.run_seconds = o->runSeconds;
    if (o->flags & VKGEMM_PLAN_IGNORE_TUNED) r.tuned = nullptr;
    if (o->flags & VKGEMM_PLAN_NO_NATIVE) r.native = plan::Request::Native::excluded;
    if (flags) *flags = o->flags;
    return r;
}

namespace {

// The problems that a kernel is chosen for: the caller's, completed; the same with the smallest sizes that the kernel
// serves; and the first, normalised.
struct Wanted {
    const plan::Problem &completed, &least, &normalised;
};

// What was asked for; where only the environment asked and it cannot serve, the free choice.
Result<plan::Choice> choose(const VkgemmContext_T& c, const Wanted& p, const plan::Request& request,
                            std::string& fallback) {
    const auto select = [&](const plan::Request& r) {
        return plan::select_for(*c.kernels, p.completed, p.least, p.normalised, r);
    };
    if (!request.kernel.empty() || c.forced_kernel.empty()) return select(request);
    plan::Request forced = request;
    forced.kernel = c.forced_kernel;
    Result<plan::Choice> choice = select(forced);
    if (choice) return choice;
    fallback = plan::concat({"VKGEMM_KERNEL was not followed: ", choice.status().text});
    return select(request);
}

// The plans of the operands that are packed ahead. `n` is the problem of the choice.
void add_packs(const VkgemmContext_T& c, vk::PlannedProblem& t, const plan::Normalised& n,
               const plan::Request& request) {
    for (const VkgemmSlot slot : {VKGEMM_SLOT_A, VKGEMM_SLOT_B})
        if (t.steps.packed_keys[slot])
            t.packs[slot] = plan::make_pack_steps(t.choice, t.problem, n, slot, c.caps, request);
}

// A choice for each range of sizes. The workspace becomes the largest of all. What comes packed has one layout for all
// ranges: the one that suits the largest sizes.
std::optional<Status> plan_buckets(const VkgemmContext_T& c, vk::PlannedProblem& t, plan::Request request) {
    uint64_t workspace = 0;
    std::vector<plan::SizeRange> ranges = plan::size_ranges(t.problem, request.operand_alignment);
    std::ranges::reverse(ranges);  // the largest sizes first
    plan::Problem& any = t.normalised.problem;
    for (const plan::SizeRange& range : ranges) {
        const plan::Problem least = plan::at_least(range, t.normalised).problem;
        request.least = &least, request.packs = !(t.problem.upTo & VKGEMM_UP_TO_STRIDES);
        const plan::Problem completed = plan::with_sizes(t.problem, range.most);
        const plan::Problem smallest = plan::with_sizes(t.problem, range.least);
        const plan::Problem normalised = plan::at_most(range, t.normalised).problem;
        auto choice = choose(c, {completed, smallest, normalised}, request, t.fallback);
        if (!choice) {
            Status why = choice.status();
            why.text = plan::concat({"for sizes ", plan::to_text(range), ": ", why.text});
            return why;
        }
        const auto& [a, b] = std::pair{choice->schedule.a.key, choice->schedule.b.key};
        if (a) any.packedA = a;
        if (b) any.packedB = b;
        t.buckets.push_back(plan::make_bucket(range, *choice, t.normalised, t.problem, c.caps, request));
        workspace = std::max(workspace, t.buckets.back().steps.slots[size_t(VKGEMM_SLOT_WORKSPACE)].bytes);
    }
    std::ranges::reverse(t.buckets);
    t.choice = t.buckets.back().choice, t.steps = t.buckets.back().steps;
    add_packs(c, t, plan::at_most(t.buckets.back().range, t.normalised), request);
    plan::Requirement& of_all = t.steps.slots[size_t(VKGEMM_SLOT_WORKSPACE)];
    for (const plan::Bucket& b : t.buckets)
        if (const auto& of_one = b.steps.slots[size_t(VKGEMM_SLOT_WORKSPACE)]; of_one.bytes == workspace)
            of_all = of_one;
    return std::nullopt;
}

// A choice for each part of the problem. What is told of the plan is told of the first part, which is the largest.
std::optional<Status> plan_parts(const VkgemmContext_T& c, vk::PlannedProblem& t, const plan::Request& request) {
    const auto binding = plan::choose_binding(c.caps, t.problem, request);
    if (!binding) return binding.status();
    const std::vector<plan::Normalised> parts = plan::parts_of(t.normalised, c.caps, *binding);
    for (const plan::Normalised& n : parts) {
        if (auto why = plan::unfit_levels(t.problem, n)) return why;
        auto choice = choose(c, {t.problem, t.problem, n.problem}, request, t.fallback);
        if (!choice) return choice.status();
        plan::Steps steps = plan::make_steps(*choice, t.problem, n, c.caps, request);
        if (&n != parts.data()) {
            plan::add_part(t.steps, std::move(steps));
            continue;
        }
        t.choice = *choice, t.steps = std::move(steps), t.normalised = n;
    }
    return std::nullopt;
}

std::optional<Status> plan_groups(const VkgemmContext_T& c, vk::PlannedProblem& t, const plan::Request& request) {
    const plan::GroupedSearch search(t.normalised.problem, request);
    auto choice = choose(c, {search.expected, search.expected, search.expected}, search.request, t.fallback);
    if (!choice) return choice.status();
    auto steps = plan::has_table(t.problem)
                     ? plan::make_grouped_steps(*choice, t.problem, t.normalised, *c.kernels, search.request)
                     : plan::make_selected_steps(*choice, t.problem, t.normalised, c.caps, search.request);
    if (!steps) return steps.status();
    t.choice = *choice, t.steps = *steps;
    return std::nullopt;
}

}  // namespace

namespace {

// What one unit of cost takes at most, in seconds: a cycle of a GPU's multiprocessor, or an operation of a CPU's
// thread. A multiprocessor of the device that the costs were measured on takes a seventh of it.
constexpr double seconds_per_cost = 4e-9;

double cost_of(const plan::Steps& steps) {
    double out = 0;
    for (const plan::Repeats& part : steps.parts) out += part.cost * part.count;
    return out;
}

// Cuts passes whose dispatches would take too long. The largest sizes take the time that the caller measured.
void limit_dispatches(const VkgemmContext_T& c, vk::PlannedProblem& t, const plan::Request& request) {
    const double whole = cost_of(t.steps);
    const double unit = request.run_seconds > 0 && whole > 0 ? request.run_seconds / whole : seconds_per_cost;
    const auto limit = [&](plan::Steps& steps) {
        std::span<plan::Step> rest = steps.steps;
        for (const plan::Repeats& part : steps.parts) {
            plan::limit_dispatches(rest.first(part.steps), part.cost * unit, request.dispatch_seconds, c.caps);
            rest = rest.subspan(part.steps);
        }
    };
    limit(t.steps);
    for (plan::Bucket& b : t.buckets) limit(b.steps);
    for (plan::Steps& pack : t.packs) limit(pack);
}

}  // namespace

Result<vk::PlannedProblem> vk::plan_problem(const VkgemmContext_T& c, const VkgemmProblem* problem,
                                            const plan::Request& request) {
    PlannedProblem t;
    auto given = vk::problem_from(problem);
    if (!given) return given.status();
    auto completed = plan::complete(*given);
    if (!completed) return completed.status();
    t.given = *given, t.problem = *completed;
    t.normalised = plan::normalise(t.problem);
    if (auto why = plan::unfit_levels(t.problem, t.normalised)) return *why;
    const bool is_empty = plan::is_empty(t.problem);
    if (t.problem.grouping != VKGEMM_GROUPING_NONE && !is_empty) {
        if (auto why = plan_groups(c, t, request)) return *why;
        return t;
    }
    if (t.problem.upTo && !is_empty) {
        if (auto why = plan_buckets(c, t, request)) return *why;
        limit_dispatches(c, t, request);
        return t;
    }
    if (is_empty)
        t.steps = plan::make_steps(t.choice, t.problem, t.normalised, c.caps, request);
    else if (auto why = plan_parts(c, t, request))
        return *why;
    add_packs(c, t, t.normalised, request);
    limit_dispatches(c, t, request);
    return t;
}

namespace {

// Gives the plan its dispatches, not compiled yet.
void set_steps(VkgemmPlan_T& p, plan::Steps steps) {
    p.steps = std::move(steps);
    for (size_t i = 0; i < size_t{VKGEMM_SLOT_COUNT}; ++i) p.required_bytes[i] = p.steps.slots[i].bytes;
}

// What a debugger shows around the plan's commands, if one asks for labels.
void set_label(VkgemmPlan_T& p) {
    if (!p.context->device.functions.CmdBeginDebugUtilsLabelEXT) return;
    p.label = plan::concat({"vkgemm ", (p.packs_operand ? "pack " : ""), plan::to_text(p.given, 1, 0),
                            (p.kernel.empty() ? "" : ", "), p.kernel});
}

Result<std::unique_ptr<VkgemmPlan_T>> make_plan(VkgemmContext c, vk::PlannedProblem& t, const plan::Request& request,
                                                uint32_t flags) {
    auto p = std::make_unique<VkgemmPlan_T>();
    p->context = c;
    p->given = t.given, p->problem = t.problem;
    p->flags = flags;
    p->cost = cost_of(t.steps);
    if (t.choice.kernel) p->kernel = t.choice.kernel->name, p->tile = plan::to_text(t.choice.tile);
    p->operands = request.addresses ? VKGEMM_OPERANDS_ADDRESSES : VKGEMM_OPERANDS_BUFFERS;
    const plan::Problem& q = t.problem;
    p->flops = 2.0 * double(q.m) * double(q.n) * double(q.k) * double(q.batch) * double(q.outerBatch);
    p->operand_alignment = request.operand_alignment;
    p->packs = std::move(t.packs);
    p->normalised = t.normalised, p->buckets = std::move(t.buckets);
    set_steps(*p, std::move(t.steps));
    set_label(*p);
    if (auto why = vk::give_pipelines(*p)) return *why;
    return p;
}

Result<std::unique_ptr<VkgemmPlan_T>> make_pack(const VkgemmPlan_T& product, VkgemmSlot slot) {
    if (slot != VKGEMM_SLOT_A && slot != VKGEMM_SLOT_B)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       plan::concat({"slot is ", int(slot), "; only A (0) and B (1) can be packed"})};
    const plan::Steps& steps = product.packs[slot];
    if (steps.steps.empty())
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       plan::concat({"this plan reads ", (slot == VKGEMM_SLOT_A ? "A" : "B"),
                                     " as the problem describes it; make the plan with packed",
                                     (slot == VKGEMM_SLOT_A ? "A" : "B"), " = VKGEMM_PACKED_ANY or a key"})};
    auto p = std::make_unique<VkgemmPlan_T>();
    p->context = product.context;
    p->given = product.given, p->problem = product.problem;
    p->given.upTo = p->problem.upTo = 0;  // what is packed has one size
    p->flags = product.flags & ~uint32_t{VKGEMM_PLAN_CAPTURE_STATISTICS}, p->operands = product.operands,
    p->packs_operand = true;
    p->kernel = steps.steps[0].kernel->name, p->tile = plan::to_text(steps.steps[0].tile);
    set_steps(*p, steps);
    set_label(*p);
    if (auto why = vk::give_pipelines(*p)) return *why;
    return p;
}

// The part of planning that does not look at the problem.
std::optional<Status> unfit_alone(const plan::DeviceCaps& caps, const plan::Request& request) {
    const plan::Kernel& kernel = *plan::find_kernel(request.kernel);  // request_from() knew it
    const auto binding = plan::choose_binding(caps, request);
    if (!binding) return binding.status();
    if (!kernel.module.is_product()) return Refusal{VKGEMM_ERROR_UNSUPPORTED, kernel.module.family.refuses({})};
    return plan::unfit_device(kernel, *plan::with_constants(kernel.tile, request.tile), caps);
}

// The problem of one run, with its sizes: the same strides, which are no longer dense, and nothing that varies.
plan::Problem recorded_problem(const VkgemmPlan_T& plan, const vk::CheckedRun& checked) {
    if (!(checked.run.flags & (VKGEMM_RECORD_SIZES | VKGEMM_RECORD_STRIDES))) return plan.given;
    plan::Problem p = plan::restated(*checked.work.problem);
    if (p.batch == 1) p.a.batchStride = p.b.batchStride = p.c.batchStride = p.d.batchStride = 0;
    p.upTo = 0;
    return p;
}

}  // namespace

namespace {

// Loads the machine code of a plan, which takes about a millisecond, into `uses`. Returns why one is not loaded.
std::optional<Status> load_native(VkgemmContext_T& c, const vk::PlannedProblem& t,
                                  std::vector<vk::Pipelines::Use>& uses) {
    const auto load = [&](const plan::Steps& steps) -> std::optional<Status> {
        for (const plan::Step& s : steps.steps) {
            if (!s.kernel->module.is_native()) continue;
            auto use = c.pipelines.get(s, steps.binding, false);
            if (!use) return use.status();
            uses.push_back(std::move(*use));
        }
        return std::nullopt;
    };
    if (auto why = load(t.steps)) return why;
    for (const plan::Bucket& b : t.buckets)
        if (auto why = load(b.steps)) return why;
    return std::nullopt;
}

// Plans the problem. If the driver does not load the machine code of the kernel that was chosen, this context uses no
// machine code from now on; the plan is made again, unless that kernel was asked for.
Result<vk::PlannedProblem> plan_loaded(VkgemmContext_T& c, const VkgemmProblem* problem, plan::Request& request,
                                       uint32_t flags, std::vector<vk::Pipelines::Use>& uses) {
    auto planned = vk::plan_problem(c, problem, request);
    if (!VKGEMM_HAS_NATIVE || !planned || flags & VKGEMM_PLAN_DRY) return planned;
    const auto why = load_native(c, *planned, uses);
    if (!why) return planned;
    if (!request.kernel.empty() || why->code == VKGEMM_ERROR_DEVICE_LOST) return *why;
    vk::log(c, VKGEMM_SEVERITY_WARNING, plan::concat({"native kernels are not used from now on: ", why->text}));
    c.native_refused = true, request.native = plan::Request::Native::not_loaded;
    uses.clear();
    return vk::plan_problem(c, problem, request);
}

}  // namespace

VkgemmResult vkgemmCreatePlan(VkgemmContext context, const VkgemmProblem* problem, const VkgemmPlanOptions* options,
                              VkgemmPlan* plan, VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        if (!plan)
            return vk::to_result(
                error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "plan is null: there is nowhere to put the result"});
        *plan = nullptr;
        if (!context) return vk::to_result(error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "context is null"});
        uint32_t flags = 0;
        auto request = vk::request_from(options, *context, &flags);
        if (!request) return vk::to_result(error, request.status());
        std::vector<vk::Pipelines::Use> native;  // until the plan has taken them
        auto planned = plan_loaded(*context, problem, *request, flags, native);
        if (!planned) return vk::to_result(error, planned.status());
        auto made = make_plan(context, *planned, *request, flags);
        if (!made) return vk::to_result(error, made.status());
        const VkgemmResult result = planned->fallback.empty() ? VKGEMM_SUCCESS : VKGEMM_FALLBACK_USED;
        if (result != VKGEMM_SUCCESS) vk::log(*context, VKGEMM_SEVERITY_WARNING, planned->fallback);
        *plan = made->release();  // last: nothing after it can throw
        return vk::to_result(error, result, planned->fallback);
    });
}

VkgemmResult vkgemmCreatePack(VkgemmPlan product, VkgemmSlot slot, VkgemmPlan* pack, VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        if (!pack)
            return vk::to_result(
                error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "pack is null: there is nowhere to put the result"});
        *pack = nullptr;
        if (!product) return vk::to_result(error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "product is null"});
        auto made = make_pack(*product, slot);
        if (!made) return vk::to_result(error, made.status());
        *pack = made->release();
        return vk::success(error);
    });
}

void vkgemmDestroyPlan(VkgemmPlan plan) { delete plan; }

VkgemmResult vkgemmCheckKernel(VkgemmContext context, const VkgemmProblem* problem, const VkgemmPlanOptions* options,
                               VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        if (!context) return vk::to_result(error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "context is null"});
        auto request = vk::request_from(options, *context);
        if (!request) return vk::to_result(error, request.status());
        if (request->kernel.empty())
            return vk::to_result(
                error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "VkgemmPlanOptions::kernel is null: nothing to check"});
        if (!problem) {
            const auto why = unfit_alone(context->caps, *request);
            return why ? vk::to_result(error, *why) : vk::success(error);
        }
        const auto planned = vk::plan_problem(*context, problem, *request);
        return planned ? vk::success(error) : vk::to_result(error, planned.status());
    });
}

VkgemmResult vkgemmCheckRun(VkgemmPlan plan, const VkgemmRun* run, VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        vk::CheckedRun checked;
        const auto why = vk::check_run(checked, plan, run);
        return why ? vk::to_result(error, *why) : vk::success(error);
    });
}

VkgemmResult vkgemmRecord(VkgemmPlan plan, VkCommandBuffer commandBuffer, const VkgemmRun* run, VkgemmError* error) {
    return vkgemmRecordDispatches(plan, commandBuffer, run, 0, UINT32_MAX, error);
}

VkgemmResult vkgemmRecordDispatches(VkgemmPlan plan, VkCommandBuffer commandBuffer, const VkgemmRun* run,
                                    uint32_t first, uint32_t count, VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        if (!commandBuffer)
            return vk::to_result(error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "commandBuffer is null"});
        vk::CheckedRun checked;
        if (auto why = vk::check_run(checked, plan, run)) return vk::to_result(error, *why);
        if (auto why = vk::not_compiled(*plan)) return vk::to_result(error, *why);
        const uint32_t all = plan::dispatch_count(checked.work.steps, checked.work.parts);
        if (first && first >= all)
            return vk::to_result(
                error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, plan::concat({"first is ", first, ", but the run has ",
                                                                            all, " dispatches, numbered from 0"})});
        const VkgemmRun& r = checked.run;
        vk::record(*plan, commandBuffer, r, checked.work, checked.operands, {first, count});
        const bool is_whole = first == 0 && count >= all;
        if (auto* const c = plan->context; is_whole && c->recorded && !plan->packs_operand && !plan->steps.table)
            c->recorded(c->recorded_user, plan::to_text(recorded_problem(*plan, checked), r.alpha, r.beta).c_str(),
                        plan, &r);
        return vk::success(error);
    });
}
