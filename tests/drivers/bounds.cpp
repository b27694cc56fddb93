// SPDX-License-Identifier: MIT
#include "drivers/bounds.h"

#include <cmath>
#include <cstdio>

#include "tools/vkgemm/assembly/bound.h"
#include "tools/vkgemm/measure/kernel_lookup.h"
#include "vkgemm/text.hpp"

namespace vkgemm::test {
namespace {

struct Asked {
    const char* line;
    bool with_workspace = true;
};
constexpr Asked problems[] = {{"4096x4096x4096"},
                              {"f16*f16 4096x4096x4096 layout=nn"},
                              {"f16*f16 4096x4096x4096 layout=nt"},
                              {"f16*f16 4096x4096x4096 layout=tn"},
                              {"f16*f16 4096x4096x4096 layout=tt"},
                              {"f16*f16 4096x4096x4096 layout=nn", false},
                              {"f16*f16 4096x4096x4096 layout=nt", false},
                              {"f16*f16 4096x4096x4096 layout=tn", false},
                              {"f16*f16 4096x4096x4096 layout=tt", false},
                              {"i8*i8 4096x4096x4096 layout=nn"},
                              {"i8*i8 4096x4096x4096 layout=nt"}};

struct Row {
    std::string kernel;
    tool::Bound bound;
    bool spills = false;
};

// Of the dispatch that multiplies; nullopt if the kernel does not serve, or its loop cannot be judged.
std::optional<Row> row_of(const Compiler& device, const tool::Architecture& a, const Asked& asked,
                          const std::string& kernel) {
    for (const Compiled& c : compile(device, asked.line, kernel, asked.with_workspace ? typical_workspace : 0)) {
        if (!c.step.kernel->is_product()) continue;
        const auto program = tool::program_of(c.step.report);
        if (!program) continue;
        const uint32_t size = tool::subgroup_size_of(*program, c.step.tile, device.caps.subgroup_size);
        const auto bound = tool::bound_of(tool::inner_loop(*program), a, size);
        if (bound) return Row{std::string(c.kernel().name), *bound, c.stats.spill()};
    }
    return std::nullopt;
}

}  // namespace

bool print_bounds(const Compiler& device, const std::string& driver, const std::string& architecture) {
    const tool::Architecture* const a = tool::find_architecture(architecture.empty() ? device.caps.name : architecture);
    double sum = 0;
    int rows = 0;
    for (const Asked& asked : problems) {
        const auto chosen = a ? row_of(device, *a, asked, "") : std::nullopt;
        if (!chosen) continue;
        Row best = *chosen;
        const auto words = parseProblem(asked.line);
        for (const tool::Kernel& k : tool::all_kernels()) {
            if (!k.is_product() || !tool::has_types(k, words->problem)) continue;
            const auto row = row_of(device, *a, asked, k.name());
            if (row && !row->spills && (best.spills || row->bound.peak_part > best.bound.peak_part)) best = *row;
        }
        std::printf("| `%s` | %s | %s | `%s` | %.0f %%, %s%s | `%s` | %.0f %% |\n", driver.c_str(), asked.line,
                    asked.with_workspace ? "64 MiB" : "none", chosen->kernel.c_str(), 100 * chosen->bound.peak_part,
                    chosen->bound.unit, chosen->spills ? ", spills" : "", best.kernel.c_str(),
                    100 * best.bound.peak_part);
        sum += std::log(chosen->bound.peak_part / best.bound.peak_part);
        ++rows;
    }
    if (rows) std::printf("%s: %.3f of the best bounds in the geometric mean\n", driver.c_str(), std::exp(sum / rows));
    return rows > 0;
}

}  // namespace vkgemm::test
