// SPDX-License-Identifier: MIT
// vkgemm replay: a captured call again, on this machine.
#include <array>
#include <cstdio>

#include "host/capture.h"
#include "tools/vkgemm/commands/command.h"

namespace vkgemm::tool {
namespace {

using host::detail::Capture;

struct Replayed {
    uint64_t checksum = 0;
    std::string kernel, tile;
    uint64_t workspace = 0;
};

std::string hex(uint64_t value) {
    char text[32];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
    return text;
}

/// Are the captured operands what this problem takes? Both come from a file.
Status compare(const Capture& c, const VkgemmPlanInfo& info) {
    std::array<uint64_t, VKGEMM_SLOT_COUNT> there{};
    for (const auto& o : c.operands) there[o.slot] = o.bytes.size();
    for (uint32_t i = 0; i <= VKGEMM_SLOT_RESIDUAL; ++i)
        if (there[i] != info.requiredBytes[i])
            return {VKGEMM_ERROR_PARSE, VK_SUCCESS,
                    std::string("operand ") + host::detail::slot_name(static_cast<VkgemmSlot>(i)) + " has " +
                        std::to_string(there[i]) + " bytes, and the problem reaches over " +
                        std::to_string(info.requiredBytes[i])};
    if (c.result_bytes != info.requiredBytes[VKGEMM_SLOT_D])
        return {VKGEMM_ERROR_PARSE, VK_SUCCESS,
                "the result has " + std::to_string(c.result_bytes) + " bytes, and D has " +
                    std::to_string(info.requiredBytes[VKGEMM_SLOT_D])};
    return {};
}

Result<std::array<host::Buffer, VKGEMM_SLOT_COUNT>> upload(const host::Device& device, const Capture& c,
                                                           uint64_t workspace) {
    std::array<host::Buffer, VKGEMM_SLOT_COUNT> all;
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

Result<Replayed> replay(const host::Device& device, const Capture& c, const ParsedProblem& problem) {
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
    Run run{.a = at(VKGEMM_SLOT_A), .b = at(VKGEMM_SLOT_B), .c = at(VKGEMM_SLOT_C), .d = at(VKGEMM_SLOT_D)};
    run.bias = at(VKGEMM_SLOT_BIAS), run.scale = at(VKGEMM_SLOT_SCALE), run.residual = at(VKGEMM_SLOT_RESIDUAL);
    run.workspace = at(VKGEMM_SLOT_WORKSPACE);
    run.alpha = problem.alpha, run.beta = problem.beta;
    const auto patience = std::chrono::seconds(device.info().kind == VK_PHYSICAL_DEVICE_TYPE_CPU ? 600 : 60);
    if (Status s = device.submit([&](VkCommandBuffer commands) { return plan->record(commands, run); }, patience); !s)
        return s;
    std::vector<std::byte> d(c.result_bytes);
    if (Status s = device.download((*buffers)[VKGEMM_SLOT_D], 0, d); !s) return s;
    return Replayed{host::detail::checksum(d), info.kernel, info.tile, info.requiredBytes[VKGEMM_SLOT_WORKSPACE]};
}

int run(const Session& given, const std::string& path) {
    Session session = given;
    session.use_disabled_kernels = false;  // a kernel that was found wrong is what one may want to see again
    const auto text = read_file(path);
    if (!text) return session.fail(text.status());
    const auto c = host::detail::parse_capture(*text);
    if (!c) return session.fail({c.status().code, VK_SUCCESS, path + ": " + c.status().text});
    const auto problem = parseProblem(c->problem.c_str());
    if (!problem) return session.fail(problem.status());
    const auto device = session.open();
    if (!device) return session.fail(device.status());
    print(device_line(device->info()) + "\n" + wrapped(c->problem, 0) + wrapped("on " + c->kernel + ", " + c->tile, 0) +
          wrapped("captured on " + c->device + " [" + c->driver + "] by vkgemm " + c->version, 0, 4) + "\n");
    const auto again = replay(*device, *c, *problem);
    if (!again) return session.fail({again.status().code, again.status().vkResult, path + ": " + again.status().text});
    if (again->workspace != c->workspace)
        print(wrapped("the plan is another one here: a workspace of " + bytes_text(again->workspace) + ", not " +
                          bytes_text(c->workspace),
                      0));
    const bool same = again->checksum == c->result_checksum;
    print(wrapped(
        std::string(same ? "it reproduces: D has the same " : "it does NOT reproduce: D differs from the captured ") +
            std::to_string(c->result_bytes) + " bytes, checksum " + hex(again->checksum) +
            (same ? "" : ", captured " + hex(c->result_checksum)),
        0));
    return session.finish(*device, same ? exit_right : exit_wrong);
}

}  // namespace

CLI::App* add_replay(CLI::App& program, const Session& session, Action& action) {
    auto file = std::make_shared<std::string>();
    CLI::App* command = program.add_subcommand("replay", "run a call again that was captured with VKGEMM_CAPTURE=DIR");
    command->add_option("file", *file, "the capture")->type_name("FILE")->required();
    command->callback([&session, &action, file] { action = [&session, file] { return run(session, *file); }; });
    return command;
}

}  // namespace vkgemm::tool
