// SPDX-License-Identifier: MIT
// The public functions about contexts, plans and recording: they check the caller's structs and call the parts.
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <new>

#include "plan/base/concat.h"
#include "plan/device/disabled_kernels.h"
#include "plan/device/needs.h"
#include "plan/kernels/renamed.h"
#include "plan/problem/problem_text.h"
#include "vk/api_guard.h"
#include "vk/device.h"
#include "vk/features.h"
#include "vk/planned_problem.h"
#include "vk/record.h"
#include "vkgemm/text.hpp"

using namespace vkgemm;
using plan::Refusal;
using plan::Result;

namespace {

std::optional<Status> check_allocator(const VkAllocationCallbacks& a) {
    const auto refused = [](const char* why) {
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, std::string("VkgemmContextInfo::allocator ") + why};
    };
    if (!a.pfnAllocation) return refused("has no pfnAllocation");
    if (!a.pfnReallocation) return refused("has no pfnReallocation");
    if (!a.pfnFree) return refused("has no pfnFree");
    if (!a.pfnInternalAllocation != !a.pfnInternalFree)
        return refused("has one of pfnInternalAllocation and pfnInternalFree; set both or neither");
    return std::nullopt;
}

std::optional<Status> check_handles(const VkgemmContextInfo& i) {
    const auto null = [](const char* name) {
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, plan::concat({"VkgemmContextInfo::", name, " is null"})};
    };
    if (!i.instance) return null("instance");
    if (!i.physicalDevice) return null("physicalDevice");
    if (!i.device) return null("device");
    if (!i.getInstanceProcAddr) return null("getInstanceProcAddr");
    if (i.enabledExtensionCount && !i.enabledExtensions) return null("enabledExtensions (with a count above 0)");
    if (i.enabledFeatures && i.enabledFeatures->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       plan::concat({"VkgemmContextInfo::enabledFeatures has sType ", i.enabledFeatures->sType,
                                     "; the chain begins with a VkPhysicalDeviceFeatures2"})};
    constexpr uint32_t known = VKGEMM_CONTEXT_IGNORE_ENVIRONMENT | VKGEMM_CONTEXT_CACHE_EXTERNALLY_SYNCHRONIZED;
    if (i.flags & ~known)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       plan::concat({"VkgemmContextInfo::flags has unknown bits: ", i.flags & ~known})};
    return i.allocator ? check_allocator(*i.allocator) : std::nullopt;
}

// A name that the device does not list cannot have been given to vkCreateDevice, so it is a mistake here.
std::optional<Status> check_extensions(const VkgemmContextInfo& i, const std::vector<std::string>& of_device) {
    for (uint32_t n = 0; n < i.enabledExtensionCount; ++n) {
        const char* const name = i.enabledExtensions[n];
        const std::string where = plan::concat({"VkgemmContextInfo::enabledExtensions[", n, "] is "});
        if (!name) return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, plan::concat({where, "null"})};
        if (std::find(of_device.begin(), of_device.end(), name) != of_device.end()) continue;
        const std::string_view near = nearestWord(name, of_device);
        return Refusal{
            VKGEMM_ERROR_INVALID_ARGUMENT,
            plan::concat({where, "'", name, "', which the physical device does not list; ",
                          (near.empty() ? "" : plan::concat({"did you mean '", near, "'? "})),
                          "List what you gave to vkCreateDevice, without extensions that only a layer provides"})};
    }
    return std::nullopt;
}

const char* forced_kernel() {
    const char* name = std::getenv("VKGEMM_KERNEL");  // the only one that vkgemm reads
    return name ? name : "";
}

Result<plan::TunedRows> tuned_rows(const char* of_caller, const plan::DeviceCaps& caps) {
    auto rows = plan::parse_tuned(of_caller ? of_caller : "");
    if (!rows) return rows.status();
    auto built_in = plan::parse_tuned(plan::built_in_tuned());
    if (!built_in) return built_in.status();
    rows->insert(rows->end(), std::make_move_iterator(built_in->begin()), std::make_move_iterator(built_in->end()));
    return plan::TunedRows(plan::tuned_for(caps, std::move(*rows)));
}

