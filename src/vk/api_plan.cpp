// SPDX-License-Identifier: MIT
// The public functions about contexts, plans and recording: checks of the caller's words, then glue.
#include <cstdlib>
#include <memory>
#include <new>

#include "plan/device/disabled_kernels.h"
#include "plan/device/needs.h"
#include "plan/problem/problem_text.h"
#include "vk/api_guard.h"
#include "vk/device.h"
#include "vk/features.h"
#include "vk/planned.h"
#include "vk/record.h"

using namespace vkgemm;
using plan::Refusal;
using plan::Result;

namespace {

std::optional<Refusal> check_handles(const VkgemmContextInfo& i) {
    const auto null = [](const char* name) {
        return Refusal{Refusal::argument, std::string("VkgemmContextInfo::") + name + " is null"};
    };
    if (!i.instance) return null("instance");
    if (!i.physicalDevice) return null("physicalDevice");
    if (!i.device) return null("device");
    if (!i.getInstanceProcAddr) return null("getInstanceProcAddr");
    if (i.enabledExtensionCount && !i.enabledExtensions) return null("enabledExtensions (with a count above 0)");
    if (i.enabledFeatures && i.enabledFeatures->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2)
        return Refusal{Refusal::argument, "VkgemmContextInfo::enabledFeatures has sType " +
                                              std::to_string(i.enabledFeatures->sType) +
                                              "; the chain begins with a VkPhysicalDeviceFeatures2"};
    return std::nullopt;
}

const char* forced_kernel() {
    const char* name = std::getenv("VKGEMM_KERNEL");  // the only one that vkgemm reads
    return name ? name : "";
}

Result<std::vector<plan::TunedRow>> tuned_rows(const char* of_caller, const plan::DeviceCaps& caps) {
    auto rows = plan::parse_tuned(of_caller ? of_caller : "");
    if (!rows) return rows.refusal();
    auto built_in = plan::parse_tuned(plan::built_in_tuned());
    if (!built_in) return built_in.refusal();
    rows->insert(rows->end(), built_in->begin(), built_in->end());
    return plan::tuned_for(caps, *rows);
}

void log(const VkgemmContext_T& c, VkgemmSeverity severity, const std::string& text) {
    if (c.log) c.log(c.log_user, severity, text.c_str());
}

Result<std::unique_ptr<VkgemmContext_T>> make_context(const VkgemmContextInfo& info) {
    auto instance = vk::load_instance_functions(info.getInstanceProcAddr, info.instance);
    if (!instance) return instance.refusal();
    auto functions = vk::load_device_functions(*instance, info.device);
    if (!functions) return functions.refusal();
    const auto version = vk::usable_version(*instance, info.physicalDevice, info.apiVersion);
    if (!version) return version.refusal();

    auto c = std::make_unique<VkgemmContext_T>();
    plan::FeatureSet features =
        vk::enabled_features(info.enabledFeatures, {info.enabledExtensions, info.enabledExtensionCount}, *version);
    if (!functions->CmdPushDescriptorSet) features &= ~plan::need::push_descriptor;
    if (!functions->GetBufferDeviceAddress) features &= ~plan::need::buffer_address;
    c->caps = vk::read_device_caps(*instance, info.physicalDevice, *version, features);
    c->device = {info.device, *functions, nullptr, info.pipelineCache, features, c->caps.subgroup_required != 0};
    if (info.allocator) c->allocator = *info.allocator, c->device.allocator = &c->allocator;
    if (c->caps.max_storage_buffers < BIND_COUNT)  // one decision, for choices and layouts alike
        c->device.features = c->caps.features = features & ~plan::need::push_descriptor;
    c->forced_kernel = forced_kernel();
    c->log = info.log, c->log_user = info.logUser;
    c->recorded = info.recorded, c->recorded_user = info.recordedUser;
    const auto disabled = plan::parse_disabled_kernels(info.disabledKernels ? info.disabledKernels : "");
    if (!disabled) return disabled.refusal();
    plan::mark_disabled(*disabled, c->caps);
    auto tuned = tuned_rows(info.tunedRows, c->caps);
    if (!tuned) return tuned.refusal();
    c->tuned = std::move(*tuned);
    if (auto why = c->pipelines.init(c->device)) return *why;
    if (!c->forced_kernel.empty() && !plan::find_kernel(c->forced_kernel))
        log(*c, VKGEMM_SEVERITY_WARNING, "VKGEMM_KERNEL: " + plan::unknown_kernel(c->forced_kernel));
    for (const std::string& text : plan::skipped_in_short(c->tuned)) log(*c, VKGEMM_SEVERITY_INFO, text);
    for (const plan::DisabledKernelRow& v : *disabled)
        if (!plan::find_kernel(v.kernel))
            log(*c, VKGEMM_SEVERITY_INFO, "a self-test result is not followed: " + plan::unknown_kernel(v.kernel));
    return c;
}

std::optional<Refusal> check_flags(uint32_t flags, const plan::DeviceCaps& caps) {
    constexpr uint32_t known = VKGEMM_PLAN_CAPTURE_STATISTICS | VKGEMM_PLAN_DRY | VKGEMM_PLAN_IGNORE_TUNED;
    if (flags & ~known)
        return Refusal{Refusal::argument,
                       "VkgemmPlanOptions::flags has unknown bits: " + std::to_string(flags & ~known)};
    if ((flags & VKGEMM_PLAN_CAPTURE_STATISTICS) && !(caps.features & plan::need::executable_info))
        return Refusal{Refusal::unsupported,
                       "VKGEMM_PLAN_CAPTURE_STATISTICS needs the feature pipelineExecutableInfo, which is not enabled "
                       "on this device"};
    return std::nullopt;
}

}  // namespace

