// SPDX-License-Identifier: MIT
#include "drivers/compiler.h"

#include <cstdio>
#include <cstdlib>

namespace vkgemm::test {
namespace {

template <class T>
T value(Result<T> result) {
    if (!result) give_up(result.status().text);
    return *std::move(result);
}

std::string report_text(const host::PipelineReport& report) {
    std::string out;
    for (const auto& s : report.statistics) out += (out.empty() ? "" : ", ") + s.name;
    return out;
}

}  // namespace

void give_up(const std::string& why) {
    std::fprintf(stderr, "driver_table: %s\n", why.c_str());
    std::exit(2);
}

Compiler open_compiler() {
    host::Device device = value(host::Device::open({.inspect = true}));
    if (!device.inspects()) give_up(device.info().name + " has no VK_KHR_pipeline_executable_properties");
    const auto caps = plan::parse_device_caps(value(device.context().describeDevice()));
    if (!caps) give_up(caps.status().text);
    return {std::move(device), *caps};
}

std::vector<Compiled> compile(const Compiler& compiler, const std::string& line, const std::string& kernel,
                              uint64_t workspace) {
    const auto words = parseProblem(line.c_str());
    if (!words) give_up(line + ": no problem");
    const auto plan = tool::compile(compiler.device, words->problem,
                                    {.kernel = kernel.empty() ? nullptr : kernel.c_str(), .workspaceLimit = workspace});
    if (!plan && (plan.status().code == VKGEMM_ERROR_UNSUPPORTED || plan.status().code == VKGEMM_ERROR_LIMIT))
        return {};
    if (!plan) give_up(line + ": " + plan.status().text);
    std::vector<Compiled> out;
    for (const tool::CompiledStep& step : plan->steps) {
        const tool::ShaderStats stats = tool::shader_stats_of(step.report);
        if (!stats.registers || !stats.spills)
            give_up("this driver reports no registers or spills under names that this program knows: " +
                    report_text(step.report));
        out.push_back({step, stats});
    }
    return out;
}

std::string number(const std::optional<double>& x) {
    char text[32] = "–";
    if (x) std::snprintf(text, sizeof text, "%.0f", *x);
    return text;
}

}  // namespace vkgemm::test
