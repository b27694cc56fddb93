// SPDX-License-Identifier: MIT
#include "drivers/bounds.h"

#include <cmath>
#include <cstdio>
#include <map>

#include "plan/choice/device_kernels.h"
#include "plan/device/registers.h"
#include "plan/plan.h"
#include "tools/vkgemm/assembly/bound.h"
#include "tools/vkgemm/measure/kernel_lookup.h"
#include "vkgemm/text.hpp"

namespace vkgemm::test {
namespace {

constexpr const char* problems[] = {"4096x4096x4096",
                                    "f16*f16 4096x4096x4096 layout=nn",
                                    "f16*f16 4096x4096x4096 layout=nt",
                                    "f16*f16 4096x4096x4096 layout=tn",
                                    "f16*f16 4096x4096x4096 layout=tt",
                                    "i8*i8 4096x4096x4096 layout=nn",
                                    "i8*i8 4096x4096x4096 layout=nt",
                                    "i8*i8 4096x4096x4096 layout=tn",
                                    "i8*i8 4096x4096x4096 layout=tt"};

struct Row {
    std::string kernel;
    tool::Bound bound;
    bool spills = false;
    bool on_matrix_units = false;  // whose peak is above that of multiply-adds
};

// A kernel whose values are so many times its registers is not compiled: it spills, and that takes most of the time.
constexpr double surely_spills = 1.25;

/// Bounds on one device. A pipeline is compiled once, for whichever problems it serves.
class Bounds {
   public:
    Bounds(const Compiler& device, const tool::Architecture& architecture)
        : device_(device), architecture_(architecture), kernels_(device.caps) {}

    /// Of the dispatch that multiplies; nullopt if the kernel does not serve, or its loop cannot be judged. `kernel`:
    /// "": the library chooses.
    std::optional<Row> row_of(const std::string& line, uint64_t workspace, const std::string& kernel) {
        const auto words = parseProblem(line.c_str());
        plan::Request request;
        request.kernel = kernel;
        request.workspace_limit = workspace;
        const auto plan = plan::make_plan(kernels_, words->problem, request);
        if (!plan) return std::nullopt;
        for (const plan::Step& step : plan->steps.steps)
            if (step.kernel->module.is_product()) {
                const auto [row, is_new] = rows_.try_emplace(key_of(step));
                if (is_new) row->second = compiled(line, workspace, kernel);
                return row->second;
            }
        return std::nullopt;
    }

    bool fills_registers(const plan::Kernel& k) const {
        const plan::Registers registers = plan::registers_of(device_.caps);
        const auto live = k.module.family.live_registers;
        return live && registers.of_invocation &&
               live(k.tile, k.module.element_bytes(), registers) > surely_spills * registers.limit(k.tile.WG);
    }

   private:
    static std::string key_of(const plan::Step& step) {
        std::string key(step.kernel->name);
#define X(id, name, meaning) key += " " + std::to_string(step.constants.name);
        VKGEMM_PROBLEM_CONSTANTS(X)
#undef X
        return key;
    }

    std::optional<Row> compiled(const std::string& line, uint64_t workspace, const std::string& kernel) const {
        for (const Compiled& c : compile(device_, line, kernel, workspace)) {
            if (!c.step.kernel->is_product()) continue;
            const auto program = tool::program_of(c.step.report);
            if (!program) continue;
            const uint32_t size = tool::subgroup_size_of(*program, c.step.tile, device_.caps.subgroup_size);
            const auto bound = tool::bound_of(tool::inner_loop(*program), architecture_, size);
            if (bound)
                return Row{.kernel = std::string(c.kernel().name),
                           .bound = *bound,
                           .spills = c.stats.spill(),
                           .on_matrix_units = c.kernel().module.family.uses_matrix_units};
        }
        return std::nullopt;
    }

    const Compiler& device_;
    const tool::Architecture& architecture_;
    plan::DeviceKernels kernels_;
    std::map<std::string, std::optional<Row>> rows_;
};

bool is_better(const Row& x, const Row& y) {
    if (x.spills || y.spills) return !x.spills;
    if (x.on_matrix_units != y.on_matrix_units) return x.on_matrix_units;
    return x.bound.peak_part > y.bound.peak_part;
}

}  // namespace

bool print_bounds(const Compiler& device, const std::string& driver, const std::string& architecture) {
    const tool::Architecture* const a = tool::find_architecture(architecture.empty() ? device.caps.name : architecture);
    if (!a) return false;
    Bounds bounds(device, *a);
    double sum = 0;
    int rows = 0, left_out = 0;
    for (const char* const line : problems)
        for (const uint64_t workspace : {uint64_t{0}, typical_workspace}) {
            const auto chosen = bounds.row_of(line, workspace, "");
            if (!chosen) continue;
            Row best = *chosen;
            const auto words = parseProblem(line);
            for (const tool::Kernel& k : tool::all_kernels()) {
                const plan::Kernel& row_of_table = *plan::find_kernel(k.info.name);
                if (!k.is_product() || !tool::has_types(k, words->problem)) continue;
                if (chosen->on_matrix_units && !row_of_table.module.family.uses_matrix_units) continue;
                if (bounds.fills_registers(row_of_table)) {
                    ++left_out;
                    continue;
                }
                const auto row = bounds.row_of(line, workspace, k.name());
                if (row && is_better(*row, best)) best = *row;
            }
            std::printf("| `%s` | %s | %s | `%s` | %.0f %%, %s%s | `%s` | %.0f %% |\n", driver.c_str(), line,
                        workspace ? "64 MiB" : "none", chosen->kernel.c_str(), 100 * chosen->bound.peak_part,
                        chosen->bound.unit, chosen->spills ? ", spills" : "", best.kernel.c_str(),
                        100 * best.bound.peak_part);
            std::fflush(stdout);
            sum += std::log(chosen->bound.peak_part / best.bound.peak_part);
            ++rows;
        }
    if (rows)
        std::printf(
            "%s: %.3f of the best bounds in the geometric mean of %d, %d too large for the registers left out\n",
            driver.c_str(), std::exp(sum / rows), rows, left_out);
    return rows > 0;
}

}  // namespace vkgemm::test