Result<plan::Request> vk::request_from(const VkgemmPlanOptions* o, const VkgemmContext_T& c) {
    plan::Request r;
    r.tuned = c.tuned;
    if (!o) return r;
    if (auto why = vk::check_struct(o, "VkgemmPlanOptions")) return *why;
    if (o->kernel) r.kernel = o->kernel;
    if (o->tile) r.tile = o->tile;
    if (!r.kernel.empty() && !plan::find_kernel(r.kernel))
        return Refusal{Refusal::argument, plan::unknown_kernel(r.kernel)};
    if (const auto tile = plan::with_constants({}, r.tile); !tile) return tile.refusal();
    if (o->operands != VKGEMM_OPERANDS_BUFFERS && o->operands != VKGEMM_OPERANDS_ADDRESSES)
        return Refusal{Refusal::argument,
                       "VkgemmPlanOptions::operands is " + std::to_string(o->operands) + "; known are 0 and 1"};
    r.addresses = o->operands == VKGEMM_OPERANDS_ADDRESSES;
    r.workspace_limit = o->workspaceLimit;
    if (o->operandAlignment) r.operand_alignment = o->operandAlignment;
    if (r.operand_alignment & (r.operand_alignment - 1))
        return Refusal{Refusal::argument,
                       "operandAlignment is " + std::to_string(r.operand_alignment) + ", not a power of two"};
    if (auto why = check_flags(o->flags, c.caps)) return *why;
    if (o->flags & VKGEMM_PLAN_IGNORE_TUNED) r.tuned = {};
    return r;
}

namespace {

// What was asked for; where only the environment asked and it cannot serve, the free choice.
Result<plan::Choice> choose(const VkgemmContext_T& c, const plan::Problem& p, const plan::Request& request,
                            std::string& fallback) {
    if (!request.kernel.empty() || c.forced_kernel.empty()) return plan::select(c.caps, p, request);
    plan::Request forced = request;
    forced.kernel = c.forced_kernel;
    Result<plan::Choice> choice = plan::select(c.caps, p, forced);
    if (choice) return choice;
    fallback = "VKGEMM_KERNEL was not followed: " + choice.refusal().why;
    return plan::select(c.caps, p, request);
}

}  // namespace

Result<vk::PlannedProblem> vk::plan_problem(const VkgemmContext_T& c, const VkgemmProblem* problem,
                                            const plan::Request& request) {
    PlannedProblem t;
    auto words = vk::problem_from(problem);
    if (!words) return words.refusal();
    auto completed = plan::complete(*words);
    if (!completed) return completed.refusal();
    t.given = *words, t.problem = *completed;
    const plan::Normalised n = plan::normalise(t.problem);
    if (!plan::is_empty(t.problem)) {
        auto choice = choose(c, n.problem, request, t.fallback);
        if (!choice) return choice.refusal();
        t.choice = std::move(*choice);
    }
    t.steps = plan::make_steps(t.choice, t.problem, n, c.caps, request);
    return t;
}

