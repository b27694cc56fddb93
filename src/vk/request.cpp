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
    constexpr uint32_t known = VKGEMM_PLAN_CAPTURE_STATISTICS | VKGEMM_PLAN_IGNORE_TUNED | VKGEMM_PLAN_NO_NATIVE |
                               VKGEMM_PLAN_COUNT_INDICES | when;
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

std::optional<Status> check_seconds(const VkgemmPlanOptions& options, const VkgemmContext_T& context) {
    for (const auto& [name, x] :
         {std::pair{"dispatchSeconds", options.dispatchSeconds}, {"runSeconds", options.runSeconds}})
        if (!(x >= 0) || std::isinf(x))
            return Refusal{
                VKGEMM_ERROR_INVALID_ARGUMENT,
                plan::concat({"VkgemmPlanOptions::", name, " is ", numberText(x), "; it is 0 or a time in seconds"})};
    if (options.dispatchSeconds > 0 && !context.device.functions.CmdDispatchBase)
        return Refusal{VKGEMM_ERROR_MISSING_FUNCTION,
                       "VkgemmPlanOptions::dispatchSeconds needs the function vkCmdDispatchBase (Vulkan 1.1, or "
                       "VK_KHR_device_group), which was not found through vkGetDeviceProcAddr"};
    return std::nullopt;
}

constexpr uint32_t max_operand_alignment = 1 << 20;

// "FIRST+SECOND", of a pair's two products; without a '+' all is of the second. Returns whether there are two.
bool set_halves(std::string_view text, std::string& first, std::string& second) {
    const size_t plus = text.find('+');
    const bool two = plus != std::string_view::npos;
    if (two) first = text.substr(0, plus);
    second = text.substr(two ? plus + 1 : 0);
    return two;
}

}  // namespace

plan::Result<plan::Request> request_from(const VkgemmPlanOptions* given, const VkgemmContext_T& context,
                                         uint32_t* flags) {
    plan::Request request;
    request.tuned = &context.tuned;
    request.preferred_kernel = context.forced_kernel;
    if (!given) return request;
    const plan::Result<VkgemmPlanOptions> options = read_struct(given);
    if (!options) return options.status();
    const bool two = options->kernel && set_halves(options->kernel, request.gate_kernel, request.kernel);
    const bool two_tiles = options->tile && set_halves(options->tile, request.gate_tile, request.tile);
    for (const std::string* const name : {&request.gate_kernel, &request.kernel})
        if ((two || !name->empty()) && !plan::find_kernel(*name))
            return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, plan::unknown_kernel(*name)};
    for (const std::string* const constants : {&request.gate_tile, &request.tile})
        if (const auto tile = plan::with_constants({}, *constants); !tile) return tile.status();
    if (two_tiles && !two)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       "VkgemmPlanOptions::tile has a '+', and kernel names one kernel; name two, 'FIRST+SECOND', or "
                       "leave the '+' out"};
    if (two && !two_tiles && !request.tile.empty())
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       "VkgemmPlanOptions::kernel names two kernels, and tile has no '+'; write 'FIRST+SECOND', either "
                       "of which may be empty"};
    request.addresses = options->operands == VKGEMM_OPERANDS_ADDRESSES;
    request.descriptors = options->operands == VKGEMM_OPERANDS_DESCRIPTORS;
    request.workspace_limit = options->workspaceLimit;
    if (options->operandAlignment) request.operand_alignment = options->operandAlignment;
    if ((request.operand_alignment & (request.operand_alignment - 1)) ||
        request.operand_alignment > max_operand_alignment)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       plan::concat({"operandAlignment is ", request.operand_alignment,
                                     "; it must be a power of two, at most ", max_operand_alignment})};
    if (auto why = check_flags(options->flags, context.caps)) return *why;
    if (auto why = check_seconds(*options, context)) return *why;
    request.dispatch_seconds = options->dispatchSeconds;
    request.run_seconds = options->runSeconds;
    if (options->flags & VKGEMM_PLAN_IGNORE_TUNED) request.tuned = nullptr;
    if (options->flags & VKGEMM_PLAN_NO_NATIVE) request.native = plan::Request::Native::excluded;
    request.count_indices = options->flags & VKGEMM_PLAN_COUNT_INDICES;
    if (flags) *flags = options->flags;
    return request;
}

plan::Result<plan::Plan> plan_problem(const VkgemmContext_T& context, const VkgemmProblem* problem,
                                      const plan::Request& request) {
    const auto given = problem_from(problem);
    return given ? plan::make_plan(*context.kernels, *given, request) : given.status();
}

}  // namespace vkgemm::vk
