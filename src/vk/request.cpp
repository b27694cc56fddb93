// SPDX-License-Identifier: MIT
#include "vk/request.h"

#include <bit>
#include <cmath>

#include "plan/base/concat.h"
#include "vk/convert.h"
#include "vkgemm/text.hpp"

namespace vkgemm::vk {
namespace {

using plan::Refusal;

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

plan::Result<plan::Request> request_from(const VkgemmPlanOptions* given, const VkgemmContext_T& c, uint32_t* flags) {
    plan::Request r;
    r.tuned = &c.tuned;
    r.preferred_kernel = c.forced_kernel;
    if (!given) return r;
    const plan::Result<VkgemmPlanOptions> o = read_struct(given);
    if (!o) return o.status();
    if (o->kernel) r.kernel = o->kernel;
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
    if (auto why = check_seconds(*o, c)) return *why;
    r.dispatch_seconds = o->dispatchSeconds;
    r.run_seconds = o->runSeconds;
    if (o->flags & VKGEMM_PLAN_IGNORE_TUNED) r.tuned = nullptr;
    if (o->flags & VKGEMM_PLAN_NO_NATIVE) r.native = plan::Request::Native::excluded;
    if (flags) *flags = o->flags;
    return r;
}

plan::Result<plan::Plan> plan_problem(const VkgemmContext_T& c, const VkgemmProblem* problem,
                                      const plan::Request& request) {
    const auto given = problem_from(problem);
    return given ? plan::make_plan(*c.kernels, *given, request) : given.status();
}

}  // namespace vkgemm::vk