namespace {

Result<std::unique_ptr<VkgemmPlan_T>> make_plan(VkgemmContext c, vk::PlannedProblem& t, uint32_t flags) {
    auto p = std::make_unique<VkgemmPlan_T>();
    const bool capture = flags & VKGEMM_PLAN_CAPTURE_STATISTICS;
    p->context = c;
    p->given = t.given, p->problem = t.problem;
    p->dry = flags & VKGEMM_PLAN_DRY;
    p->cost = t.choice.schedule.cost;
    if (t.choice.kernel) p->kernel = t.choice.kernel->name, p->tile = plan::to_text(t.choice.tile);
    p->steps = std::move(t.steps);
    if (p->dry) return p;
    for (const plan::Step& s : p->steps.steps) {
        auto pipeline = c->pipelines.get(s, p->steps.binding, capture);
        if (!pipeline) return pipeline.refusal();
        p->pipelines.push_back(*pipeline);
    }
    return p;
}

// The part of planning that does not look at the problem.
std::optional<Refusal> unfit_alone(const plan::DeviceCaps& caps, const plan::Request& request) {
    const plan::Kernel& kernel = *plan::find_kernel(request.kernel);  // request_from() knew it
    const auto binding = plan::choose_binding(caps, request);
    if (!binding) return binding.refusal();
    if (kernel.module.family.role != plan::Role::product)
        return Refusal{Refusal::unsupported, kernel.module.family.refuses({})};
    return plan::unfit_device(kernel, *plan::with_constants(kernel.tile, request.tile), caps);
}

// Everything that could be wrong with a run, found before anything is recorded.
Result<vk::ResolvedOperands> checked(VkgemmPlan plan, const VkgemmRun* run) {
    if (!plan) return Refusal{Refusal::argument, "plan is null"};
    if (auto why = vk::check_struct(run, "VkgemmRun")) return *why;
    constexpr uint32_t known = VKGEMM_RECORD_BARRIER_BEFORE | VKGEMM_RECORD_BARRIER_AFTER;
    if (run->flags & ~known)
        return Refusal{Refusal::argument, "VkgemmRun::flags has unknown bits: " + std::to_string(run->flags & ~known)};
    return vk::resolve(*plan, *run);
}

}  // namespace

VkgemmResult vkgemmCreateContext(const VkgemmContextInfo* info, VkgemmContext* context, VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        if (!context)
            return vk::to_result(error,
                                 Refusal{Refusal::argument, "context is null: there is nowhere to put the result"});
        *context = nullptr;
        if (auto why = vk::check_struct(info, "VkgemmContextInfo")) return vk::to_result(error, *why);
        if (auto why = check_handles(*info)) return vk::to_result(error, *why);
        auto made = make_context(*info);
        if (!made) return vk::to_result(error, made.refusal());
        *context = made->release();
        return vk::success(error);
    });
}

void vkgemmDestroyContext(VkgemmContext context) { delete context; }

VkgemmResult vkgemmCreatePlan(VkgemmContext context, const VkgemmProblem* problem, const VkgemmPlanOptions* options,
                              VkgemmPlan* plan, VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        if (!plan)
            return vk::to_result(error, Refusal{Refusal::argument, "plan is null: there is nowhere to put the result"});
        *plan = nullptr;
        if (!context) return vk::to_result(error, Refusal{Refusal::argument, "context is null"});
        auto request = vk::request_from(options, *context);
        if (!request) return vk::to_result(error, request.refusal());
        auto planned = vk::plan_problem(*context, problem, *request);
        if (!planned) return vk::to_result(error, planned.refusal());
        auto made = make_plan(context, *planned, options ? options->flags : 0);
        if (!made) return vk::to_result(error, made.refusal());
        const VkgemmResult result = planned->fallback.empty() ? VKGEMM_SUCCESS : VKGEMM_FALLBACK_USED;
        if (result != VKGEMM_SUCCESS) log(*context, VKGEMM_SEVERITY_WARNING, planned->fallback);
        *plan = made->release();  // last: nothing after it can throw
        return vk::to_result(error, result, planned->fallback);
    });
}

void vkgemmDestroyPlan(VkgemmPlan plan) { delete plan; }

VkgemmResult vkgemmCheckKernel(VkgemmContext context, const VkgemmProblem* problem, const VkgemmPlanOptions* options,
                               VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        if (!context) return vk::to_result(error, Refusal{Refusal::argument, "context is null"});
        auto request = vk::request_from(options, *context);
        if (!request) return vk::to_result(error, request.refusal());
        if (request->kernel.empty())
            return vk::to_result(error,
                                 Refusal{Refusal::argument, "VkgemmPlanOptions::kernel is null: nothing to check"});
        if (!problem) {
            const auto why = unfit_alone(context->caps, *request);
            return why ? vk::to_result(error, *why) : vk::success(error);
        }
        const auto planned = vk::plan_problem(*context, problem, *request);
        return planned ? vk::success(error) : vk::to_result(error, planned.refusal());
    });
}

VkgemmResult vkgemmCheckRun(VkgemmPlan plan, const VkgemmRun* run, VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        const auto operands = checked(plan, run);
        return operands ? vk::success(error) : vk::to_result(error, operands.refusal());
    });
}

VkgemmResult vkgemmRecord(VkgemmPlan plan, VkCommandBuffer commandBuffer, const VkgemmRun* run, VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        if (!commandBuffer) return vk::to_result(error, Refusal{Refusal::argument, "commandBuffer is null"});
        const auto operands = checked(plan, run);
        if (!operands) return vk::to_result(error, operands.refusal());
        vk::record(*plan, commandBuffer, *run, *operands);
        if (auto* const c = plan->context; c->recorded)
            c->recorded(c->recorded_user, plan::to_text(plan->given, run->alpha, run->beta).c_str(), plan, run);
        return vk::success(error);
    });
}
