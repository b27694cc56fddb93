// SPDX-License-Identifier: MIT
// The public functions that make plans: they read the caller's structs, plan, and give the plan its pipelines.
#include <memory>

#include "plan/base/concat.h"
#include "vk/api_guard.h"
#include "vk/plan_pipelines.h"
#include "vk/request.h"

using namespace vkgemm;
using plan::Refusal;

namespace {

// Logs what more workspace would bring. Only who listens pays for finding out.
void log_gain(VkgemmPlan_T& p) {
    if (!p.context->log) return;
    if (const auto& gain = vk::workspace_gain(p))
        vk::log(*p.context, VKGEMM_SEVERITY_INFO,
                plan::concat({plan::to_text(p.plan.problem.given, 1, 0), " on ", p.plan.choice.kernel->name, ": ",
                              plan::to_text(*gain)}));
}

}  // namespace

const std::optional<plan::WorkspaceGain>& vk::workspace_gain(VkgemmPlan_T& p) {
    std::call_once(p.gain_asked, [&] { p.gain = plan::workspace_gain(*p.context->kernels, p.plan, p.request); });
    return p.gain;
}

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
        const auto operands = request->addresses ? VKGEMM_OPERANDS_ADDRESSES : VKGEMM_OPERANDS_BUFFERS;
        auto made = vk::make_handle(context, std::move(*planned), operands, flags);
        if (!made) return vk::to_result(error, made.status());
        (*made)->request = *std::move(request);
        log_gain(**made);
        const std::string& fallback = (*made)->plan.fallback;
        const VkgemmResult result = fallback.empty() ? VKGEMM_SUCCESS : VKGEMM_FALLBACK_USED;
        if (result != VKGEMM_SUCCESS) vk::log(*context, VKGEMM_SEVERITY_WARNING, fallback);
        vk::to_result(error, result, fallback);
        *plan = made->release();  // last: nothing after it can throw
        return result;
    });
}

VkgemmResult vkgemmCreatePack(VkgemmPlan product, VkgemmSlot slot, VkgemmPlan* pack, VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        if (!pack)
            return vk::to_result(
                error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "pack is null: there is nowhere to put the result"});
        *pack = nullptr;
        if (!product) return vk::to_result(error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "product is null"});
        if (auto why = vk::check_enum("slot", vk::enum_value(slot), 0, VKGEMM_SLOT_COUNT - 1))
            return vk::to_result(error, *why);
        auto planned = plan::plan_pack(product->plan, slot);
        if (!planned) return vk::to_result(error, planned.status());
        const uint32_t flags = product->flags & ~uint32_t{VKGEMM_PLAN_CAPTURE_STATISTICS};
        auto made = vk::make_handle(product->context, std::move(*planned), product->operands, flags);
        if (!made) return vk::to_result(error, made.status());
        *pack = made->release();
        return vk::success(error);
    });
}

void vkgemmDestroyPlan(VkgemmPlan plan) { vk::destroy(plan); }

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
            const auto why = plan::unfit_request(context->caps, *request);
            return why ? vk::to_result(error, *why) : vk::success(error);
        }
        const auto planned = vk::plan_problem(*context, problem, *request);
        return planned ? vk::success(error) : vk::to_result(error, planned.status());
    });
}
