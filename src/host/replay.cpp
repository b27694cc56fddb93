// SPDX-License-Identifier: MIT
#include <array>

#include "host/capture.h"
#include "vkgemm/float_exceptions.hpp"

namespace vkgemm::host {
namespace {

/// Are the captured operands what this problem takes? Both come from a file.
Status compare(const Capture& c, const VkgemmPlanInfo& info) {
    std::array<uint64_t, VKGEMM_SLOT_COUNT> there{};
    for (const auto& o : c.operands) there[o.slot] = o.bytes.size();
    for (uint32_t i = 0; i < VKGEMM_SLOT_COUNT; ++i)
        if (detail::is_captured(static_cast<VkgemmSlot>(i)) && there[i] != info.requiredBytes[i])
            return {VKGEMM_ERROR_PARSE, VK_SUCCESS,
                    std::string("operand ") + detail::slot_name(static_cast<VkgemmSlot>(i)) + " has " +
                        std::to_string(there[i]) + " bytes, and the problem reaches over " +
                        std::to_string(info.requiredBytes[i])};
    if (c.resultBytes != info.requiredBytes[VKGEMM_SLOT_D])
        return {VKGEMM_ERROR_PARSE, VK_SUCCESS,
                "the result has " + std::to_string(c.resultBytes) + " bytes, and D has " +
                    std::to_string(info.requiredBytes[VKGEMM_SLOT_D])};
    return {};
}

Result<std::array<Buffer, VKGEMM_SLOT_COUNT>> upload(const Device& device, const Capture& c, uint64_t workspace) {
    std::array<Buffer, VKGEMM_SLOT_COUNT> all;
    for (const auto& o : c.operands) {
        auto buffer = device.createBuffer((o.bytes.size() + 15) / 16 * 16);
        if (!buffer) return buffer.status();
        if (Status s = device.upload(*buffer, 0, o.bytes); !s) return s;
        all[o.slot] = *std::move(buffer);
    }
    if (workspace == 0) return all;
    auto buffer = device.createBuffer(workspace);
    if (!buffer) return buffer.status();
    all[VKGEMM_SLOT_WORKSPACE] = *std::move(buffer);
    return all;
}

Result<Replay> replayed(const Device& device, const Capture& c, const ParsedProblem& problem) {
    const auto plan = device.context().createPlan(problem.problem, {.kernel = c.kernel.c_str(),
                                                                    .tile = c.tile.c_str(),
                                                                    .operandAlignment = c.alignment,
                                                                    .workspaceLimit = c.workspace});
    if (!plan) return plan.status();
    const VkgemmPlanInfo info = plan->info();
    if (Status s = compare(c, info); !s) return s;
    const auto buffers = upload(device, c, info.requiredBytes[VKGEMM_SLOT_WORKSPACE]);
    if (!buffers) return buffers.status();
    const auto at = [&](VkgemmSlot slot) { return (*buffers)[slot].handle() ? (*buffers)[slot].operand() : Operand{}; };
    const Run run{.a = at(VKGEMM_SLOT_A),
                  .b = at(VKGEMM_SLOT_B),
                  .c = at(VKGEMM_SLOT_C),
                  .d = at(VKGEMM_SLOT_D),
                  .bias = at(VKGEMM_SLOT_BIAS),
                  .scale = at(VKGEMM_SLOT_SCALE),
                  .residual = at(VKGEMM_SLOT_RESIDUAL),
                  .workspace = at(VKGEMM_SLOT_WORKSPACE),
                  .alpha = problem.alpha,
                  .beta = problem.beta,
                  .scalars = at(VKGEMM_SLOT_SCALARS)};
    const auto patience = std::chrono::seconds(device.info().kind == VK_PHYSICAL_DEVICE_TYPE_CPU ? 600 : 60);
    if (Status s = device.submit([&](VkCommandBuffer commands) { return plan->record(commands, run); }, patience); !s)
        return s;
    std::vector<std::byte> d(c.resultBytes);
    if (Status s = device.download((*buffers)[VKGEMM_SLOT_D], 0, d); !s) return s;
    return Replay{.checksum = detail::checksum(d),
                  .kernel = info.kernel,
                  .tile = info.tile,
                  .workspace = info.requiredBytes[VKGEMM_SLOT_WORKSPACE]};
}

}  // namespace

Result<Replay> replay(const Device& device, const Capture& capture) {
    const HoldFloatExceptions held;
    const auto problem = parseProblem(capture.problem.c_str());
    if (!problem) return problem.status();
    return replayed(device, capture, *problem);
}

}  // namespace vkgemm::host
