// SPDX-License-Identifier: MIT
#include "drivers/random_spills.h"

#include <cstdio>
#include <set>

#include "plan/choice/device_kernels.h"
#include "plan/plan.h"
#include "plan/steps/pipeline_key.h"
#include "tools/vkgemm/measure/random_problems.h"

namespace vkgemm::test {
namespace {

// Types of A and B, or of all that a problem has, or an accuracy of f32: what random_problems() reads.
constexpr const char* plain[] = {"f32", "f16", "bf16", "i8", "f16*f16+f16", "f32_split", "f32_split_rows", "f64"};
// Types and the rest of a problem whose B is k-contiguous, because it has blocks or is decoded. K is rounded to 256.
struct Mixed {
    const char *types, *rest;
};
constexpr Mixed mixed[] = {{"f16*f32", ""},
                           {"f16*i8", ""},
                           {"f16*q8_0", ""},
                           {"f32*q4_k", ""},
                           {"f16*q4_k", " accuracy=narrow"},
                           {"f32*q8_0", " accuracy=mxint8"},
                           {"f16*mxfp4", " accuracy=narrow"}};
constexpr const char* epilogues[] = {"", "", " bias=col act=gelu"};
constexpr double max_flops = 1e13;

std::string drawn(const std::string& word, size_t i, uint64_t seed) {
    const auto cases = tool::random_problems(i + 1, seed, word, max_flops);
    if (!cases) give_up(cases.status().text);
    return cases->back().c.text;
}

// "f16*f16+f32->f16 12x34x56 ..." with these types, a K of whole blocks, no batch, and B k-contiguous.
std::string of_mixed(const Mixed& kind, const std::string& line) {
    const auto words = parseProblem(line.c_str());
    if (!words) give_up(line + ": no problem");
    const Problem& p = words->problem;
    const uint64_t k = std::min<uint64_t>((p.k + 255) / 256 * 256, 8192);
    return std::string(kind.types) + " " + std::to_string(p.m) + "x" + std::to_string(p.n) + "x" + std::to_string(k) +
           " layout=nt" + kind.rest;
}

// The pipelines that the default choice for a problem has and no problem before had, which joins them to `known`.
bool has_new_pipelines(const plan::DeviceKernels& kernels, const std::string& line, uint64_t workspace,
                       std::set<std::string>& known) {
    plan::Request request;
    request.workspace_limit = workspace;
    const auto plan = plan::make_plan(kernels, parseProblem(line.c_str())->problem, request);
    bool is_new = false;
    if (plan)
        for (const plan::Step& step : plan->steps.steps)
            is_new |= known.insert(plan::to_text(plan::key_of(step, plan->steps.binding))).second;
    return is_new;
}

}  // namespace

std::vector<std::string> random_lines(size_t count, uint64_t seed) {
    std::vector<std::string> out;
    for (size_t i = 0; i < count; ++i) {
        const size_t kind = i % (std::size(plain) + std::size(mixed)),
                     round = i / (std::size(plain) + std::size(mixed));
        const bool is_plain = kind < std::size(plain);
        const std::string line = drawn(is_plain ? plain[kind] : "f16", round, seed + kind);
        const std::string whole = is_plain ? line : of_mixed(mixed[kind - std::size(plain)], line);
        const auto words = parseProblem(whole.c_str());
        const bool has_epilogue = words && words->problem.n % 8 == 0;
        out.push_back(whole + (has_epilogue ? epilogues[i % std::size(epilogues)] : ""));
    }
    return out;
}

int random_spills(const Compiler& compiler, size_t count, uint64_t seed) {
    const plan::DeviceKernels device_kernels(compiler.caps);
    std::set<std::string> pipelines, kernels, spilling;
    size_t dispatches = 0;
    for (const std::string& line : random_lines(count, seed))
        for (const uint64_t workspace : {typical_workspace, uint64_t{0}}) {
            if (!has_new_pipelines(device_kernels, line, workspace, pipelines)) continue;
            for (const Compiled& c : compile(compiler, line, "", workspace)) {
                const std::string name(c.kernel().name);
                kernels.insert(name);
                ++dispatches;
                if (!c.stats.spill() || !spilling.insert(name).second) continue;
                std::printf(
                    "%s is chosen for %s with %s workspace and spills: %s to memory, %s bytes of scratch, %s "
                    "registers\n",
                    name.c_str(), line.c_str(), workspace ? "64 MiB of" : "no", number(c.stats.spills).c_str(),
                    number(c.stats.scratch).c_str(), number(c.stats.registers).c_str());
            }
        }
    std::printf("%s: %zu dispatches of %zu kernels, of which %zu spill\n", compiler.device.info().name.c_str(),
                dispatches, kernels.size(), spilling.size());
    return static_cast<int>(spilling.size()) + (dispatches == 0);
}

}  // namespace vkgemm::test
