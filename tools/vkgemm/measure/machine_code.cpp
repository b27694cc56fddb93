// SPDX-License-Identifier: MIT
#include "measure/machine_code.h"

#include <algorithm>
#include <map>

#include "trace/inside.h"

namespace vkgemm::tool {
namespace {

/// The functions of its module, which is unpacked once: that takes up to half a second.
Result<std::vector<CubinFunction>> functions_of(const Kernel& kernel) {
    static std::map<std::string, Result<std::vector<CubinFunction>>> known;  // by variant and types
    const std::string module = kernel.variant() + " " + types_of(kernel);
    const auto found = known.find(module);
    if (found != known.end()) return found->second;
    const auto code = inside::machine_code(kernel.index);
    return known.emplace(module, code ? read_cubin(*code) : Result<std::vector<CubinFunction>>(code.status()))
        .first->second;
}

/// "wgmma_f16_128x256x64_nt" is a function of wgmma_f16_128x256x64.
bool is_of(const CubinFunction& f, const std::string& kernel) {
    return f.name.starts_with(kernel + "_") && f.name.find_first_not_of("nt", kernel.size() + 1) == std::string::npos;
}

host::PipelineReport report_of(const CubinFunction& f, uint64_t dynamic) {
    const std::pair<const char*, uint64_t> figures[] = {{"registers at the start", f.registers},
                                                        {"local memory", f.local},
                                                        {"static shared memory", f.shared},
                                                        {"dynamic shared memory", dynamic},
                                                        {"code", f.code}};
    host::PipelineReport report;
    for (const auto& [name, value] : figures)
        report.statistics.push_back({name, static_cast<double>(value), std::to_string(value)});
    return report;
}

void add(CompiledStep& step, const CubinFunction& f) {
    step.function = f.name;
    step.report = report_of(f, step.declared_shared);
}

}  // namespace

Result<std::vector<CompiledStep>> native_functions(const Kernel& kernel) {
    const auto functions = functions_of(kernel);
    if (!functions) return functions.status();
    std::vector<CompiledStep> steps;
    for (const CubinFunction& f : *functions) {
        if (!is_of(f, kernel.name())) continue;
        steps.push_back({.kernel = &kernel, .tile = kernel.info.tile, .declared_shared = kernel.traits.sharedBytes});
        add(steps.back(), f);
    }
    std::ranges::sort(steps, {}, &CompiledStep::function);
    return steps;
}

Status add_machine_code(const host::Device& device, const Problem& problem, const PlanOptions& given,
                        CompiledPlan& plan) {
    const auto native = [](const CompiledStep& s) { return s.kernel->traits.native != 0; };
    const auto product = std::ranges::find_if(plan.steps, [](const CompiledStep& s) { return s.kernel->is_product(); });
    if (product == plan.steps.end() || std::ranges::none_of(plan.steps, native)) return {};
    PlanOptions options = given;
    options.kernel = product->kernel->info.name;
    options.tile = product->tile.c_str();
    const auto names = inside::entry_points(device, problem, options);
    if (!names) return names.status();
    if (names->size() != plan.steps.size())
        return {VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS, "the plan has other dispatches than its explanation"};
    for (size_t i = 0; i < plan.steps.size(); ++i) {
        CompiledStep& step = plan.steps[i];
        if (!native(step)) continue;
        const auto functions = functions_of(*step.kernel);
        if (!functions) return functions.status();
        const auto f = std::ranges::find(*functions, names->at(i), &CubinFunction::name);
        if (f != functions->end()) add(step, *f);
    }
    return {};
}

}  // namespace vkgemm::tool