void log(const VkgemmContext_T& c, VkgemmSeverity severity, const std::string& text) {
    if (c.log) c.log(c.log_user, severity, text.c_str());
}

// The kernel's present name; one of vkgemm 0.1 is logged.
std::string present_name(const VkgemmContext_T& c, const std::string& where, const char* name) {
    const auto present = plan::renamed_kernel(name);
    if (!present) return name;
    log(c, VKGEMM_SEVERITY_WARNING, where + plan::renamed_text(name, *present));
    return *present;
}

// Logs what matters of a new context.
void log_context(VkgemmContext_T& c, const std::vector<plan::DisabledKernelRow>& disabled) {
    c.forced_kernel = present_name(c, "VKGEMM_KERNEL: ", c.forced_kernel.c_str());
    if (!c.forced_kernel.empty() && !plan::find_kernel(c.forced_kernel))
        log(c, VKGEMM_SEVERITY_WARNING, plan::concat({"VKGEMM_KERNEL: ", plan::unknown_kernel(c.forced_kernel)}));
    for (const std::string& text : plan::renamed_in_short(c.tuned.rows())) log(c, VKGEMM_SEVERITY_WARNING, text);
    for (const std::string& text : plan::skipped_in_short(c.tuned.rows())) log(c, VKGEMM_SEVERITY_INFO, text);
    for (const plan::DisabledKernelRow& v : disabled) {
        if (!v.old_kernel.empty())
            log(c, VKGEMM_SEVERITY_WARNING,
                plan::concat({"disabled kernels: ", plan::renamed_text(v.old_kernel, v.kernel)}));
        if (!plan::find_kernel(v.kernel))
            log(c, VKGEMM_SEVERITY_INFO,
                plan::concat({"a self-test result is not followed: ", plan::unknown_kernel(v.kernel)}));
    }
}

// Fills in what depends on the device; or why this device, with what was enabled on it, cannot be used.
std::optional<Status> read_device(const VkgemmContextInfo& info, VkgemmContext_T& c) {
    auto instance = vk::load_instance_functions(info.getInstanceProcAddr, info.instance);
    if (!instance) return instance.status();
    auto functions = vk::load_device_functions(*instance, info.device);
    if (!functions) return functions.status();
    const auto version = vk::usable_version(*instance, info.physicalDevice, info.apiVersion);
    if (!version) return version.status();
    if (auto why = check_extensions(info, vk::device_extensions(*instance, info.physicalDevice))) return why;

    plan::FeatureSet features =
        vk::enabled_features(info.enabledFeatures, {info.enabledExtensions, info.enabledExtensionCount}, *version);
    if (!functions->CmdPushDescriptorSet) features &= ~plan::need::push_descriptor;
    if (!functions->GetBufferDeviceAddress) features &= ~plan::need::buffer_address;
    c.caps = vk::read_device_caps(*instance, info.physicalDevice, *version, features);
    if (c.caps.max_storage_buffers < BIND_COUNT)  // one decision, for choices and layouts alike
        c.caps.features = features & ~plan::need::push_descriptor;
    c.device.handle = info.device, c.device.functions = *functions;
    c.device.cache = info.pipelineCache;
    c.device.cache_externally_synchronized =
        info.pipelineCache && (info.flags & VKGEMM_CONTEXT_CACHE_EXTERNALLY_SYNCHRONIZED);
    c.device.features = c.caps.features, c.device.requires_subgroups = c.caps.subgroup_required != 0;
    if (info.allocator) c.allocator = *info.allocator, c.device.allocator = &c.allocator;
    const auto binding = plan::choose_binding(c.caps, {});
    return binding ? std::nullopt : std::optional(binding.status());
}

