// SPDX-License-Identifier: MIT
#include <array>

#include "host/capture.h"
#include "vkgemm/float_exceptions.hpp"

namespace vkgemm::host {
namespace {

using Buffers = std::array<Buffer, VKGEMM_SLOT_COUNT>;

Status refused(VkgemmSlot slot, const std::string& why) {
    return {VKGEMM_ERROR_PARSE, VK_SUCCESS, std::string("operand ") + detail::slot_name(slot) + " " + why};
}

/// Are the captured operands what this problem takes? Both come from a file.
Status compare(const Capture& c, const Problem& problem, const VkgemmPlanInfo& info) {
    uint64_t of_d = 0;
    for (const auto& o : c.operands) {
        const uint64_t needed = info.requiredBytes[o.slot];
        if (needed == 0) return refused(o.slot, "is not one of the problem's");
        // Groups may reach over as much of an operand as the run stated, which the run checks.
        if (o.bytes.size() != needed && problem.grouping == VKGEMM_GROUPING_NONE)
            return refused(o.slot, "has " + std::to_string(o.bytes.size()) + " bytes, and the problem reaches over " +
                                       std::to_string(needed));
        if (o.slot == VKGEMM_SLOT_D) of_d = o.bytes.size();
    }
    if (of_d == 0) return refused(VKGEMM_SLOT_D, "is missing");
    if (c.resultBytes == of_d) return {};
    return {VKGEMM_ERROR_PARSE, VK_SUCCESS,
            "the result has " + std::to_string(c.resultBytes) + " bytes, and D has " + std::to_string(of_d)};
}

Result<Buffer> buffer_of(const Device& device, uint64_t bytes) { return device.createBuffer((bytes + 15) / 16 * 16); }

/// The captured operands, zeros for those that the run needs and does not read, and the workspace.
Result<Buffers> upload(const Device& device, const Capture& c, const VkgemmPlanInfo& info) {
    Buffers all;
    for (const auto& o : c.operands) {
        auto buffer = buffer_of(device, o.bytes.size());
        if (!buffer) return buffer.status();
        if (Status s = device.upload(*buffer, 0, o.bytes); !s) return s;
        all[o.slot] = *std::move(buffer);
    }
    for (size_t slot = 0; slot < all.size(); ++slot) {
        if (info.requiredBytes[slot] == 0 || all[slot].handle()) continue;
        auto buffer = buffer_of(device, info.requiredBytes[slot]);
        if (!buffer) return buffer.status();
        if (Status s = device.fill(*buffer, 0, buffer->size(), 0); !s) return s;
        all[slot] = *std::move(buffer);
    }
    return all;
}

Run run_of(const Capture& c, const ParsedProblem& parsed, const VkgemmPlanInfo& info, const Buffers& buffers) {
    std::array<uint64_t, VKGEMM_SLOT_COUNT> bytes{};
    for (size_t slot = 0; slot < bytes.size(); ++slot) bytes[slot] = info.requiredBytes[slot];
    for (const auto& o : c.operands) bytes[o.slot] = o.bytes.size();
    const auto at = [&](VkgemmSlot slot) {
        return buffers[slot].handle() ? buffers[slot].operand(0, bytes[slot]) : Operand{};
    };
    Run run{.a = at(VKGEMM_SLOT_A),
            .b = at(VKGEMM_SLOT_B),
            .c = at(VKGEMM_SLOT_C),
            .d = at(VKGEMM_SLOT_D),
            .bias = at(VKGEMM_SLOT_BIAS),
            .scale = at(VKGEMM_SLOT_SCALE),
            .residual = at(VKGEMM_SLOT_RESIDUAL),
            .workspace = at(VKGEMM_SLOT_WORKSPACE),
            .alpha = parsed.alpha,
            .beta = parsed.beta,
            .groups = at(VKGEMM_SLOT_GROUPS),
            .indices = at(VKGEMM_SLOT_INDICES),
            .scalars = at(VKGEMM_SLOT_SCALARS),
            .b2 = at(VKGEMM_SLOT_B2),
            .bias2 = at(VKGEMM_SLOT_BIAS2)};
    const Problem& p = parsed.problem;
    if (p.upTo && p.grouping == VKGEMM_GROUPING_NONE) run.sizes = Sizes{p.m, p.n, p.k, p.batch ? p.batch : 1};
    return run;
}

Result<Replay> replayed(const Device& device, const Capture& c, const ParsedProblem& parsed) {
    if (!c.hasData)
        return Status{VKGEMM_ERROR_PARSE, VK_SUCCESS,
                      "it is the text of a run without its operands; nothing to repeat"};
    const auto plan = device.context().createPlan(
        parsed.problem, {.kernel = c.kernel.c_str(),
                         .tile = c.tile.c_str(),
                         .operands = c.addresses ? VKGEMM_OPERANDS_ADDRESSES : VKGEMM_OPERANDS_DESCRIPTORS,
                         .operandAlignment = c.alignment,
                         .workspaceLimit = c.workspace});
    if (!plan) return plan.status();
    const VkgemmPlanInfo info = plan->info();
    if (Status s = compare(c, parsed.problem, info); !s) return s;
    const auto buffers = upload(device, c, info);
    if (!buffers) return buffers.status();
    const Run run = run_of(c, parsed, info, *buffers);
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
