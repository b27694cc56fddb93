// SPDX-License-Identifier: MIT
#include "drivers/chains.h"

#include <cstdio>

#include "plan/fused_chain.h"
#include "vk/context.h"

namespace vkgemm::test {
namespace {

struct Network {
    const char* name;
    std::vector<uint64_t> widths;  // of the first A, and of every D
    bool encoded = false;          // the first A is column-major, and the GPU counts the rows
    bool gradients = false;        // through the derivative of ReLU; every D is kept, and the last is column-major
    uint64_t rows = 65536;
};
const Network networks[] = {
    {.name = "64-64-64-64-64", .widths = {64, 64, 64, 64, 64}},
    {.name = "32-64-64-64-8", .widths = {32, 64, 64, 64, 8}},
    {.name = "a screen of 64-64-64-64-64", .widths = {64, 64, 64, 64, 64}, .rows = 1920 * 1080},
    {.name = "128-128-128-128-128", .widths = {128, 128, 128, 128, 128}},
    {.name = "24-48-48-48-48-48-3", .widths = {24, 48, 48, 48, 48, 48, 3}},
    {.name = "encoded 32-64-64-64-8", .widths = {32, 64, 64, 64, 8}, .encoded = true},
    {.name = "gradients 8-48-48-48-32", .widths = {8, 48, 48, 48, 32}, .gradients = true},
};

std::vector<Problem> layers(Type type, const Network& n) {
    const std::vector<uint64_t>& widths = n.widths;
    std::vector<Problem> out;
    for (size_t i = 0; i + 1 < widths.size(); ++i) {
        Problem p;
        p.m = n.rows;
        p.n = widths[i + 1];
        p.k = widths[i];
        p.a.type = type;
        const bool is_last = i + 2 == widths.size();
        if (n.encoded) {
            if (i == 0) p.a.layout = plan::columnMajor;
            p.upTo = VKGEMM_UP_TO_M;
            p.grouping = VKGEMM_GROUPING_TABLE;
        }
        if (n.gradients) {
            p.b.layout = plan::columnMajor;
            if (is_last) p.d.layout = plan::columnMajor;
            if (!is_last) p.epilogue.add({.kind = VKGEMM_STEP_DRELU});
        } else {
            p.epilogue.add({.kind = VKGEMM_STEP_BIAS_COL});
            p.epilogue.add({.kind = is_last ? VKGEMM_STEP_SILU : VKGEMM_STEP_RELU});
        }
        const auto completed = plan::complete(p);
        if (!completed) give_up(completed.status().text);
        out.push_back(*completed);
    }
    return out;
}

}  // namespace

int spilling_chains(const Compiler& compiler) {
    int compiled = 0, bad = 0;
    for (const Type type : {VKGEMM_TYPE_F32, VKGEMM_TYPE_F16, VKGEMM_TYPE_BF16})
        for (const Network& n : networks) {
            const auto fused = plan::fuse(compiler.caps, layers(type, n), n.gradients ? 7 : 0, {});
            if (!fused) {
                std::printf("%s of %s: %s\n", n.name, plan::info(type).name.data(), fused.status().text.c_str());
                continue;
            }
            const auto use = compiler.device.context().handle()->pipelines.get(fused->key, true);
            if (!use) give_up(use.status().text);
            const auto report = compiler.device.inspect(use->program().pipeline);
            if (!report) give_up(report.status().text);
            const tool::ShaderStats stats = tool::shader_stats_of(*report);
            std::printf("%s of %s: %s %s: %s registers, %s to memory, %s bytes of scratch, %s of code\n", n.name,
                        plan::info(type).name.data(), fused->key.module->name.data(), fused->tile.c_str(),
                        number(stats.registers).c_str(), number(stats.spills).c_str(), number(stats.scratch).c_str(),
                        number(stats.code).c_str());
            ++compiled;
            bad += stats.spill();
        }
    return compiled ? bad : 1;
}

}  // namespace vkgemm::test