Result<std::unique_ptr<VkgemmContext_T>> make_context(const VkgemmContextInfo& info) {
    auto c = std::make_unique<VkgemmContext_T>();
    if (auto why = read_device(info, *c)) return *why;
    if (!(info.flags & VKGEMM_CONTEXT_IGNORE_ENVIRONMENT)) c->forced_kernel = forced_kernel();
    c->log = info.log, c->log_user = info.logUser;
    c->recorded = info.recorded, c->recorded_user = info.recordedUser;
    const auto disabled = plan::parse_disabled_kernels(info.disabledKernels ? info.disabledKernels : "");
    if (!disabled) return disabled.status();
    plan::mark_disabled(*disabled, c->caps);
    auto tuned = tuned_rows(info.tunedRows, c->caps);
    if (!tuned) return tuned.status();
    c->tuned = std::move(*tuned);
    if (auto why = c->pipelines.init(c->device)) return *why;
    log_context(*c, *disabled);
    return c;
}

std::optional<Status> check_flags(uint32_t flags, const plan::DeviceCaps& caps) {
    constexpr uint32_t known = VKGEMM_PLAN_CAPTURE_STATISTICS | VKGEMM_PLAN_DRY | VKGEMM_PLAN_IGNORE_TUNED;
    if (flags & ~known)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       plan::concat({"VkgemmPlanOptions::flags has unknown bits: ", flags & ~known})};
    if ((flags & VKGEMM_PLAN_CAPTURE_STATISTICS) && !(caps.features & plan::need::executable_info))
        return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                       "VKGEMM_PLAN_CAPTURE_STATISTICS needs the feature pipelineExecutableInfo, which is not enabled "
                       "on the device"};
    return std::nullopt;
}

constexpr uint32_t max_operand_alignment = 1 << 20;

}  // namespace

Result<plan::Request> vk::request_from(const VkgemmPlanOptions* given, const VkgemmContext_T& c, uint32_t* flags) {
    plan::Request r;
    r.tuned = &c.tuned;
    if (!given) return r;
    const Result<VkgemmPlanOptions> o = vk::read_struct(given);
    if (!o) return o.status();
    if (o->kernel) r.kernel = present_name(c, "VkgemmPlanOptions::kernel: ", o->kernel);
    if (o->tile) r.tile = o->tile;
    if (!r.kernel.empty() && !plan::find_kernel(r.kernel))
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, plan::unknown_kernel(r.kernel)};
    if (const auto tile = plan::with_constants({}, r.tile); !tile) return tile.status();
    if (o->operands != VKGEMM_OPERANDS_BUFFERS && o->operands != VKGEMM_OPERANDS_ADDRESSES)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       plan::concat({"VkgemmPlanOptions::operands is ", o->operands, "; known are 0 and 1"})};
    r.addresses = o->operands == VKGEMM_OPERANDS_ADDRESSES;
    r.workspace_limit = o->workspaceLimit;
    if (o->operandAlignment) r.operand_alignment = o->operandAlignment;
    if ((r.operand_alignment & (r.operand_alignment - 1)) || r.operand_alignment > max_operand_alignment)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       plan::concat({"operandAlignment is ", r.operand_alignment,
                                     "; it must be a power of two, at most ", max_operand_alignment})};
    if (auto why = check_flags(o->flags, c.caps)) return *why;
    if (o->flags & VKGEMM_PLAN_IGNORE_TUNED) r.tuned = nullptr;
    if (flags) *flags = o->flags;
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
    fallback = plan::concat({"VKGEMM_KERNEL was not followed: ", choice.status().text});
    return plan::select(c.caps, p, request);
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
    const plan::Normalised n = plan::normalise(t.problem);
    if (!plan::is_empty(t.problem)) {
        auto choice = choose(c, n.problem, request, t.fallback);
        if (!choice) return choice.status();
        t.choice = std::move(*choice);
    }
    t.steps = plan::make_steps(t.choice, t.problem, n, c.caps, request);
    return t;
}

