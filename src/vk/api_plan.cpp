// SPDX-License-Identifier: MIT
// The public functions about contexts, plans and recording: checks of the caller's words, then glue.
#include <cstdlib>
#include <memory>
#include <new>

#include "plan/device/needs.h"
#include "plan/problem/problem_text.h"
#include "plan/device/disabled_kernels.h"
#include "vk/api_guard.h"
#include "vk/device.h"
#include "vk/features.h"
#include "vk/record.h"

using namespace vkgemm;
using plan::Refusal;
using plan::Result;

namespace {

std::optional<Status> check_handles(const VkgemmContextInfo& i) {
    const auto null = [](const char* name) {
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, std::string("VkgemmContextInfo::") + name + " is null"};
    };
    if (!i.instance) return null("instance");
    if (!i.physicalDevice) return null("physicalDevice");
    if (!i.device) return null("device");
    if (!i.getInstanceProcAddr) return null("getInstanceProcAddr");
    if (i.enabledExtensionCount && !i.enabledExtensions) return null("enabledExtensions (with a count above 0)");
    if (i.enabledFeatures && i.enabledFeatures->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "VkgemmContextInfo::enabledFeatures has sType " +
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
    if (!rows) return rows.status();
    auto built_in = plan::parse_tuned(plan::built_in_tuned());
    if (!built_in) return built_in.status();
    rows->insert(rows->end(), built_in->begin(), built_in->end());
    return plan::tuned_for(caps, *rows);
}

void log(const VkgemmContext_T& c, VkgemmSeverity severity, const std::string& text) {
    if (c.log) c.log(c.log_user, severity, text.c_str());
}

Result<std::unique_ptr<VkgemmContext_T>> make_context(const VkgemmContextInfo& info) {
    auto instance = vk::load_instance_functions(info.getInstanceProcAddr, info.instance);
    if (!instance) return instance.status();
    auto functions = vk::load_device_functions(*instance, info.device);
    if (!functions) return functions.status();
    const auto version = vk::usable_version(*instance, info.physicalDevice, info.apiVersion);
    if (!version) return version.status();

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
    if (!disabled) return disabled.status();
    plan::mark_disabled(*disabled, c->caps);
    auto tuned = tuned_rows(info.tunedRows, c->caps);
    if (!tuned) return tuned.status();
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

std::optional<Status> check_flags(uint32_t flags, const plan::DeviceCaps& caps) {
    constexpr uint32_t known = VKGEMM_PLAN_CAPTURE_STATISTICS | VKGEMM_PLAN_DRY | VKGEMM_PLAN_IGNORE_TUNED;
    if (flags & ~known)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       "VkgemmPlanOptions::flags has unknown bits: " + std::to_string(flags & ~known)};
    if ((flags & VKGEMM_PLAN_CAPTURE_STATISTICS) && !(caps.features & plan::need::executable_info))
        return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                       "VKGEMM_PLAN_CAPTURE_STATISTICS needs the feature pipelineExecutableInfo, which is not enabled "
                       "on this device"};
    return std::nullopt;
}

// The options in the words of src/plan, or what is wrong with them whatever the problem.
Result<plan::Request> request_from(const VkgemmPlanOptions* o, const VkgemmContext_T& c) {
    plan::Request r;
    r.tuned = c.tuned;
    if (!o) return r;
    if (auto why = vk::check_struct(o, "VkgemmPlanOptions")) return *why;
    if (o->kernel) r.kernel = o->kernel;
    if (o->tile) r.tile = o->tile;
    if (!r.kernel.empty() && !plan::find_kernel(r.kernel))
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, plan::unknown_kernel(r.kernel)};
    if (const auto tile = plan::with_constants({}, r.tile); !tile) return tile.status();
    if (o->operands != VKGEMM_OPERANDS_BUFFERS && o->operands != VKGEMM_OPERANDS_ADDRESSES)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       "VkgemmPlanOptions::operands is " + std::to_string(o->operands) + "; known are 0 and 1"};
    r.addresses = o->operands == VKGEMM_OPERANDS_ADDRESSES;
    r.workspace_limit = o->workspaceLimit;
    if (o->operandAlignment) r.operand_alignment = o->operandAlignment;
    if (r.operand_alignment & (r.operand_alignment - 1))
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       "operandAlignment is " + std::to_string(r.operand_alignment) + ", not a power of two"};
    if (auto why = check_flags(o->flags, c.caps)) return *why;
    if (o->flags & VKGEMM_PLAN_IGNORE_TUNED) r.tuned = {};
    return r;
}

// What was asked for; where only the environment asked and it cannot serve, the free choice.
Result<plan::Choice> choose(const VkgemmContext_T& c, const plan::Problem& p, const plan::Request& request,
                            std::string& fallback) {
    if (!request.kernel.empty() || c.forced_kernel.empty()) return plan::select(c.caps, p, request);
    plan::Request forced = request;
    forced.kernel = c.forced_kernel;
    Result<plan::Choice> choice = plan::select(c.caps, p, forced);
    if (choice) return choice;
    fallback = "VKGEMM_KERNEL was not followed: " + choice.status().text;
    return plan::select(c.caps, p, request);
}

struct PlannedProblem {
    plan::Problem given, problem;  // in the caller's words, completed
    plan::Choice choice;           // kernel null for an empty problem
    plan::Steps steps;
    std::string fallback;
};