namespace {

Result<std::unique_ptr<VkgemmPlan_T>> make_plan(VkgemmContext c, vk::PlannedProblem& t, const plan::Request& request,
                                                uint32_t flags) {
    auto p = std::make_unique<VkgemmPlan_T>();
    const bool capture = flags & VKGEMM_PLAN_CAPTURE_STATISTICS;
    p->context = c;
    p->given = t.given, p->problem = t.problem;
    p->dry = flags & VKGEMM_PLAN_DRY;
    p->cost = t.choice.schedule.cost;
    if (t.choice.kernel) p->kernel = t.choice.kernel->name, p->tile = plan::to_text(t.choice.tile);
    p->operands = request.addresses ? VKGEMM_OPERANDS_ADDRESSES : VKGEMM_OPERANDS_BUFFERS;
    p->steps = std::move(t.steps);
    for (size_t i = 0; i < size_t{VKGEMM_SLOT_COUNT}; ++i) p->required_bytes[i] = p->steps.slots[i].bytes;
    if (p->dry) return p;
    for (const plan::Step& s : p->steps.steps) {
        auto pipeline = c->pipelines.get(s, p->steps.binding, capture);
        if (!pipeline) return pipeline.status();
        p->pipelines.push_back(*pipeline);
    }
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

struct CheckedRun {
    VkgemmRun run;  // alpha is the factor that is meant
    vk::ResolvedOperands operands;
};

// Everything that could be wrong with a run, found before anything is recorded.
Result<CheckedRun> checked(VkgemmPlan plan, const VkgemmRun* given) {
    if (!plan) return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "plan is null"};
    Result<VkgemmRun> run = vk::read_struct(given);
    if (!run) return run.status();
    constexpr uint32_t known = VKGEMM_RECORD_BARRIER_BEFORE | VKGEMM_RECORD_BARRIER_AFTER | VKGEMM_RECORD_ZERO_ALPHA;
    if (run->flags & ~known)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       plan::concat({"VkgemmRun::flags has unknown bits: ", run->flags & ~known})};
    const bool zero = run->flags & VKGEMM_RECORD_ZERO_ALPHA;
    if (zero && run->alpha != 0)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       plan::concat({"VkgemmRun::alpha is ", numberText(run->alpha),
                                     ", but flags has VKGEMM_RECORD_ZERO_ALPHA; leave one of them out"})};
    if (!zero && run->alpha == 0) run->alpha = 1;
    auto operands = vk::resolve(*plan, *run);
    if (!operands) return operands.status();
    return CheckedRun{*run, *operands};
}

}  // namespace

VkgemmResult vkgemmCreateContext(const VkgemmContextInfo* given, VkgemmContext* context, VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        if (!context)
            return vk::to_result(
                error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "context is null: there is nowhere to put the result"});
        *context = nullptr;
        const auto info = vk::read_struct(given);
        if (!info) return vk::to_result(error, info.status());
        if (auto why = check_handles(*info)) return vk::to_result(error, *why);
        auto made = make_context(*info);
        if (!made) return vk::to_result(error, made.status());
        *context = made->release();
        return vk::success(error);
    });
}

void vkgemmDestroyContext(VkgemmContext context) { delete context; }

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
        auto planned = vk::plan_problem(*context, problem, *request);
        if (!planned) return vk::to_result(error, planned.status());
        auto made = make_plan(context, *planned, *request, flags);
        if (!made) return vk::to_result(error, made.status());
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
        const auto whole = checked(plan, run);
        return whole ? vk::success(error) : vk::to_result(error, whole.status());
    });
}

VkgemmResult vkgemmRecord(VkgemmPlan plan, VkCommandBuffer commandBuffer, const VkgemmRun* run, VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        if (!commandBuffer)
            return vk::to_result(error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "commandBuffer is null"});
        const auto whole = checked(plan, run);
        if (!whole) return vk::to_result(error, whole.status());
        if (plan->dry)
            return vk::to_result(error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                                                "this plan was made with VKGEMM_PLAN_DRY: it has no "
                                                "pipelines and cannot be recorded"});
        const VkgemmRun& r = whole->run;
        vk::record(*plan, commandBuffer, r, whole->operands);
        if (auto* const c = plan->context; c->recorded)
            c->recorded(c->recorded_user, plan::to_text(plan->given, r.alpha, r.beta).c_str(), plan, &r);
        return vk::success(error);
    });
}