Result<PlannedProblem> plan_problem(const VkgemmContext_T& c, const VkgemmProblem* problem, const plan::Request& request) {
    PlannedProblem t;
    auto words = vk::problem_from(problem);
    if (!words) return words.status();
    auto completed = plan::complete(*words);
    if (!completed) return completed.status();
    t.given = *words, t.problem = *completed;
    const plan::Normalised n = plan::normalise(t.problem);
    if (!plan::is_empty(t.problem)) {
        auto choice = choose(c, n.problem, request, t.fallback);
        if (!choice) return choice.status();
        t.choice = std::move(*choice);
    }
    t.steps = plan::make_steps(t.choice, t.problem, n, c.caps, request);
    return t;
}

Result<std::unique_ptr<VkgemmPlan_T>> make_plan(VkgemmContext c, PlannedProblem& t, uint32_t flags) {
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
    if (!kernel.module.is_product())
        return Refusal{VKGEMM_ERROR_UNSUPPORTED, kernel.module.family.refuses({})};
    return plan::unfit_device(kernel, *plan::with_constants(kernel.tile, request.tile), caps);
}

// What vkgemmExplain writes. `p` is the problem, normalised.
std::string explained(const VkgemmContext_T& c, const VkgemmProblem* problem, const plan::Problem& p,
                      const plan::Request& request) {
    const auto planned = plan_problem(c, problem, request);
    if (planned && !planned->choice.kernel) return "nothing to do: m, n or batch is 0\n";
    std::string out =
        planned ? vk::explanation(planned->choice, planned->steps) : "no kernel: " + planned.status().text + "\n";
    if (planned && !planned->fallback.empty()) out += "note       " + planned->fallback + "\n";
    for (const std::string& why : plan::skipped_near(request.tuned, p, request.operand_alignment))
        out += "note       " + why + "\n";
    return out + vk::candidates_text(plan::list_candidates(c.caps, p, request), planned ? planned->choice.kernel : nullptr);
}

// Everything that could be wrong with a run, found before anything is recorded.
Result<vk::ResolvedOperands> checked(VkgemmPlan plan, const VkgemmRun* run) {
    if (!plan) return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "plan is null"};
    if (auto why = vk::check_struct(run, "VkgemmRun")) return *why;
    constexpr uint32_t known = VKGEMM_RECORD_BARRIER_BEFORE | VKGEMM_RECORD_BARRIER_AFTER;
    if (run->flags & ~known)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "VkgemmRun::flags has unknown bits: " + std::to_string(run->flags & ~known)};
    return vk::resolve(*plan, *run);
}

}  // namespace

VkgemmResult vkgemmCreateContext(const VkgemmContextInfo* info, VkgemmContext* context, VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        if (!context)
            return vk::to_result(error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "context is null: there is nowhere to put the result"});
        *context = nullptr;
        if (auto why = vk::check_struct(info, "VkgemmContextInfo")) return vk::to_result(error, *why);
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
            return vk::to_result(error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "plan is null: there is nowhere to put the result"});
        *plan = nullptr;
        if (!context) return vk::to_result(error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "context is null"});
        auto request = request_from(options, *context);
        if (!request) return vk::to_result(error, request.status());
        auto planned = plan_problem(*context, problem, *request);
        if (!planned) return vk::to_result(error, planned.status());
        auto made = make_plan(context, *planned, options ? options->flags : 0);
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
        auto request = request_from(options, *context);
        if (!request) return vk::to_result(error, request.status());
        if (request->kernel.empty())
            return vk::to_result(error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "VkgemmPlanOptions::kernel is null: nothing to check"});
        if (!problem) {
            const auto why = unfit_alone(context->caps, *request);
            return why ? vk::to_result(error, *why) : vk::success(error);
        }
        const auto planned = plan_problem(*context, problem, *request);
        return planned ? vk::success(error) : vk::to_result(error, planned.status());
    });
}

VkgemmResult vkgemmExplain(VkgemmContext context, const VkgemmProblem* problem, const VkgemmPlanOptions* options,
                           char* text, size_t* size, VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        if (!context || !size)
            return vk::to_result(error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, context ? "size is null" : "context is null"});
        auto request = request_from(options, *context);
        if (!request) return vk::to_result(error, request.status());
        auto words = vk::problem_from(problem);
        if (!words) return vk::to_result(error, words.status());
        auto completed = plan::complete(*words);
        if (!completed) return vk::to_result(error, completed.status());
        const std::string out = explained(*context, problem, plan::normalise(*completed).problem, *request);
        vk::success(error);
        return vk::copy_text(out, text, size);
    });
}

VkgemmResult vkgemmCheckRun(VkgemmPlan plan, const VkgemmRun* run, VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        const auto operands = checked(plan, run);
        return operands ? vk::success(error) : vk::to_result(error, operands.status());
    });
}

VkgemmResult vkgemmRecord(VkgemmPlan plan, VkCommandBuffer commandBuffer, const VkgemmRun* run, VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        if (!commandBuffer) return vk::to_result(error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "commandBuffer is null"});
        const auto operands = checked(plan, run);
        if (!operands) return vk::to_result(error, operands.status());
        vk::record(*plan, commandBuffer, *run, *operands);
        if (auto* const c = plan->context; c->recorded)
            c->recorded(c->recorded_user, plan::to_text(plan->given, run->alpha, run->beta).c_str(), plan, run);
        return vk::success(error);
    });
}
